internal import Documents
internal import SystemCalls

/// How the presenters of this process say to a mount that they are prepared: by one connection for all of
/// them, since a mount takes only so many. Any thread.
final class PresenterAnswers: Sendable {
    private struct Known {
        weak var answers: PresenterAnswers?
    }
    /// Those that presenters use, by their mount's daemon.
    private static let all = Lock<[String: Known]>([:])

    /// `nil` while a thread has it.
    private let connection: Monitor<ControlConnection?>
    private let mountPoint: String
    private let daemon: String

    /// Those of the mount at a folder, which has said this of itself.
    static func of(
        _ status: JSONObject, at mountPoint: String
    ) throws(CoordinationError) -> PresenterAnswers {
        let daemon = daemon(of: status)
        if let answers = all.withLock({ $0[daemon]?.answers }) { return answers }
        let made = try PresenterAnswers(status, mountPoint)
        return all.withLock { all in
            if let answers = all[daemon]?.answers { return answers }
            all = all.filter { $0.value.answers != nil }
            all[daemon] = Known(answers: made)
            return made
        }
    }

    /// What tells it from others that are mounted at the same place before or after.
    private static func daemon(of status: JSONObject) -> String {
        "\(status["process"]?.integer ?? 0) \(status["control"]?.string ?? "")"
    }

    private init(_ status: JSONObject, _ mountPoint: String) throws(CoordinationError) {
        let made = try ControlConnection(status, of: mountPoint)
        // Only a reply shows that it was let in.
        _ = try made.call("Status")
        connection = Monitor(made)
        self.mountPoint = mountPoint
        daemon = Self.daemon(of: status)
    }

    /// The presenter has done what a claim asked for.
    func prepared(_ presenter: Int, for claim: JSONValue) {
        let parameters: JSONObject = ["presenter": .integer(presenter), "claim": claim]
        guard var used = connection.wait({ $0.take() }) else { return }
        defer { connection.signal { $0 = used } }
        if Self.say(parameters, by: used) { return }
        // It was cut. Another daemon has presenters and claims with the same numbers: it is not told.
        guard let status = ControlConnection.status(mountPoint), Self.daemon(of: status) == daemon,
            let other = try? ControlConnection(status, of: mountPoint)
        else { return }
        used = other
        _ = Self.say(parameters, by: other)
    }

    /// Whether there was an answer, whatever it says: the presenter or the claim may be gone. A connection
    /// without one is not used again; its answer may come yet.
    private static func say(_ parameters: JSONObject, by connection: ControlConnection) -> Bool {
        do throws(CoordinationError) {
            try connection.send("Prepared", parameters)
            if try connection.message(milliseconds: ControlConnection.patience) != nil {
                return true
            }
        } catch {}
        connection.close()
        return false
    }
}

internal import Documents
internal import Glibc
internal import Model
internal import SystemCalls
internal import Varlink

/// A connection to the control socket of a mount.
final class ControlConnection: Sendable {
    /// Below the mount's folder; tells where the socket is.
    static let statusPath = ".shapeedit/status.json"
    /// How long a call that waits for nobody may take, in milliseconds.
    static let patience = 10_000
    private let client: VarlinkClient

    /// Connects to the mount at a folder.
    convenience init(mountPoint: String) throws(CoordinationError) {
        guard let status = Self.status(mountPoint) else {
            throw .unavailable("\(mountPoint) does not answer")
        }
        try self.init(status, of: mountPoint)
    }

    /// Connects to the mount at a folder, which has said this of itself.
    init(_ status: JSONObject, of mountPoint: String) throws(CoordinationError) {
        guard let path = status.path("control") else {
            throw .unavailable(
                "the mount at \(mountPoint) has no control socket: when it was mounted "
                    + "XDG_RUNTIME_DIR named no folder for it")
        }
        do throws(Failure) { client = try VarlinkClient(path) } catch {
            // What keeps the owner from it is no matter of who it is.
            throw error.kind == .noPermission
                && KernelMount.topmost(at: mountPoint)?.user != geteuid()
                ? .notPermitted(
                    "\(mountPoint): only the owner of the mount may claim documents in it and follow "
                        + "what happens to them") : .unavailable(error.message)
        }
    }

    /// What the mount at a folder says of itself.
    static func status(_ mountPoint: String) -> JSONObject? {
        guard let file = try? OwnedDescriptor.open("\(mountPoint)/\(statusPath)", O_RDONLY),
            let bytes = try? WholeFile.read(file)
        else { return nil }
        return (try? JSONValue.read(bytes))?.object
    }

    /// Calls a method of the control interface and waits so many milliseconds for its reply.
    func call(
        _ method: String, _ parameters: JSONObject = [:], patience: Int = ControlConnection.patience
    ) throws(CoordinationError) -> JSONObject {
        try send(method, parameters)
        return try next(milliseconds: patience)
    }

    /// Waits so many milliseconds for a claim on items, by their paths below the mount's folder.
    ///
    /// - Parameters:
    ///   - isNested: claims of the processes above this one are not waited for.
    ///   - presenter: one that has ended, or was cut off, is told nothing anyway: the claim is made without.
    func claim(
        _ targets: [(path: String, access: FileAccess)], purpose: String, isNested: Bool = false,
        presenter: Int?, milliseconds: Int
    ) throws(CoordinationError) -> JSONObject {
        var parameters: JSONObject = [
            "targets": .array(
                targets.map { target -> JSONValue in
                    var object = JSONObject()
                    object.setPath("path", target.path)
                    object["access"] = .string(target.access.rawValue)
                    return .object(object)
                }), "purpose": .string(purpose), "timeoutMilliseconds": .integer(milliseconds),
        ]
        if isNested { parameters["nested"] = .boolean(true) }
        if let presenter { parameters["presenter"] = .integer(presenter) }
        try send("Claim", parameters)
        var reply = try reply(milliseconds: milliseconds + Self.patience)
        if presenter != nil, reply.error?.hasSuffix(".NoSuchPresenter") == true {
            parameters["presenter"] = nil
            try send("Claim", parameters)
            reply = try self.reply(milliseconds: milliseconds + Self.patience)
        }
        return try self.parameters(of: reply)
    }

    func send(
        _ method: String, _ parameters: JSONObject, more: Bool = false
    ) throws(CoordinationError) {
        let call = VarlinkCall("org.shapeedit.Control.\(method)", parameters, more: more)
        do throws(Failure) { try client.send(call) } catch { throw .unavailable(error.message) }
    }

    /// The next reply; without a time it is waited for until the connection ends.
    func next(milliseconds: Int? = nil) throws(CoordinationError) -> JSONObject {
        try parameters(of: try reply(milliseconds: milliseconds))
    }

    private func reply(milliseconds: Int?) throws(CoordinationError) -> VarlinkReply {
        do throws(Failure) { return try client.next(milliseconds: milliseconds) } catch {
            throw .unavailable(error.message)
        }
    }

    /// Readable when there may be a message.
    var descriptor: Int32 { client.number }

    /// The next reply as it came; without a time `nil` if there is none now.
    func message(milliseconds: Int?) throws(CoordinationError) -> [UInt8]? {
        do throws(Failure) {
            if let milliseconds { return try client.message(milliseconds: milliseconds) }
            return try client.messageNow()
        } catch { throw .unavailable(error.message) }
    }

    /// What a reply says that came as ``message(milliseconds:)``.
    func parameters(_ message: [UInt8]) throws(CoordinationError) -> JSONObject {
        guard let reply = VarlinkReply(message) else {
            throw .unavailable("the mount's daemon sent what is no reply")
        }
        return try parameters(of: reply)
    }

    private func parameters(of reply: VarlinkReply) throws(CoordinationError) -> JSONObject {
        guard let error = reply.error else { return reply.parameters }
        let holders = (reply.parameters["holders"]?.array ?? []).compactMap { $0.object }
            .compactMap(Claimant.init)
        switch error.split(separator: ".").last {
        case "TimedOut": throw .timedOut(holders)
        case "Deadlock": throw .deadlock(holders)
        case "TooMany":
            throw .tooMany(
                "the mount has as many claims, presenters, queries or followers as it takes")
        case "TooManyClients":
            let limit = reply.parameters["limit"]?.integer ?? 0
            throw .tooMany(
                "the mount's control socket has \(limit) clients already and takes no more")
        case "NoSuchFolder": throw .badPath("", "there is no such folder")
        case "Failed": throw .unavailable(reply.parameters["reason"]?.string ?? error)
        case "Ending": throw .unavailable("the mount goes away")
        default: throw .unavailable("the mount's daemon answers \(error)")
        }
    }

    /// Ends the connection and all that it holds; who waits for a reply gets an error. Any thread.
    func close() { client.shutDown() }
}

extension Claimant {
    init?(_ object: JSONObject) {
        guard let kind = object["kind"]?.string.flatMap(Kind.init),
            let state = object["state"]?.string.flatMap(State.init)
        else { return nil }
        self.init(
            process: object["process"]?.integer ?? 0, command: object["command"]?.string ?? "",
            kind: kind, state: state, since: object["since"]?.double ?? 0,
            targets: (object["targets"]?.array ?? []).compactMap { $0.object }.compactMap {
                target in
                guard let path = target.path("path"),
                    let access = target["access"]?.string.flatMap(FileAccess.init)
                else { return nil }
                return FileIntent(path, access)
            })
    }
}

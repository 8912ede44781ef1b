import Control
import Documents
import Glibc
import Model

/// A connection to the control socket of a mount.
struct ControlConnection {
    /// What a call that waits for nobody may take, in milliseconds.
    static let patience = 10_000
    private let client: VarlinkClient

    /// Connects to the mount at a folder.
    init(mountPoint: String) throws(Failure) {
        let status = StatusCommand.text(mountPoint)
        guard StatusCommand.field("container", of: status) != nil else {
            throw Failure(.unavailable, "\(mountPoint) does not answer")
        }
        guard let path = StatusCommand.field("control", of: status) else {
            throw Failure(
                .unavailable,
                "the mount at \(mountPoint) has no control socket: when it was mounted "
                    + "XDG_RUNTIME_DIR named no folder for it")
        }
        client = try VarlinkClient(path)
    }

    /// Whether the mount at a folder has a socket that this user may use.
    static func isThere(_ mountPoint: String) -> Bool {
        let path = StatusCommand.field("control", of: StatusCommand.text(mountPoint))
        return path.map { access($0, W_OK) == 0 } ?? false
    }

    /// Calls a method of the control interface and waits for its reply, so many milliseconds.
    func call(
        _ method: String, _ parameters: JSONObject = [:], patience: Int = Self.patience
    ) throws(Failure) -> JSONObject {
        try client.send(VarlinkCall("org.shapeedit.Control.\(method)", parameters))
        let reply = try client.next(milliseconds: patience)
        guard let error = reply.error else { return reply.parameters }
        throw Self.failure(error, reply.parameters)
    }

    private static func failure(_ error: String, _ parameters: JSONObject) -> Failure {
        let holders = (parameters["holders"]?.array ?? []).compactMap { $0.object }
            .map { Claimant($0).sentence }
        let list = holders.isEmpty ? "" : ": " + holders.joined(separator: "; ")
        switch error.split(separator: ".").last {
        case "TimedOut": return Failure(.temporary, "the claim was not granted in time\(list)")
        case "Deadlock":
            return Failure(
                .temporary, "the claim would wait for one that waits for it\(list)")
        case "TooMany": return Failure(.temporary, "there are too many claims")
        case "Ending": return Failure(.temporary, "the mount goes away")
        default: return Failure(.software, "the mount's daemon answers \(error)")
        }
    }
}

/// Somebody who holds or wants a claim.
struct Claimant {
    let process: Int
    let command: String
    let kind: String
    let state: String
    let since: Double
    let targets: [(path: String, access: String)]

    init(_ object: JSONObject) {
        process = object["process"]?.integer ?? 0
        command = object["command"]?.string ?? ""
        kind = object["kind"]?.string ?? ""
        state = object["state"]?.string ?? ""
        since = object["since"]?.double ?? 0
        targets = (object["targets"]?.array ?? []).compactMap { $0.object }.map {
            ($0["path"]?.string ?? "", $0["access"]?.string ?? "")
        }
    }

    /// `vim (process 12) writes notes.txt since 20:15:03`.
    var sentence: String {
        let who = "\(command.isEmpty ? "a program" : command) (process \(process))"
        let paths = targets.map { $0.path.isEmpty ? "the whole container" : $0.path }
            .joined(separator: ", ")
        let what: String
        switch (kind, state) {
        case ("presenter", _): what = "shows it and has not answered"
        case ("writing", _): what = "is writing \(paths)"
        case ("operation", _): what = "uses \(paths)"
        case (_, "waiting"): what = "waits for \(accesses) on \(paths)"
        default: what = "has \(accesses) on \(paths)"
        }
        return "\(who) \(what) since \(clock)"
    }

    /// What its targets are claimed for, each once.
    var accesses: String {
        targets.map(\.access).reduce(into: [String]()) { list, access in
            if !list.contains(access) { list.append(access) }
        }.joined(separator: ", ")
    }

    /// The time of day, as the person has it.
    private var clock: String {
        var moment = time_t(since)
        var parts = tm()
        localtime_r(&moment, &parts)
        func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
    }
}

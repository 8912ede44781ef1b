import DocumentKit
import Glibc
import Model

extension Claimant {
    /// `vim (process 12) has write on notes.txt since 20:15:03`.
    var sentence: String {
        let who = "\(command.isEmpty ? "a program" : command) (process \(process))"
        let paths = targets.map { $0.path.isEmpty ? "the whole container" : $0.path }
            .joined(separator: ", ")
        let accesses = targets.map(\.access.rawValue).reduce(into: [String]()) { list, access in
            if !list.contains(access) { list.append(access) }
        }.joined(separator: ", ")
        let what: String
        switch (kind, state) {
        case (.presenter, _): what = "shows it and has not answered"
        case (.writing, _): what = "is writing \(paths)"
        case (.lock, .waiting): what = "waits for a lock on \(paths)"
        case (.lock, _): what = "has \(paths) locked"
        case (.operation, _): what = "uses \(paths)"
        case (.claim, .waiting): what = "waits for \(accesses) on \(paths)"
        case (.claim, _): what = "has \(accesses) on \(paths)"
        }
        return "\(who) \(what) since \(clock)"
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

extension Failure {
    /// The failure of a command that coordinates.
    init(_ error: CoordinationError) {
        func list(_ claimants: [Claimant]) -> String {
            claimants.isEmpty ? "" : ": " + claimants.map(\.sentence).joined(separator: "; ")
        }
        switch error {
        case .timedOut(let holders):
            self.init(.temporary, "the claim was not granted in time\(list(holders))")
        case .deadlock(let holders):
            self.init(
                .temporary, "the claim would wait for one that waits for it\(list(holders))")
        case .cancelled: self.init(.temporary, "the claim was cancelled")
        case .badPath(let path, let reason): self.init(.usage, "\(path): \(reason)")
        case .severalContainers(let one, let other):
            self.init(
                .usage,
                "\(one) and \(other) are not in one mount: only what is can be had in one step")
        case .unavailable(let reason): self.init(.unavailable, reason)
        case .claimLost: self.init(.temporary, "the claim ended before the command")
        }
    }
}

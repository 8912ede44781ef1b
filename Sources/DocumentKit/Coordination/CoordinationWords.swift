internal import SystemCalls

extension Claimant {
    /// `vim (process 12) has write on notes.txt since 20:15:03`.
    package var sentence: String {
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
        // The kernel does not tell it of plain locks, and a daemon may say what is no time.
        guard since > 0, let moment = Int(exactly: since.rounded(.down)) else {
            return "\(who) \(what)"
        }
        // The time of day, as the person has it.
        return "\(who) \(what) since \(LocalTime.text(moment, as: "%H:%M:%S"))"
    }
}

extension CoordinationError: CustomStringConvertible {
    /// For people.
    public var description: String {
        func list(_ claimants: [Claimant]) -> String {
            claimants.isEmpty ? "" : ": " + claimants.map(\.sentence).joined(separator: "; ")
        }
        return switch self {
        case .timedOut(let holders): "the claim was not granted in time\(list(holders))"
        case .deadlock(let holders):
            "the claim would wait for one that waits for it\(list(holders))"
        case .cancelled: "the claim was cancelled"
        case .badPath(let path, let reason): "\(path.isEmpty ? "''" : path): \(reason)"
        case .severalContainers(let one, let other):
            "\(one) and \(other) are not in one mount: only what is can be had in one step"
        case .unavailable(let reason), .notPermitted(let reason): reason
        case .tooMany(let reason): "\(reason); try again when some have ended"
        case .claimLost: "the claim ended before the work did"
        }
    }
}

internal import SystemCalls

/// Why there is no way back or forth, in words.
enum HistoryProblem {
    /// What follows from a history that cannot be written, and why it cannot.
    static func unkept(_ consequence: String) -> String {
        let reason =
            HistoryPlace.root.map { "its history cannot be kept in \($0)" }
            ?? "neither XDG_STATE_HOME nor HOME is set to keep it in"
        return "\(consequence): \(reason)"
    }

    /// That of a history which may be whole, and cannot be had now.
    static func unread(_ error: Errno) -> String {
        "its history in \(HistoryPlace.root ?? "its folder") cannot be read: \(error)"
    }
}

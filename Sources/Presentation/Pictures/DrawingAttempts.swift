internal import Model

/// Versions whose drawing was ended from outside or took too long, which says nothing of them: the machine may
/// have had too much to do. Again and again it does.
struct DrawingAttempts: Sendable {
    /// After so many it is a failure of the document, whose program may do so by itself.
    static let limit = 3
    private static let rememberedVersions = 1_024

    private struct Attempts: Sendable {
        var count: Int
        /// Until when it is not tried again, of `MonotonicClock`, and why.
        var pausedUntil: UInt64
        var reason: String
    }
    private var versions = Recent<NodeNumber, Attempts>(limit: rememberedVersions)

    /// Notes one more; how many that were.
    ///
    /// - Parameters:
    ///   - end: until when the version is not tried again, of `MonotonicClock`.
    ///   - reason: why.
    mutating func add(_ node: NodeNumber, until end: UInt64, _ reason: String) -> Int {
        let count = (versions[node]?.count ?? 0) + 1
        versions.insert(
            Attempts(count: count, pausedUntil: end, reason: reason), for: node, weight: 1)
        return count
    }

    /// Why a version is not tried at this moment of `MonotonicClock`; nil if it may be.
    mutating func pauseReason(_ node: NodeNumber, at now: UInt64) -> String? {
        guard let attempts = versions[node], now < attempts.pausedUntil else { return nil }
        return attempts.reason
    }
}

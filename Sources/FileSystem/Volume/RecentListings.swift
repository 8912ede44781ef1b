/// Which directories have been listed together with their entries' nodes (READDIRPLUS) a moment ago.
///
/// The kernel puts such a listing into its cache only after it was answered, while it copies it to the
/// program, which may take long: a name whose item has a session by then, or even a newer version,
/// would lead to the version of the listing for as long as names are kept. Guarded by its owner.
struct RecentListings {
    /// For how long a listing counts, in nanoseconds.
    private static let memory: UInt64 = 10_000_000_000
    /// With more directories than this, all of them count as listed.
    private static let limit = 1_000

    private var times: [UInt64: UInt64] = [:]
    /// When directories were forgotten because there were too many.
    private var allAt: UInt64?

    /// - Parameter directory: an item number.
    mutating func note(_ directory: UInt64, _ now: UInt64) {
        if times.count >= Self.limit {
            times.removeAll(keepingCapacity: true)
            allAt = now
        }
        times[directory] = now
    }

    func contains(_ directory: UInt64, _ now: UInt64) -> Bool {
        [times[directory], allAt].contains { $0.map { now < $0 + Self.memory } ?? false }
    }
}

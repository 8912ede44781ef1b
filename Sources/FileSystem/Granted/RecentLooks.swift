internal import SystemCalls

/// The versions of documents that were looked up a moment ago, held on to for those who are about to open
/// them: meanwhile there may be others.
///
/// A value; times are monotonic nanoseconds.
struct RecentLooks {
    /// How long one is held on to: the owner's mount is busy for so long.
    static let age: UInt64 = 200_000_000

    /// Each is an open file; of more the earliest goes.
    private static let most = 128

    private var looks: [GrantedNode: (look: GrantOwners.Look, until: UInt64)] = [:]
    private var isPlanned = false

    /// Holds on to a version.
    ///
    /// - Returns: when ``drop()`` is to be called, if that is not planned.
    mutating func note(_ look: GrantOwners.Look, as node: GrantedNode) -> UInt64? {
        let until = MonotonicClock.now + Self.age
        if looks.count >= Self.most, looks[node] == nil,
            let first = looks.min(by: { $0.value.until < $1.value.until })
        {
            looks[first.key] = nil
        }
        looks[node] = (look, until)
        defer { isPlanned = true }
        return isPlanned ? nil : until
    }

    subscript(node: GrantedNode) -> GrantOwners.Look? { looks[node]?.look }

    /// Lets go of those whose time is over.
    ///
    /// - Returns: those, and when it is to be called again; `nil` for never.
    mutating func drop() -> (gone: [GrantOwners.Look], next: UInt64?) {
        let now = MonotonicClock.now
        let gone = looks.values.filter { $0.until <= now }.map(\.look)
        looks = looks.filter { $0.value.until > now }
        let next = looks.values.map(\.until).min()
        isPlanned = next != nil
        return (gone, next)
    }
}

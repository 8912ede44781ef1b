internal import Model

/// Folders that watchers were told of a moment ago. Who watches all that is below a folder has to look at
/// a new one before he watches that, too, and would not be told of what is told of it sooner. Pure.
struct FreshFolders: Sendable {
    /// How long that may take, in milliseconds, and where another mount has to be asked for what is in it.
    static let moment: (own: UInt64, granted: UInt64) = (100, 300)
    /// How many are waited for, and how many are remembered, until there is nothing to tell for a while: the
    /// rest is not to be told much later for it.
    private static let most = (waits: 50, folders: 4_096)

    /// Until when each is waited for, by `MonotonicClock`.
    private var ends: [ItemNumber: UInt64] = [:]
    private var waits = 0

    mutating func add(_ folder: ItemNumber, until end: UInt64) {
        if waits < Self.most.waits, ends.count < Self.most.folders { ends[folder] = end }
    }

    /// Until when to wait before something is told in one of these folders; each is waited for once.
    mutating func take(_ folders: [ItemNumber]) -> UInt64? {
        let end = folders.compactMap { ends.removeValue(forKey: $0) }.max()
        if end != nil { waits += 1 }
        return end
    }
}

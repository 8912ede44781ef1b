/// The bells of owners, as an inotify queue watches them. A value.
struct WatchedBells: Sendable {
    /// The watches by their owners, and the other way round.
    private var bells: [String: Int32] = [:]
    private var owners: [Int32: String] = [:]
    /// Watches that have ended before it was said whose they are.
    private var early: Set<Int32> = []

    /// The owners whose bells are watched.
    var watched: Set<String> { Set(bells.keys) }

    /// These watches have ended: the owners whose bells have rung, or whose mounts have gone.
    mutating func take(ended watches: some Sequence<Int32>) -> Set<String> {
        var rung: Set<String> = []
        for watch in watches {
            guard let owner = owners.removeValue(forKey: watch) else {
                early.insert(watch)
                continue
            }
            bells[owner] = nil
            rung.insert(owner)
        }
        return rung
    }

    /// What it means that an owner's bell has a watch, or (`nil`) cannot be watched.
    struct Hung: Equatable {
        /// It is another one than before.
        var isOther = true
        /// It has rung already: the owner has the next one.
        var hasRung = false
        /// A watch that is needed no more.
        var former: Int32?
    }

    mutating func hang(_ bell: Int32?, of owner: String) -> Hung {
        let before = bells[owner]
        if bell == before { return Hung(isOther: false) }
        if let before { owners[before] = nil }
        bells[owner] = nil
        if let bell, early.remove(bell) != nil { return Hung(hasRung: true, former: before) }
        if let bell {
            bells[owner] = bell
            owners[bell] = owner
        }
        return Hung(former: before)
    }

    /// No bell is watched any more: the watches that are to end.
    mutating func end() -> [Int32] {
        defer { self = WatchedBells() }
        return Array(bells.values)
    }

    /// No watch is about to be said whose it is.
    mutating func settle() { early = [] }
}

/// Values that were used lately, up to a limit of their weights in all.
package struct Recent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var weight: Int
        var used: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var weight = 0
    private var clock: UInt64 = 0

    package init(limit: Int) { self.limit = limit }

    /// The value, which counts as used now.
    package subscript(key: Key) -> Value? {
        mutating get {
            guard let place = entries.index(forKey: key) else { return nil }
            clock += 1
            entries.values[place].used = clock
            return entries.values[place].value
        }
    }

    /// Puts a value in, in place of the one there was. If that is too much, a quarter goes, what was
    /// used longest ago first: so the search for it is rare.
    package mutating func insert(_ value: Value, for key: Key, weight: Int) {
        remove(key)
        clock += 1
        entries[key] = Entry(value: value, weight: weight, used: clock)
        self.weight += weight
        guard self.weight > limit else { return }
        for (key, _) in entries.sorted(by: { $0.value.used < $1.value.used }) {
            if self.weight <= limit / 4 * 3 { break }
            remove(key)
        }
    }

    package mutating func remove(_ key: Key) {
        if let old = entries.removeValue(forKey: key) { weight -= old.weight }
    }
}

/// The results of a query as items change, and how they change, to the index. Pure.
package struct LiveResults: Sendable {
    private let order: ResultOrder
    private let limit: Int
    /// All that match, in order; the query shows the first of them.
    private var all: [Found]
    /// Of each item one of its results ...
    private var places: [ItemNumber: Found] = [:]
    /// ... and the others, if it has several names.
    private var others: [ItemNumber: [Found]] = [:]
    private var filter: ItemFilter

    /// - Parameter found: in any order, each name once.
    package init(_ query: Query, _ found: [Found]) {
        order = ResultOrder(query)
        limit = query.limit ?? .max
        all = order.sorted(found)
        filter = ItemFilter(capacity: found.count)
        for result in found { note(result) }
    }

    /// All results in order, shown or not.
    package var everything: [Found] { all }
    /// What the query shows.
    package var shown: ArraySlice<Found> { all.prefix(limit) }
    /// What the query shows at an index.
    package subscript(index: Int) -> Found { all[index] }
    /// All items that have results, once for each.
    package var items: [ItemNumber] { Array(places.keys) }

    /// Whether the item may have results; says no for nearly all that have none.
    package func mayHave(_ item: ItemNumber) -> Bool { filter.mayHave(item) }

    /// The item's results.
    private func results(of item: ItemNumber) -> [Found] {
        guard let place = places[item] else { return [] }
        return [place] + (others[item] ?? [])
    }

    /// Gives items other results, none for those that are not found any more.
    ///
    /// - Parameter items: each item once.
    /// - Returns: how what is shown has become another. What is moved are items whose place among those
    ///   that did not change is another.
    package mutating func update(_ items: [(item: ItemNumber, results: [Found])]) -> ListDifference
    {
        let changes = items.compactMap { change($0.item, $0.results) }
        if changes.isEmpty { return ListDifference() }
        let before = limit < .max ? Array(shown) : []
        let difference = apply(changes)
        if limit == .max { return difference }
        return ListDifference(from: before, to: Array(shown), by: \.item)
    }

    // MARK: Changes

    /// Results of an item that went, and those that came; as many as there are of both belong together.
    private struct Change {
        var gone: [Found]
        var came: [Found]
    }

    private mutating func change(_ item: ItemNumber, _ results: [Found]) -> Change? {
        let known = self.results(of: item).sorted(by: order.isBefore)
        let results = results.sorted(by: order.isBefore)
        var change = Change(gone: [], came: [])
        var stays: [Found] = []
        var (old, new) = (0, 0)
        while old < known.count || new < results.count {
            if old == known.count || new < results.count && order.isBefore(results[new], known[old])
            {
                change.came.append(results[new])
                new += 1
            } else if new < results.count, results[new] == known[old] {
                stays.append(known[old])
                (old, new) = (old + 1, new + 1)
            } else {
                change.gone.append(known[old])
                old += 1
            }
        }
        if change.gone.isEmpty, change.came.isEmpty { return nil }
        (places[item], others[item]) = (nil, nil)
        for result in stays + change.came { note(result) }
        return change
    }

    private mutating func note(_ result: Found) {
        if places[result.item] == nil {
            places[result.item] = result
        } else {
            others[result.item, default: []].append(result)
        }
        filter.insert(result.item)
        if filter.isFull {
            filter = ItemFilter(capacity: 2 * places.count)
            for item in places.keys { filter.insert(item) }
        }
    }

    private mutating func apply(_ changes: [Change]) -> ListDifference {
        // Where they are, and how many that stay are before them.
        var going: [(change: Int, part: Int, index: Int)] = []
        var coming: [(change: Int, part: Int, result: Found)] = []
        for (number, change) in changes.enumerated() {
            for (part, result) in change.gone.enumerated() {
                going.append((number, part, index(of: result)))
            }
            for (part, result) in change.came.enumerated() {
                coming.append((number, part, result))
            }
        }
        going.sort { $0.index < $1.index }
        coming.sort { order.isBefore($0.result, $1.result) }
        ListDifference(removed: going.map(\.index)).apply(to: &all)
        let ranks = coming.map { lowerBound($0.result) }
        ListDifference(added: ranks.enumerated().map { $0 + $1 })
            .apply(to: &all, added: coming.map(\.result))
        return difference(changes, going, coming.map { ($0.change, $0.part) }, ranks)
    }

    private func difference(
        _ changes: [Change], _ going: [(change: Int, part: Int, index: Int)],
        _ coming: [(change: Int, part: Int)], _ ranks: [Int]
    ) -> ListDifference {
        /// What belongs to a part of a change that has both.
        struct Pair: Hashable {
            var change: Int
            var part: Int
        }
        var targets: [Pair: Int] = [:]
        var added: [Int] = []
        for (place, new) in coming.enumerated() {
            if new.part < changes[new.change].gone.count {
                targets[Pair(change: new.change, part: new.part)] = place
            } else {
                added.append(ranks[place] + place)
            }
        }
        var removed: [Int] = []
        var moved: [ListDifference.Move] = []
        var updated: [Int] = []
        // Those that have as many that stay before them as they had, in the order they had.
        var staying: [ListDifference.Move] = []
        for (place, old) in going.enumerated() {
            guard let target = targets[Pair(change: old.change, part: old.part)] else {
                removed.append(old.index)
                continue
            }
            let move = ListDifference.Move(from: old.index, to: ranks[target] + target)
            updated.append(move.to)
            if old.index - place == ranks[target] {
                staying.append(move)
            } else {
                moved.append(move)
            }
        }
        let rise = ListDifference.longestRise(staying.map(\.to))
        for (index, move) in staying.enumerated() where !rise.contains(index) { moved.append(move) }
        return ListDifference(
            removed: removed, added: added, moved: moved.sorted { $0.to < $1.to },
            updated: updated.sorted())
    }

    // MARK: The list

    /// How many results come before this one.
    private func lowerBound(_ result: Found) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if order.isBefore(all[middle], result) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func index(of result: Found) -> Int {
        var index = lowerBound(result)
        // Two items may have been found under one path, if they were moved meanwhile.
        while all[index] !== result { index += 1 }
        return index
    }
}

/// Which items may be in a set: a bit for each, shared by several.
private struct ItemFilter: Sendable {
    private var words: [UInt64]
    private var count = 0

    init(capacity: Int) {
        var size = 64
        while size * 64 < capacity * 16 { size *= 2 }
        words = [UInt64](repeating: 0, count: size)
    }

    /// So many items that it says yes too often.
    var isFull: Bool { count > words.count * 8 }

    mutating func insert(_ item: ItemNumber) {
        count += 1
        words[word(item)] |= bit(item)
    }

    func mayHave(_ item: ItemNumber) -> Bool { words[word(item)] & bit(item) != 0 }

    // Numbers are given out one after the other, so their low bits are spread evenly.
    private func word(_ item: ItemNumber) -> Int {
        Int(truncatingIfNeeded: item.rawValue >> 6) & (words.count - 1)
    }
    private func bit(_ item: ItemNumber) -> UInt64 { 1 << (item.rawValue & 63) }
}

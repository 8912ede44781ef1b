/// How one list became another, to the index.
///
/// Who has the old list takes away what is at ``removed`` and where ``moved`` come from (indices of the
/// old list), then puts in what is at ``added`` and where they go to (indices of the new list, in
/// ascending order), and has the new list but for what is ``updated`` (indices of the new list).
public struct ListDifference: Hashable, Sendable {
    /// An element that is in both lists, at another place among those that stay.
    public struct Move: Hashable, Sendable {
        /// Index in the old list.
        public var from: Int
        /// Index in the new list.
        public var to: Int

        package init(from: Int, to: Int) { (self.from, self.to) = (from, to) }
    }
    /// Indices of the old list.
    public private(set) var removed: [Int] = []
    /// Indices of the new list.
    public private(set) var added: [Int] = []
    /// What changed its place.
    public private(set) var moved: [Move] = []
    /// Indices of the new list.
    public private(set) var updated: [Int] = []

    /// The lists are equal.
    public var isEmpty: Bool {
        removed.isEmpty && added.isEmpty && moved.isEmpty && updated.isEmpty
    }

    /// With more than so many changes a list is made anew instead of changed.
    private static let many = 64

    /// Makes the old list the new one. It may be of what an app shows of the elements.
    ///
    /// - Parameters:
    ///   - list: has to be the old list: an index beyond its end ends the program.
    ///   - news: what is at the indices of ``added``.
    ///   - changes: what is at the indices of ``updated``.
    public func apply<Element>(
        to list: inout [Element], added news: [Element] = [], updated changes: [Element] = []
    ) {
        var coming = Array(zip(added, news)) + moved.map { ($0.to, list[$0.from]) }
        coming.sort { $0.0 < $1.0 }
        let going = (removed + moved.map(\.from)).sorted()
        if going.count + coming.count <= Self.many {
            for index in going.reversed() { list.remove(at: index) }
            for (index, element) in coming { list.insert(element, at: index) }
        } else {
            var made: [Element] = []
            made.reserveCapacity(list.count - going.count + coming.count)
            var (gone, come) = (0, 0)
            for (index, element) in list.enumerated() {
                if gone < going.count, going[gone] == index {
                    gone += 1
                    continue
                }
                while come < coming.count, coming[come].0 == made.count {
                    made.append(coming[come].1)
                    come += 1
                }
                made.append(element)
            }
            made += coming[come...].map(\.1)
            list = made
        }
        for (index, element) in zip(updated, changes) { list[index] = element }
    }

    /// Whether all indices are those of a list of so many elements and of one that can follow it.
    package func fits(_ count: Int) -> Bool {
        let left = count - removed.count - moved.count
        let now = left + added.count + moved.count
        func isIn(_ indices: [Int], _ end: Int) -> Bool {
            indices.allSatisfy { (0..<end).contains($0) } && Set(indices).count == indices.count
        }
        return left >= 0 && isIn(removed + moved.map(\.from), count)
            && isIn(added + moved.map(\.to), now) && isIn(updated, now)
    }

    /// Which of the elements with a key it is.
    private struct Occurrence<Key: Hashable>: Hashable {
        var key: Key
        var number: Int
    }

    /// Compares by `key`. Of elements that share one, the first of a list is the first of the other, and
    /// so on. As few elements move as can be.
    public init<Element: Equatable, Key: Hashable>(
        from old: [Element], to new: [Element], by key: (Element) -> Key
    ) {
        func occurrences(_ list: [Element]) -> [Occurrence<Key>] {
            var seen: [Key: Int] = [:]
            return list.map { element in
                let name = key(element)
                defer { seen[name, default: 0] += 1 }
                return Occurrence(key: name, number: seen[name, default: 0])
            }
        }
        var places: [Occurrence<Key>: Int] = [:]
        for (index, occurrence) in occurrences(new).enumerated() { places[occurrence] = index }
        var common: [(from: Int, to: Int)] = []
        for (index, occurrence) in occurrences(old).enumerated() {
            if let place = places.removeValue(forKey: occurrence) {
                common.append((index, place))
                if new[place] != old[index] { updated.append(place) }
            } else {
                removed.append(index)
            }
        }
        added = places.values.sorted()
        updated.sort()
        let staying = Self.longestRise(common.map(\.to))
        for (index, pair) in common.enumerated() where !staying.contains(index) {
            moved.append(Move(from: pair.from, to: pair.to))
        }
        moved.sort { $0.to < $1.to }
    }

    /// A difference whose parts are known; all in ascending order, moves by where they go.
    package init(
        removed: [Int] = [], added: [Int] = [], moved: [Move] = [], updated: [Int] = []
    ) {
        (self.removed, self.added, self.moved, self.updated) = (removed, added, moved, updated)
    }

    /// The indices of a longest increasing part of different numbers.
    static func longestRise(_ numbers: [Int]) -> Set<Int> {
        // tails[n]: where the part of length n + 1 with the smallest end ends.
        var tails: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var rise: Set<Int> = []
        var last = tails.last ?? -1
        while last >= 0 {
            rise.insert(last)
            last = before[last]
        }
        return rise
    }
}

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

    /// Compares by `key`, which is unique in each list. As few elements move as can be.
    public init<Element: Equatable, Key: Hashable>(
        from old: [Element], to new: [Element], by key: (Element) -> Key
    ) {
        var places: [Key: Int] = [:]
        for (index, element) in new.enumerated() { places[key(element)] = index }
        var common: [(from: Int, to: Int)] = []
        for (index, element) in old.enumerated() {
            if let place = places.removeValue(forKey: key(element)) {
                common.append((index, place))
                if new[place] != element { updated.append(place) }
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

    /// The indices of a longest increasing part of different numbers.
    private static func longestRise(_ numbers: [Int]) -> Set<Int> {
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

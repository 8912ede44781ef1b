/// How one list became another, to the index.
///
/// Who has the old list takes away what is at ``removed`` and where ``moved`` come from (indices of the
/// old list), then puts in what is at ``added`` and where they go to (indices of the new list, in
/// ascending order), and has the new list but for what is ``updated`` (indices of the new list).
package struct ListDifference: Hashable, Sendable {
    package struct Move: Hashable, Sendable {
        package var from: Int
        package var to: Int
    }
    package private(set) var removed: [Int] = []
    package private(set) var added: [Int] = []
    package private(set) var moved: [Move] = []
    package private(set) var updated: [Int] = []

    package var isEmpty: Bool {
        removed.isEmpty && added.isEmpty && moved.isEmpty && updated.isEmpty
    }

    /// Compares by `key`, which is unique in each list. As few elements move as can be.
    package init<Element: Equatable, Key: Hashable>(
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

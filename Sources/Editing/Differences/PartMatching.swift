/// Finds which parts of an old and a new document are the same.
///
/// Parts with the same identity are the same, those with the same content, and then in turn those
/// of the same kind; what is left came or went. Parts that are known to be in place are not looked
/// for: of equal ones in a row, each moved to where the next was, none seems to be gone.
struct PartMatching {
    /// For each new part the old one; nil if it came.
    private(set) var oldOfNew: [Int?]
    /// For each old part the new one; nil if it went.
    private(set) var newOfOld: [Int?]

    /// So many parts, of which each is in its place.
    init(inPlace count: Int) {
        oldOfNew = (0..<count).map { $0 }
        newOfOld = oldOfNew
    }

    init<Part: Hashable, Identity: Hashable, Kind: Hashable>(
        _ old: [Part], _ new: [Part], inPlace: Bool, identity: (Part) -> Identity?,
        kind: (Part) -> Kind
    ) {
        if inPlace, old.count == new.count {
            oldOfNew = Array(old.indices)
            newOfOld = oldOfNew
            return
        }
        oldOfNew = Array(repeating: nil, count: new.count)
        newOfOld = Array(repeating: nil, count: old.count)
        match(old, new, by: identity)
        match(old, new, by: { $0 })
        match(old, new) { kind($0) }
    }

    private mutating func match<Part, Key: Hashable>(
        _ old: [Part], _ new: [Part], by key: (Part) -> Key?
    ) {
        var waiting: [Key: [Int]] = [:]
        // From the last to the first, so that the first comes off the end first.
        for index in old.indices.reversed() where newOfOld[index] == nil {
            if let key = key(old[index]) { waiting[key, default: []].append(index) }
        }
        for index in new.indices where oldOfNew[index] == nil {
            guard let key = key(new[index]), let found = waiting[key]?.popLast() else { continue }
            oldOfNew[index] = found
            newOfOld[found] = index
        }
    }

    /// The new parts of a row (in their order) that are not where they were among those that were
    /// there before: the fewest that had to be moved.
    static func moved(_ row: [(new: Int, old: Int)]) -> Set<Int> {
        // The longest rising row of old places stays; the ends of the best rows of each length.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (position, part) in row.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if row[ends[middle]].old < part.old { low = middle + 1 } else { high = middle }
            }
            previous.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var moved = Set(row.map(\.new))
        var position = ends.last
        while let current = position {
            moved.remove(row[current].new)
            position = previous[current]
        }
        return moved
    }
}

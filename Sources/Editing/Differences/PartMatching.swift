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

    /// All parts, of which so many at the beginning are equal. Equal ones at the end are not looked for
    /// either.
    init<Part: Hashable, Identity: Hashable, Kind: Hashable>(
        _ old: [Part], _ new: [Part], after same: Int, identity: (Part) -> Identity?,
        kind: (Part) -> Kind
    ) {
        let count = min(old.count, new.count) - same
        let last =
            (0..<count).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? count
        self.init(
            Array(old[same...].dropLast(last)), Array(new[same...].dropLast(last)), after: same,
            before: last, identity: identity, kind: kind)
    }

    /// Those that come after so many parts at the beginning, and before so many at the end, which
    /// are equal.
    init<Part: Hashable, Identity: Hashable, Kind: Hashable>(
        _ old: [Part], _ new: [Part], after same: Int, before last: Int,
        identity: (Part) -> Identity?, kind: (Part) -> Kind
    ) {
        oldOfNew = Array(0..<same) + Array(repeating: nil, count: new.count)
        newOfOld = Array(0..<same) + Array(repeating: nil, count: old.count)
        let (oldEnd, newEnd) = (same + old.count, same + new.count)
        oldOfNew += (0..<last).map { oldEnd + $0 }
        newOfOld += (0..<last).map { newEnd + $0 }
        match(old, new, after: same, by: identity)
        match(old, new, after: same, by: { $0 })
        match(old, new, after: same) { kind($0) }
    }

    /// How many parts at the beginning are equal in both.
    static func countEqual<Part: Equatable>(_ old: [Part], _ new: [Part]) -> Int {
        let count = min(old.count, new.count)
        return (0..<count).first { old[$0] != new[$0] } ?? count
    }

    private mutating func match<Part, Key: Hashable>(
        _ old: [Part], _ new: [Part], after same: Int, by key: (Part) -> Key?
    ) {
        var waiting: [Key: [Int]] = [:]
        // From the last to the first, so that the first comes off the end first.
        for index in old.indices.reversed() where newOfOld[same + index] == nil {
            if let key = key(old[index]) { waiting[key, default: []].append(same + index) }
        }
        for index in new.indices where oldOfNew[same + index] == nil {
            guard let key = key(new[index]), let found = waiting[key]?.popLast() else { continue }
            oldOfNew[same + index] = found
            newOfOld[found] = same + index
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
        var stays = Array(repeating: false, count: row.count)
        var position = ends.last
        while let current = position {
            stays[current] = true
            position = previous[current]
        }
        return Set(zip(row, stays).filter { !$1 }.map(\.0.new))
    }
}

/// The order in which a query gives its results. Texts are in the order of their UTF-8.
package struct ResultOrder: Sendable {
    private let order: Query.Order
    private let isReversed: Bool

    package init(_ query: Query) {
        order = query.order
        isReversed = query.isReversed
    }

    /// A strict order of all results that differ in their paths.
    package func isBefore(_ one: Found, _ other: Found) -> Bool {
        isReversed ? isSmaller(other, one) : isSmaller(one, other)
    }

    private func isSmaller(_ one: Found, _ other: Found) -> Bool {
        var first: Int
        switch order {
        case .path: first = 0
        case .name: first = Self.compare(String(one.name), String(other.name))
        case .size: first = one.size < other.size ? -1 : one.size > other.size ? 1 : 0
        case .modified:
            first = one.modified < other.modified ? -1 : one.modified > other.modified ? 1 : 0
        case .type: first = Self.compare(one.type, other.type)
        case .title:
            let (mine, yours) = (one.title?.lowercased() ?? "", other.title?.lowercased() ?? "")
            // What has none comes last.
            first =
                mine.isEmpty == yours.isEmpty ? Self.compare(mine, yours) : mine.isEmpty ? 1 : -1
        }
        if first == 0 { first = Self.compare(one.path, other.path) }
        return first < 0
    }

    /// Less than 0 if `one` comes first.
    private static func compare(_ one: String, _ other: String) -> Int {
        var (one, other) = (one, other)
        return one.withUTF8 { left in
            other.withUTF8 { right in
                var place = 0
                let end = min(left.count, right.count)
                while place < end, left[place] == right[place] { place += 1 }
                if place < end { return left[place] < right[place] ? -1 : 1 }
                return left.count - right.count
            }
        }
    }

    // MARK: Sorting

    /// What decides about most pairs: where keys differ, their order is that of the results.
    private struct Key {
        var first: UInt64
        var second: UInt64
        var index: Int
    }

    /// The results in order.
    package func sorted(_ found: [Found]) -> [Found] {
        var keys: [Key] = []
        keys.reserveCapacity(found.count)
        for (index, result) in found.enumerated() { keys.append(key(result, index)) }
        found.withUnsafeBufferPointer { found in
            keys.sort { one, other in
                if one.first != other.first {
                    return isReversed ? one.first > other.first : one.first < other.first
                }
                if one.second != other.second {
                    return isReversed ? one.second > other.second : one.second < other.second
                }
                return isBefore(found[one.index], found[other.index])
            }
        }
        return keys.map { found[$0.index] }
    }

    private func key(_ result: Found, _ index: Int) -> Key {
        var key = Key(first: 0, second: 0, index: index)
        func path() -> UInt64 { Self.beginning(result.path, from: 0) }
        switch order {
        case .path:
            key.first = path()
            key.second = Self.beginning(result.path, from: 8)
        case .name:
            let name = String(result.name)
            key.first = Self.beginning(name, from: 0)
            key.second = Self.beginning(name, from: 8)
        case .size:
            key.first = UInt64(bitPattern: result.size)
            key.second = path()
        case .modified:
            key.first = result.modified.rawValue
            key.second = path()
        case .type: key.first = Self.beginning(result.type, from: 0)
        case .title:
            let title = result.title?.lowercased() ?? ""
            key.first = title.isEmpty ? .max : Self.beginning(title, from: 0)
        }
        return key
    }

    /// Eight bytes in the order of texts; zeros behind the end, which no name has in it.
    private static func beginning(_ text: String, from start: Int) -> UInt64 {
        var text = text
        return text.withUTF8 { bytes in
            var value: UInt64 = 0
            for place in start..<start + 8 {
                value = value << 8 | (place < bytes.count ? UInt64(bytes[place]) : 0)
            }
            return value
        }
    }
}

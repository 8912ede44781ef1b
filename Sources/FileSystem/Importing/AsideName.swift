internal import Model

/// Names of items that make way for others while an import goes on. Pure.
enum AsideName {
    /// What the names of an item begin with while it makes way. It tells of it also after a run that
    /// was cut off.
    static func prefix(_ item: ItemNumber) -> [UInt8] {
        Array(".shapeedit-aside-\(item.rawValue)-".utf8)
    }

    /// The name of an item that makes way: its own, which tells its type, behind the prefix.
    static func of(_ item: ItemNumber, _ name: ArraySlice<UInt8>) -> [UInt8] {
        prefix(item) + Array(name.suffix(200).drop { $0 & 0xc0 == 0x80 })
    }

    /// What it is called if it stays where another has its name: "a.txt", "a (kept).txt",
    /// "a (kept 2).txt" ...
    static func kept(_ name: ArraySlice<UInt8>, _ number: Int) -> [UInt8] {
        if number == 0 { return Array(name) }
        let mark = Array((number == 1 ? " (kept)" : " (kept \(number))").utf8)
        let dot = name.lastIndex(of: UInt8(ascii: "."))
        let end = dot.map { $0 > name.startIndex && name.endIndex - $0 <= 32 ? name[$0...] : [] }
        let stem = name.dropLast(end?.count ?? 0)
        let room = Limits.name - mark.count - (end?.count ?? 0)
        return Array(cut(stem, room)) + mark + Array(end ?? [])
    }

    /// So many bytes from the start, without a part of a letter.
    private static func cut(_ name: ArraySlice<UInt8>, _ count: Int) -> ArraySlice<UInt8> {
        if name.count <= count { return name }
        var start = name.prefix(count + 1)
        while let last = start.popLast(), last & 0xc0 == 0x80 {}
        return start
    }
}

/// A pattern of names: with `*` (any characters) or `?` (one character) for all of a name, else for a
/// part of it; upper and lower case are the same.
package struct NamePattern: Sendable {
    private let characters: [Character]
    /// The same as bytes if all of it is ASCII: then it is compared with names of ASCII as it is.
    private let bytes: [UInt8]?
    private let isWhole: Bool

    package init(_ text: String) {
        let folded = Self.folded(text)
        characters = Array(folded)
        bytes = folded.utf8.allSatisfy { $0 < 0x80 } ? Array(folded.utf8) : nil
        isWhole = characters.contains("*") || characters.contains("?")
    }

    /// A bit for each character that every name has that matches; several characters share one.
    package var letters: UInt64 {
        guard let bytes else { return 0 }
        return bytes.reduce(0) { letters, byte in
            let isAny = byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?")
            return isAny ? letters : letters | 1 << UInt64(byte & 63)
        }
    }

    /// The bits of all characters that a name has, in any case of letters.
    package static func letters(of name: some Sequence<UInt8>) -> UInt64 {
        name.reduce(0) { letters, byte in
            // What folds to what is a matter of Unicode: it may be any.
            byte >= 0x80 ? .max : letters | 1 << UInt64(FoldedBytes.folded(byte) & 63)
        }
    }

    package func matches(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter name: UTF-8; what is none counts as U+FFFD.
    package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        if let bytes, !name.contains(where: { $0 >= 0x80 }) {
            return matches(bytes, FoldedBytes(bytes: name), UInt8(ascii: "*"), UInt8(ascii: "?"))
        }
        let name = Array(Self.folded(String(decoding: name, as: UTF8.self)))
        return matches(characters, name, "*", "?")
    }

    /// In lower case; in Greek a capital sigma may stand for either of two small ones.
    private static func folded(_ text: String) -> String {
        text.lowercased().replacing("ς", with: "σ")
    }

    private func matches<Name: RandomAccessCollection>(
        _ pattern: [Name.Element], _ name: Name, _ many: Name.Element, _ one: Name.Element
    ) -> Bool where Name.Element: Equatable, Name.Index == Int {
        isWhole
            ? Self.matchesAll(pattern, name, many, one)
            : pattern.isEmpty || Self.contains(pattern, name)
    }

    private static func contains<Name: RandomAccessCollection>(
        _ pattern: [Name.Element], _ name: Name
    ) -> Bool where Name.Element: Equatable, Name.Index == Int {
        guard name.count >= pattern.count else { return false }
        for start in 0...name.count - pattern.count where name[start] == pattern[0] {
            var length = 1
            while length < pattern.count, name[start + length] == pattern[length] { length += 1 }
            if length == pattern.count { return true }
        }
        return false
    }

    /// Goes back to the last star only, so it takes at most the product of both lengths.
    private static func matchesAll<Name: RandomAccessCollection>(
        _ pattern: [Name.Element], _ name: Name, _ many: Name.Element, _ one: Name.Element
    ) -> Bool where Name.Element: Equatable, Name.Index == Int {
        var (place, next) = (0, 0)
        var star: (pattern: Int, name: Int)?
        while place < name.count {
            if next < pattern.count, pattern[next] == many {
                star = (next, place)
                next += 1
            } else if next < pattern.count, pattern[next] == one || pattern[next] == name[place] {
                (place, next) = (place + 1, next + 1)
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                (place, next) = (last.name + 1, last.pattern + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == many }
    }
}

/// ASCII in lower case.
struct FoldedBytes: RandomAccessCollection {
    let bytes: UnsafeRawBufferPointer

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }

    subscript(index: Int) -> UInt8 {
        Self.folded(bytes[index])
    }

    static func folded(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
}

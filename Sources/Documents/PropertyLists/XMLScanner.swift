/// Goes through the tags and texts of an XML document.
struct XMLScanner {
    /// A tag; what attributes it has is not kept.
    struct Tag {
        let name: String
        /// `</name>`
        let isEnd: Bool
        /// `<name/>`
        let isEmpty: Bool
        /// Where it begins.
        let start: Int
    }

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func error(at place: Int, _ reason: String) -> DocumentError {
        DocumentError(.malformed, at: .byte(place), reason)
    }

    /// Goes over a byte order mark, the XML declaration and the document type.
    mutating func skipProlog() throws(DocumentError) {
        if bytes.hasByteOrderMark { offset = 3 }
        try skipBlanks(andInstructions: false)
        while starts(with: "<?") || starts(with: "<!DOCTYPE") {
            let start = offset
            guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: ">")) else {
                throw error(at: start, "a declaration without an end")
            }
            // Entities could make a small document enormous.
            guard !bytes[start...end].contains(UInt8(ascii: "[")) else {
                throw error(at: start, "a document type with declarations of its own")
            }
            offset = end + 1
            try skipBlanks(andInstructions: false)
        }
    }

    /// The next tag, with nothing but blanks, comments and instructions before it.
    mutating func tag() throws(DocumentError) -> Tag {
        try skipBlanks()
        let start = offset
        guard offset < bytes.count else {
            throw error(at: start, "the document ends in the middle")
        }
        guard bytes[offset] == UInt8(ascii: "<") else {
            throw error(at: start, "text where a tag is expected")
        }
        guard let close = bytes[offset...].firstIndex(of: UInt8(ascii: ">")) else {
            throw error(at: start, "a tag without an end")
        }
        var inside = bytes[(start + 1)..<close]
        let isEnd = inside.first == UInt8(ascii: "/")
        if isEnd { inside = inside.dropFirst() }
        let isEmpty = !isEnd && inside.last == UInt8(ascii: "/")
        if isEmpty { inside = inside.dropLast() }
        offset = close + 1
        let name = inside.prefix { !$0.isBlank }
        guard (1...16).contains(name.count) else { throw error(at: start, "not a tag") }
        return Tag(
            name: String(decoding: name, as: UTF8.self), isEnd: isEnd, isEmpty: isEmpty,
            start: start)
    }

    /// The text of an element that has no elements in it, and goes over its end tag.
    mutating func text(of tag: Tag) throws(DocumentError) -> String {
        if tag.isEmpty { return "" }
        var text: [UInt8] = []
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "&"): text += try reference()
            case UInt8(ascii: "<"):
                if starts(with: "<!--") {
                    try skipPast("-->", from: offset + 4)
                } else if starts(with: "<![CDATA[") {
                    let start = offset + 9
                    try skipPast("]]>", from: start)
                    text += bytes[start..<(offset - 3)]
                } else {
                    let end = try self.tag()
                    guard end.isEnd, end.name == tag.name else {
                        throw error(at: end.start, "</\(tag.name)> is expected here")
                    }
                    guard let result = String(validating: text, as: UTF8.self) else {
                        throw error(at: tag.start, "text that is not UTF-8")
                    }
                    return result
                }
            case let byte:
                text.append(byte)
                offset += 1
            }
        }
        throw error(at: tag.start, "<\(tag.name)> without an end")
    }

    /// Checks that nothing follows.
    mutating func finish() throws(DocumentError) {
        try skipBlanks()
        guard offset == bytes.count else {
            throw error(at: offset, "something follows the end of the document")
        }
    }

    private func starts(with text: StaticString) -> Bool {
        let end = offset + text.utf8CodeUnitCount
        return end <= bytes.count && "\(text)".utf8.elementsEqual(bytes[offset..<end])
    }

    /// Goes over blanks, comments and, where they say nothing, processing instructions.
    private mutating func skipBlanks(andInstructions: Bool = true) throws(DocumentError) {
        while true {
            while offset < bytes.count, bytes[offset].isBlank { offset += 1 }
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: "<") else { return }
            if starts(with: "<!--") {
                try skipPast("-->", from: offset + 4)
            } else if andInstructions, starts(with: "<?") {
                try skipPast("?>", from: offset + 2)
            } else {
                return
            }
        }
    }

    private mutating func skipPast(_ end: StaticString, from: Int) throws(DocumentError) {
        let start = offset
        offset = from
        while offset < bytes.count {
            if starts(with: end) {
                offset += end.utf8CodeUnitCount
                return
            }
            offset += 1
        }
        throw error(at: start, "an end '\(end)' is missing")
    }

    /// Bytes of the longest reference that is read. XML has no bound for the zeros before a number;
    /// nobody writes so many.
    private static let longestReference = 32

    /// The text of `&name;`, `&#number;` or `&#xnumber;`.
    private mutating func reference() throws(DocumentError) -> [UInt8] {
        let start = offset
        guard
            let end = bytes[offset...].prefix(Self.longestReference)
                .firstIndex(of: UInt8(ascii: ";"))
        else { throw error(at: start, "an & that begins no character; write &amp; for it") }
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        offset = end + 1
        switch name {
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            guard let scalar = Self.scalar(name) else {
                throw error(at: start, "&\(name); is no character")
            }
            return Array(String(Character(scalar)).utf8)
        }
    }

    /// The character of `#65` or `#x41`; nil if that is none that a text can hold.
    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        // A sign is read by numbers, but is none of the digits.
        guard let first = digits.utf8.first, first != UInt8(ascii: "+"),
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), number != 0
        else { return nil }
        return Unicode.Scalar(number)
    }
}

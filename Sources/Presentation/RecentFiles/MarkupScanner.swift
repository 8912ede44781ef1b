/// Finds the tags of an XML text one after the other, and where they and their attributes are. Pure.
///
/// It does not check what a parser has to, but what it does not understand it refuses: a text with
/// entities of its own, or a tag that does not end.
struct MarkupScanner {
    /// The text is not XML, or of a kind that is not read here.
    struct Malformed: Error, Equatable {}

    enum Kind { case opening, closing, empty }

    struct Tag {
        var kind: Kind
        /// From `<` to behind `>`.
        var range: Range<Int>
        var name: String
        /// Where the values are, without quotes.
        var attributes: [String: Range<Int>]
        /// Where another attribute can be put.
        var end: Int
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next tag; nil at the end of the text.
    mutating func next() throws(Malformed) -> Tag? {
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = start
            if starts(with: "<!--") {
                try skip(past: "-->")
            } else if starts(with: "<![CDATA[") {
                try skip(past: "]]>")
            } else if starts(with: "<?") {
                try skip(past: "?>")
            } else if starts(with: "<!") {
                try skip(past: ">")
                // A document type with declarations could give names to anything.
                if bytes[start..<position].contains(UInt8(ascii: "[")) { throw Malformed() }
            } else {
                return try tag()
            }
        }
        return nil
    }

    private mutating func tag() throws(Malformed) -> Tag {
        let start = position
        position += 1
        let isClosing = starts(with: "/")
        if isClosing { position += 1 }
        let name = try word()
        var attributes: [String: Range<Int>] = [:]
        while true {
            let end = position
            skipSpaces()
            if starts(with: "/>"), !isClosing {
                position += 2
                return Tag(
                    kind: .empty, range: start..<position, name: name, attributes: attributes,
                    end: end)
            }
            if starts(with: ">") {
                position += 1
                return Tag(
                    kind: isClosing ? .closing : .opening, range: start..<position, name: name,
                    attributes: attributes, end: end)
            }
            let attribute = try word()
            skipSpaces()
            guard starts(with: "=") else { throw Malformed() }
            position += 1
            skipSpaces()
            guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27,
                let close = bytes[(position + 1)...].firstIndex(of: bytes[position])
            else { throw Malformed() }
            attributes[attribute] = position + 1..<close
            position = close + 1
        }
    }

    /// The bytes up to what ends a name.
    private mutating func word() throws(Malformed) -> String {
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]),
            !"<>/='\"".utf8.contains(bytes[position])
        {
            position += 1
        }
        if position == start { throw Malformed() }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func starts(with text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return position + count <= bytes.count
            && text.withUTF8Buffer { bytes[position..<position + count].elementsEqual($0) }
    }

    private mutating func skip(past text: StaticString) throws(Malformed) {
        while position < bytes.count {
            if starts(with: text) {
                position += text.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw Malformed()
    }
}

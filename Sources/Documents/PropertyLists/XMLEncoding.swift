internal import PathText

/// How the characters of an XML property list are written. The apps that make these files find it
/// in the same way: a byte order mark tells, else the declaration, else it is UTF-8.
enum XMLEncoding {
    case utf8
    /// With a byte order mark; without one it is not taken for XML.
    case utf16(isBigEndian: Bool)
    case latin1

    init(of bytes: [UInt8]) throws(DocumentError) {
        if bytes.isUTF16 {
            self = .utf16(isBigEndian: bytes[0] == 0xfe)
        } else if !bytes.hasByteOrderMark, let name = Self.declared(in: bytes) {
            switch name {
            case "utf-8", "utf8", "us-ascii": self = .utf8
            case "iso-8859-1", "iso_8859-1", "latin1": self = .latin1
            default:
                throw DocumentError(
                    .malformed, at: .byte(0),
                    "the encoding '\(name)'; UTF-8, ISO-8859-1 or UTF-16 with a byte order mark is expected"
                )
            }
        } else {
            self = .utf8
        }
    }

    /// The same text in UTF-8; what is UTF-8 already is checked where it is read.
    func utf8(_ bytes: [UInt8]) throws(DocumentError) -> [UInt8] {
        switch self {
        case .utf8:
            return bytes
        case .latin1:
            return bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
        case .utf16(let isBigEndian):
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { offset in
                let pair = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
                return isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0
            }
            let text = String(validating: units, as: UTF16.self)
            guard let text, bytes.count.isMultiple(of: 2) else {
                throw DocumentError(.malformed, "text that is not UTF-16")
            }
            return Array(text.utf8)
        }
    }

    /// The byte of the document that a byte of its text in UTF-8 was made of.
    func offset(of offset: Int, inUTF8 text: [UInt8]) -> Int {
        if case .utf8 = self { return offset }
        let before = String(decoding: text[..<offset], as: UTF8.self)
        if case .latin1 = self { return before.unicodeScalars.count }
        return 2 + before.utf16.count * 2
    }

    /// What `<?xml ... encoding="NAME"` says, in small letters; nil without it.
    private static func declared(in bytes: [UInt8]) -> String? {
        let start = bytes.drop { $0.isBlank }
        guard start.starts(with: "<?xml".utf8), let end = start.firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let declaration = String(decoding: start[..<end], as: UTF8.self).lowercased()
        guard let key = declaration.firstRange(of: "encoding") else { return nil }
        return declaration[key.upperBound...].split { "= \t\r\n\"'".contains($0) }.first
            .map { String($0.prefix(32)) }
    }
}

internal import PathText

/// How the characters of an XML property list are written. The apps that make these files find it
/// in the same way: a byte order mark tells, else the declaration, else it is UTF-8.
enum XMLEncoding {
    /// Without a byte order mark it is UTF-8: the others are not taken for XML.
    case unicode(UnicodeEncoding)
    case latin1
    case windows1252

    init(of bytes: [UInt8]) throws(DocumentError) {
        if let marked = UnicodeEncoding(mark: bytes) {
            self = .unicode(marked)
        } else if let name = Self.declared(in: bytes) {
            switch name {
            case "utf-8", "utf8", "us-ascii": self = .unicode(.utf8)
            case "iso-8859-1", "iso_8859-1", "latin1": self = .latin1
            case "windows-1252", "cp1252": self = .windows1252
            default:
                throw DocumentError(
                    .malformed, at: .byte(0),
                    "the encoding '\(name)'; UTF-8, ISO-8859-1, Windows-1252, or UTF-16 or UTF-32 with a "
                        + "byte order mark is expected")
            }
        } else {
            self = .unicode(.utf8)
        }
    }

    /// The same text in UTF-8; what is UTF-8 already is checked where it is read.
    func utf8(_ bytes: [UInt8]) throws(DocumentError) -> [UInt8] {
        if case .unicode(let encoding) = self { return try encoding.utf8(bytes) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for (offset, byte) in bytes.enumerated() {
            guard let scalar = scalar(byte) else {
                throw DocumentError(
                    .malformed, at: .byte(offset), "a byte that Windows-1252 does not have")
            }
            UTF8.encode(scalar).map { text.append(contentsOf: $0) }
        }
        return text
    }

    /// The character of a byte, where each is one.
    private func scalar(_ byte: UInt8) -> Unicode.Scalar? {
        guard case .windows1252 = self else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(windows1252: byte)
    }

    /// The byte of the document that a byte of its text in UTF-8 was made of.
    func offset(of offset: Int, inUTF8 text: [UInt8], of bytes: [UInt8]) -> Int {
        guard case .unicode(let encoding) = self else {
            return String(decoding: text[..<offset], as: UTF8.self).unicodeScalars.count
        }
        return encoding.offset(of: offset, inUTF8: text, of: bytes)
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

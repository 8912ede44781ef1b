import Documents

extension PropertyList {
    /// Bytes of data, and parts of containers, that are shown; of more only how many there are.
    private static let shown = 16

    /// It on one line, with its type where it would look as the other does.
    func words(unlike other: PropertyList?) -> String {
        let plain = words
        guard let other, other.words == plain else { return plain }
        if typeName != other.typeName { return "\(plain) (\(typeName))" }
        // Reals of two sizes have one name.
        return switch self {
        case .real: "\(plain) (a real number of 64 bits)"
        case .real32: "\(plain) (a real number of 32 bits)"
        default: "\(plain) (\(typeName))"
        }
    }

    /// It on one line; a text has quotation marks only where it is a part of something.
    private var words: String {
        switch self {
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .real(let number): ValueText.text(number)
        case .real32(let number): "\(number)"
        case .date(let seconds): "\(ValueText.text(seconds)) s after 2001"
        case .data(let bytes): PropertyList.words(of: bytes)
        case .string(let text): EscapedText.escaped(text)
        case .uid(let number): "reference \(number)"
        case .array(let values): "[\(PropertyList.listed(values, \.wordsAsPart))]"
        case .dictionary(let entries): "{\(PropertyList.listed(entries, \.words))}"
        }
    }

    fileprivate var wordsAsPart: String {
        if case .string = self { "'\(words)'" } else { words }
    }

    private static func words(of bytes: [UInt8]) -> String {
        let digits = bytes.prefix(shown).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        let rest = bytes.count > shown ? "... (\(bytes.count) bytes)" : ""
        return "<\(digits.joined())\(rest)>"
    }

    private static func listed<Part>(_ parts: [Part], _ words: (Part) -> String) -> String {
        let rest = parts.count > shown ? ["... (\(parts.count))"] : []
        return (parts.prefix(shown).map(words) + rest).joined(separator: ", ")
    }
}

extension PropertyList.Entry {
    fileprivate var words: String { "\(EscapedText.escaped(key)): \(value.wordsAsPart)" }
}

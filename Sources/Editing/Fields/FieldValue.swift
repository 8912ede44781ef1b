import Documents

/// What the values of a key are, for programs.
enum ValueForm: Sendable {
    case text
    case number
    /// Numbers with commas between them.
    case numbers
    case boolean
}

/// A value of a key.
struct FieldValue: Sendable, CustomStringConvertible {
    /// As `set` takes it.
    let text: String
    /// What it is; a file can hold something else.
    let form: ValueForm

    var description: String { text }

    /// As JSON: a number, truth value or array of numbers if it is one, else a text with line ends,
    /// tabs and backslashes that are not written out.
    var json: JSONValue {
        let plain = JSONValue.string(EscapedText.unescaped(text))
        switch form {
        case .text: return plain
        case .boolean: return ["true", "false"].contains(text) ? .boolean(text == "true") : plain
        case .number: return FieldValue.number(text[...]) ?? plain
        case .numbers:
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let numbers = words.compactMap { FieldValue.number($0) }
            return numbers.count == words.count ? .array(numbers) : plain
        }
    }

    private static func number(_ text: Substring) -> JSONValue? {
        guard let value = try? JSONValue.read(Array(text.utf8)), case .number = value else {
            return nil
        }
        return value
    }
}

/// Which parts of a document are meant.
enum Target: Hashable, Sendable {
    /// Parts by what they are called: a name, a number, a label or `all`.
    case word(String)
    /// Parts by the values of their keys, all of which must be so.
    case selector([KeyValue])

    /// The target as it was typed.
    var text: String {
        switch self {
        case .word(let word): word
        case .selector(let pairs): pairs.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
    }
}

/// A word such as `color=#fc0`.
struct KeyValue: Hashable, Sendable {
    /// What is before the first `=`.
    let key: String
    /// What is after it.
    let value: String

    /// The parts of a word; nil if what is before a `=` could not be a key.
    init?(_ word: String) {
        // By scalars: a mark that the value begins with makes one character of itself and the `=`.
        guard let sign = word.unicodeScalars.firstIndex(of: "=") else { return nil }
        key = String(word[..<sign])
        value = String(word[word.unicodeScalars.index(after: sign)...])
        let isKey = key.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
        guard isKey, let first = key.first, first.isLetter else { return nil }
    }

    /// The pairs of a word with blanks in it, as of a selector that was quoted as a whole; nil if
    /// what is between blanks is not a pair each time.
    static func all(in word: String) -> [KeyValue]? {
        let pairs = word.split(separator: " ").map { KeyValue(String($0)) }
        return pairs.contains(nil) ? nil : pairs.compactMap { $0 }
    }
}

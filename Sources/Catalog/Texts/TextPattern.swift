/// Words that are looked for, as an expression of FTS5. Pure.
package struct TextPattern: Sendable, Equatable {
    /// Never a fault of syntax: what people write is only ever quoted in it.
    package let expression: String

    /// Words anywhere in a document, and in its title; nil if there are none in either.
    package init?(text: String?, title: String?) {
        let parts = Self.phrases(text ?? "") + Self.phrases(title ?? "").map { "title : " + $0 }
        if parts.isEmpty { return nil }
        expression = parts.joined(separator: " AND ")
    }

    /// Each word as the beginning of one, what stands in quotation marks as it is; both as they are
    /// kept (``TextDatabase/kept(_:)``).
    private static func phrases(_ text: String) -> [String] {
        var phrases: [String] = []
        // Not by characters: a quotation mark with an accent behind it would be another one.
        for (index, part) in text.unicodeScalars.split(
            separator: "\"", omittingEmptySubsequences: false
        ).enumerated() {
            let isWhole = index % 2 == 1
            let words = isWhole ? [part] : part.split(whereSeparator: \.properties.isWhitespace)
            for word in words.lazy.map({ TextDatabase.kept(String($0)) }) where hasWords(word) {
                phrases.append("\"\(word)\"" + (isWhole ? "" : " *"))
            }
        }
        return phrases
    }

    /// FTS5 takes a phrase of nothing but marks for one that nothing has. What it takes for words are
    /// letters and numbers, and not the symbols that are made of letters.
    private static func hasWords(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter,
                .decimalNumber, .letterNumber, .otherNumber, .privateUse:
                true
            default: false
            }
        }
    }
}

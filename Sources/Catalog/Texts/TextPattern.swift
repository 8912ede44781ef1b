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
        for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false)
            .enumerated()
        {
            let isWhole = index % 2 == 1
            let words = isWhole ? [part] : part.split(whereSeparator: \.isWhitespace)
            for word in words.lazy.map({ TextDatabase.kept(String($0)) }) where hasWords(word) {
                phrases.append("\"\(word)\"" + (isWhole ? "" : " *"))
            }
        }
        return phrases
    }

    /// FTS5 takes a phrase of nothing but marks for one that everything or nothing has.
    private static func hasWords(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        } && !text.utf8.contains(0)
    }
}

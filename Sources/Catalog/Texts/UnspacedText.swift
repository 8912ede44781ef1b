/// Texts in scripts that put no spaces between words. Pure.
enum UnspacedText {
    /// The text with each character of such scripts as a word of its own.
    ///
    /// FTS5 takes all that stands between two marks for one word, and words are found by their
    /// beginnings: of a sentence in Chinese or Japanese nothing but its beginning would be found. So
    /// what is kept and what is looked for are taken apart alike; the characters that are looked for
    /// have to stand together then, wherever that is.
    static func apart(_ text: String) -> String {
        // All of them begin with one of these bytes; most texts have none.
        guard text.utf8.contains(where: { (0xe3...0xf0).contains($0) }) else { return text }
        var result = String.UnicodeScalarView()
        var follows = false
        for scalar in text.unicodeScalars {
            let isAlone = isUnspaced(scalar.value)
            if isAlone || follows { result.append(" ") }
            result.append(scalar)
            follows = isAlone
        }
        return String(result)
    }

    /// Han with its marks of repetition, Hiragana and Katakana. Korean has spaces.
    private static func isUnspaced(_ value: UInt32) -> Bool {
        switch value {
        case 0x3005...0x3007, 0x3040...0x30ff, 0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
            0xf900...0xfaff, 0x20000...0x3ffff:
            true
        default: false
        }
    }
}

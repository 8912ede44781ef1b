/// Texts in scripts that put no spaces between words. Pure.
enum UnspacedText {
    /// The text with each character of such scripts as a word of its own.
    ///
    /// FTS5 takes all that stands between two marks for one word, and words are found by their
    /// beginnings: of a sentence in Chinese or Japanese nothing but its beginning would be found. So
    /// what is kept and what is looked for are taken apart alike; the characters that are looked for
    /// have to stand together then, wherever that is.
    ///
    /// Of Thai and its like a mark goes with the letter before it. FTS5 takes such marks for spaces, so that all
    /// that differ in nothing else would be found: a letter for private use stands for each of them.
    static func apart(_ text: String) -> String {
        // All of them begin with one of these bytes; most texts have none.
        guard text.utf8.contains(where: { 0xe0...0xe1 ~= $0 || 0xe3...0xf0 ~= $0 }) else {
            return text
        }
        var result = String.UnicodeScalarView()
        var follows = false
        for scalar in text.unicodeScalars {
            if follows, let letter = letter(for: scalar) {
                result.append(letter)
                continue
            }
            let isAlone = isUnspaced(scalar)
            if isAlone || follows { result.append(" ") }
            result.append(scalar)
            follows = isAlone
        }
        return String(result)
    }

    /// Han with its marks of repetition, Hiragana and Katakana, and the letters of Thai, Lao, Burmese and
    /// Khmer. Korean has spaces.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3005...0x3007, 0x3040...0x30ff, 0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
            0xf900...0xfaff, 0x20000...0x3ffff:
            true
        case 0xe00...0xeff, 0x1000...0x109f, 0x1780...0x17ff:
            scalar.properties.generalCategory == .otherLetter
        default: false
        }
    }

    /// What stands for a mark of Thai and its like; `nil` of anything else.
    private static func letter(for scalar: Unicode.Scalar) -> Unicode.Scalar? {
        let first: UInt32 =
            switch scalar.value {
            case 0xe00...0xeff: 0xe000
            case 0x1000...0x109f: 0xe100
            case 0x1780...0x17ff: 0xe200
            default: 0
            }
        guard first > 0,
            [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
        else { return nil }
        return Unicode.Scalar(first + scalar.value & 0xff)
    }
}

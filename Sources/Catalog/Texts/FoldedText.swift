/// Letters as words are compared by: without what SQLite's `unicode61` leaves on them. Pure.
///
/// That takes accents from Latin letters, and marks that stand behind any letter by themselves; letters
/// of other scripts that have theirs in them, and those that are written as two in capitals, it keeps.
/// Marks that make another letter, and letters that stand together in one, are ``ComposedText``.
enum FoldedText {
    /// The text with plain letters; marks in Arabic and Hebrew are left out, which would take words apart.
    static func folded(_ text: String) -> String {
        // None of what is changed begins with a byte below.
        guard text.utf8.contains(where: { $0 >= 0xc3 }) else { return text }
        var result = String.UnicodeScalarView()
        var isChanged = false
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0xdf, 0x370...0x52f, 0x622...0x626, 0x6c0...0x6d3, 0x1e9e, 0x1f00...0x1fff,
                0xfb00...0xfb06, 0xfb1d...0xfb4e:
                guard let plain = letters[scalar] else {
                    result.append(scalar)
                    continue
                }
                result.append(contentsOf: plain.unicodeScalars)
            case 0x591...0x5bd, 0x5bf, 0x5c1, 0x5c2, 0x5c4, 0x5c5, 0x5c7, 0x610...0x61a, 0x640,
                0x64b...0x65f, 0x670, 0x6d6...0x6dc, 0x6df...0x6e4, 0x6e7, 0x6e8, 0x6ea...0x6ed:
                break
            default:
                result.append(scalar)
                continue
            }
            isChanged = true
        }
        return isChanged ? String(result) : text
    }

    /// What stands for letters that have a mark in them, or are several.
    private static let letters: [Unicode.Scalar: String] = {
        var letters: [Unicode.Scalar: String] = [
            "ß": "ss", "ẞ": "SS", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl",
            "ﬅ": "st",
            "ﬆ": "st",
        ]
        // A letter with a mark is the same character as the two in a row.
        var plain: [Character: Unicode.Scalar] = [:]
        for (bases, marks) in [
            (cyrillic, cyrillicMarks), (greek, greekMarks), (arabic, arabicMarks),
            (hebrew, hebrewMarks),
        ] {
            for base in bases.unicodeScalars {
                for mark in marks {
                    plain[Character(String(base) + mark)] = base
                }
            }
        }
        for range in [
            0x370...0x52f, 0x622...0x626, 0x6c0...0x6d3, 0x1f00...0x1fff, 0xfb1d...0xfb4e,
        ] as [ClosedRange<UInt32>] {
            for scalar in range.lazy.compactMap(Unicode.Scalar.init) {
                if let base = plain[Character(scalar)] { letters[scalar] = String(base) }
            }
        }
        return letters
    }()

    private static let cyrillic =
        "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзиклмнопрстуфхцчшщъыьэюяІіѴѵӘәӨө"
    private static let cyrillicMarks = [
        "\u{300}", "\u{301}", "\u{304}", "\u{306}", "\u{308}", "\u{30f}",
    ]
    private static let greek = "ΑΕΗΙΟΡΥΩαεηιορυωϒ"
    private static let greekMarks: [String] = {
        let breathings = ["", "\u{313}", "\u{314}", "\u{308}", "\u{304}", "\u{306}"]
        let accents = ["", "\u{300}", "\u{301}", "\u{342}"]
        return breathings.flatMap { breathing in
            accents.flatMap { accent in
                ["", "\u{345}"].map { breathing + accent + $0 }
            }
        }
    }()

    private static let arabic = "\u{627}\u{648}\u{64a}\u{6c1}\u{6d2}\u{6d5}"
    private static let arabicMarks = ["\u{653}", "\u{654}", "\u{655}"]
    private static let hebrew = "אבגדהוזטיךכלמנסףפצקרשת\u{5f2}"
    private static let hebrewMarks = [
        "\u{5b4}", "\u{5b7}", "\u{5b8}", "\u{5b9}", "\u{5bc}", "\u{5bf}", "\u{5c1}", "\u{5c2}",
        "\u{5bc}\u{5c1}", "\u{5bc}\u{5c2}",
    ]
}

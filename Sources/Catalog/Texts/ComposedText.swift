/// Letters of Korean and Japanese as one character each, also where a text has them as several in a row. Pure.
///
/// File systems and programs of other makers take them apart: a syllable into its letters, a Kana into a
/// plain one and the mark of its sound. SQLite's `unicode61` leaves out such a mark, as it does accents, but
/// this one makes another letter.
enum ComposedText {
    /// The text with each of these letters as one.
    static func composed(_ text: String) -> String {
        // What is changed begins with one of these bytes; most texts have none.
        guard text.utf8.contains(where: { $0 == 0xe1 || $0 == 0xe3 }) else { return text }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if let first = last, let whole = joined(first, scalar) {
                result.removeLast()
                result.append(whole)
                last = whole
            } else {
                result.append(scalar)
                last = scalar
            }
        }
        return String(result)
    }

    /// What two characters in a row are as one; `nil` if they are two.
    private static func joined(
        _ first: Unicode.Scalar, _ second: Unicode.Scalar
    ) -> Unicode.Scalar? {
        switch (first.value, second.value) {
        case (0x1100...0x1112, 0x1161...0x1175):
            let initial = first.value - 0x1100
            return Unicode.Scalar(0xac00 + (initial * 21 + second.value - 0x1161) * 28)
        case (0xac00...0xd7a3, 0x11a8...0x11c2) where (first.value - 0xac00) % 28 == 0:
            return Unicode.Scalar(first.value + second.value - 0x11a7)
        case (0x3040...0x30ff, 0x3099...0x309a):
            return voiced[Character(String(first) + String(second))]
        default: return nil
        }
    }

    /// The Kana that have a mark in them; such a letter is the same character as the two in a row.
    private static let voiced: [Character: Unicode.Scalar] = {
        let kana = (0x3041...0x30ff as ClosedRange<UInt32>).lazy.compactMap(Unicode.Scalar.init)
        return Dictionary(kana.map { (Character($0), $0) }) { first, _ in first }
    }()
}

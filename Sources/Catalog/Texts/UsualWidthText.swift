/// Letters and digits that East Asian texts have in another width than the usual one: Latin ones as wide as a
/// Kanji, Katakana half as wide. Pure.
enum UsualWidthText {
    /// The text with each of these letters in its usual width; the mark of a Kana's sound, which stands behind
    /// a half one by itself, as the mark that goes with a whole one. Signs stay: none of them is part of a word.
    static func widened(_ text: String) -> String {
        // All of them begin with this byte; most texts have none.
        guard text.utf8.contains(0xef) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0xff10...0xff19, 0xff21...0xff3a, 0xff41...0xff5a:
                result.append(Unicode.Scalar(scalar.value - 0xfee0) ?? scalar)
            case 0xff66...0xff9f: result.append(kana[Int(scalar.value - 0xff66)])
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// What stands for the half ones, in their order.
    private static let kana = Array(
        ("ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
            + "\u{3099}\u{309a}").unicodeScalars)
}

/// Texts on one line: `\n` is a line end, `\t` a tab, `\r` a carriage return, `\\` a backslash.
enum EscapedText {
    /// The text with its line ends, tabs and backslashes written out.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { escapes[$0] != nil }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let letter = escapes[scalar] {
                result.append("\\")
                result.append(letter)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The text that was written out. A backslash before any other character stays.
    static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                if let meant = escapes.first(where: { $0.value == scalar })?.key {
                    result.append(meant)
                } else {
                    result.append("\\")
                    result.append(scalar)
                }
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.append(scalar)
            }
        }
        if isEscaped { result.append("\\") }
        return String(result)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\n": "n", "\t": "t", "\r": "r", "\\": "\\",
    ]
}

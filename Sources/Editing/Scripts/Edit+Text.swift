extension Edit {
    /// Words as one line that a shell and a script take apart into the same words again; a line end in
    /// a word becomes `\n`, which stands for one in texts.
    public static func text(of words: [String]) -> String {
        var shown = words.map(quoted)
        // The first says where options end.
        if let index = words.firstIndex(where: isLikeOption) { shown.insert("--", at: index) }
        return shown.joined(separator: " ")
    }

    /// Whether the command line would take a word for an option, or for the end of them.
    private static func isLikeOption(_ word: String) -> Bool {
        word.hasPrefix("--") || ["-n", "-h"].contains(word)
    }

    /// A text as a word of an edit that reads it as that text: its line ends, tabs and backslashes
    /// are written out.
    public static func word(of text: String) -> String { EscapedText.escaped(text) }

    private static func quoted(_ word: String) -> String {
        let line = word.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .joined(separator: "\\n")
        if !line.isEmpty, line.unicodeScalars.allSatisfy(isPlain) { return line }
        return "'" + line.replacing("'", with: "'\\''") + "'"
    }

    /// Whether a character says nothing to shells and scripts wherever it stands.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "%+,-./:=@_".unicodeScalars.contains(scalar)
        }
        return scalar.properties.isAlphabetic
    }
}

/// Words after a verb that begin with a minus sign and can be no options, such as `-1,0,0` or `- milk`.
///
/// The parser takes what follows one minus sign for short options, a letter each, and refuses a word
/// for the others when one of them is there. So it does not get to see that sign.
enum DashedWords {
    /// What hides the sign: no command line can hold it.
    private static let mark: Character = "\0"
    /// The options of verbs that a value follows.
    private static let valued: Set = ["--type", "--in"]

    /// A command line as the parser may see it.
    static func hidden(_ words: [String]) -> [String] {
        guard let verb = words.first, VerbHelp.configurations[verb] != nil else { return words }
        let end = words.firstIndex(of: "--") ?? words.count
        return words.indices.map { index in
            let isWord = index >= 2 && index < end && !valued.contains(words[index - 1])
            return isWord && isNoOption(words[index]) ? "\(mark)\(words[index])" : words[index]
        }
    }

    /// A word as it was typed.
    static func shown(_ word: String) -> String {
        word.first == mark ? String(word.dropFirst()) : word
    }

    private static func isNoOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), !word.hasPrefix("--"),
            let second = word.unicodeScalars.dropFirst().first
        else { return false }
        let isLetter = second.isASCII && second.properties.isAlphabetic
        return !isLetter || word.unicodeScalars.contains { $0.properties.isWhitespace }
    }
}

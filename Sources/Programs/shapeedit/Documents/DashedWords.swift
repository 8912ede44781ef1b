import Editing
import Model

/// Words after a verb that begin with a minus sign and can be no options, such as `-1,0,0` or `- milk`.
///
/// The parser takes what follows one minus sign for short options, a letter each, and refuses a word
/// for the others when one of them is there, and `--- milk` in any case. So it does not get to see that
/// sign.
enum DashedWords {
    /// What hides the sign: no command line can hold it.
    private static let mark: Character = "\0"
    /// The options of verbs that a value follows.
    private static let valued: Set = ["--type", "--in"]

    /// The short options of verbs, which are given one by one.
    private static let short: Set = ["-n", "-h"]
    /// The long ones that every verb has.
    private static let long = ["--dry-run", "--json", "--type", "--help"]

    /// The word that the parser took for a wish for help, since one of its letters is that option:
    /// `-dash.shape`. Nil where help was asked for.
    static func mistaken(_ words: [String]) -> String? {
        let words = words.prefix { $0 != "--" }
        let asking: Set = ["-h", "-help", "--help", "--help-hidden", "--version", "help"]
        guard asking.isDisjoint(with: words) else { return nil }
        return words.first { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains("h") }
    }

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
        word.hasPrefix("-") && word != "-" && !short.contains(word) && !isLikeOption(word)
    }

    /// Makes sure that no word is one that an option was meant by. Whoever mistypes `--dry-run` does not
    /// want a text that says so, and all else to be done.
    ///
    /// - Parameter words: those after a verb that the parser found no option in, before any `--`.
    static func check(_ words: some Sequence<String>) throws(Failure) {
        guard let word = words.first(where: { isLikeOption($0) || isLong("-" + $0) }) else {
            return
        }
        let name = String(word.prefix { $0 != "=" })
        // The dashes are no letters that could be right.
        let near = NearNames.nearest(
            to: String(name.drop { $0 == "-" }), among: long.map { String($0.dropFirst(2)) }
        ).map { "did you mean --\($0)? For" }
        throw Failure(
            .usage,
            "there is no option \(name); \(near ?? "for") a text that begins so write -- before it")
    }

    private static func isLong(_ word: String) -> Bool {
        long.contains(String(word.prefix { $0 != "=" }))
    }

    private static func isLikeOption(_ word: String) -> Bool {
        guard word.hasPrefix("--"), word.dropFirst(2).first?.isLetter == true else { return false }
        return word.prefix { $0 != "=" }.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
    }
}

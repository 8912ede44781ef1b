import Documents

/// One edit: a verb of `Verb.all` and the words after it.
public struct Edit: Hashable, Sendable {
    /// The verb and the words after it.
    public let words: [String]
    /// The line of the script it stands in, counted from 1; nil outside of scripts.
    public let line: Int?

    let verb: Verb

    /// An edit of its words; an error if the first is no verb.
    public init(words: [String]) throws(EditError) { try self.init(words: words, line: nil) }

    init(words: [String], line: Int?) throws(EditError) {
        guard let name = words.first else {
            throw EditError(.usage, line: line, "a verb is expected, such as set or add")
        }
        guard let verb = Verb.all.first(where: { $0.name == name }) else {
            throw EditError(
                .usage, line: line,
                TaskList.actions.contains(name)
                    ? "'\(name)' is something to do with a list: say 'list \(name)'"
                    : NearNames.unknown("verb", name, among: Verb.all.map(\.name)))
        }
        self.init(verb: verb, words: words, line: line)
    }

    init(verb: Verb, words: [String], line: Int?) {
        self.verb = verb
        self.words = words
        self.line = line
    }

    /// The edits of a script: one a line, words apart by blanks, with the quotes of a shell (`'` as
    /// it stands, `"` with `\"` and `\\`), `\` before a single character, and comments from a `#`
    /// that begins a word and is not a colour, to the end of the line. Blank lines do nothing.
    /// Errors carry the line.
    public static func script(_ text: String) throws(EditError) -> [Edit] {
        var edits: [Edit] = []
        var line = 0
        for content in text.unicodeScalars.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" })
        {
            line += 1
            var words: [String]
            do throws(EditError) {
                var reader = ScriptLine(content)
                words = try reader.words()
            } catch {
                throw error.at(line: line)
            }
            if !words.isEmpty { edits.append(try Edit(words: words, line: line)) }
        }
        return edits
    }
}

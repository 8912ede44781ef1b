/// Takes the words after a verb one by one.
struct Arguments {
    private let verb: Verb
    /// The forms of the verb; of one that has a second word, those of that.
    private let forms: [String]
    private(set) var rest: ArraySlice<String>

    init(_ edit: Edit) {
        verb = edit.verb
        rest = edit.words.dropFirst()
        let opening = edit.words.prefix(2).joined(separator: " ")
        let own = verb.usage.filter { $0 == opening || $0.hasPrefix(opening + " ") }
        forms = own.isEmpty ? verb.usage : own
    }

    /// Keys that say how and not which: they never belong to a selector.
    private static let options: Set = ["by", "to", "fill", "stroke", "join"]

    var isEmpty: Bool { rest.isEmpty }

    /// An error that shows how the verb is used.
    func misuse(_ reason: String) -> EditError {
        EditError(
            .usage, at: verb.name, "\(reason); usage: \(forms.joined(separator: " | "))")
    }

    /// The next word, whatever it is.
    mutating func next(_ what: String) throws(EditError) -> String {
        guard let word = rest.popFirst() else { throw misuse("\(what) is missing") }
        return word
    }

    /// The last word, with a target before it. Which of both a single word is cannot be told.
    mutating func last(_ what: String) throws(EditError) -> String {
        guard let word = rest.popLast() else { throw misuse("TARGET is missing") }
        guard !rest.isEmpty else {
            throw misuse("'\(word.prefix(64))' where a TARGET and then \(what) is expected")
        }
        return word
    }

    /// Makes sure that nothing is left over.
    func end() throws(EditError) {
        if let word = rest.first { throw misuse("'\(word.prefix(64))' is one word too many") }
    }

    /// The next word without its key, if it is one of these options.
    mutating func option(_ keys: Set<String>) -> KeyValue? {
        guard let word = rest.first, let pair = KeyValue(word), keys.contains(pair.key) else {
            return nil
        }
        rest.removeFirst()
        return pair
    }

    /// The next target; at least so many words are left after it.
    mutating func target(leaving count: Int = 0) throws(EditError) -> Target {
        var pairs: [KeyValue] = []
        while rest.count > (pairs.isEmpty ? 0 : count),
            let pair = rest.first.flatMap({ KeyValue($0) }),
            !Arguments.options.contains(pair.key)
        {
            pairs += KeyValue.all(in: rest.removeFirst()) ?? [pair]
        }
        if !pairs.isEmpty { return .selector(pairs) }
        return .word(try next("TARGET"))
    }

    /// All targets that are left, at least one.
    mutating func targets() throws(EditError) -> [Target] {
        var targets = [try target()]
        while !rest.isEmpty, option(for: rest.first) == nil { targets.append(try target()) }
        return targets
    }

    private func option(for word: String?) -> KeyValue? {
        guard let pair = word.flatMap({ KeyValue($0) }) else { return nil }
        return Arguments.options.contains(pair.key) ? pair : nil
    }
}

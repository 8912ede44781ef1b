/// What a line of Markdown says.
public enum MarkdownText {
    /// Links and the like are looked for nearby only, so that a text of brackets costs no more than its
    /// length.
    private static let reach = 300

    /// Text without the marks of emphasis, with links as their words, and without pictures and the tags of
    /// HTML. A mark without its end stays.
    public static func withoutMarks(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        var previous: Character = " "
        while let character = rest.first {
            defer { previous = character }
            if character == "\\", let next = rest.dropFirst().first, next.isPunctuation {
                result.append(next)
                rest = rest.dropFirst(2)
            } else if character == "`" {
                let (code, after) = code(rest)
                result += code
                rest = after
            } else if character == "*", previous != " " || rest.dropFirst().first != " " {
                // A star between blanks is no mark.
                rest = rest.dropFirst()
            } else if character == "!", let picture = link(rest.dropFirst()) {
                rest = picture.rest
            } else if character == "[", let link = link(rest) {
                result += withoutMarks(String(link.words))
                rest = link.rest
            } else if character == "<", let tag = tag(rest) {
                result += tag.words
                rest = tag.rest
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// What a heading says that follows on the marks that begin it, without those that may end it; these are
    /// behind a blank, as in `C#` they are not.
    public static func heading(_ line: Substring) -> String {
        func trimmed(_ text: Substring) -> Substring {
            let end = text.lastIndex { $0 != " " && $0 != "\t" }
            return end.map { text[...$0] } ?? ""
        }
        let text = trimmed(line.drop { $0 == " " })
        guard let last = text.lastIndex(where: { $0 != "#" }) else { return "" }
        return String(text[last] == " " ? trimmed(text[...last]) : text)
    }

    /// What stands between marks of code at the start of a text, as it is, and what follows; without its end
    /// only the marks are left out.
    private static func code(_ text: Substring) -> (words: Substring, rest: Substring) {
        let marks = text.prefix { $0 == "`" }
        let after = text[marks.endIndex...]
        var near = after.prefix(reach)
        while let start = near.firstIndex(of: "`") {
            let run = near[start...].prefix { $0 == "`" }
            if run.count == marks.count {
                return (after[..<start], text[run.endIndex...])
            }
            near = near[run.endIndex...]
        }
        return ("", after)
    }

    /// The words of a link at the start of a text and what follows it. There may be another link, or a
    /// picture, in the words, and brackets in the address.
    private static func link(_ text: Substring) -> (words: Substring, rest: Substring)? {
        let near = text.prefix(reach)
        guard let close = end(near, of: "[", with: "]") else { return nil }
        guard let end = end(near[close...].dropFirst(), of: "(", with: ")") else { return nil }
        return (near[..<close].dropFirst(), text[text.index(after: end)...])
    }

    /// Where the bracket is closed that a text begins with.
    private static func end(
        _ text: Substring, of opening: Character, with closing: Character
    ) -> Substring.Index? {
        guard text.first == opening else { return nil }
        var depth = 0
        for index in text.indices {
            if text[index] == opening { depth += 1 }
            if text[index] == closing { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// A tag at the start of a text, which says nothing, or an address in such brackets.
    private static func tag(_ text: Substring) -> (words: Substring, rest: Substring)? {
        let near = text.prefix(reach)
        guard let end = near.firstIndex(of: ">") else { return nil }
        let body = near[..<end].dropFirst()
        guard let first = body.first, first.isLetter && first.isASCII || first == "/" else {
            return nil
        }
        let isAddress = !body.contains(" ") && (body.contains("://") || body.contains("@"))
        return (isAddress ? body : "", text[text.index(after: end)...])
    }
}

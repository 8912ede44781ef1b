/// A piece of a page that is set as one.
struct PageBlock: Equatable {
    enum Kind: Equatable {
        case paragraph
        /// 1 is the highest.
        case heading(level: Int)
        /// With what stands before it, at a depth of 0 and more.
        case item(mark: String, depth: Int)
        case quote
        case code
        case rule
    }

    var kind: Kind
    var text: String

    /// The blocks of a page, at most as many as one page can show.
    static func blocks(of page: Page) -> [PageBlock] {
        let lines = page.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .prefix(limit)
        switch page.markup {
        case .plain: return lines.map { PageBlock(kind: .paragraph, text: String($0)) }
        case .markdown:
            var reader = MarkdownBlocks()
            for line in lines { reader.read(String(line.prefix(PictureLimits.characters))) }
            return reader.finished()
        }
    }

    /// The lines of a text that are looked at.
    private static let limit = 400
}

/// Reads the blocks of a Markdown text line by line: what a small picture of it needs.
struct MarkdownBlocks {
    private var blocks: [PageBlock] = []
    private var open: PageBlock?
    /// What ends the code that is being read.
    private var fence: Substring?

    mutating func read(_ line: String) {
        let body = line.drop { $0 == " " || $0 == "\t" }
        if let fence {
            if body.hasPrefix(fence) {
                self.fence = nil
                close()
            } else {
                extend(.code, with: line, by: "\n")
            }
            return
        }
        if body.hasPrefix("```") || body.hasPrefix("~~~") {
            close()
            fence = body.prefix(3)
        } else if body.isEmpty {
            close()
        } else if let level = Self.headingLevel(body) {
            add(.heading(level: level), Self.heading(body.dropFirst(level)))
        } else if Self.isUnderline(body, of: "="), open?.kind == .paragraph {
            open?.kind = .heading(level: 1)
            close()
        } else if Self.isUnderline(body, of: "-") || Self.isUnderline(body, of: "*") {
            if open?.kind == .paragraph, body.hasPrefix("-") {
                open?.kind = .heading(level: 2)
                close()
            } else {
                add(.rule, "")
            }
        } else if let (mark, text) = Self.item(body) {
            close()
            let depth = min((line.count - body.count) / 2, 4)
            open = PageBlock(kind: .item(mark: mark, depth: depth), text: text)
        } else if body.hasPrefix(">") {
            let text = String(body.drop { $0 == ">" || $0 == " " })
            extend(.quote, with: text, by: " ")
        } else {
            extend(open.map(\.kind) ?? .paragraph, with: String(body), by: " ")
        }
    }

    mutating func finished() -> [PageBlock] {
        close()
        return blocks
    }

    private mutating func add(_ kind: PageBlock.Kind, _ text: String) {
        close()
        open = PageBlock(kind: kind, text: text)
        close()
    }

    private mutating func extend(_ kind: PageBlock.Kind, with text: String, by separator: String) {
        if open?.kind == kind {
            open?.text += separator + text
        } else {
            close()
            open = PageBlock(kind: kind, text: text)
        }
    }

    private mutating func close() {
        guard var block = open else { return }
        open = nil
        if block.kind != .code { block.text = Self.withoutMarks(block.text) }
        blocks.append(block)
    }

    private static func headingLevel(_ line: Substring) -> Int? {
        let level = line.prefix { $0 == "#" }.count
        return (1...6).contains(level) && line.dropFirst(level).first == " " ? level : nil
    }

    /// What a heading says, without the marks that may end it; those are behind a blank, as in `C#` they
    /// are not.
    private static func heading(_ line: Substring) -> String {
        func trimmed(_ text: Substring) -> Substring {
            let end = text.lastIndex { $0 != " " && $0 != "\t" }
            return end.map { text[...$0] } ?? ""
        }
        let text = trimmed(line.drop { $0 == " " })
        guard let last = text.lastIndex(where: { $0 != "#" }) else { return "" }
        return String(text[last] == " " ? trimmed(text[...last]) : text)
    }

    private static func isUnderline(_ line: Substring, of mark: Character) -> Bool {
        line.count >= 3 && line.allSatisfy { $0 == mark || $0 == " " }
    }

    private static func item(_ line: Substring) -> (mark: String, text: String)? {
        for (start, mark) in [
            ("- [ ] ", "\u{2610}"), ("- [x] ", "\u{2611}"), ("- ", "•"), ("* ", "•"), ("+ ", "•"),
        ] where line.hasPrefix(start) {
            return (mark, String(line.dropFirst(start.count)))
        }
        let digits = line.prefix { $0.isASCII && $0.isNumber }
        let rest = line.dropFirst(digits.count)
        guard (1...9).contains(digits.count), rest.hasPrefix(". ") || rest.hasPrefix(") ") else {
            return nil
        }
        return (digits + String(rest.prefix(1)), String(rest.dropFirst(2)))
    }

    /// Text without the marks of emphasis and with links as their words. One pass; a mark without
    /// its end stays.
    static func withoutMarks(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        var previous: Character = " "
        while let character = rest.first {
            defer { previous = character }
            if character == "\\", let next = rest.dropFirst().first, next.isPunctuation {
                result.append(next)
                rest = rest.dropFirst(2)
            } else if "*`".contains(character), previous != " " || rest.dropFirst().first != " " {
                // A star between blanks is no mark.
                rest = rest.dropFirst()
            } else if character == "[", let link = Self.link(rest) {
                result += link.words
                rest = link.rest
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// The words of a link at the start of a text and what follows it. Looked for nearby only, so
    /// that a text of brackets costs no more than its length.
    private static func link(_ text: Substring) -> (words: Substring, rest: Substring)? {
        let near = text.prefix(300)
        guard let close = near.firstIndex(of: "]") else { return nil }
        let after = near[close...].dropFirst()
        guard after.first == "(", let end = after.firstIndex(of: ")") else { return nil }
        return (near[..<close].dropFirst(), text[text.index(after: end)...])
    }
}

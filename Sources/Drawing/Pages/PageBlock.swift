internal import Documents

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
        /// Rows as they are written, a line each.
        case table
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
            let matter = FrontMatter(of: lines)
            let body = lines.dropFirst(matter?.count ?? 0)
            for line in body { reader.read(String(line.prefix(PictureLimits.characters))) }
            let blocks = reader.finished()
            guard let title = matter?.title, blocks.first?.kind != .heading(level: 1) else {
                return blocks
            }
            return [PageBlock(kind: .heading(level: 1), text: title)] + blocks
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
    /// Whether a comment over several lines is being read.
    private var isInComment = false

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
        if isInComment || body.hasPrefix("<!--") {
            close()
            isInComment = !body.contains("-->")
        } else if body.hasPrefix("```") || body.hasPrefix("~~~") {
            close()
            fence = body.prefix(3)
        } else if body.isEmpty {
            close()
        } else if let level = Self.headingLevel(body) {
            add(.heading(level: level), MarkdownText.heading(body.dropFirst(level)))
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
        } else if body.hasPrefix("|") {
            // Without the row of lines below the head.
            if !body.allSatisfy({ "|-: \t".contains($0) }) {
                extend(.table, with: String(body), by: "\n")
            }
        } else if let (mark, text) = Self.item(body) {
            close()
            let depth = min((line.count - body.count) / 2, 4)
            open = PageBlock(kind: .item(mark: mark, depth: depth), text: text)
        } else if body.hasPrefix(">") {
            let text = String(body.drop { $0 == ">" || $0 == " " })
            extend(.quote, with: text, by: " ")
        } else {
            if open?.kind == .table { close() }
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
        if block.kind != .code {
            let isWritten = !block.text.isEmpty
            block.text = MarkdownText.withoutMarks(block.text)
            // Only pictures and tags.
            if isWritten, block.text.allSatisfy(\.isWhitespace) { return }
        }
        blocks.append(block)
    }

    private static func headingLevel(_ line: Substring) -> Int? {
        let level = line.prefix { $0 == "#" }.count
        return (1...6).contains(level) && line.dropFirst(level).first == " " ? level : nil
    }

    private static func isUnderline(_ line: Substring, of mark: Character) -> Bool {
        line.count >= 3 && line.allSatisfy { $0 == mark || $0 == " " }
    }

    private static func item(_ line: Substring) -> (mark: String, text: String)? {
        if let bullet = line.first, "-*+".contains(bullet), line.dropFirst().first == " " {
            let text = line.dropFirst(2)
            for (box, mark) in [
                ("[ ] ", "\u{2610}"), ("[x] ", "\u{2611}"), ("[X] ", "\u{2611}"),
            ]
            where text.hasPrefix(box) {
                return (mark, String(text.dropFirst(box.count)))
            }
            return ("•", String(text))
        }
        let digits = line.prefix { $0.isASCII && $0.isNumber }
        let rest = line.dropFirst(digits.count)
        guard (1...9).contains(digits.count), rest.hasPrefix(". ") || rest.hasPrefix(") ") else {
            return nil
        }
        return (digits + String(rest.prefix(1)), String(rest.dropFirst(2)))
    }
}

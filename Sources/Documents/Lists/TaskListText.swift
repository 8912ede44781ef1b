// Lists as text that other programs understand. It is taken apart by Unicode scalars: a combining
// mark at the beginning of an item would make one character of itself and the blank before it.
extension TaskList {
    /// The items as GitHub's task lines: `- [ ] milk` and `- [x] bread`, each with a line end.
    public var taskLines: String {
        items.map { "- [\($0.isComplete ? "x" : " ")] \(TaskList.oneLine($0.text))\n" }.joined()
    }

    /// Items from text: GitHub's task lines, todo.txt (`x ` is done, the dates after it are left
    /// out), lines with a bullet, and bare lines. Lines without text are left out. What is open comes
    /// first, as in every list of the original app; the lines' order decides otherwise.
    public static func items(from text: String) throws(DocumentError) -> [TaskItem] {
        var items: [TaskItem] = []
        for line in try lines(of: text) {
            let item = item(from: line.unicodeScalars[...])
            if item.text.isEmpty { continue }
            // Not the line, which has its mark as well.
            try check(item.text)
            items.append(item)
        }
        return items.filter { !$0.isComplete } + items.filter(\.isComplete)
    }

    /// Whether a text has no line end, as that of an item should.
    public static func isOneLine(_ text: String) -> Bool {
        !text.unicodeScalars.contains(where: \.isLineEnd)
    }

    /// A text without line ends, which an item cannot have.
    static func oneLine(_ text: String) -> String {
        if isOneLine(text) { return text }
        let lines = text.unicodeScalars.split(whereSeparator: \.isLineEnd)
        return lines.map { String($0) }.joined(separator: " ")
    }

    /// The lines that are not blank, without the blanks around them.
    static func lines(of text: String) throws(DocumentError) -> [String] {
        guard text.utf8.count <= Limits.interchangeBytes else {
            throw DocumentError(
                .tooLarge,
                "\(text.utf8.count) bytes, of which at most \(Limits.interchangeBytes) are read")
        }
        var lines: [String] = []
        for line in text.unicodeScalars.split(whereSeparator: \.isLineEnd) {
            let trimmed = trimmed(line)
            if !trimmed.isEmpty { lines.append(trimmed) }
        }
        return lines
    }

    fileprivate typealias Scalars = Substring.UnicodeScalarView

    private static func item(from line: Scalars) -> TaskItem {
        if line.starts(with: "x ".unicodeScalars) {
            return TaskItem(trimmed(withoutDates(line.dropFirst(2))), isComplete: true)
        }
        let bullets: [Unicode.Scalar] = ["-", "*", "+", "\u{2022}"]
        // One with nothing behind it has no text; the blank is gone with those around the line.
        guard let first = line.first, bullets.contains(first),
            line.dropFirst().first?.properties.isWhitespace ?? true
        else { return marked(line) ?? TaskItem(String(line)) }
        let rest = line.dropFirst().drop { $0.properties.isWhitespace }
        return marked(rest) ?? TaskItem(trimmed(rest))
    }

    /// The item of a line with a box, such as `[x] bread`.
    private static func marked(_ line: Scalars) -> TaskItem? {
        for (box, isComplete) in [("[ ]", false), ("[x]", true), ("[X]", true)]
        where line.starts(with: box.unicodeScalars) {
            let rest = line.dropFirst(3)
            guard rest.first?.properties.isWhitespace ?? true else { return nil }
            return TaskItem(trimmed(rest), isComplete: isComplete)
        }
        return nil
    }

    /// What is left after the dates of completion and creation.
    private static func withoutDates(_ line: Scalars) -> Scalars {
        var rest = line
        for _ in 0..<2 {
            let word = rest.prefix { $0 != " " }
            let isDate =
                word.count == 10
                && word.enumerated().allSatisfy { index, scalar in
                    [4, 7].contains(index) ? scalar == "-" : ("0"..."9").contains(scalar)
                }
            guard isDate, word.endIndex != rest.endIndex else { break }
            rest = rest.dropFirst(word.count + 1)
        }
        return rest
    }

    fileprivate static func trimmed(_ text: Scalars) -> String {
        var rest = text.drop { $0.properties.isWhitespace }
        while rest.last?.properties.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}

extension TaskItem {
    /// Whether there are blanks around its text, which lines of text do not hold.
    public var isPadded: Bool {
        TaskList.trimmed(text.unicodeScalars[...]).utf8.count != text.utf8.count
    }
}

extension Unicode.Scalar {
    /// Whether it ends a line: the line ends of ASCII and those of Unicode.
    fileprivate var isLineEnd: Bool {
        (0x0a...0x0d).contains(value) || [0x85, 0x2028, 0x2029].contains(value)
    }
}

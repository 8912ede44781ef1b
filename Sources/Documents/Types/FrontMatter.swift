/// What stands before a Markdown text for the programs that make pages of it: lines of YAML between two of
/// `---`, or of TOML between two of `+++`, at the very beginning.
public struct FrontMatter: Equatable, Sendable {
    /// The lines it takes, those that enclose it included.
    public var count: Int
    /// What it says the text is called.
    public var title: String?

    /// Lines that it may have.
    private static let limit = 200

    /// That of a text; nil if it has none.
    public init?(of lines: some Collection<Substring>) {
        let lines = lines.prefix(Self.limit).map(\.trimmed)
        guard let mark = lines.first, mark == "---" || mark == "+++" else { return nil }
        let ends: [Substring] = mark == "---" ? ["---", "..."] : ["+++"]
        // A text may also begin with a line across it.
        let separator: Character = mark == "---" ? ":" : "="
        guard let end = lines.dropFirst().firstIndex(where: ends.contains),
            end == 1 || lines[1].contains(separator) || lines[1].hasPrefix("#")
        else { return nil }
        count = end + 1
        title = lines[1..<end].lazy.compactMap { Self.title($0, separator) }.first
    }

    private static func title(_ line: Substring, _ separator: Character) -> String? {
        guard line.hasPrefix("title"), let place = line.firstIndex(of: separator),
            line[..<place].trimmed == "title"
        else { return nil }
        var value = line[line.index(after: place)...].trimmed
        if let quote = value.first, "\"'".contains(quote), value.count > 1, value.last == quote {
            value = value.dropFirst().dropLast()
        }
        return value.isEmpty ? nil : String(value)
    }
}

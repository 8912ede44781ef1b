/// Files of text: which characters their bytes are, and what searching needs of them.
public enum PlainText {
    /// The text: UTF-8, UTF-16 or UTF-32 with a mark at its start, else Windows-1252, which has all of
    /// Latin-1. Nil if the bytes are no text, which zeros among them tell.
    ///
    /// - Parameter isPart: the bytes are the beginning of a longer text, and may end within a
    ///   character.
    public static func read(_ bytes: [UInt8], isPart: Bool) -> String? {
        switch UnicodeEncoding(mark: bytes) {
        case .utf16(let isBigEndian)?:
            return text(of: units(bytes, isBigEndian: isBigEndian), as: UTF16.self)
        case .utf32(let isBigEndian)?:
            return text(of: units(bytes, isBigEndian: isBigEndian), as: UTF32.self)
        case .utf8?, nil: return bytes.contains(0) ? nil : narrow(bytes, isPart: isPart)
        }
    }

    /// The facts of a text; its title is its first heading, or its first line.
    public static func facts(of text: String, isMarkdown: Bool) -> DocumentFacts {
        // The lines that can matter for it: a text may be one line of megabytes.
        let lines = text.prefix(4 << 10)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let title =
            isMarkdown
            ? markdownTitle(lines) : lines.lazy.map(trimmed).first { !$0.isEmpty }
        let words = String(decoding: text.utf8.prefix(Limits.searchTextBytes), as: UTF8.self)
        return DocumentFacts(title: DocumentType.title(title), text: words)
    }

    private static func markdownTitle(_ lines: [Substring]) -> String? {
        let matter = FrontMatter(of: lines)
        if let title = matter?.title { return title }
        var first: String?
        var isCode = false
        for line in lines.dropFirst(matter?.count ?? 0).lazy.map(trimmed) where !line.isEmpty {
            if line.hasPrefix("```") || line.hasPrefix("~~~") {
                isCode.toggle()
            } else {
                let isHeading = line.hasPrefix("#") && !isCode
                guard isHeading || first == nil else { continue }
                let heading = MarkdownText.heading(line.drop { $0 == "#" })
                let words = trimmed(MarkdownText.withoutMarks(isHeading ? heading : line)[...])
                // Some are pictures and tags.
                guard !words.isEmpty else { continue }
                first = words
                if isHeading { break }
            }
        }
        return first
    }

    private static func trimmed(_ line: Substring) -> String { String(line.trimmed) }

    private static func text<Encoding: UnicodeCodec>(
        of units: [Encoding.CodeUnit], as encoding: Encoding.Type
    ) -> String? where Encoding.CodeUnit: FixedWidthInteger {
        units.contains(0) ? nil : String(decoding: units, as: encoding)
    }

    /// The whole units behind the mark, which is one.
    private static func units<Unit: FixedWidthInteger>(
        _ bytes: [UInt8], isBigEndian: Bool
    ) -> [Unit] {
        let width = Unit.bitWidth / 8
        return stride(from: width, through: bytes.count - width, by: width).map { start in
            let unit = bytes[start..<start + width]
            return (isBigEndian ? Array(unit) : unit.reversed())
                .reduce(0) { $0 << 8 | Unit($1) }
        }
    }

    private static func narrow(_ bytes: [UInt8], isPart: Bool) -> String {
        // The end may be in the middle of a character, which makes no text invalid.
        let end = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
        let whole = isPart ? bytes[..<end] : bytes[...]
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = whole.starts(with: mark) ? whole.dropFirst(mark.count) : whole
        if let text = String(validating: body, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in body {
            text.append(Unicode.Scalar(windows1252: byte) ?? Unicode.Scalar(byte))
        }
        return String(text)
    }
}

/// The first page of a text, as a sheet of paper shows it.
public struct Page: Sendable, Equatable {
    /// How the text is to be read.
    public enum Markup: Sendable, Equatable {
        /// Line for line.
        case plain
        /// Headings, lists, quotes and code are set as such; marks of emphasis and links are left
        /// out. What is not known is shown as it is written.
        case markdown
    }

    /// The bytes of a text that can matter for its first page.
    public static let textBytes = 64 << 10

    let text: String
    let markup: Markup

    /// The page of a text; what is beyond ``textBytes`` is not looked at.
    public init(_ text: String, markup: Markup = .plain) {
        self.text = String(decoding: text.utf8.prefix(Self.textBytes), as: UTF8.self)
        self.markup = markup
    }

    /// The page of a text file: UTF-8, UTF-16 with a mark at its start, else Latin-1. Nil if the
    /// bytes are no text, which zeros among them tell.
    public init?(bytes: some Collection<UInt8>, markup: Markup = .plain) {
        let bytes = Array(bytes.prefix(Self.textBytes))
        switch bytes.prefix(2) {
        case [0xFF, 0xFE]: text = Self.wide(bytes.dropFirst(2)) { UInt16($0) | UInt16($1) << 8 }
        case [0xFE, 0xFF]: text = Self.wide(bytes.dropFirst(2)) { UInt16($0) << 8 | UInt16($1) }
        default:
            guard !bytes.contains(0) else { return nil }
            text = Self.narrow(bytes)
        }
        self.markup = markup
    }

    private static func wide(_ bytes: ArraySlice<UInt8>, _ unit: (UInt8, UInt8) -> UInt16) -> String
    {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
            unit(bytes[$0], bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static func narrow(_ bytes: [UInt8]) -> String {
        // The end may be in the middle of a character, which makes no text invalid.
        let end = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
        let whole = bytes.count < textBytes ? bytes[...] : bytes[..<end]
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = whole.starts(with: mark) ? whole.dropFirst(mark.count) : whole
        if let text = String(validating: body, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in body { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}

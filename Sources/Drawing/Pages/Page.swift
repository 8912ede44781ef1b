internal import Documents

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

    /// The page of a text file; nil if the bytes are no text (`PlainText`).
    public init?(bytes: some Collection<UInt8>, markup: Markup = .plain) {
        let bytes = Array(bytes.prefix(Self.textBytes))
        let isPart = bytes.count == Self.textBytes
        guard let text = PlainText.read(bytes, isPart: isPart) else { return nil }
        self.text = text
        self.markup = markup
    }
}

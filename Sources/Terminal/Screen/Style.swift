/// How a cell looks.
public struct Style: Hashable, Sendable {
    /// A colour of text or of what is behind it.
    public enum Paint: Hashable, Sendable {
        /// The terminal's own.
        case standard
        /// One of the terminal's 16.
        case indexed(UInt8)
        /// Exactly this one, in 24 bits: 0xRRGGBB.
        case exact(UInt32)
    }

    /// Ways to set text off.
    public struct Emphasis: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Emphases of bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Brighter or heavier.
        public static let bold = Emphasis(rawValue: 1)
        /// Fainter.
        public static let dim = Emphasis(rawValue: 2)
        /// Text and ground change places.
        public static let reversed = Emphasis(rawValue: 4)
        /// A line below.
        public static let underlined = Emphasis(rawValue: 8)
    }

    /// The colour of the text.
    public var text: Paint
    /// The colour behind it.
    public var ground: Paint
    /// How it is set off.
    public var emphasis: Emphasis

    /// A style of its parts.
    public init(
        text: Paint = .standard, ground: Paint = .standard, emphasis: Emphasis = []
    ) {
        self.text = text
        self.ground = ground
        self.emphasis = emphasis
    }

    /// Plain text.
    public static let plain = Style()
    /// Heavier text.
    public static let bold = Style(emphasis: .bold)
    /// Fainter text.
    public static let dim = Style(emphasis: .dim)
    /// Ground and text exchanged.
    public static let reversed = Style(emphasis: .reversed)

    /// The sequence that switches to this style from another.
    func sequence(from other: Style) -> String {
        var codes: [String] = []
        var other = other
        if emphasis != other.emphasis {
            // Switching off one by one is not the same on all terminals.
            codes.append("0")
            other = Style()
            if emphasis.contains(.bold) { codes.append("1") }
            if emphasis.contains(.dim) { codes.append("2") }
            if emphasis.contains(.underlined) { codes.append("4") }
            if emphasis.contains(.reversed) { codes.append("7") }
        }
        if text != other.text { codes.append(text.code(base: 30)) }
        if ground != other.ground { codes.append(ground.code(base: 40)) }
        return "\u{1B}[" + codes.joined(separator: ";") + "m"
    }
}

extension Style.Paint {
    /// The code of a colour: base 30 for text, 40 for the ground.
    fileprivate func code(base: Int) -> String {
        switch self {
        case .standard: "\(base + 9)"
        case .indexed(let index): "\((index < 8 ? base : base + 52) + Int(index & 15))"
        case .exact(let color):
            "\(base + 8);2;\(color >> 16 & 0xFF);\(color >> 8 & 0xFF);\(color & 0xFF)"
        }
    }
}

/// What comes in from a terminal.
public enum InputEvent: Hashable, Sendable {
    /// A key that was pressed.
    case key(Key, Modifiers)
    /// Text that was pasted, without control characters but line ends (`\n`) and tabs.
    case paste(String)
    /// Text that was pasted, of so many bytes, of which nothing is kept: more than
    /// ``InputParser/pasteLimit``.
    case oversizedPaste(bytes: Int)
    /// The mouse.
    case mouse(MouseEvent)
    /// An answer to something the terminal was asked.
    case reply(TerminalReply)

    /// A key without modifiers.
    public static func key(_ key: Key) -> InputEvent { .key(key, []) }
}

/// A key of a keyboard, as far as terminals tell.
public enum Key: Hashable, Sendable {
    /// A character, with Shift already applied.
    case character(Character)
    /// The arrows.
    case up, down, left, right
    /// The keys around the arrows.
    case home, end, pageUp, pageDown, insert, delete
    /// Keys with names.
    case enter, tab, backspace, escape
    /// A function key, 1 to 24.
    case function(Int)
}

/// Keys held while another is pressed.
public struct Modifiers: OptionSet, Hashable, Sendable {
    /// The bits, as in xterm's parameter less 1.
    public let rawValue: UInt8
    /// Modifiers of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shift; characters have it applied instead.
    public static let shift = Modifiers(rawValue: 1)
    /// Alt, or Escape before the key.
    public static let alt = Modifiers(rawValue: 2)
    /// Control.
    public static let control = Modifiers(rawValue: 4)
}

/// Something done with the mouse.
public struct MouseEvent: Hashable, Sendable {
    /// What was done.
    public enum Action: Hashable, Sendable {
        /// The left button went down.
        case press
        /// The mouse moved with the left button down.
        case drag
        /// The left button came up.
        case release
        /// The wheel turned away from the user.
        case wheelUp
        /// The wheel turned towards the user.
        case wheelDown
    }

    /// What was done.
    public var action: Action
    /// The cell's column, from 0.
    public var column: Int
    /// The cell's row, from 0.
    public var row: Int
    /// Keys held.
    public var modifiers: Modifiers

    /// An event of its parts.
    public init(_ action: Action, column: Int, row: Int, modifiers: Modifiers = []) {
        self.action = action
        self.column = column
        self.row = row
        self.modifiers = modifiers
    }
}

/// What a terminal says about itself.
public enum TerminalReply: Hashable, Sendable {
    /// Its kind and abilities (DA1): 4 is sixel.
    case attributes([Int])
    /// Its name and version (XTVERSION).
    case version(String)
    /// It takes pictures in kitty's protocol.
    case kittyGraphics
    /// The size of a cell in pixels.
    case cellSize(width: Int, height: Int)
}

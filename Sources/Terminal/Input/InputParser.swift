/// Makes events of the bytes that a terminal sends, however they are cut into pieces.
///
/// Whatever comes in, it holds at most ``limit`` bytes (``pasteLimit`` while text is pasted),
/// ignores what it does not know and finds back to the next key.
public struct InputParser: Sendable {
    /// The longest escape sequence that is understood, in bytes; of longer ones the end is awaited
    /// and nothing kept.
    public static let limit = 512
    /// The longest text that can be pasted, in bytes; of a longer one its length is told.
    public static let pasteLimit = 1 << 20

    enum State: Hashable, Sendable {
        case ground
        case escape
        /// After `ESC O`.
        case singleShift
        /// After `ESC [`.
        case control
        /// After `ESC [ [`.
        case consoleFunction
        /// Inside a string that `ESC \` ends: its introducer.
        case string(UInt8)
        /// In such a string after ESC.
        case stringEscape(UInt8)
        /// Inside a paste.
        case paste
    }

    var state = State.ground
    var held: [UInt8] = []
    private var isTooLong = false
    /// How many bytes of a paste that is too long were let go.
    private var dropped = 0

    /// A parser that has seen nothing.
    public init() {}

    /// Whether bytes are held that may be a key by themselves: if nothing follows within some 50
    /// milliseconds, ``flush()`` tells which.
    public var isWaiting: Bool {
        switch state {
        case .ground: !held.isEmpty
        case .escape, .singleShift, .control, .consoleFunction: true
        // Alt with the key that begins such a string is the same byte.
        case .string: held.isEmpty && !isTooLong
        case .stringEscape, .paste: false
        }
    }

    /// The events that are complete with these bytes.
    public mutating func feed(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
        var events: [InputEvent] = []
        for byte in bytes { take(byte, &events) }
        return events
    }

    /// What the held bytes are if nothing follows: the Escape key, mostly.
    public mutating func flush() -> [InputEvent] {
        guard isWaiting else { return [] }
        defer { reset() }
        switch state {
        case .escape: return [.key(.escape)]
        case .singleShift: return [.key(.character("O"), .alt)]
        case .control where held.isEmpty: return [.key(.character("["), .alt)]
        case .string(let introducer):
            return [.key(.character(Character(Unicode.Scalar(introducer))), .alt)]
        default: return []
        }
    }

    private mutating func take(_ byte: UInt8, _ events: inout [InputEvent]) {
        switch state {
        case .ground: takeText(byte, &events)
        case .escape: takeEscaped(byte, &events)
        case .singleShift:
            reset()
            if byte == 0x1B {
                state = .escape
            } else if let key = ControlSequence.singleShift(byte) {
                events.append(.key(key))
            }
        case .control: takeControl(byte, &events)
        case .consoleFunction:
            reset()
            if byte == 0x1B {
                state = .escape
            } else if let key = ControlSequence.consoleFunction(byte) {
                events.append(.key(key))
            }
        case .string(let kind):
            switch byte {
            case 0x1B: state = .stringEscape(kind)
            case 0x07: endString(kind, &events)
            case 0x18, 0x1A: reset()
            default: hold(byte)
            }
        case .stringEscape(let kind):
            if byte == UInt8(ascii: "\\") {
                endString(kind, &events)
            } else {
                // The string was cut off; this is the next sequence.
                reset()
                state = .escape
                take(byte, &events)
            }
        case .paste: takePasted(byte, &events)
        }
    }

    private mutating func takeText(_ byte: UInt8, _ events: inout [InputEvent]) {
        if !held.isEmpty {
            if byte & 0xC0 == 0x80 {
                held.append(byte)
                if held.count == UTF8Sequence.length(held[0]) { endCharacter(&events) }
                return
            }
            // Cut off: what began is dropped, this byte is not part of it.
            held = []
        }
        switch byte {
        case 0x1B: state = .escape
        case 0x80...: if UTF8Sequence.length(byte) > 1 { held = [byte] }
        default: if let event = ControlSequence.plain(byte) { events.append(event) }
        }
    }

    private mutating func endCharacter(_ events: inout [InputEvent]) {
        defer { held = [] }
        guard let text = String(validating: held, as: UTF8.self), let first = text.first,
            text.unicodeScalars.allSatisfy({ $0.value >= 0xA0 })
        else { return }
        events.append(.key(.character(first)))
    }

    private mutating func takeEscaped(_ byte: UInt8, _ events: inout [InputEvent]) {
        reset()
        switch byte {
        case 0x1B:
            events.append(.key(.escape))
            state = .escape
        case UInt8(ascii: "["): state = .control
        case UInt8(ascii: "O"): state = .singleShift
        case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "^"),
            UInt8(ascii: "X"):
            state = .string(byte)
        case 0x80...: takeText(byte, &events)
        default:
            if case .key(let key, let modifiers) = ControlSequence.plain(byte) {
                events.append(.key(key, modifiers.union(.alt)))
            }
        }
    }

    private mutating func takeControl(_ byte: UInt8, _ events: inout [InputEvent]) {
        switch byte {
        case 0x1B:
            reset()
            state = .escape
        case 0x18, 0x1A: reset()
        case UInt8(ascii: "[") where held.isEmpty: state = .consoleFunction
        case 0x20..<0x40: hold(byte)
        case 0x40..<0x7F:
            let (parameters, isWhole) = (held, !isTooLong)
            reset()
            guard isWhole else { return }
            if byte == UInt8(ascii: "~"), parameters.elementsEqual("200".utf8) {
                state = .paste
            } else if let event = ControlSequence.event(parameters, final: byte) {
                events.append(event)
            }
        default: break
        }
    }

    private mutating func takePasted(_ byte: UInt8, _ events: inout [InputEvent]) {
        held.append(byte)
        guard byte == UInt8(ascii: "~"), held.suffix(6).elementsEqual("\u{1B}[201~".utf8) else {
            // Of one that is too long only the end is looked for.
            let room = dropped == 0 ? InputParser.pasteLimit + 6 : InputParser.limit
            if held.count > room {
                dropped += held.count - 6
                held = Array(held.suffix(6))
            }
            return
        }
        let length = dropped + held.count - 6
        let text = dropped == 0 ? ControlSequence.pasted(held.dropLast(6)) : ""
        reset()
        if length > InputParser.pasteLimit {
            events.append(.oversizedPaste(bytes: length))
        } else if !text.isEmpty {
            events.append(.paste(text))
        }
    }

    private mutating func endString(_ kind: UInt8, _ events: inout [InputEvent]) {
        let (text, isWhole) = (held, !isTooLong)
        reset()
        if isWhole, let reply = ControlSequence.reply(text, introducer: kind) {
            events.append(.reply(reply))
        }
    }

    private mutating func hold(_ byte: UInt8) {
        if held.count < InputParser.limit { held.append(byte) } else { isTooLong = true }
    }

    private mutating func reset() {
        state = .ground
        held = []
        isTooLong = false
        dropped = 0
    }
}

/// The form of characters as bytes.
enum UTF8Sequence {
    /// How many bytes a character has that begins with this one; 0 if none does.
    static func length(_ first: UInt8) -> Int {
        switch first {
        case 0..<0x80: 1
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 0
        }
    }
}

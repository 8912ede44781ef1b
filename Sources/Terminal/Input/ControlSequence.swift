/// What complete sequences mean.
enum ControlSequence {
    /// A single byte below 0x80, other than Escape.
    static func plain(_ byte: UInt8) -> InputEvent? {
        switch byte {
        case 0x0D: .key(.enter)
        case 0x0A: .key(.enter)
        case 0x09: .key(.tab)
        case 0x08, 0x7F: .key(.backspace)
        case 0x00: .key(.character(" "), .control)
        case 0x01...0x1A: .key(.character(Character(Unicode.Scalar(byte + 0x60))), .control)
        case 0x20..<0x7F: .key(.character(Character(Unicode.Scalar(byte))))
        default: nil
        }
    }

    /// The byte after `ESC O`.
    static func singleShift(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(byte - UInt8(ascii: "P")) + 1)
        case UInt8(ascii: "M"): .enter
        default: letter(byte)
        }
    }

    /// The byte after `ESC [ [`: F1 to F5 of the Linux console.
    static func consoleFunction(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "E"): .function(Int(byte - UInt8(ascii: "A")) + 1)
        default: nil
        }
    }

    private static func letter(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        default: nil
        }
    }

    /// The bytes between `ESC [` and the final one.
    static func event(_ parameters: [UInt8], final: UInt8) -> InputEvent? {
        if parameters.first == UInt8(ascii: "<") {
            guard final == UInt8(ascii: "M") || final == UInt8(ascii: "m") else { return nil }
            return mouse(numbers(parameters.dropFirst()), isRelease: final == UInt8(ascii: "m"))
        }
        if parameters.first == UInt8(ascii: "?") {
            guard final == UInt8(ascii: "c") else { return nil }
            return .reply(.attributes(numbers(parameters.dropFirst())))
        }
        let numbers = numbers(parameters[...])
        switch final {
        case UInt8(ascii: "~"): return tilde(numbers)
        case UInt8(ascii: "Z"): return .key(.tab, .shift)
        case UInt8(ascii: "t"):
            guard numbers.count == 3, numbers[0] == 6, (1...1_000).contains(numbers[1]),
                (1...1_000).contains(numbers[2])
            else { return nil }
            return .reply(.cellSize(width: numbers[2], height: numbers[1]))
        case UInt8(ascii: "u"): return unambiguous(numbers)
        case UInt8(ascii: "P")...UInt8(ascii: "S"):
            return .key(.function(Int(final - UInt8(ascii: "P")) + 1), modifiers(numbers))
        default: return letter(final).map { .key($0, modifiers(numbers)) }
        }
    }

    /// Numbers between semicolons; what is after a colon is left out, what is missing is 0.
    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int] {
        guard !bytes.isEmpty else { return [] }
        return bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).prefix(
            32
        ).map { part in
            part.prefix { (48...57).contains($0) }.prefix(6).reduce(0) { $0 * 10 + Int($1 - 48) }
        }
    }

    private static func modifiers(_ numbers: [Int]) -> Modifiers {
        guard numbers.count >= 2, (1...255).contains(numbers[1]) else { return [] }
        return Modifiers(rawValue: UInt8(numbers[1] - 1) & 7)
    }

    private static func tilde(_ numbers: [Int]) -> InputEvent? {
        let key: Key
        switch numbers.first {
        case 1, 7: key = .home
        case 2: key = .insert
        case 3: key = .delete
        case 4, 8: key = .end
        case 5: key = .pageUp
        case 6: key = .pageDown
        case .some(let code) where (11...15).contains(code): key = .function(code - 10)
        case .some(let code) where (17...21).contains(code): key = .function(code - 11)
        case .some(let code) where (23...24).contains(code): key = .function(code - 12)
        default: return nil
        }
        return .key(key, modifiers(numbers))
    }

    /// Keys as numbers of characters (`CSI u`).
    private static func unambiguous(_ numbers: [Int]) -> InputEvent? {
        guard let code = numbers.first,
            let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init)
        else { return nil }
        let modifiers = modifiers(numbers)
        switch code {
        case 27: return .key(.escape, modifiers)
        case 13: return .key(.enter, modifiers)
        case 9: return .key(.tab, modifiers)
        case 8, 127: return .key(.backspace, modifiers)
        default:
            guard code >= 0x20, !(0x7F..<0xA0).contains(code) else { return nil }
            return .key(.character(Character(scalar)), modifiers)
        }
    }

    private static func mouse(_ numbers: [Int], isRelease: Bool) -> InputEvent? {
        guard numbers.count == 3, numbers[1] >= 1, numbers[2] >= 1 else { return nil }
        let code = numbers[0]
        let action: MouseEvent.Action
        switch code & 0b1100_0011 {
        case 0: action = isRelease ? .release : code & 32 == 0 ? .press : .drag
        case 64: action = .wheelUp
        case 65: action = .wheelDown
        default: return nil
        }
        var modifiers: Modifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.control) }
        return .mouse(
            MouseEvent(
                action, column: numbers[1] - 1, row: numbers[2] - 1, modifiers: modifiers))
    }

    /// A string that the terminal sent: `ESC P`, `ESC _`, ...
    static func reply(_ text: [UInt8], introducer: UInt8) -> TerminalReply? {
        switch introducer {
        case UInt8(ascii: "P") where text.starts(with: ">|".utf8):
            .version(printable(text.dropFirst(2)))
        case UInt8(ascii: "_") where text.starts(with: "Gi=31".utf8) && text.ends(with: ";OK"):
            .kittyGraphics
        default: nil
        }
    }

    /// Pasted bytes as text.
    static func pasted(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").replacing(
            "\r", with: "\n")
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    $0 == "\n" || $0 == "\t"
                        || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
                }))
    }

    private static func printable(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}

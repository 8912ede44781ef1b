extension Color {
    /// Reads a colour: `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, a CSS name, `rgb(r, g, b)`,
    /// `rgba(r, g, b, a)` with numbers or percents, `clear` or `transparent`. Case and blanks
    /// around it do not matter; nil for anything else.
    ///
    /// - Parameter isTolerant: parts of `rgb` and `rgba` beyond their range count as the nearest in
    ///   it, as in CSS; else such a text is no colour.
    public init?(_ text: String, isTolerant: Bool = true) {
        // The longest text that can be a colour is far shorter; hostile ones are not worth a look.
        guard text.utf8.count <= 128 else { return nil }
        let lower = text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
        let trimmed = lower.trimmingBlanks()
        guard let first = trimmed.first else { return nil }
        if first == UInt8(ascii: "#") {
            self.init(hexadecimalDigits: trimmed.dropFirst())
        } else if trimmed.last == UInt8(ascii: ")") {
            self.init(function: trimmed, isTolerant: isTolerant)
        } else {
            let name = String(decoding: trimmed, as: UTF8.self)
            guard let value = Color.names[name] else { return nil }
            self = value
        }
    }

    /// Reads `#rgb`, `#rgba`, `#rrggbb` and `#rrggbbaa` and nothing else, as documents of our own
    /// write colours.
    public init?(hexadecimal text: String) {
        guard text.utf8.first == UInt8(ascii: "#") else { return nil }
        self.init(hexadecimalDigits: text.utf8.dropFirst().prefix(9).map { $0 }[...])
    }

    private init?(hexadecimalDigits digits: ArraySlice<UInt8>) {
        var values: [UInt8] = []
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            values.append(value)
        }
        switch values.count {
        case 3: values = [values[0], values[0], values[1], values[1], values[2], values[2], 15, 15]
        case 4: values = values.flatMap { [$0, $0] }
        case 6: values += [15, 15]
        case 8: break
        default: return nil
        }
        self.init(
            red: values[0] << 4 | values[1], green: values[2] << 4 | values[3],
            blue: values[4] << 4 | values[5], alpha: values[6] << 4 | values[7])
    }

    private init?(function text: ArraySlice<UInt8>, isTolerant: Bool) {
        guard let open = text.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        let name = text[..<open]
        guard name.elementsEqual("rgb".utf8) || name.elementsEqual("rgba".utf8) else { return nil }
        let inside = text[(open + 1)...].dropLast()
        let separators: Set<UInt8> = [UInt8(ascii: ","), UInt8(ascii: "/")]
        // Commas, or as CSS writes it today blanks and a slash before alpha.
        let isSeparated = inside.contains(UInt8(ascii: ","))
        let parts = inside.split(
            maxSplits: 4, omittingEmptySubsequences: !isSeparated,
            whereSeparator: { separators.contains($0) || !isSeparated && $0.isBlank })
        guard parts.count == 3 || parts.count == 4 else { return nil }
        var channels: [UInt8] = []
        for (index, part) in parts.enumerated() {
            guard let channel = Color.channel(part.trimmingBlanks(), isAlpha: index == 3),
                isTolerant || (0...255).contains(channel)
            else { return nil }
            channels.append(UInt8(min(max(channel.rounded(), 0), 255)))
        }
        self.init(
            red: channels[0], green: channels[1], blue: channels[2],
            alpha: channels.count == 4 ? channels[3] : 255)
    }

    /// A part of a colour, of which 255 is the whole; it may be beyond its range.
    private static func channel(_ text: ArraySlice<UInt8>, isAlpha: Bool) -> Double? {
        var digits = text
        var whole = isAlpha ? 1.0 : 255.0
        if digits.last == UInt8(ascii: "%") {
            digits = digits.dropLast()
            whole = 100
        }
        let allowed = digits.allSatisfy {
            (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
        guard allowed, let number = Double(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return number * 255 / whole
    }
}

extension UInt8 {
    /// Whether it is a blank, tab or line end in ASCII.
    var isBlank: Bool { self == 32 || (9...13).contains(self) }

    /// The value of a hexadecimal digit in ASCII.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
    /// Without the blanks, tabs and line ends at both ends.
    func trimmingBlanks() -> SubSequence {
        var rest = self[...]
        while rest.first?.isBlank == true { rest = rest.dropFirst() }
        while rest.last?.isBlank == true { rest = rest.dropLast() }
        return rest
    }
}

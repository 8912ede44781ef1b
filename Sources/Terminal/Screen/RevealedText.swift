extension String {
    /// The text with characters written out, as `\u202e`, that cannot be seen and make others look like
    /// something else: those that turn the direction of writing, line ends of Unicode, fillers and tags.
    /// A name cannot pass for another one then. What emoji and scripts need stays: joiners, variation
    /// selectors, and the tags of flags.
    ///
    /// JSON means the same characters by it.
    public var revealed: String {
        // All of them are beyond those of one byte, as most texts are not.
        guard utf8.contains(where: { $0 >= 0x80 }), unicodeScalars.contains(where: \.isVeiled)
        else {
            return self
        }
        var result = String.UnicodeScalarView()
        var isFlag = false
        for scalar in unicodeScalars {
            let isTag = (0xE0020...0xE007F).contains(scalar.value)
            isFlag = scalar.value == 0x1F3F4 || isFlag && isTag
            if scalar.isVeiled, !(isFlag && isTag) {
                result += scalar.writtenOut
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The same for a name or path, in which control characters are written out, too: a screen has no place for
    /// them, and a name must not look like the one without them.
    public var revealedName: String {
        guard unicodeScalars.contains(where: \.isControl) else { return revealed }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isControl { result += scalar.writtenOut } else { result.append(scalar) }
        }
        return String(result).revealed
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }

    fileprivate var writtenOut: String.UnicodeScalarView {
        var text = ""
        for unit in String(self).utf16 {
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return text.unicodeScalars
    }

    /// Whether it cannot be seen and is not needed to write a word.
    fileprivate var isVeiled: Bool {
        switch value {
        case 0..<0x80: false
        // Joiners, selectors of variants and vowels that belong to letters.
        case 0x34F, 0x17B4, 0x17B5, 0x180B...0x180D, 0x180F, 0x200C, 0x200D, 0xFE00...0xFE0F,
            0xE0100...0xE01EF:
            false
        case 0x2028, 0x2029, 0xFFF9...0xFFFB: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

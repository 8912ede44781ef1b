extension Character {
    /// How many cells of a terminal it takes: 0, 1 or 2.
    public var cells: Int {
        var widest = 0
        for scalar in unicodeScalars {
            if scalar.value == 0xFE0F, widest == 1, unicodeScalars.first?.properties.isEmoji == true
            {
                return 2
            }
            widest = max(widest, scalar.cells)
        }
        return widest
    }

    /// Whether all terminals take as many cells for it: what is made of several scalars is one thing to
    /// some and several beside each other to others, and emoji are as old as the terminal's tables.
    var isOfOneWidth: Bool {
        guard let first = unicodeScalars.first, unicodeScalars.count == 1 else { return false }
        return first.isASCII || !first.properties.isEmojiPresentation
    }

    /// How many cells a terminal takes for it that shows each scalar by itself.
    var mostCells: Int { unicodeScalars.reduce(0) { $0 + $1.cells } }
}

extension String {
    /// How many cells of a terminal it takes.
    public var cells: Int { reduce(0) { $0 + $1.cells } }

    /// As much of its beginning as fits into so many cells; what is cut off shows as `…`.
    public func fitting(_ cells: Int) -> String {
        guard self.cells > cells else { return self }
        var (text, used) = ("", 1)
        for character in self {
            used += character.cells
            if used > cells { break }
            text.append(character)
        }
        return cells > 0 ? text + "…" : ""
    }
}

extension Unicode.Scalar {
    /// How many cells it takes alone.
    var cells: Int {
        if value < 0x300 { return value < 0x20 || (0x7F..<0xA0).contains(value) ? 0 : 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .surrogate, .lineSeparator,
            .paragraphSeparator:
            return 0
        default: break
        }
        // The vowels and final consonants of a Hangul syllable join the one before.
        if (0x1160...0x11FF).contains(value) { return 0 }
        if properties.isEmojiPresentation { return 2 }
        return Unicode.Scalar.wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// East Asian Width W or F (Unicode 15), apart from emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
        0x20000...0x3FFFD,
    ]
}

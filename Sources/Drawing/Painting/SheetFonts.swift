/// The heights of a sheet's texts. The library makes a font for each that is painted and keeps a picture of
/// each of its glyphs: of very many it would be more than a picture may take.
struct SheetFonts {
    /// So many fonts take 3 MiB without their glyphs.
    private static let mostHeights = 64
    /// Bytes of the pictures of glyphs that are kept.
    private static let mostBytes = 16 << 20
    /// The letters that most texts share.
    private static let letters = 95

    /// About how many glyphs each height has.
    private var glyphs: [Double: Int] = [:]

    /// Counts a text in the sheet's units.
    mutating func add(_ text: String?, height: Double?) {
        guard var text, let height else { return }
        let others = text.withUTF8 { bytes in
            bytes.reduce(into: 0) { count, byte in count += byte < 0x80 ? 0 : 1 }
        }
        // Two bytes or more each.
        let count = min(others, 2 * PictureLimits.characters) / 2
        glyphs[height, default: Self.letters] += count
    }

    /// Whether fonts of their own would take too much at so many pixels for a unit.
    func areMany(at scale: Double) -> Bool {
        if glyphs.count > Self.mostHeights { return true }
        // Whole numbers: their sum does not depend on the order.
        let bytes = glyphs.reduce(0) { sum, font in
            let height = font.key * scale
            // Higher glyphs are not kept. A glyph fills half of its square, about.
            guard height > 0, height <= Painter.largestCached else { return sum }
            return sum + Int(Double(min(font.value, 1 << 24)) * height * height / 2)
        }
        return bytes > Self.mostBytes
    }
}

import CPangoCairo

extension TextSetter {
    /// The text with an empty box for each character that no font of the machine has, as CJK where none is
    /// installed. The library has a box with the character's number for it, as large as that can be read: on
    /// small pictures it lies over the lines around it, and as its width is another one in each size, lines end
    /// elsewhere. Leaves the text set in one line.
    func withKnownCharacters(_ text: String) -> String {
        setText(text, width: nil, nil)
        guard pango_layout_get_unknown_glyphs_count(layout) > 0 else { return text }
        var unknown: Set<UInt32> = []
        let iterator = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(iterator) }
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(iterator),
                let glyphs = run.pointee.glyphs?.pointee
            else { continue }
            for glyph in UnsafeBufferPointer(start: glyphs.glyphs, count: Int(glyphs.num_glyphs))
            where glyph.glyph & Self.unknown != 0 {
                unknown.insert(glyph.glyph & ~Self.unknown)
            }
        } while pango_layout_iter_next_run(iterator) != 0
        let box: Unicode.Scalar = "\u{25A1}"
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(unknown.contains(scalar.value) ? box : scalar)
        }
        let known = String(result)
        setText(known, width: nil, nil)
        return known
    }

    /// PANGO_GLYPH_UNKNOWN_FLAG, which does not import: the rest of such a glyph is the character.
    private static let unknown: UInt32 = 0x1000_0000
}

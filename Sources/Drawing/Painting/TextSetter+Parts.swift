import CPangoCairo

extension TextSetter {
    /// The text with breaks of no width where the library might find none: where lines end within what has no
    /// room in one, if that is of several runs (of one font and script each) and so might be broken within a
    /// character, as a letter with an accent of another font. There it ends the process.
    ///
    /// - Parameters:
    ///   - text: what has been set in one line.
    ///   - width: of a line, in the library's height; not less than 0.
    func parted(_ text: String, width: Double) -> String {
        // Sums of widths need not be what the library comes to.
        let room = width * 0.99
        guard self.width > room else { return text }
        let characters = characters(of: text)
        let starts = characters.indices.filter { $0 == 0 || characters[$0].beginsLine }
        var breaks: Set<Int> = []
        var isSafe = true
        for (start, end) in zip(starts, starts.dropFirst() + [characters.count]) {
            let part = characters[start..<end]
            guard part.reduce(0, { $0 + $1.width }) > room else { continue }
            isSafe = isSafe && !part.dropFirst().contains(where: \.isApart)
            breaks.formUnion(Self.breaks(in: part, room))
        }
        if isSafe { return text }
        // All others are here.
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD)
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if breaks.contains(index) { result.append("\u{200B}") }
            result.append(scalar)
        }
        return String(result)
    }

    /// Where lines begin that hold as much as they can. What has no room even by itself is taken apart.
    private static func breaks(in part: ArraySlice<Character>, _ room: Double) -> [Int] {
        var breaks: [Int] = []
        var taken = 0.0
        var start = part.startIndex
        while start < part.endIndex {
            let end = part[(start + 1)...].firstIndex(where: \.isWhole) ?? part.endIndex
            let whole = part[start..<end]
            let width = whole.reduce(0) { $0 + $1.width }
            if taken + width > room, start > part.startIndex {
                breaks.append(start)
                taken = 0
            }
            if width > room { breaks += whole.indices.dropFirst().filter { whole[$0].isApart } }
            taken += width
            start = end
        }
        return breaks
    }

    private struct Character {
        var width = 0.0
        /// Whether a line can begin with it.
        var beginsLine = false
        /// Whether it begins what is one character to readers.
        var isWhole = false
        /// Whether it begins a run, or is a mark on a blank, which are taken apart, too.
        var isApart = false
    }

    /// What the library makes of the characters (Unicode scalars) of the text that has been set.
    private func characters(of text: String) -> [Character] {
        var count: Int32 = 0
        guard let attributes = pango_layout_get_log_attrs_readonly(layout, &count) else {
            return []
        }
        var characters: [Character] = []
        // Where they begin, in bytes.
        var places: [Int: Int] = [:]
        var byte = 0
        var isAfterBlank = false
        for scalar in text.unicodeScalars where characters.count < Int(count) {
            places[byte] = characters.count
            let its = attributes[characters.count]
            characters.append(
                Character(
                    beginsLine: its.is_line_break != 0 && its.is_char_break != 0,
                    isWhole: its.is_char_break != 0,
                    isApart: isAfterBlank && its.is_char_break == 0))
            byte += UTF8.width(scalar)
            isAfterBlank = scalar.properties.isWhitespace
        }
        let iterator = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(iterator) }
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(iterator),
                let item = run.pointee.item?.pointee, let start = places[Int(item.offset)]
            else { continue }
            characters[start].isApart = true
            var widths = [Int32](repeating: 0, count: Int(item.num_chars))
            pango_glyph_item_get_logical_widths(run, pango_layout_get_text(layout), &widths)
            for (index, width) in zip(start..<characters.count, widths) {
                characters[index].width = Double(width) / Self.scale
            }
        } while pango_layout_iter_next_run(iterator) != 0
        return characters
    }
}

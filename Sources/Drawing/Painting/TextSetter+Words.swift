import CPangoCairo

extension TextSetter.Line {
    /// The line's words, each with the blanks after it and where it begins, for who writes a line that
    /// is stretched without Pango; the whole line as one where it is not read from left to right.
    var words: [(x: Double, text: String)] {
        let bytes = Array(text.utf8)
        let blank = UInt8(ascii: " ")
        let starts = bytes.indices.filter { index in
            index == 0 || (bytes[index] != blank && bytes[index - 1] == blank)
        }
        let places = starts.map { start in
            var place: Int32 = 0
            pango_layout_line_index_to_x(
                glyphs, glyphs.pointee.start_index + Int32(start), 0, &place)
            return Double(place) / TextSetter.scale * unit
        }
        guard zip(places, places.dropFirst()).allSatisfy({ $0 < $1 }) else { return [(x, text)] }
        return zip(starts, zip(starts.dropFirst() + [bytes.count], places)).map { start, rest in
            (x + rest.1, String(decoding: bytes[start..<rest.0], as: UTF8.self))
        }
    }
}

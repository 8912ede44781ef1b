import CPangoCairo

extension TextSetter {
    /// The text with a break of no width wherever the library would take what is perceived as one character
    /// apart, as a letter and an accent of another script: each is set with a font of its own. In a line that has
    /// no room for the first of them the library finds that it can break nowhere, and ends the process.
    func parted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value >= Self.firstMark }) else {
            return text
        }
        setText(text, width: nil, nil)
        let ends = runEnds
        var count: Int32 = 0
        guard let attributes = pango_layout_get_log_attrs_readonly(layout, &count) else {
            return text
        }
        var result = String.UnicodeScalarView()
        var byte = 0
        var isAfterBlank = false
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index < Int(count), attributes[index].is_char_break == 0,
                isAfterBlank || ends.contains(byte)
            {
                result.append("\u{200B}")
            }
            result.append(scalar)
            byte += UTF8.width(scalar)
            isAfterBlank = scalar.properties.isWhitespace
        }
        return String(result)
    }

    /// The first character that may be part of one with others.
    private static let firstMark: UInt32 = 0x300

    /// Where runs of one font and script end, in bytes of the text.
    private var runEnds: Set<Int> {
        let iterator = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(iterator) }
        var ends: Set<Int> = []
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(iterator),
                let item = run.pointee.item?.pointee
            else { continue }
            ends.insert(Int(item.offset) + Int(item.length))
        } while pango_layout_iter_next_run(iterator) != 0
        return ends
    }
}

extension Screen {
    /// What to send so that a terminal that shows `old` shows this; everything if `old` is nil or
    /// of another size. Of what does not change, nothing is sent.
    public func update(from old: Screen?) -> [UInt8] {
        let known = old.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
        var output = ""
        var style = Style.plain
        if known == nil { output += "\u{1B}[0m\u{1B}[2J" }
        for row in 0..<rows { change(row, from: known, &output, &style) }
        if style != .plain { output += "\u{1B}[0m" }
        let moved = known.map {
            $0.cursor?.column != cursor?.column || $0.cursor?.row != cursor?.row
        }
        if let cursor {
            if !output.isEmpty || moved != false {
                output += Screen.place(cursor.column, cursor.row)
            }
            if known?.cursor == nil { output += "\u{1B}[?25h" }
        } else if known == nil || known?.cursor != nil {
            output += "\u{1B}[?25l"
        }
        return Array(output.utf8)
    }

    /// Moves the cursor to a cell.
    public static func place(_ column: Int, _ row: Int) -> String {
        "\u{1B}[\(row + 1);\(column + 1)H"
    }

    private func change(
        _ row: Int, from known: Screen?, _ output: inout String, _ style: inout Style
    ) {
        /// Where the terminal's cursor is in this row; nil if it is elsewhere.
        var position: Int?
        /// Before which column the terminal may show more of a character than the cells it has here.
        var spilled = 0
        var column = 0
        while column < columns {
            let cell = self[column, row]
            let before = known?[column, row] ?? Cell()
            let width = column + 1 < columns && self[column + 1, row].character == nil ? 2 : 1
            let isSame =
                cell == before
                && (width == 1
                    || known.map { $0[column + 1, row] == self[column + 1, row] } == true)
            if !isSame || column < spilled, let character = cell.character {
                if position != column { output += Screen.place(column, row) }
                if style != cell.style {
                    output += cell.style.sequence(from: style)
                    style = cell.style
                }
                if !character.isOfOneWidth {
                    // It may take fewer cells there, or more: then what follows is to be sent again.
                    output += String(repeating: " ", count: width) + Screen.place(column, row)
                    spilled = max(spilled, column + character.mostCells)
                }
                output.append(character)
                // What is said about the width of other characters differs between terminals.
                position = character.isASCII || character == "\u{2580}" ? column + width : nil
            }
            column += width
        }
    }
}

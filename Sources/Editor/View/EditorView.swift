import Documents
import Drawing
package import Terminal

extension EditorState {
    /// What the terminal is to show. Pictures that are not made of characters are not in it; their
    /// area is blank.
    package var screen: Screen {
        let layout = Layout(self)
        var screen = Screen(columns: layout.columns, rows: layout.rows)
        drawTitle(&screen)
        if isHelping {
            drawHelp(&screen)
        } else {
            drawPicture(layout, &screen)
            drawList(layout, &screen)
        }
        if layout.rows > 1 { drawBottom(&screen) }
        return screen
    }

    private func drawTitle(_ screen: inout Screen) {
        let style = Style.reversed
        screen.fill(columns: 0..<screen.columns, rows: 0..<1, style: style)
        let unsaved = !isUnsaved ? "" : saving.isEmpty ? " *" : " …"
        let state = (isGone ? " (gone)" : "") + unsaved
        let tools = type == .list ? "" : " \(tool.rawValue) "
        let end = screen.columns - tools.cells
        screen.put(
            (" " + name.revealedName).fitting(max(1, end - state.cells)) + state, column: 0, row: 0,
            limit: end,
            style: Style(emphasis: [.reversed, .bold]))
        screen.put(tools, column: max(0, end), row: 0, style: style)
    }

    private func drawPicture(_ layout: Layout, _ screen: inout Screen) {
        guard let area = layout.picture else { return }
        for row in area.row..<area.row + area.rows {
            screen.put("│", column: area.columns, row: row, style: .dim)
        }
        guard let rendering else {
            screen.put("…", column: area.columns / 2, row: area.row + area.rows / 2, style: .dim)
            return
        }
        if let problem = rendering.problem {
            let text = problem.fitting(area.columns)
            screen.put(text, column: 0, row: area.row, limit: area.columns)
        }
        guard shape.graphics == .blocks, let bitmap = rendering.bitmap,
            let place = pictureArea(rendering.request)
        else { return }
        screen.put(bitmap, at: place, within: area)
    }

    private func drawList(_ layout: Layout, _ screen: inout Screen) {
        let area = layout.list
        let end = area.column + area.columns
        if parts.isEmpty, area.rows > 0 {
            let hint = type == .list ? "Nothing to do; a adds" : "Empty; n adds something"
            screen.put(hint.fitting(area.columns), column: area.column, row: area.row, style: .dim)
        }
        for row in 0..<area.rows {
            let index = firstListed + row
            guard index < parts.count else { break }
            let part = parts[index]
            let isSelected = index == selection
            var style = isSelected ? Style.reversed : Style.plain
            if part.isDone == true { style.emphasis.insert(.dim) }
            let line = area.row + row
            screen.fill(columns: area.column..<end, rows: line..<line + 1, style: style)
            var column = area.column
            let mark = marks.contains(index) ? "*" : isSelected ? ">" : " "
            column = screen.put(mark, column: column, row: line, limit: end, style: style)
            column += min(part.depth, 6) * 2
            if let isDone = part.isDone {
                let box = isDone ? "[x] " : "[ ] "
                column = screen.put(box, column: column, row: line, limit: end, style: style)
            } else {
                column = drawSwatch(part.color, column, line, end, style, &screen)
            }
            let room = end - column - (part.detail.isEmpty ? 0 : 9)
            let title = part.title.revealed.fitting(max(4, room))
            column = screen.put(title, column: column, row: line, limit: end, style: style) + 1
            style.emphasis.insert(.dim)
            let detail = part.detail.revealed.fitting(max(0, end - column))
            screen.put(detail, column: column, row: line, limit: end, style: style)
        }
    }

    private func drawSwatch(
        _ color: Color?, _ column: Int, _ row: Int, _ end: Int, _ style: Style,
        _ screen: inout Screen
    ) -> Int {
        guard shape.graphics != .none, let color else {
            return screen.put("- ", column: column, row: row, limit: end, style: style)
        }
        var swatch = Style()
        let (red, green, blue) = (UInt32(color.red), UInt32(color.green), UInt32(color.blue))
        swatch.text = .exact(red << 16 | green << 8 | blue)
        let next = screen.put("█", column: column, row: row, limit: end, style: swatch)
        return screen.put(" ", column: next, row: row, limit: end, style: style)
    }

    private func drawBottom(_ screen: inout Screen) {
        let row = screen.rows - 1
        if let prompt {
            let label = prompt.label.fitting(max(1, screen.columns / 2))
            let start = screen.put(label, column: 0, row: row, style: .bold)
            // The part of the line that has the cursor in it.
            let room = max(1, screen.columns - start - 1)
            var first = prompt.cursor
            var width = 0
            while first > 0, width + prompt.characters[first - 1].cells <= room {
                first -= 1
                width += prompt.characters[first].cells
            }
            screen.put(String(prompt.characters[first...]), column: start, row: row)
            screen.cursor = (min(start + width, screen.columns - 1), row)
            if !message.isEmpty, row > 1 {
                screen.fill(columns: 0..<screen.columns, rows: row - 1..<row)
                let style = Style(text: tone == .bad ? shape.paint(9) : .standard, emphasis: .dim)
                screen.put(
                    message.revealed.fitting(screen.columns), column: 0, row: row - 1, style: style)
            }
        } else if let choice {
            drawChoice(choice, row, &screen)
        } else if message.isEmpty {
            screen.put(footer.fitting(screen.columns), column: 0, row: row, style: .dim)
        } else {
            var style = Style.plain
            if tone == .bad { style = Style(text: shape.paint(9), emphasis: .bold) }
            if tone == .good { style = Style(text: shape.paint(10)) }
            screen.put(message.revealed.fitting(screen.columns), column: 0, row: row, style: style)
        }
    }

    /// The options in as many rows as they take, from the bottom up.
    private func drawChoice(_ choice: Choice, _ bottom: Int, _ screen: inout Screen) {
        var rows: [[(index: Int, text: String)]] = [[]]
        var width = 0
        for (index, option) in choice.options.enumerated() {
            let text = " \(Choice.key(of: index)) \(option) "
            if width + text.cells > screen.columns, width > 0 {
                rows.append([])
                width = 0
            }
            rows[rows.count - 1].append((index, text))
            width += text.cells
        }
        let top = max(1, bottom - rows.count)
        screen.fill(columns: 0..<screen.columns, rows: top..<bottom + 1)
        screen.put(choice.title.revealed.fitting(screen.columns), column: 0, row: top, style: .bold)
        for (offset, row) in rows.enumerated() {
            var column = 0
            for (index, text) in row {
                let style = index == choice.selected ? Style.reversed : .plain
                column = screen.put(text, column: column, row: top + 1 + offset, style: style)
            }
        }
    }
}

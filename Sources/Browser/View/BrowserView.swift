package import Drawing
package import Editor
import PathText
package import Terminal

extension BrowserState {
    /// A picture that is not made of characters, and where it goes.
    package struct Overlay: Hashable, Sendable {
        package var version: BrowserVersion
        package var area: Layout.Area
    }

    /// What the terminal is to show but for ``overlays``, whose areas are blank.
    package var screen: Screen {
        let shelves = Shelves(self)
        var screen = Screen(columns: shape.columns, rows: shape.rows)
        drawTitle(&screen, shelves)
        if isHelping {
            drawHelp(&screen)
        } else {
            for (row, line) in shelves.visible {
                guard let heading = row.heading else { continue }
                screen.put(heading, column: 1, row: line, style: .bold)
            }
            for card in shelves.cards { draw(card, &screen) }
            if entries.isEmpty {
                let text = isListed ? "No documents here; Ctrl-N makes one" : "…"
                screen.put(text, column: 1, row: 2, style: .dim)
            }
        }
        drawBottom(&screen)
        return screen
    }

    /// The pictures over it, for terminals that take pixels.
    package var overlays: [(overlay: Overlay, bitmap: Bitmap)] {
        guard shape.graphics != .blocks, shape.graphics != .none, !isHelping else { return [] }
        return Shelves(self).cards.compactMap { card in
            picture(card).map {
                (Overlay(version: card.entry.version, area: $0.area), $0.bitmap)
            }
        }
    }

    private func drawTitle(_ screen: inout Screen, _ shelves: Shelves) {
        screen.fill(columns: 0..<screen.columns, rows: 0..<1, style: .reversed)
        let total = isListed ? " \(count) " : ""
        let end = screen.columns - total.cells
        let filter = filter.isEmpty ? "" : "  /\(filter)"
        let next = screen.put(
            (" " + name.repairedPath.revealedName + filter.revealed).fitting(max(1, end)),
            column: 0, row: 0, limit: end,
            style: Style(emphasis: [.reversed, .bold]))
        // Below its picture a document has no folder, and those of several folders may look alike.
        if shelves.hasPictures, let path = selected?.path {
            let room = end - next - 3
            let words = path.repairedPath.revealedName.fitting(max(0, room))
            screen.put(words, column: end - 1 - words.cells, row: 0, limit: end, style: .reversed)
        }
        screen.put(total, column: max(0, end), row: 0, style: .reversed)
    }

    private func draw(_ card: Shelves.Card, _ screen: inout Screen) {
        let isSelected = card.place == selection
        let area = card.area
        let style = isSelected ? Style.reversed : Style.plain
        let mark = mark(card.entry)
        let heading = titles[card.entry.item]
        guard let room = card.picture else {
            screen.fill(
                columns: area.column..<area.column + area.columns, rows: area.row..<area.row + 1,
                style: style)
            let end = area.column + area.columns - mark.cells - 1
            let words =
                (isSelected ? "> " : "  ") + card.entry.path.repairedPath.revealedName
                + (heading.map { "  " + $0.revealed } ?? "")
            // A space before the mark.
            screen.put(
                words.fitting(max(0, end - area.column - (mark.isEmpty ? 0 : 1))),
                column: area.column, row: area.row, limit: end, style: style)
            screen.put(mark, column: end, row: area.row, style: style)
            return
        }
        if let (bitmap, place) = picture(card) {
            if shape.graphics == .blocks { screen.put(bitmap, at: place, within: room) }
        } else {
            screen.put(
                "…", column: room.column + room.columns / 2, row: room.row + room.rows / 2,
                style: .dim)
        }
        let line = room.row + room.rows
        let title = (heading?.revealed ?? card.entry.title.repairedPath.revealedName)
            .fitting(room.columns)
        let start = room.column + (room.columns - title.cells) / 2
        screen.put(title, column: start, row: line, style: style)
        // Below its title a document has its name too.
        let words = [heading == nil ? "" : card.entry.name.repairedPath.revealedName, mark].filter {
            !$0.isEmpty
        }
        let below = words.joined(separator: ", ").fitting(room.columns)
        screen.put(
            below, column: room.column + (room.columns - below.cells) / 2, row: line + 1,
            style: .dim)
    }

    /// In a few words how the document is.
    private func mark(_ entry: BrowserEntry) -> String {
        guard let details = details[entry.item] else { return "" }
        var words: [String] = []
        switch details.state {
        case "", "local": break
        case "downloading": words.append("↓ \(details.progress ?? 0)%")
        case "promise": words.append("not here")
        default: words.append(details.state)
        }
        switch details.pin {
        case "keep": words.append("kept")
        case "online-only": words.append("online only")
        default: break
        }
        return words.joined(separator: ", ")
    }

    private func drawBottom(_ screen: inout Screen) {
        let row = screen.rows - 1
        guard row > 0 else { return }
        if let question {
            let label: String
            switch question {
            case .create: label = "New document: "
            case .rename: label = "New name: "
            case .delete(let path, _): label = "Delete \(path.repairedPath.revealedName)? y/n "
            }
            var column = screen.put(
                label.fitting(screen.columns - 1), column: 0, row: row, style: .bold)
            if case .delete = question {
            } else {
                // The end of the line is where the cursor is.
                var text = answer.repairedPath.revealedName
                while column + text.cells >= screen.columns, !text.isEmpty { text.removeFirst() }
                column = screen.put(text, column: column, row: row)
            }
            screen.cursor = (min(column, screen.columns - 1), row)
            if !message.isEmpty, row > 1 {
                screen.put(
                    message.repairedPath.revealedName.fitting(screen.columns), column: 0,
                    row: row - 1, style: .dim)
            }
        } else if !message.isEmpty {
            let style = isBad ? Style(text: shape.paint(9), emphasis: .bold) : Style.plain
            screen.put(
                message.repairedPath.revealedName.fitting(screen.columns), column: 0, row: row,
                style: style)
        } else {
            let keys = "Enter edits  Ctrl-N new  F2 renames  Del deletes  F1 keys  Esc leaves"
            screen.put(keys.fitting(screen.columns), column: 0, row: row, style: .dim)
        }
    }

    private static let keys = [
        ("arrows, PgUp, PgDn", "select"), ("Home, End", "first, last"),
        ("Enter, click twice", "edit"), ("letters", "show only names and titles with them"),
        ("Backspace, Esc", "fewer letters, all"), ("Ctrl-N", "new document"),
        ("F2, Ctrl-R", "rename"), ("Delete, Ctrl-D", "delete"),
        ("Ctrl-E", "let the content go, bring it"), ("Ctrl-P", "keep the content here, or not"),
        ("F5, Ctrl-L", "look again"), ("Esc, Ctrl-Q", "leave"),
    ]

    private func drawHelp(_ screen: inout Screen) {
        for (index, key) in Self.keys.enumerated() where index + 2 < screen.rows {
            screen.put(key.0, column: 1, row: index + 1, limit: 21, style: .bold)
            screen.put(key.1, column: 22, row: index + 1)
        }
    }
}

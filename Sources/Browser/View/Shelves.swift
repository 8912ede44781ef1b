package import Drawing
package import Editor
import Terminal

/// Where documents stand: headings and rows of cards, of which those that fit are on the screen.
///
/// Where the terminal shows no pictures, or is small, a card is a line and a row has one.
package struct Shelves: Sendable {
    /// One row from the top of all.
    package struct Row: Hashable, Sendable {
        /// Nil for a row of cards.
        package var heading: String?
        package var places: [BrowserState.Place]
        /// Lines of the screen.
        package var height: Int
    }

    /// A card on the screen.
    package struct Card: Hashable, Sendable {
        package var place: BrowserState.Place
        package var entry: BrowserEntry
        package var area: Layout.Area
        /// Where its picture goes; nil for none.
        package var picture: Layout.Area?
    }

    /// The least room for cards with pictures.
    private static let least = (columns: 40, rows: 14)
    private static let cardColumns = 22
    /// How high pictures are, and how low they may be so that two rows of cards, each below its heading,
    /// are on the screen: else what was viewed lately hides all other documents in 24 lines.
    private static let pictureRows = (least: 5, most: 8)
    /// Below a picture: the title, and what else there is to say.
    private static let wordRows = 2

    package let rows: [Row]
    /// Lines between the first and the last of the screen.
    package let bodyRows: Int
    package let cardRows: Int
    package let hasPictures: Bool
    private let pictureRows: Int
    /// An empty line below each row of cards, which may be missing at the end of the screen.
    private let gap: Int
    private let columns: Int
    private let cardWidth: Int
    private let firstRow: Int
    private let entries: [BrowserIdentity: BrowserEntry]

    package init(_ state: BrowserState) {
        let shape = state.shape
        columns = min(max(shape.columns, 1), Screen.limit)
        bodyRows = max(0, min(max(shape.rows, 1), Screen.limit) - 2)
        hasPictures =
            shape.graphics != .none && columns >= Self.least.columns
            && bodyRows >= Self.least.rows - 2
        gap = hasPictures ? 1 : 0
        let ofTwo = (bodyRows - 2 + gap) / 2 - Self.wordRows - gap
        pictureRows =
            ofTwo < Self.pictureRows.least
            ? Self.pictureRows.most : min(ofTwo, Self.pictureRows.most)
        cardRows = hasPictures ? pictureRows + Self.wordRows + gap : 1
        let across = hasPictures ? max(1, columns / Self.cardColumns) : 1
        cardWidth = hasPictures ? columns / across : columns
        firstRow = state.firstRow
        entries = state.known
        var rows: [Row] = []
        func add(
            _ heading: String, _ section: BrowserState.Section, _ list: [BrowserEntry],
            _ height: Int
        ) {
            rows.append(Row(heading: heading, places: [], height: 1))
            var left = list.map {
                BrowserState.Place(section: section, document: $0.identity)
            }[...]
            while !left.isEmpty {
                rows.append(Row(heading: nil, places: Array(left.prefix(across)), height: height))
                left = left.dropFirst(across)
            }
        }
        let recent = state.recent
        // One row of pictures; as a list no more than leave room for the rest.
        let shown = recent.prefix(hasPictures ? across : min(5, bodyRows / 3))
        if !shown.isEmpty { add("Recently viewed", .recent, Array(shown), cardRows) }
        let matching = state.matching
        let heading =
            state.filter.isEmpty
            ? "All documents" : "\(matching.count) of \(state.count) documents"
        add(heading, .all, matching, cardRows)
        self.rows = rows
    }

    /// All places in the order of the screen.
    package var places: [BrowserState.Place] { rows.flatMap(\.places) }

    /// Row and column of a place.
    package func position(of place: BrowserState.Place) -> (row: Int, column: Int)? {
        for (row, content) in rows.enumerated() {
            if let column = content.places.firstIndex(of: place) { return (row, column) }
        }
        return nil
    }

    /// The rows on the screen with their first lines. The last one may be cut off.
    package var visible: [(row: Row, line: Int)] {
        var (line, found) = (1, [(row: Row, line: Int)]())
        for row in rows.dropFirst(firstRow) {
            if line > bodyRows { break }
            found.append((row, line))
            line += row.height
        }
        return found
    }

    /// The cards on the screen that are there as a whole.
    package var cards: [Card] {
        visible.filter { $0.line + $0.row.height - 1 - gap <= bodyRows }.flatMap { row, line in
            row.places.enumerated().compactMap { column, place -> Card? in
                guard let entry = entries[place.document] else { return nil }
                let area = Layout.Area(
                    column: column * cardWidth, row: line, columns: cardWidth,
                    rows: row.height - gap)
                var picture: Layout.Area?
                if hasPictures {
                    picture = Layout.Area(
                        column: area.column + 1, row: line, columns: cardWidth - 2,
                        rows: pictureRows)
                }
                return Card(place: place, entry: entry, area: area, picture: picture)
            }
        }
    }

    /// The first row with which the selection is in sight, from `firstRow` on. Where documents went, or the
    /// terminal became larger, so that there is room below the last row, those above come into sight, too.
    func firstRow(showing place: BrowserState.Place?) -> Int {
        var first = nearestRow(showing: place)
        var room = bodyRows - height(first...rows.count - 1)
        while first > 0, rows[first - 1].height <= room {
            first -= 1
            room -= rows[first].height
        }
        return first
    }

    /// The same, whatever is below it.
    private func nearestRow(showing place: BrowserState.Place?) -> Int {
        guard let place, let (row, _) = position(of: place) else {
            return min(firstRow, max(0, rows.count - 1))
        }
        // The heading above comes into sight too, if there is room.
        let isFirst = row > 0 && rows[row - 1].heading != nil
        let top = isFirst && height(row - 1...row) <= bodyRows ? row - 1 : row
        if top < firstRow { return top }
        var first = firstRow
        while first < row, height(first...row) > bodyRows { first += 1 }
        return first
    }

    /// The lines of some rows, the last of which holds cards.
    private func height(_ range: ClosedRange<Int>) -> Int {
        rows[range].reduce(0) { $0 + $1.height } - gap
    }
}

extension BrowserState {
    mutating func keepInSight() {
        let shelves = Shelves(self)
        if selection == nil { selection = shelves.places.first }
        firstRow = shelves.firstRow(showing: selection)
    }

    /// The size in pixels that a picture has to fit into.
    func pixels(_ area: Layout.Area) -> PixelSize? {
        if shape.graphics == .blocks {
            return try? PixelSize(width: area.columns, height: area.rows * 2)
        }
        // Sixels come in bands of six rows, the last of which must not reach the next cells.
        let height = area.rows * shape.cell.height - (shape.graphics == .sixel ? 6 : 0)
        return try? PixelSize(width: area.columns * shape.cell.width, height: height)
    }

    /// Documents on the screen.
    package var inSight: [BrowserEntry] { Shelves(self).cards.map(\.entry) }

    /// Pictures that the screen should have and that have not been looked for.
    package var wantedPictures: [(version: BrowserVersion, size: PixelSize)] {
        Shelves(self).cards.compactMap { card in
            guard let area = card.picture, let size = pixels(area) else { return nil }
            let key = PictureKey(version: card.entry.version, size: size)
            return pictures.index(forKey: key) == nil ? (key.version, size) : nil
        }
    }

    /// The picture of a card.
    func picture(_ card: Shelves.Card) -> (bitmap: Bitmap, area: Layout.Area)? {
        guard let area = card.picture, let size = pixels(area),
            let found = pictures[PictureKey(version: card.entry.version, size: size)],
            let bitmap = found
        else { return nil }
        // What it really takes, in the middle of its area.
        let columns = max(1, bitmap.size.width * area.columns / max(1, size.width))
        let rows = max(1, (bitmap.size.height * area.rows + size.height - 1) / max(1, size.height))
        return (
            bitmap,
            Layout.Area(
                column: area.column + max(0, area.columns - columns) / 2,
                row: area.row + max(0, area.rows - rows) / 2, columns: min(columns, area.columns),
                rows: min(rows, area.rows))
        )
    }
}

/// What a terminal is to show, cell by cell. A pure value.
public struct Screen: Hashable, Sendable {
    /// What one cell shows.
    public struct Cell: Hashable, Sendable {
        /// The character; nil in the right half of a wide one.
        public var character: Character?
        /// How it looks.
        public var style: Style

        /// A cell of its parts.
        public init(_ character: Character? = " ", _ style: Style = .plain) {
            self.character = character
            self.style = style
        }
    }

    /// The largest sides; a terminal that claims more is used up to here.
    public static let limit = 1_000

    /// Cells from left to right.
    public let columns: Int
    /// Cells from top to bottom.
    public let rows: Int
    /// Row by row from the top.
    public private(set) var cells: [Cell]
    /// Where the cursor is; nil if it is not shown.
    public var cursor: (column: Int, row: Int)? {
        get { cursorColumn < 0 ? nil : (cursorColumn, cursorRow) }
        set {
            cursorColumn = newValue?.column ?? -1
            cursorRow = newValue?.row ?? -1
        }
    }
    private var cursorColumn = -1
    private var cursorRow = -1

    /// An empty screen of at least one cell.
    public init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Screen.limit)
        self.rows = min(max(rows, 1), Screen.limit)
        cells = [Cell](repeating: Cell(), count: self.columns * self.rows)
    }

    /// The cell at a place, which must be on the screen.
    public subscript(column: Int, row: Int) -> Cell {
        get { cells[row * columns + column] }
        set { cells[row * columns + column] = newValue }
    }

    /// Puts text on one row, as far as it fits before `limit` (or the right edge). Control
    /// characters do not get to the terminal. Gives the column after it.
    @discardableResult
    public mutating func put(
        _ text: String, column: Int, row: Int, limit: Int? = nil, style: Style = .plain
    ) -> Int {
        let end = min(limit ?? columns, columns)
        guard (0..<rows).contains(row), column >= 0 else { return column }
        var column = column
        for character in text {
            let width = character.cells
            guard width > 0 else { continue }
            guard column + width <= end else { break }
            clearHalves(column, row)
            clearHalves(column + width - 1, row)
            self[column, row] = Cell(character, style)
            if width == 2 { self[column + 1, row] = Cell(nil, style) }
            column += width
        }
        return column
    }

    /// Blanks of a style in a rectangle, as far as it is on the screen.
    public mutating func fill(
        columns: Range<Int>, rows: Range<Int>, style: Style = .plain
    ) {
        for row in rows.clamped(to: 0..<self.rows) {
            for column in columns.clamped(to: 0..<self.columns) {
                clearHalves(column, row)
                self[column, row] = Cell(" ", style)
            }
        }
    }

    /// Half of a wide character cannot stay.
    private mutating func clearHalves(_ column: Int, _ row: Int) {
        if self[column, row].character == nil, column > 0 {
            self[column - 1, row].character = " "
        }
        if column + 1 < columns, self[column + 1, row].character == nil {
            self[column + 1, row].character = " "
        }
    }

    /// A row as text, without blanks at its end.
    public func text(row: Int) -> String {
        var text = String(cells[row * columns..<(row + 1) * columns].compactMap(\.character))
        while text.last == " " { text.removeLast() }
        return text
    }
}

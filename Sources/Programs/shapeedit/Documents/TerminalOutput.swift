import Drawing
import SystemCalls
import Terminal

/// Pictures on standard output, where that is a terminal.
enum TerminalOutput {
    /// What the environment says of the terminal.
    static var environment: [String: String] {
        GraphicsQuery.variables.reduce(into: [:]) { $0[$1] = Containers.environment($1) }
    }

    /// Rows that stay free for the prompt and the last of what was printed before.
    private static let freeRows = 4
    /// Pixels at most to a side: more would only be slow.
    private static let side = 2_000

    /// Draws as large as the terminal allows, within 80 columns and 24 rows where its size is not
    /// known.
    static func draw(_ picture: Picture, as graphics: TerminalGraphics, on terminal: GraphicsQuery)
        throws(DrawingError)
    {
        let window = TerminalDevice.size(of: Descriptors.output)
        // Half blocks have one pixel a column and two a row. Real pixels must be those of the
        // terminal: sixel has no other measure, and a picture wider than the terminal is cut.
        let cell =
            graphics == .halfBlocks
            ? (width: 1, height: 2) : terminal.cellSize(in: window) ?? (width: 10, height: 20)
        let bounds = try PixelSize(
            width: min(window.columns * cell.width, side),
            height: min(max(1, window.rows - freeRows) * cell.height, side))
        let size = picture.size(fitting: bounds)
        let bitmap = try picture.bitmap(fitting: size)
        let bytes = try bitmap.terminalBytes(
            graphics, columns: max(1, size.width / cell.width),
            rows: max(1, size.height / cell.height))
        // A terminal that has gone away needs no picture.
        try? Descriptors.write(bytes, to: Descriptors.output)
    }
}

import Drawing
import Glibc
import SystemCalls
import Terminal

/// Pictures on standard output, where that is a terminal.
enum TerminalOutput {
    /// What the environment says of the terminal.
    static var environment: [String: String] {
        GraphicsQuery.variables.reduce(into: [:]) { $0[$1] = Containers.environment($1) }
    }

    /// Draws as large as the terminal allows, below 80 columns and 24 rows where its size is not
    /// known.
    static func draw(_ picture: Picture, as graphics: TerminalGraphics) throws(DrawingError) {
        var window = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
        let columns = isKnown ? Int(window.ws_col) : 80
        let rows = max(1, (isKnown ? Int(window.ws_row) : 24) - 4)
        // A cell is about twice as high as wide: one pixel a column and two a row for half blocks,
        // ten times that for real pixels.
        let scale = graphics == .halfBlocks ? 1 : 10
        let bounds = try PixelSize(
            width: min(columns * scale, 2_000), height: min(rows * 2 * scale, 2_000))
        let size = picture.size(fitting: bounds)
        let bitmap = try picture.bitmap(fitting: size)
        let bytes = try bitmap.terminalBytes(
            graphics, columns: max(1, size.width / scale), rows: max(1, size.height / scale / 2))
        // A terminal that has gone away needs no picture.
        try? Descriptors.write(bytes, to: Descriptors.output)
    }
}

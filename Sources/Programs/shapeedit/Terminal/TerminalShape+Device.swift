import Editor
import Terminal

extension TerminalShape {
    /// What is known of a terminal.
    init(of device: TerminalDevice, _ query: GraphicsQuery) {
        let size = device.size
        var cell = CellSize.usual
        if let (width, height) = query.cellSize(in: size) {
            cell = CellSize(width: width, height: height)
        }
        self.init(columns: size.columns, rows: size.rows, graphics: query.graphics, cell: cell)
    }
}

import Documents
import Terminal

extension EditorState {
    /// The keys for this type of document, as columns of pairs.
    private var keys: [(String, String)] {
        let scene = type == .shape
        let slide = type == .slide
        let list = type == .list
        var keys: [(String, String)] = []
        func add(_ key: String, _ what: String, if isThere: Bool = true) {
            if isThere { keys.append((key, what)) }
        }
        add("up, down, Tab", "select", if: scene || slide || list)
        add("m", "arrows move; PgUp, PgDn: depth", if: scene)
        add("m", "arrows move (Shift: finely)", if: slide)
        add("Shift+arrows", "move", if: scene || slide)
        add("r  s", "arrows rotate, scale", if: scene || slide)
        add("o  z", "arrows orbit, zoom", if: hasCamera)
        add("+ - 0", "zoom, reset the camera", if: hasCamera)
        add("Esc", "back to the usual")
        add("1 to 6", "which solid", if: hasCamera)
        add("Space", "done or open", if: list)
        add("Space", "mark several", if: scene || slide)
        add("a, n", "add", if: list)
        add("n", "add", if: scene || slide)
        add("J  K", "move down, up", if: list)
        add("J  K", "forward, backward", if: scene || slide)
        add("d", "duplicate", if: scene || slide)
        add("x, Delete", "remove", if: !hasCamera || scene)
        add("c", "colour", if: type != .shapeFile)
        add("g  G  h", "group, ungroup, hide", if: scene)
        add("G", "take a chain apart", if: slide)
        add("e, Enter", "edit a value or text")
        add(":", "PATH=VALUE or a verb (Tab completes)")
        add("u  U", "undo, redo")
        add("w  q  Q", "save, save and quit, just quit")
        add("mouse", "select, drag to orbit, wheel zooms", if: hasCamera)
        add("mouse", "select, drag to move", if: slide)
        return keys
    }

    /// In as many columns as the rows need, which share the whole width: where one is enough, no
    /// line is cut.
    func drawHelp(_ screen: inout Screen) {
        let keys = keys
        let rows = max(1, screen.rows - 2)
        let columns = (keys.count + rows - 1) / rows
        let width = max(min(screen.columns, 30), screen.columns / columns)
        for (index, key) in keys.enumerated() {
            let column = index / rows * width
            guard column + width <= screen.columns else { break }
            let row = 1 + index % rows
            screen.put(key.0, column: column + 1, row: row, limit: column + width, style: .bold)
            screen.put(
                key.1.fitting(width - 15), column: column + 15, row: row, limit: column + width)
        }
    }
}

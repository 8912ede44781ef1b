import Browser
import Drawing
import Editor
import Terminal

/// Brings the terminal from what it shows to what the browser should show.
struct BrowserDisplay {
    private let device: TerminalDevice
    /// What the terminal shows; nil if that is not known.
    private var shown: Screen?
    /// The pictures over it.
    private var overlays: [BrowserState.Overlay] = []

    init(_ device: TerminalDevice) { self.device = device }

    /// Draw all again at the next occasion.
    mutating func forget() {
        shown = nil
        overlays = []
    }

    mutating func show(_ state: BrowserState) {
        let screen = state.screen
        let wanted = state.overlays
        var output: [UInt8] = []
        let graphics = state.shape.graphics
        let isSame = wanted.map(\.overlay) == overlays
        // More pictures than before need no erasing.
        let isMore = Set(overlays).isSubset(of: wanted.map(\.overlay))
        if !isMore {
            // Pictures of kitty are removed; others only by what is drawn over them.
            if graphics == .kitty {
                output += Array("\u{1B}_Ga=d,d=A,q=2\u{1B}\\".utf8)
            } else {
                shown = nil
            }
            overlays = []
        }
        output += screen.update(from: shown)
        shown = screen
        if !isSame, let encoding = graphics.encoding {
            let there = Set(overlays)
            for (overlay, bitmap) in wanted where !there.contains(overlay) {
                let area = overlay.area
                let bytes = try? bitmap.terminalBytes(
                    encoding, columns: area.columns, rows: area.rows)
                output += Array(Screen.place(area.column, area.row).utf8) + (bytes ?? [])
            }
            overlays = wanted.map(\.overlay)
            if let cursor = screen.cursor {
                output += Array(Screen.place(cursor.column, cursor.row).utf8)
            }
        }
        guard !output.isEmpty else { return }
        if !device.show(output, state.shape.graphics) { forget() }
    }
}

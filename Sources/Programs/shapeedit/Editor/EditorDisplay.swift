import Editor
import Terminal

/// Brings the terminal from what it shows to what it should show.
struct EditorDisplay {
    private let device: TerminalDevice
    /// What the terminal shows; nil if that is not known.
    private var shown: Screen?
    /// The picture over it, where it is not made of characters.
    private var picture: RenderingRequest?
    /// The picture that was asked for last.
    var requested: RenderingRequest?

    init(_ device: TerminalDevice) { self.device = device }

    /// Draw all again at the next occasion.
    mutating func forget() {
        shown = nil
        picture = nil
    }

    mutating func show(_ state: EditorState) {
        var wanted = state.rendering
        let isPixels = state.shape.graphics != .blocks && state.shape.graphics != .none
        if !isPixels || state.hidesPicture || wanted?.bytes.isEmpty == true
            || wanted?.request.graphics != state.shape.graphics
            || wanted?.request.size != state.wantedRendering?.size
        {
            // None, or one for a terminal of another size.
            wanted = nil
        }
        var output: [UInt8] = []
        if let picture, picture != wanted?.request {
            // Pictures of kitty are removed; others only by what is drawn over them.
            if picture.graphics == .kitty {
                output += Array("\u{1B}_Ga=d,d=A,q=2\u{1B}\\".utf8)
            } else if picture.columns != wanted?.request.columns
                || picture.rows != wanted?.request.rows
            {
                shown = nil
            }
            self.picture = nil
        }
        let screen = state.screen
        output += screen.update(from: shown)
        shown = screen
        if let wanted, picture == nil, let area = state.pictureArea(wanted.request) {
            output += Array(Screen.place(area.column, area.row).utf8)
            output += wanted.bytes
            picture = wanted.request
            if let cursor = screen.cursor {
                output += Array(Screen.place(cursor.column, cursor.row).utf8)
            }
        }
        guard !output.isEmpty else { return }
        if !device.show(output, state.shape.graphics) { forget() }
    }
}

internal import Documents
package import Drawing
package import Editing
package import Terminal

/// What happens to the editor.
package enum EditorEvent: Sendable {
    /// A key, the mouse or a paste; answers of the terminal do not come here.
    case input(InputEvent)
    /// The terminal has another size, or another way to show pictures.
    case resized(TerminalShape)
    /// Time has passed.
    case tick
    /// The file was read: because others changed it, or to see whether they did.
    case loaded(EditableDocument)
    /// It cannot be read, such as one that a program which is no editor has half written; why.
    case unreadable(String)
    /// It was moved or renamed, to this path.
    case moved(to: String)
    /// It is nowhere any more, in words; the first so many steps were in it.
    case gone(String, done: Int)
    /// All steps that were handed over are in the file, which holds this now.
    case saved(EditableDocument)
    /// What is being saved cannot be undone, in words.
    case unkept(String)
    /// The first so many steps are in the file; the next cannot be made on what others left there.
    case conflict(String, done: Int, file: EditableDocument?)
    /// The first so many steps are in the file; then writing failed: worth another try.
    case saveFailed(String, done: Int)
    /// The file went a step back or forth; nil if there was none. It holds this now; the state that was undone or
    /// made again had come to be then.
    case stepped(String?, isUndo: Bool, file: EditableDocument, state: Int64? = nil)
    /// There is nothing to redo: others have redone what was undone last. The file holds this.
    case redone(file: EditableDocument)
    /// The step that undo or redo would have taken is others', this one, and the user did not know that. The
    /// file holds this.
    case refused(String, isUndo: Bool, file: EditableDocument)
    /// Going back or forth failed.
    case stepFailed(String)
    /// The file that was to be made anew is there again, and holds this.
    case isBack(EditableDocument)
    /// A copy was kept under this name.
    case keptCopy(String)
    /// A copy could not be kept.
    case copyFailed(String)
    /// A picture is ready.
    case pictured(Rendering)
    /// The process is to end: by a signal, or because the terminal is gone.
    case end
}

/// What the editor wants done; in this order.
package enum EditorEffect: Hashable, Sendable {
    /// Make the steps on the file, one after the other.
    case save([Step], shown: EditableDocument)
    /// The file is gone: make it anew.
    case create(EditableDocument)
    /// Read the file again.
    case load
    /// Go a step back in the file's history.
    case undo
    /// Go a step forth again. What was undone last had come to be then.
    case redo(undone: Int64?)
    /// Write this beside the file, under a name that says that it is a conflict.
    case keepCopy(EditableDocument)
    /// Stop the process until the user resumes it.
    case suspend
    /// Draw all again.
    case redraw
    /// End.
    case quit
}

/// What a terminal can show.
package struct TerminalShape: Hashable, Sendable {
    package var columns: Int
    package var rows: Int
    package var graphics: GraphicsProtocol
    /// The size of a cell in pixels.
    package var cell: CellSize

    package init(columns: Int, rows: Int, graphics: GraphicsProtocol, cell: CellSize) {
        self.columns = columns
        self.rows = rows
        self.graphics = graphics
        self.cell = cell
    }

    /// A colour for text; the terminal's own where no colours are to be shown.
    package func paint(_ index: UInt8) -> Style.Paint {
        graphics == .none ? .standard : .indexed(index)
    }

    /// A size in pixels.
    package struct CellSize: Hashable, Sendable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        /// What is likely, if a terminal does not tell.
        package static let usual = CellSize(width: 8, height: 16)
    }
}

/// What picture is to be drawn: two that are equal look the same.
package struct RenderingRequest: Hashable, Sendable {
    package var document: EditableDocument
    package var size: PixelSize
    package var graphics: GraphicsProtocol
    /// The cells it gets.
    package var columns: Int
    package var rows: Int

    /// The picture to draw.
    package var picture: Picture {
        switch document {
        case .scene(let scene): .scene(scene)
        case .shapeFile(let file): .scene(Scene.converted(from: file).scene)
        case .slide(let slide): .slide(slide, .app)
        case .list(let list): .list(list, title: nil)
        }
    }
}

/// A picture that was drawn.
package struct Rendering: Sendable {
    package var request: RenderingRequest
    /// Nil if it cannot be drawn.
    package var bitmap: Bitmap?
    /// What to send to a terminal for it, with the cursor at its corner; empty for blocks.
    package var bytes: [UInt8]
    /// Why it cannot be drawn.
    package var problem: String?

    /// Draws what is asked for. Takes its time.
    package init(_ request: RenderingRequest) {
        self.request = request
        bytes = []
        do throws(DrawingError) {
            let bitmap = try request.picture.bitmap(fitting: request.size)
            self.bitmap = bitmap
            // Blocks are characters of the screen and drawn with it.
            if request.graphics != .blocks, let encoding = request.graphics.encoding {
                bytes = try bitmap.terminalBytes(
                    encoding, columns: request.columns, rows: request.rows)
                // The line end after it would scroll a screen that is full.
                if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            }
        } catch { problem = "\(error)" }
    }
}

package import Documents
package import Editing
import Terminal

/// The editor without files and terminal: what it knows, and how events change that.
///
/// The document shown is always what the file held last (`base`), with the steps that are being
/// saved and those that are not saved yet made on it. When others change the file, `base` changes
/// and the steps are made again; one that cannot be made any more is never dropped silently.
/// Times are in milliseconds of a clock that only goes forward.
package struct EditorState: Sendable {
    /// What keys do to the selected part or the camera.
    package enum Tool: String, CaseIterable, Hashable, Sendable {
        case select, move, rotate, scale, orbit, zoom
    }

    /// How much the last message matters.
    package enum Tone: Hashable, Sendable { case plain, good, bad }

    /// Unsaved steps are saved after so long without another one.
    package static let quietTime = 1_000
    /// They are saved after so long in any case.
    package static let longestWait = 10_000
    /// Saving is tried again after so long when it failed.
    package static let retryTime = 5_000

    /// What is said until what the user wants saved is.
    static let savingMessage = "Saving"

    /// The file's name, without folders.
    package internal(set) var name: String
    package internal(set) var base: EditableDocument
    package internal(set) var document: EditableDocument
    /// The parts of `document`.
    package internal(set) var parts: [Part]
    /// Handed over to be saved, no answer yet.
    package internal(set) var saving: [Step] = []
    /// Not handed over yet.
    package internal(set) var pending: [Step] = []
    /// What was saved and can be undone, the last one last.
    var made: [Step] = []
    /// What was undone and can be redone, the last one last, and when the file had come to hold it.
    var undone: [(step: Step, state: Int64?)] = []
    var lastEdit = 0
    var firstEdit = 0
    var retryAt: Int?
    /// What was said of the last save that failed, and of the last reading.
    var saveProblem: String?
    var readProblem: String?
    /// It was said that what is saved cannot be undone.
    var isUnkeptSaid = false
    /// The file is nowhere any more. What is shown is kept, and written only when the user asks for it
    /// or leaves with something unsaved.
    package var isGone: Bool { goneBecause != nil }
    /// Why the file is gone, and what can be done.
    var goneBecause: String?
    /// The file is being made anew, no answer yet.
    var isCreating = false
    /// Undo or redo that was asked for.
    enum Stepping: Hashable, Sendable {
        /// It waits until all is saved: what cannot be saved is not what it would take back.
        case waiting(isUndo: Bool)
        case underWay
    }
    var stepping: Stepping?
    var isStepping: Bool { stepping != nil }
    /// What was typed meanwhile: it is about the document as it is after that.
    var held: [InputEvent] = []
    package internal(set) var isQuitting = false
    /// The process has to end: no more questions.
    var isEnding = false

    /// The place of the selected part; `noSelection` when others took that part out, so that no
    /// key changes another one that came into its place.
    package internal(set) var selection = 0
    /// The selection that is no part.
    package static let noSelection = -1
    /// Parts that edits are about besides the selected one, by their places.
    package internal(set) var marks: Set<Int> = []
    package internal(set) var tool: Tool
    package internal(set) var prompt: LinePrompt?
    package internal(set) var choice: Choice?
    package internal(set) var isHelping = false
    package internal(set) var message: String
    package internal(set) var tone = Tone.plain
    var lines: [String] = []
    /// The first part that is listed.
    package internal(set) var firstListed = 0
    package internal(set) var shape: TerminalShape
    package internal(set) var rendering: Rendering?
    /// Where the mouse went down or was last, while it is down.
    var drag: MouseEvent?

    /// An editor of a document that was just read.
    package init(
        name: String, document: EditableDocument, notes: [String] = [], shape: TerminalShape
    ) {
        self.name = name
        base = document
        self.document = document
        self.shape = shape
        parts = Editor.parts(of: document)
        tool = Self.usualTool(document.type)
        message =
            notes.first.map { notes.count > 1 ? "\($0) (and \(notes.count - 1) more)" : $0 }
            ?? ""
        isLoud = !notes.isEmpty
    }

    /// Whether the message should outlive the next key.
    var isLoud: Bool

    static func usualTool(_ type: DocumentType) -> Tool {
        switch type {
        case .shapeFile: .orbit
        case .shape, .slide, .list: .select
        }
    }

    package var type: DocumentType { document.type }
    /// Whether something is written where the picture would be.
    package var hidesPicture: Bool {
        isHelping || choice != nil || prompt != nil && !message.isEmpty
    }
    /// Whether something is not in the file yet.
    package var isUnsaved: Bool { !saving.isEmpty || !pending.isEmpty || isCreating }

    /// When ``EditorEvent/tick`` is wanted next; nil if there is nothing to wait for.
    package var deadline: Int? {
        guard !pending.isEmpty, saving.isEmpty, !isGone else { return nil }
        return retryAt ?? min(lastEdit + Self.quietTime, firstEdit + Self.longestWait)
    }

    /// Takes an event and says what is to be done.
    package mutating func update(_ event: EditorEvent, now: Int) -> [EditorEffect] {
        var effects: [EditorEffect] = []
        switch event {
        case .input(let input): take(input, now, &effects)
        case .resized(let shape):
            self.shape = shape
            effects.append(.redraw)
        case .tick: if let deadline, deadline <= now { save(&effects) }
        case .pictured(let rendering): self.rendering = rendering
        case .end:
            isEnding = true
            quit(&effects)
        default: takeFile(event, now, &effects)
        }
        keepSelectionVisible()
        return effects
    }

    mutating func say(_ text: String, _ tone: Tone = .plain) {
        message = text.onOneLine
        self.tone = tone
    }

    /// Selects another part so many places further, at most the first or last; from none, the one
    /// at the end that the direction comes from.
    mutating func moveSelection(by distance: Int) {
        if selection == Self.noSelection {
            selection = distance > 0 ? 0 : parts.count - 1
        } else {
            selection = min(max(selection + distance, 0), max(parts.count - 1, 0))
        }
    }

    mutating func keepSelectionVisible() {
        if parts.isEmpty { selection = 0 }
        selection = min(max(selection, Self.noSelection), max(parts.count - 1, 0))
        marks = marks.filter { $0 < parts.count }
        let rows = max(1, Layout(self).listRows)
        if selection != Self.noSelection {
            firstListed = min(firstListed, selection)
            firstListed = max(firstListed, selection - rows + 1)
        }
        firstListed = max(0, min(firstListed, parts.count - rows))
    }
}

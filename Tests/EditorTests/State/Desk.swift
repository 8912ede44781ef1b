import Documents
import Editing
import Editor
import Terminal
import Testing

/// A state with a clock and a file that takes every step.
struct Desk {
    var state: EditorState
    var now = 0
    var effects: [EditorEffect] = []

    init(_ document: EditableDocument, columns: Int = 80, rows: Int = 24) {
        state = EditorState(
            name: "a.shape", document: document,
            shape: TerminalShape(columns: columns, rows: rows, graphics: .blocks, cell: .usual))
    }

    mutating func send(_ event: EditorEvent) { effects += state.update(event, now: now) }

    /// Types characters; `\r` is Enter, `\u{1B}` Escape.
    mutating func type(_ text: String) {
        for character in text {
            let key: Key =
                character == "\r" ? .enter : character == "\u{1B}" ? .escape : .character(character)
            send(.input(.key(key)))
        }
    }

    mutating func press(_ key: Key, _ modifiers: Modifiers = []) {
        send(.input(.key(key, modifiers)))
    }

    mutating func wait(_ milliseconds: Int) {
        now += milliseconds
        send(.tick)
    }

    /// The steps that the state wants saved, once.
    mutating func takeSaves() -> [Step] {
        defer { effects = [] }
        return effects.flatMap { if case .save(let steps, _) = $0 { steps } else { [Step]() } }
    }

    var lines: [String] {
        let screen = state.screen
        return (0..<screen.rows).map { screen.text(row: $0) }
    }
}

extension Desk {
    /// A ball and a box.
    static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
        .solid(Solid(name: "Box", shape: SolidShape(.cube))),
    ])

    /// The document where it is a scene, else an empty one.
    var scene: Scene {
        if case .scene(let scene) = state.document { scene } else { Scene() }
    }
}

extension Desk {
    /// Plays the file: makes the steps that are to be saved, and answers.
    mutating func play(_ file: inout EditableDocument) {
        let wanted = effects
        effects = []
        for effect in wanted {
            switch effect {
            case .save(let steps, _):
                var failed = false
                for (done, step) in steps.enumerated() where !failed {
                    do { _ = try step.apply(to: &file) } catch {
                        failed = true
                        send(.conflict("\(error)", done: done, file: file))
                    }
                }
                if !failed { send(.saved(file)) }
            case .create(let document): send(.saved(document))
            case .undo, .redo: send(.stepped(nil, isUndo: effect == .undo, file: file))
            case .load: send(.loaded(file))
            case .keepCopy: Issue.record("nobody else changed the file: \(state.message)")
            case .suspend, .redraw, .quit: break
            }
        }
    }
}

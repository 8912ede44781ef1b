import Documents
import Editing
import Editor
import Probing
import Terminal
import TestSupport
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

@Suite struct EditorStateTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
        .solid(Solid(name: "Box", shape: SolidShape(.cube))),
    ])

    private func scene(_ document: EditableDocument) -> Scene {
        if case .scene(let scene) = document { scene } else { Scene() }
    }

    @Test func `keys select, change the kind, move and colour`() throws {
        var desk = Desk(.scene(Self.scene))
        desk.press(.down)
        desk.type("5")
        desk.press(.right, .shift)
        desk.type("c1")
        guard case .solid(let solid) = scene(desk.state.document).nodes[1] else { return }
        #expect(solid.shape.kind == .torus)
        #expect(solid.transform.position == Vector3(0.1, 0, 0))
        #expect(solid.color == Color("red"))
        #expect(desk.state.base == .scene(Self.scene))
    }

    @Test func `saving waits for a quiet second, but not for ever`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("2")
        desk.wait(999)
        #expect(desk.takeSaves().isEmpty)
        desk.type("3")
        desk.wait(999)
        #expect(desk.takeSaves().isEmpty)
        desk.wait(1)
        #expect(desk.takeSaves().count == 2)
        desk.send(.saved(desk.state.document))
        #expect(!desk.state.isUnsaved)
        desk.type("m")
        for _ in 0..<20 {
            desk.press(.left)
            desk.wait(600)
            desk.press(.right)
        }
        #expect(desk.effects.contains { if case .save = $0 { true } else { false } })
    }

    @Test func `arrows that follow at once are one step, others their own`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("m")
        for _ in 0..<5 { desk.press(.left) }
        desk.type("s")
        desk.press(.up)
        #expect(desk.state.pending.count == 2)
    }

    @Test func `what others changed is taken over under what is not saved`() {
        var desk = Desk(.scene(Self.scene))
        desk.press(.right, .shift)
        var others = Self.scene
        others.title = "Theirs"
        others.nodes.insert(.solid(Solid(name: "New", shape: SolidShape(.cone))), at: 0)
        desk.send(.loaded(.scene(others)))
        let both = scene(desk.state.document)
        #expect(both.title == "Theirs")
        #expect(both.nodes.map(\.name) == ["New", "Ball", "Box"])
        #expect(both.nodes[1].transform.position.x == 0.1)
        #expect(desk.state.parts[desk.state.selection].title == "Ball")
        #expect(desk.state.message.contains("others"))
        #expect(desk.state.isUnsaved)
    }

    @Test func `an edit that no longer applies is kept in a copy, the others are made`() {
        var desk = Desk(.scene(Self.scene))
        desk.press(.right, .shift)
        desk.press(.down)
        desk.press(.right, .shift)
        let mine = desk.state.document
        var others = Self.scene
        others.nodes.removeFirst()
        desk.effects = []
        desk.send(.loaded(.scene(others)))
        #expect(desk.effects == [.keepCopy(mine)])
        #expect(scene(desk.state.document).nodes.map(\.name) == ["Box"])
        #expect(scene(desk.state.document).nodes[0].transform.position.x == 0.1)
        #expect(desk.state.tone == .bad)
        desk.send(.keptCopy("copy.shape"))
        #expect(desk.state.message.contains("copy.shape"))
    }

    @Test func `a conflict while saving keeps a copy and what can still be made`() {
        var desk = Desk(.scene(Self.scene))
        desk.press(.right, .shift)
        desk.wait(1_000)
        #expect(desk.takeSaves().count == 1)
        desk.press(.down)
        desk.type("6")
        let mine = desk.state.document
        let others = EditableDocument.scene(Scene(nodes: [Self.scene.nodes[1]]))
        desk.send(.conflict("gone", done: 0, file: others))
        #expect(desk.effects == [.keepCopy(mine)])
        #expect(desk.state.saving.isEmpty && desk.state.pending.count == 1)
        #expect(desk.state.base == others)
    }

    @Test func `leaving waits until all is in the file`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("2q")
        #expect(desk.takeSaves().count == 1)
        #expect(!desk.effects.contains(.quit))
        desk.send(.saved(desk.state.document))
        #expect(desk.effects == [.quit])
    }

    @Test func `what cannot be saved keeps the editor open, and a signal leaves a copy`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("2q")
        desk.effects = []
        desk.send(.saveFailed("disk full", done: 0))
        #expect(desk.effects.isEmpty && desk.state.isUnsaved && desk.state.message.contains("Q"))
        desk.wait(EditorState.retryTime)
        #expect(desk.takeSaves().count == 1)
        desk.send(.end)
        let mine = desk.state.document
        desk.send(.saveFailed("disk full", done: 0))
        #expect(desk.effects == [.keepCopy(mine), .quit])
    }

    @Test func `undo saves first, so that it takes back the last step`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("2u")
        #expect(desk.effects.count == 2 && desk.effects.last == .undo)
        desk.send(.saved(desk.state.document))
        desk.send(.stepped("Change", isUndo: true, file: .scene(Self.scene)))
        #expect(desk.state.document == .scene(Self.scene))
    }

    @Test func `lines are edits, and mistakes say what is wrong`() {
        var desk = Desk(.scene(Self.scene))
        desk.type(":Ball.color=#102030\r:duplicate Ball Twin\r")
        #expect(scene(desk.state.document).nodes.map(\.name) == ["Ball", "Twin", "Box"])
        desk.type(":Ball.colour=nonsense\r")
        #expect(desk.state.tone == .bad && desk.state.message.contains("colour"))
        desk.type(":set Bal")
        desk.press(.tab)
        #expect(desk.state.prompt?.text == "set Ball.")
        desk.press(.escape)
        #expect(desk.state.prompt == nil)
    }

    @Test func `a slide's arrows move the element that is meant, wherever it is now`() throws {
        var slide = Slide(title: "S")
        for x in [100, 200] {
            slide.elements.append(
                SlideElement([
                    "shapeType": .string("rectangle"), "originx": .integer(x),
                    "originy": .integer(10),
                    "width": .integer(50), "height": .integer(50),
                ]))
        }
        var desk = Desk(.slide(slide))
        desk.press(.tab)
        desk.press(.right)
        #expect(desk.state.isUnsaved, "\(desk.state.message)")
        var others = slide
        others.elements.insert(
            SlideElement(["shapeType": .string("line")]), at: 0)
        desk.send(.loaded(.slide(others)))
        guard case .slide(let both) = desk.state.document else { return }
        #expect(both.elements.map { $0.json["originx"]?.double } == [nil, 100, 240])
    }

    @Test func `lists add, toggle and move, and a new item is known after it is saved`() {
        var desk = Desk(.list(TaskList(items: [TaskItem("bread")])))
        desk.type("amilk\r ")
        guard case .list(let list) = desk.state.document else { return }
        #expect(list.items.map(\.text) == ["bread", "milk"])
        #expect(list.items.map(\.isComplete) == [false, true])
        // Others make the same edits on the file, with identities of their own.
        var file = EditableDocument.list(TaskList(items: [list.items[0]]))
        for step in desk.state.pending { #expect(throws: Never.self) { try step.apply(to: &file) } }
        guard case .list(let saved) = file else { return }
        #expect(saved.items.map(\.text) == ["bread", "milk"])
        #expect(saved.items.map(\.isComplete) == [false, true])
    }

    @Test func `marked parts are grouped`() {
        var desk = Desk(.scene(Self.scene))
        desk.type("  gPair\r")
        #expect(scene(desk.state.document).nodes.map(\.name) == ["Pair"])
        #expect(desk.state.parts.map(\.depth) == [0, 1, 1])
    }

    @Test func `a click selects what is there and dragging goes round it`() {
        var far = Self.scene
        for (index, x) in [(0, -1.5), (1, 1.5)] {
            far.nodes[index].transform.position = Vector3(x, 0, -2)
        }
        var desk = Desk(.scene(far))
        let right = MouseEvent(.press, column: 35, row: 11)
        desk.send(.input(.mouse(right)))
        #expect(desk.state.selection == 1)
        desk.send(.input(.mouse(MouseEvent(.press, column: 17, row: 11))))
        #expect(desk.state.selection == 0)
        desk.send(.input(.mouse(MouseEvent(.drag, column: 22, row: 11))))
        #expect(scene(desk.state.document).camera != far.camera)
        desk.send(.input(.mouse(MouseEvent(.press, column: 60, row: 2))))
        #expect(desk.state.selection == 1)
    }

    @Test(arguments: [(80, 24), (40, 10), (20, 3), (1, 1), (300, 100), (5, 2)])
    func `every size has a screen`(_ columns: Int, _ rows: Int) {
        var desk = Desk(.scene(Self.scene), columns: columns, rows: rows)
        for keys in ["", "?", "x", "n", "\u{1B}c", "\u{1B}:abc def ghi", "\r", "\u{1B}"] {
            desk.type(keys)
            #expect(desk.state.screen.columns == columns && desk.state.screen.rows == rows)
        }
        #expect((desk.state.wantedRendering != nil) == (columns >= 60))
    }

    @Test func `a small terminal has the list alone`() {
        let desk = Desk(.scene(Self.scene), columns: 40, rows: 10)
        #expect(desk.lines[1].contains("Ball") && desk.lines[2].contains("Box"))
    }

    @Test func `any keys are survived, and no state is lost on the way to the file`() {
        let seed = Seed.next("editor keys")
        var random = SplitMix(seed: seed)
        let keys: [Key] =
            [
                .up, .down, .left, .right, .tab, .enter, .enter, .escape, .delete, .backspace,
                .pageUp,
            ]
            + Array("123456nadxcgGheuUmrsoz JK:?+-0w").map { .character($0) }
        for start in [
            EditableDocument.scene(Self.scene), .shapeFile(ShapeFile(kind: .cone)),
            .slide(Slide(title: "S")), .list(TaskList(items: [TaskItem("a"), TaskItem("b")])),
        ] {
            var desk = Desk(start)
            var file = start
            for _ in 0..<400 {
                let key = keys[Int(random.next() % UInt64(keys.count))]
                desk.press(key, random.next() % 8 == 0 ? .shift : [])
                desk.wait(Int(random.next() % 1_500))
                desk.play(&file)
                _ = desk.state.screen
            }
            desk.press(.escape)
            desk.press(.escape)
            desk.type("q")
            while desk.state.isUnsaved { desk.play(&file) }
            #expect(desk.state.document == file, "seed \(seed)")
        }
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
            case .undo, .redo: send(.stepped(nil, isUndo: effect == .undo, file: file))
            case .load: send(.loaded(file))
            case .keepCopy: Issue.record("nobody else changed the file: \(state.message)")
            case .suspend, .redraw, .quit: break
            }
        }
    }
}

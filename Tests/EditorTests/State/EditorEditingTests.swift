import Documents
import Editing
import Editor
import Testing

/// What keys and lines do to the document.
@Suite struct EditorEditingTests {
    @Test func `keys select, change the kind, move and colour`() throws {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.down)
        desk.type("5")
        desk.press(.right, .shift)
        desk.type("c1")
        guard case .solid(let solid) = desk.scene.nodes[1] else {
            Issue.record("no solid")
            return
        }
        #expect(solid.shape.kind == .torus)
        #expect(solid.transform.position == Vector3(0.1, 0, 0))
        #expect(solid.color == Color("red"))
        #expect(desk.state.base == .scene(Desk.scene))
    }

    @Test func `a group and what is in it, both marked, move as far as the group`() {
        var group = Group(name: "G")
        group.children = [.solid(Solid(name: "Box", shape: SolidShape(.cube)))]
        var desk = Desk(.scene(Scene(nodes: [.group(group)])))
        desk.type("  m")
        desk.press(.right)
        guard case .group(let moved) = desk.scene.nodes[0],
            case .solid(let solid) = moved.children[0]
        else {
            Issue.record("the group is gone")
            return
        }
        #expect(moved.transform.position == Vector3(0.1, 0, 0))
        #expect(solid.transform.position == Vector3(0, 0, 0))
    }

    @Test func `arrows that follow at once are one step, others their own`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("m")
        for _ in 0..<5 { desk.press(.left) }
        desk.type("s")
        desk.press(.up)
        #expect(desk.state.pending.count == 2)
    }

    @Test func `lines are edits, and mistakes say what is wrong`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type(":Ball.color=#102030\r:duplicate Ball Twin\r")
        #expect(desk.scene.nodes.map(\.name) == ["Ball", "Twin", "Box"])
        desk.type(":Ball.colour=nonsense\r")
        #expect(desk.state.tone == .bad && desk.state.message.contains("colour"))
        desk.type(":set Bal")
        desk.press(.tab)
        #expect(desk.state.prompt?.text == "set Ball.")
        desk.press(.escape)
        #expect(desk.state.prompt == nil)
    }

    @Test func `lists add, toggle and move, and a new item is known after it is saved`() {
        var desk = Desk(.list(TaskList(items: [TaskItem("bread")])))
        desk.type("amilk\r ")
        guard case .list(let list) = desk.state.document else {
            Issue.record("no list")
            return
        }
        #expect(list.items.map(\.text) == ["bread", "milk"])
        #expect(list.items.map(\.isComplete) == [false, true])
        // Others make the same edits on the file, with identities of their own.
        var file = EditableDocument.list(TaskList(items: [list.items[0]]))
        for step in desk.state.pending { #expect(throws: Never.self) { try step.apply(to: &file) } }
        guard case .list(let saved) = file else {
            Issue.record("no list")
            return
        }
        #expect(saved.items.map(\.text) == ["bread", "milk"])
        #expect(saved.items.map(\.isComplete) == [false, true])
    }

    @Test func `marked parts are grouped`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("  gPair\r")
        #expect(desk.scene.nodes.map(\.name) == ["Pair"])
        #expect(desk.state.parts.map(\.depth) == [0, 1, 1])
    }

    @Test func `what was added is called right in the history`() {
        var desk = Desk(.slide(Slide(title: "S")))
        desk.type("n1n4")
        #expect(desk.state.pending.map(\.description) == ["Add a line", "Add an ellipse"])
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
        desk.press(.down)
        #expect(!desk.state.isUnsaved, "arrows select, as in a scene")
        desk.type("m")
        desk.press(.right)
        #expect(desk.state.isUnsaved, "\(desk.state.message)")
        var others = slide
        others.elements.insert(
            SlideElement(["shapeType": .string("line")]), at: 0)
        desk.send(.loaded(.slide(others)))
        guard case .slide(let both) = desk.state.document else {
            Issue.record("no slide")
            return
        }
        #expect(both.elements.map { $0.json["originx"]?.double } == [nil, 100, 240])
    }
}

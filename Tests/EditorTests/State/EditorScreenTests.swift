import Documents
import Editing
import Editor
import Terminal
import Testing

/// What is on the screen, and the mouse on it.
@Suite struct EditorScreenTests {
    @Test func `a click selects what is there and dragging goes round it`() {
        var far = Desk.scene
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
        #expect(desk.scene.camera != far.camera)
        desk.send(.input(.mouse(MouseEvent(.press, column: 60, row: 2))))
        #expect(desk.state.selection == 1)
    }

    @Test func `what is dragged in a slide is what the mouse went down on`() throws {
        let text = """
            {"canvasWidth": 800, "canvasHeight": 600, "elements": [
              {"shapeType": "circle", "originx": 400, "originy": 300, "radius": 50}]}
            """
        let slide = try Slide.read(Array(text.utf8)).slide
        var desk = Desk(.slide(slide))
        let area = try #require(
            desk.state.wantedRendering.flatMap { desk.state.pictureArea($0) })
        let (column, row) = (area.column + area.columns / 2, area.row + area.rows / 2)
        for (press, isMoved) in [((area.column, area.row), false), ((column, row), true)] {
            desk.send(.input(.mouse(MouseEvent(.press, column: press.0, row: press.1))))
            desk.send(.input(.mouse(MouseEvent(.drag, column: press.0 + 3, row: press.1))))
            desk.send(.input(.mouse(MouseEvent(.release, column: press.0 + 3, row: press.1))))
            #expect(desk.state.isUnsaved == isMoved, "\(press): \(desk.state.message)")
        }
    }

    @Test(arguments: [
        (Key.left, [1, 0, 2]), (.up, [1, 0, 2]), (.right, [0, 2, 1]), (.down, [0, 2, 1]),
    ])
    func `arrows with Shift take an item where they lead`(key: Key, expected: [Int]) {
        let items = (0..<3).map { TaskItem("\($0)") }
        var desk = Desk(.list(TaskList(items: items)))
        desk.press(.down)
        desk.press(key, .shift)
        guard case .list(let list) = desk.state.document else {
            Issue.record("no list")
            return
        }
        #expect(list.items.map(\.text) == expected.map { "\($0)" })
    }

    @Test func `a name cannot pass for another one in the list`() {
        var scene = Desk.scene
        scene.nodes[0].name = "a\u{202E}b\u{200B}"
        let desk = Desk(.scene(scene), columns: 40, rows: 10)
        #expect(desk.lines[1].contains("a\\u202eb\\u200b"))
    }

    @Test(arguments: [(80, 24), (40, 10), (20, 3), (1, 1), (300, 100), (5, 2)])
    func `every size has a screen`(_ columns: Int, _ rows: Int) {
        var desk = Desk(.scene(Desk.scene), columns: columns, rows: rows)
        for keys in ["", "?", "x", "n", "\u{1B}c", "\u{1B}:abc def ghi", "\r", "\u{1B}"] {
            desk.type(keys)
            #expect(desk.state.screen.columns == columns && desk.state.screen.rows == rows)
        }
        #expect((desk.state.wantedRendering != nil) == (columns >= 60))
    }

    @Test func `a small terminal has the list alone`() {
        let desk = Desk(.scene(Desk.scene), columns: 40, rows: 10)
        #expect(desk.lines[1].contains("Ball") && desk.lines[2].contains("Box"))
    }

    @Test(arguments: [(80, 24), (160, 30), (160, 14)])
    func `the help is not cut where there is room`(columns: Int, rows: Int) {
        for document in [
            EditableDocument.scene(Desk.scene), .slide(Slide()), .list(TaskList()),
            .shapeFile(ShapeFile(kind: .cone)),
        ] {
            var desk = Desk(document, columns: columns, rows: rows)
            desk.type("?")
            let text = desk.lines.joined(separator: "\n")
            #expect(text.contains("PATH=VALUE or a verb (Tab completes)"))
            #expect(text.contains("save, save and quit, just quit"))
            #expect(!text.contains("…"))
        }
    }

    @Test(arguments: ["shape", "slide", "list", "shapeFile"])
    func `the last line names the mode and its keys`(type: String) throws {
        var slide = Slide(title: "S")
        slide.elements.append(SlideElement(["shapeType": .string("line")]))
        let documents: [String: EditableDocument] = [
            "shape": .scene(Desk.scene), "slide": .slide(slide),
            "list": .list(TaskList(items: [TaskItem("bread")])),
            "shapeFile": .shapeFile(ShapeFile(kind: .cone)),
        ]
        var desk = Desk(try #require(documents[type]))
        let usual = type == "shapeFile" ? "orbit: " : "select: "
        #expect(desk.lines[23].hasPrefix(usual) && desk.lines[23].contains("? all keys"))
        #expect(!desk.lines[23].contains("…"))
        guard type == "shape" || type == "slide" else { return }
        for (key, mode) in [("m", "move"), ("r", "rotate"), ("s", "scale")] {
            desk.type(key)
            #expect(desk.lines[23].hasPrefix("\(mode): ") && desk.lines[23].contains("Esc"))
            desk.press(.escape)
            #expect(desk.lines[23].hasPrefix("select: "))
        }
    }
}

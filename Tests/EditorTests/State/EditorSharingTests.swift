import Documents
import Editing
import Editor
import Terminal
import Testing

/// What others do to the document meanwhile.
@Suite struct EditorSharingTests {
    @Test func `what others changed is taken over under what is not saved`() {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.right, .shift)
        var others = Desk.scene
        others.title = "Theirs"
        others.nodes.insert(.solid(Solid(name: "New", shape: SolidShape(.cone))), at: 0)
        desk.send(.loaded(.scene(others)))
        let both = desk.scene
        #expect(both.title == "Theirs")
        #expect(both.nodes.map(\.name) == ["New", "Ball", "Box"])
        #expect(both.nodes[1].transform.position.x == 0.1)
        #expect(desk.state.parts[desk.state.selection].title == "Ball")
        #expect(desk.state.message.contains("others"))
        #expect(desk.state.isUnsaved)
    }

    @Test(arguments: [Key.right, .delete, .character("6"), .character("d")])
    func `keys do nothing to the neighbour of a part that others removed`(key: Key) {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.down)
        desk.type("m")
        let others = Scene(nodes: [Desk.scene.nodes[0]])
        desk.send(.loaded(.scene(others)))
        #expect(desk.state.selection == EditorState.noSelection)
        #expect(desk.state.tool == .select)
        desk.press(key)
        #expect(desk.scene == others)
        #expect(!desk.state.isUnsaved)
    }

    @Test func `after nothing was selected, keys select again`() {
        for (key, expected) in [(Key.down, "Ball"), (.up, "Ball"), (.tab, "Ball"), (.end, "Ball")] {
            var desk = Desk(.scene(Desk.scene))
            desk.press(.down)
            desk.send(.loaded(.scene(Scene(nodes: [Desk.scene.nodes[0]]))))
            #expect(desk.lines.allSatisfy { !$0.contains(">") }, "none is marked as selected")
            desk.press(key)
            #expect(desk.state.parts[desk.state.selection].title == expected)
        }
    }

    @Test func `marked parts that others removed leave nothing to edit`() {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.down)
        desk.type(" ")
        desk.press(.up)
        desk.send(.loaded(.scene(Scene(nodes: [Desk.scene.nodes[0]]))))
        desk.press(.delete)
        #expect(desk.scene.nodes.map(\.name) == ["Ball"])
    }

    @Test func `an edit that no longer applies is kept in a copy, the others are made`() {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.right, .shift)
        desk.press(.down)
        desk.press(.right, .shift)
        let mine = desk.state.document
        var others = Desk.scene
        others.nodes.removeFirst()
        desk.effects = []
        desk.send(.loaded(.scene(others)))
        #expect(desk.effects == [.keepCopy(mine)])
        #expect(desk.scene.nodes.map(\.name) == ["Box"])
        #expect(desk.scene.nodes[0].transform.position.x == 0.1)
        #expect(desk.state.tone == .bad)
        desk.send(.keptCopy("copy.shape"))
        #expect(desk.state.message.contains("copy.shape"))
    }

    @Test func `a conflict while saving keeps a copy and what can still be made`() {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.right, .shift)
        desk.wait(1_000)
        #expect(desk.takeSaves().count == 1)
        desk.press(.down)
        desk.type("6")
        let mine = desk.state.document
        let others = EditableDocument.scene(Scene(nodes: [Desk.scene.nodes[1]]))
        desk.send(.conflict("gone", done: 0, file: others))
        #expect(desk.effects == [.keepCopy(mine)])
        #expect(desk.state.saving.isEmpty && desk.state.pending.count == 1)
        #expect(desk.state.base == others)
    }
}

import Documents
import Editing
import Editor
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

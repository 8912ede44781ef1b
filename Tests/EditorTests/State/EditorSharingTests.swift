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

    @Test func `a part that others rename stays selected, and what is not saved is made on it`()
        throws
    {
        // As in a file: a part that was read remembers what it was read from.
        var others = try Scene.read(try Desk.scene.bytes)
        var desk = Desk(.scene(others))
        desk.press(.down)
        desk.press(.right, .shift)
        others.nodes[1].name = "Crate"
        others = try Scene.read(try others.bytes)
        desk.send(.loaded(.scene(others)))
        desk.type("5")
        #expect(desk.effects.isEmpty, "no copy is kept")
        guard case .solid(let solid) = desk.scene.nodes[1] else {
            Issue.record("no solid")
            return
        }
        #expect(solid.name == "Crate" && solid.shape.kind == .torus)
        #expect(solid.transform.position.x == 0.1)
        // Another one that came into its place is not taken for it.
        others.nodes[1].name = "Other"
        others.nodes[1].transform.position.y = 1
        desk.effects = []
        desk.send(.loaded(.scene(others)))
        #expect(desk.scene == others && desk.effects.count == 1)
    }

    /// It is in the place of the one that went, and looks like it.
    @Test func `a part that was there before takes no edit of one that others removed`() throws {
        var others = Scene(
            nodes: ["Cube", "Cube 2"].map {
                .solid(Solid(name: $0, shape: SolidShape(.cube)))
            })
        var desk = Desk(.scene(others))
        desk.press(.right, .shift)
        others.nodes = [others.nodes[1], .solid(Solid(name: "New", shape: SolidShape(.torus)))]
        desk.effects = []
        desk.send(.loaded(.scene(others)))
        #expect(desk.scene == others && desk.effects.count == 1)
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

    @Test func `the new name of a document that others moved is shown, and editing goes on`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.send(.moved(to: "/elsewhere/b.shape"))
        #expect(desk.lines[0].contains("b.shape") && !desk.lines[0].contains("a.shape"))
        #expect(desk.state.message.contains("/elsewhere/b.shape"))
        desk.wait(1_000)
        #expect(desk.takeSaves().count == 1)
    }

    @Test func `a document that others deleted is only made anew when the user wants it`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.wait(1_000)
        #expect(desk.takeSaves().count == 1)
        desk.send(.gone("It was deleted", done: 0))
        #expect(desk.state.message == "It was deleted" && desk.lines[0].contains("(gone)"))
        #expect(desk.state.isUnsaved && desk.state.deadline == nil)
        desk.wait(20_000)
        desk.type("3u")
        desk.press(.character("z"), .control)
        #expect(desk.effects == [.suspend])
        desk.effects = []
        let mine = desk.state.document
        desk.type("w4")
        #expect(desk.effects == [.create(mine)])
        desk.send(.saved(mine))
        #expect(!desk.state.isGone && desk.state.pending.count == 1)
        #expect(desk.state.message.contains("anew"))
    }

    @Test func `who leaves a deleted document with something unsaved makes it anew and is told`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.send(.gone("It was deleted", done: 0))
        let mine = desk.state.document
        desk.type("q")
        #expect(desk.effects == [.create(mine)])
        desk.send(.saved(mine))
        #expect(desk.effects == [.create(mine), .quit])
        #expect(desk.state.tone == .bad && desk.state.message.contains("anew"))

        desk = Desk(.scene(Desk.scene))
        desk.send(.gone("It was deleted", done: 0))
        desk.type("q")
        #expect(desk.effects == [.quit])
        #expect(desk.state.tone == .bad && desk.state.message.contains("not written"))
    }

    @Test func `a deleted document that comes back is shown with what is unsaved on it`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.send(.gone("It was deleted", done: 0))
        var others = Desk.scene
        others.title = "Theirs"
        desk.effects = []
        desk.send(.loaded(.scene(others)))
        #expect(!desk.state.isGone && desk.scene.title == "Theirs")
        desk.wait(1_000)
        #expect(desk.takeSaves().count == 1)
    }

    @Test func `a deleted document that cannot be made anew stays unsaved`() {
        var desk = Desk(.scene(Desk.scene))
        desk.send(.gone("It was deleted", done: 0))
        desk.type("w")
        #expect(desk.state.isUnsaved)
        desk.send(.saveFailed("no such folder", done: 0))
        #expect(desk.state.isGone && !desk.state.isUnsaved)
        #expect(desk.state.message.contains("no such folder"))
    }

    @Test func `who undoes where there is no document is told why`() {
        var desk = Desk(.scene(Desk.scene))
        let reason = "The container it is in is not mounted"
        desk.send(.gone(reason, done: 0))
        desk.type("4")
        desk.type("u")
        #expect(desk.state.message == reason && desk.effects.isEmpty)
    }
}

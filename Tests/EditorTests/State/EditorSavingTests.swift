import Documents
import Editing
import Editor
import Testing

/// When and how the state goes to the file.
@Suite struct EditorSavingTests {
    @Test func `saving waits for a quiet second, but not for ever`() {
        var desk = Desk(.scene(Desk.scene))
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

    @Test func `leaving waits until all is in the file`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2q")
        #expect(desk.takeSaves().count == 1)
        #expect(!desk.effects.contains(.quit))
        desk.send(.saved(desk.state.document))
        #expect(desk.effects == [.quit])
    }

    @Test func `who wants it saved is told when it is`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2w")
        #expect(desk.state.message == "Saving" && desk.takeSaves().count == 1)
        desk.send(.saved(desk.state.document))
        #expect(desk.state.message == "Saved")
        // What saves itself says nothing, and takes no other news away.
        desk.type("3")
        let told = desk.state.message
        desk.wait(1_000)
        desk.send(.saved(desk.state.document))
        #expect(desk.state.message == told && told != "Saved")
        desk.type("4w:")
        desk.send(.saved(desk.state.document))
        #expect(desk.state.message != "Saved")
    }

    @Test func `what cannot be saved keeps the editor open, and a signal leaves a copy`() {
        var desk = Desk(.scene(Desk.scene))
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

    @Test func `what is said of a problem goes when that is over`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.wait(1_000)
        desk.send(.saveFailed("disk full", done: 0))
        #expect(desk.state.message.contains("disk full"))
        desk.send(.loaded(.scene(Desk.scene)))
        #expect(desk.state.message.contains("disk full"))
        desk.wait(EditorState.retryTime)
        desk.send(.saved(desk.state.document))
        #expect(desk.state.message == "Saved")
        desk.send(.unreadable("no permission"))
        desk.send(.loaded(desk.state.document))
        #expect(desk.state.message == "It can be read again")
        // Other news stay.
        desk.send(.saveFailed("disk full", done: 0))
        desk.send(.keptCopy("a copy"))
        desk.send(.saved(desk.state.document))
        #expect(desk.state.message.contains("a copy"))
    }

    /// It may be in the file all the same, and is known by what it was.
    @Test func `a step that could not be saved takes no other in`() {
        var desk = Desk(.scene(Desk.scene))
        desk.press(.right, .shift)
        desk.wait(100)
        desk.type("w")
        desk.send(.saveFailed("disk full", done: 0))
        desk.wait(100)
        desk.press(.right, .shift)
        desk.press(.right, .shift)
        #expect(desk.state.pending.count == 2)
    }

    @Test func `undo saves first, so that it takes back the last step`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2u")
        #expect(desk.takeSaves().count == 1 && desk.effects.isEmpty)
        desk.send(.saved(desk.state.document))
        #expect(desk.effects == [.undo])
        desk.send(.stepped("Change", isUndo: true, file: .scene(Desk.scene)))
        #expect(desk.state.document == .scene(Desk.scene))
    }

    @Test func `undo takes nothing else back where the last step could not be saved`() {
        let ball = EditableDocument.scene(Scene(nodes: [Desk.scene.nodes[0]]))
        for failure in [
            EditorEvent.conflict("gone", done: 0, file: ball), .saveFailed("disk full", done: 0),
            .gone("deleted", done: 0),
        ] {
            var desk = Desk(.scene(Desk.scene))
            desk.press(.down)
            desk.type("3um")
            desk.send(failure)
            #expect(!desk.effects.contains(.undo), "\(failure)")
            #expect(desk.state.tool == .move, "what was typed meanwhile is taken: \(failure)")
        }
        // Nor what was made before a step that others' edit has made impossible meanwhile.
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.wait(1_000)
        desk.press(.down)
        desk.type("3u")
        desk.send(.saved(ball))
        #expect(!desk.effects.contains(.undo))
        desk.type("u")
        #expect(desk.effects.last == .undo)
    }

    @Test func `undo of what came while the step before was being saved takes that back`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2")
        desk.wait(1_000)
        desk.press(.down)
        desk.type("3u")
        #expect(desk.takeSaves().count == 1)
        desk.send(.saved(desk.state.document))
        #expect(desk.takeSaves().count == 1)
        desk.send(.saved(desk.state.document))
        #expect(desk.effects == [.undo])
    }

    @Test func `keys that come while undo is under way are about what it leaves`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("d")
        let copied = desk.state.document
        desk.type("ux")
        #expect(desk.state.document == copied)
        desk.send(.saved(copied))
        desk.effects = []
        desk.send(.stepped("Duplicate", isUndo: true, file: .scene(Desk.scene)))
        #expect(desk.scene.nodes.count == 1 && desk.effects.isEmpty, "\(desk.state.message)")
        // Several undos, one after the other; and one that leaves does not wait.
        desk.type("uu2")
        desk.send(.saved(desk.state.document))
        #expect(desk.effects.filter { $0 == .undo }.count == 1)
        desk.send(.stepFailed("disk full"))
        #expect(desk.effects.filter { $0 == .undo }.count == 2)
        desk.send(.stepped(nil, isUndo: true, file: .scene(Desk.scene)))
        #expect(desk.state.document != .scene(Desk.scene) && desk.effects.last == .undo)
        desk.type("uQ")
        #expect(desk.effects.last == .quit)
    }
}

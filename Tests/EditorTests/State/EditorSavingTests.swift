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

    @Test func `undo saves first, so that it takes back the last step`() {
        var desk = Desk(.scene(Desk.scene))
        desk.type("2u")
        #expect(desk.effects.count == 2 && desk.effects.last == .undo)
        desk.send(.saved(desk.state.document))
        desk.send(.stepped("Change", isUndo: true, file: .scene(Desk.scene)))
        #expect(desk.state.document == .scene(Desk.scene))
    }
}

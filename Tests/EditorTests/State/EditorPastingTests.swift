import Documents
import Editing
import Editor
import Terminal
import Testing

/// Nothing that is pasted is lost without a word.
@Suite struct EditorPastingTests {
    private static let slide = """
        {"elements": [{"shapeType": "text", "originx": 0, "originy": 0, "width": 80, "height": 20,
          "fontHeight": 12, "text": "", "comment": "greeting"}]}
        """

    @Test func `a long text goes into an item whole, and what is too long not at all`() {
        var desk = Desk(.list(TaskList()))
        let long = String(repeating: "long ", count: 12_000)
        desk.type("a")
        desk.send(.input(.paste(long)))
        desk.send(.input(.paste(long)))
        #expect(desk.lines.joined().contains("Nothing was pasted: the text has 60000 characters"))
        desk.type("end\r")
        guard case .list(let list) = desk.state.document else {
            Issue.record("no list")
            return
        }
        #expect(list.items.map(\.text) == [long + "end"])
    }

    @Test func `line ends, tabs and backslashes that are pasted into a slide's text stay`() throws {
        var desk = Desk(try EditableDocument.read(Array(Self.slide.utf8), as: .slide).document)
        desk.press(.enter)
        desk.send(.input(.paste("a\n\tb\\n")))
        desk.type("\r")
        guard case .slide(let slide) = desk.state.document else {
            Issue.record("no slide")
            return
        }
        #expect(slide.elements[0].json["text"]?.string == "a\n\tb\\n")
    }

    @Test func `a text that nothing takes is said to be not pasted`() {
        var desk = Desk(.scene(Desk.scene))
        for key in ["", "?", "n"] {
            desk.type(key)
            desk.send(.input(.paste("words")))
            #expect(desk.state.message.contains("can be pasted where"), "after \(key)")
            desk.press(.escape)
            desk.press(.escape)
        }
        desk.send(.input(.oversizedPaste(bytes: 2_000_000)))
        #expect(desk.lines.joined().contains("Nothing was pasted: the text has 2000000 bytes"))
        #expect(desk.scene == Desk.scene)
    }

    @Test func `a character more than a line holds is said`() {
        var desk = Desk(.list(TaskList()))
        desk.type("a")
        desk.send(.input(.paste(String(repeating: "x", count: LinePrompt.limit))))
        desk.type("y")
        #expect(desk.lines.joined().contains("A line has no more than"))
    }
}

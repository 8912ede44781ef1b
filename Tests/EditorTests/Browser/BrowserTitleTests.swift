import Editor
import Terminal
import Testing

@testable import Browser

/// What the browser's first line tells of the selected document.
struct BrowserTitleTests {
    /// The first line of a browser of two documents of one name in two folders.
    private func line(
        columns: Int = 80, _ graphics: GraphicsProtocol = .blocks, _ keys: [Key] = []
    ) -> String {
        var state = BrowserState(
            name: "work",
            shape: TerminalShape(columns: columns, rows: 40, graphics: graphics, cell: .usual))
        let entries = ["one/Ball.shape", "two/Ball.shape"].enumerated().map {
            BrowserEntry(
                path: $1, item: UInt64($0 + 1), size: 10, changed: 1, viewed: 0)
        }
        _ = state.update(.listed(entries, problem: nil))
        for key in keys { _ = state.update(.input(.key(key))) }
        return state.screen.text(row: 0)
    }

    @Test func `documents that look alike are told apart by their folders`() {
        #expect(line().hasSuffix("  one/Ball.shape  2"))
        #expect(line(.blocks, [.right]).hasSuffix("  two/Ball.shape  2"))
        let filtered = line(.blocks, [.character("b"), .right])
        #expect(filtered.hasPrefix(" work  /b  ") && filtered.hasSuffix("  two/Ball.shape  2"))
    }

    @Test func `who does not see all documents is told`() {
        var state = BrowserState(
            name: "work",
            shape: TerminalShape(columns: 80, rows: 40, graphics: .blocks, cell: .usual))
        let entry = BrowserEntry(
            path: "a.list", item: 1, size: 10, changed: 1, viewed: 0)
        _ = state.update(.listed([entry], isWhole: false, problem: nil))
        #expect(state.screen.text(row: 0).hasSuffix("a.list  1+"))
        _ = state.update(.input(.key(.character("b"))))
        #expect(state.screen.text(row: 1) == " 0 of 1+ documents")
        _ = state.update(.listed([entry], problem: nil))
        #expect(state.screen.text(row: 1) == " 0 of 1 documents")
    }

    @Test func `the folder gives way to what was typed, and lines tell it themselves`() {
        let letters = "two/ball.shape".map { Key.character($0) }
        #expect(line(columns: 40, .blocks, letters) == " work  /two/ball.shape  two/Ball.sh…  2")
        #expect(
            line(columns: 40, .blocks, letters + Array(repeating: .character("x"), count: 20))
                == " work  /two/ball.shapexxxxxxxxxxxxxx… 2")
        #expect(!line(.none).contains("Ball"))
    }
}

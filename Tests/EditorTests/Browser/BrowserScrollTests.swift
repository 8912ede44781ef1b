import Drawing
import Editor
import Terminal
import Testing

@testable import Browser

/// Which documents are on the screen where not all of them fit.
struct BrowserScrollTests {
    private func shape(_ rows: Int, _ graphics: GraphicsProtocol) -> TerminalShape {
        TerminalShape(columns: 80, rows: rows, graphics: graphics, cell: .usual)
    }

    private func entries(_ numbers: some Sequence<Int>) -> [BrowserEntry] {
        numbers.map {
            BrowserEntry(
                path: "\($0).shape", item: UInt64($0), size: 10, changed: 1, viewed: 0)
        }
    }

    /// A browser of a hundred documents, of which the last one is selected.
    private func browser(_ graphics: GraphicsProtocol) -> BrowserState {
        var state = BrowserState(name: "work", shape: shape(24, graphics))
        _ = state.update(.listed(entries(101...200), problem: nil))
        _ = state.update(.input(.key(.end)))
        return state
    }

    @Test(arguments: [GraphicsProtocol.blocks, .none])
    func `a terminal that becomes larger shows as many documents as it has room for`(
        _ graphics: GraphicsProtocol
    ) {
        var state = browser(graphics)
        #expect(Shelves(state).cards.count < 100)
        _ = state.update(.resized(shape(400, graphics)))
        #expect(Shelves(state).cards.count == 100)
        // And no fewer where not all of them fit.
        state = browser(graphics)
        _ = state.update(.resized(shape(60, graphics)))
        let shown = Shelves(state).cards.count
        _ = state.update(.input(.key(.home)))
        #expect(shown >= Shelves(state).cards.count - 3)
    }

    @Test(arguments: [GraphicsProtocol.blocks, .none])
    func `what is left of many documents is in sight`(_ graphics: GraphicsProtocol) {
        var state = browser(graphics)
        _ = state.update(.listed(entries(195...200), problem: nil))
        #expect(Shelves(state).cards.count == 6)
        #expect(state.selected?.path == "200.shape")
    }
}

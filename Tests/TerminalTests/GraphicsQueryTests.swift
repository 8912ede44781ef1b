import Terminal
import Testing

/// Which pictures a terminal gets.
@Suite struct GraphicsQueryTests {
    private func graphics(
        _ replies: [TerminalReply], _ environment: [String: String] = ["TERM": "xterm-256color"],
        wanted: GraphicsProtocol? = nil
    ) -> GraphicsProtocol {
        var query = GraphicsQuery(wanted: wanted, environment: environment)
        for reply in replies { query.take(reply) }
        return query.graphics
    }

    @Test func `what the terminal says counts most, the best first`() {
        #expect(graphics([.kittyGraphics, .attributes([62, 4])]) == .kitty)
        #expect(graphics([.attributes([62, 4, 22])]) == .sixel)
        #expect(graphics([.version("iTerm2 3.5"), .attributes([62, 4])]) == .iterm)
        #expect(graphics([.version("XTerm(379)"), .attributes([64, 1, 2])]) == .blocks)
        // The class of the terminal is no ability.
        #expect(graphics([.attributes([4, 6])]) == .blocks)
    }

    @Test func `the environment counts where the terminal is silent`() {
        #expect(graphics([], ["TERM": "vt100"]) == .none)
        #expect(graphics([], ["TERM": "vt100", "COLORTERM": "truecolor"]) == .blocks)
        #expect(graphics([], ["TERM": "xterm"]) == .blocks)
        #expect(graphics([], ["TERM": "xterm", "LC_TERMINAL": "iTerm2"]) == .iterm)
        #expect(graphics([], ["TERM": "screen", "LC_TERMINAL": "iTerm2", "TMUX": "1"]) == .none)
    }

    @Test func `who wants no colours gets no coloured characters for a picture`() {
        let environment = ["TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"]
        #expect(graphics([], environment) == .none)
        #expect(graphics([.kittyGraphics], environment) == .kitty)
        #expect(graphics([], environment, wanted: .blocks) == .blocks)
        #expect(graphics([], ["TERM": "xterm", "NO_COLOR": ""]) == .blocks)
    }

    @Test func `what the user wants counts before all`() {
        #expect(graphics([.kittyGraphics], wanted: .blocks) == .blocks)
        #expect(graphics([.kittyGraphics], wanted: GraphicsProtocol.none) == .none)
    }

    @Test func `the last question ends the waiting, and some terminals are not asked`() {
        var query = GraphicsQuery(environment: ["TERM": "xterm"])
        query.take(.kittyGraphics)
        #expect(!query.isAnswered)
        query.take(.attributes([62]))
        #expect(query.isAnswered)
        let console = GraphicsQuery(environment: ["TERM": "linux"])
        #expect(console.question.isEmpty && console.isAnswered)
    }
}

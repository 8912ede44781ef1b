import ArgumentParser
import Model
import Terminal

/// How pictures are shown in a terminal.
struct GraphicsOption: ParsableArguments {
    @Option(
        help:
            "How to show pictures: kitty, sixel, iterm, blocks, none, or auto to ask the terminal.",
        completion: .list(["auto", "kitty", "sixel", "iterm", "blocks", "none"]))
    var graphics = "auto"

    /// What people call some of them, too.
    private static let otherNames = ["iterm2": "iterm", "half-blocks": "blocks"]

    /// What was asked for by name, in any case of letters; `nil`: the terminal is to be asked.
    var wanted: GraphicsProtocol? {
        get throws(Failure) {
            let name = graphics.lowercased()
            if name == "auto" { return nil }
            if let known = GraphicsProtocol(rawValue: Self.otherNames[name] ?? name) {
                return known
            }
            throw Failure(
                .usage,
                "--graphics \(graphics): it is kitty, sixel, iterm, blocks, none or auto")
        }
    }

    /// What is known of the terminal. A pipe or a dumb terminal never gets a picture; if one was asked
    /// for by name that is said.
    func chosen() throws(Failure) -> GraphicsQuery {
        let environment = TerminalOutput.environment
        if let wanted = try wanted {
            let isAble = GraphicsConversation.isTerminal(environment: environment)
            if wanted != .none, !isAble {
                Console.complain(
                    "--graphics \(graphics): no picture, standard output is no terminal that shows any"
                )
            }
            return GraphicsQuery(wanted: isAble ? wanted : .none, environment: environment)
        }
        return GraphicsConversation.ask(environment: environment)
    }
}

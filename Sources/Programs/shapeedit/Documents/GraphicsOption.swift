import ArgumentParser
import Model
import Terminal

/// How pictures are shown in a terminal.
struct GraphicsOption: ParsableArguments {
    @Option(
        help:
            "How to show pictures: kitty, sixel, iterm, blocks, none, or auto to ask the terminal.")
    var graphics = "auto"

    /// What was asked for by name; `nil`: the terminal is to be asked.
    var wanted: GraphicsProtocol? {
        get throws(Failure) {
            if graphics == "auto" { return nil }
            if let known = GraphicsProtocol(rawValue: graphics == "iterm2" ? "iterm" : graphics) {
                return known
            }
            throw Failure(
                .usage,
                "--graphics \(graphics): it is kitty, sixel, iterm, blocks, none or auto")
        }
    }

    /// What is known of the terminal. A pipe or a dumb terminal never gets a picture unless it was
    /// asked for by name.
    func chosen() throws(Failure) -> GraphicsQuery {
        let environment = TerminalOutput.environment
        if let wanted = try wanted {
            return GraphicsQuery(wanted: wanted, environment: environment)
        }
        return GraphicsConversation.ask(environment: environment)
    }
}

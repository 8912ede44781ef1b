import ArgumentParser
import Drawing
import Editor
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

    /// `nil`: no picture. A pipe or a dumb terminal never gets one unless it was asked for by name.
    func chosen() throws(Failure) -> TerminalGraphics? {
        let chosen =
            try wanted ?? GraphicsConversation.ask(environment: TerminalOutput.environment)
        return chosen.encoding
    }
}

import ArgumentParser
import Drawing
import Glibc
import Model

/// How pictures are shown in a terminal.
struct GraphicsOption: ParsableArguments {
    @Option(
        help:
            "How to show pictures: kitty, sixel, iterm, blocks, none, or auto to ask the terminal.")
    var graphics = "auto"

    /// `nil`: no picture. A pipe or a dumb terminal never gets one unless it was asked for by name.
    func chosen() throws(Failure) -> TerminalGraphics? {
        switch graphics {
        case "kitty": return .kitty
        case "sixel": return .sixel
        case "iterm", "iterm2": return .iTerm2
        case "blocks": return .halfBlocks
        case "none": return nil
        case "auto": return TerminalOutput.supported()
        default:
            throw Failure(
                .usage,
                "--graphics \(graphics): it is kitty, sixel, iterm, blocks, none or auto")
        }
    }
}

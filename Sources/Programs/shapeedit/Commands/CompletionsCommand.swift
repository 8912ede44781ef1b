import ArgumentParser
import Model

/// `shapeedit completions`.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print what makes a shell complete command lines.",
        discussion: """
            bash: shapeedit completions bash > ~/.local/share/bash-completion/completions/shapeedit
            zsh: shapeedit completions zsh > DIR/_shapeedit, with DIR in fpath
            fish: shapeedit completions fish > ~/.config/fish/completions/shapeedit.fish
            """)

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let known = CompletionShell(rawValue: shell) else {
            throw Failure(.usage, "completions \(Failure.shown(shell)): it is bash, zsh or fish")
        }
        Console.say(ShapeEdit.completionScript(for: known))
    }
}

import ArgumentParser
import DocumentFiles
import Model

/// `shapeedit apply`.
struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Make many edits, all or none.",
        discussion: """
            A script has one edit a line, in the words of the commands without the file: \
            `set Ball.color=#3cabdb`, `move Ball +1,0,0`. Quotes work as in a shell, # begins a \
            comment.
            """)

    @Argument(help: "The document.", completion: .file())
    var file: String
    @Argument(help: "The script, or - for standard input.", completion: .file())
    var script: String
    @OptionGroup var options: EditOptions

    func run() throws {
        let text = try DocumentSource.text(of: script)
        let edits = try Edits.script(text, from: script)
        let file = try DocumentFile(self.file, type: try options.documentType)
        options.report(try options.apply(edits, to: file, from: script), of: self.file)
    }
}

import ArgumentParser
import Documents
import Drawing
import Editing
import Editor
import Glibc
import Model

/// `shapeedit show`.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what a document holds, and its picture.")

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var file: String
    @OptionGroup var typing: TypeOption
    @OptionGroup var graphics: GraphicsOption
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        _ = try graphics.wanted
        let content = try DocumentSource.load(file, type: try typing.documentType)
        let problems = content.document.problems()
        if json {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    [
                        ("type", JSONText.string(content.document.type.rawValue)),
                        ("facts", JSONText.array(content.document.summary.map(JSONText.string))),
                        ("notes", JSONText.array(content.repairs.map(JSONText.string))),
                        ("problems", JSONText.array(problems.map(JSONText.string))),
                    ]))
            return
        }
        let terminal = try graphics.chosen()
        for line in content.document.summary { Console.say(line) }
        for repair in content.repairs { Console.complain("\(file): \(repair)") }
        for problem in problems { Console.complain("\(file): \(problem)") }
        guard let graphics = terminal.graphics.encoding else { return }
        let picture = DocumentPicture.picture(of: content.document, named: file, mode: .app)
        do throws(DrawingError) {
            try TerminalOutput.draw(picture, as: graphics, on: terminal)
        } catch { throw Failure(.badData, "\(file): \(error)") }
    }
}

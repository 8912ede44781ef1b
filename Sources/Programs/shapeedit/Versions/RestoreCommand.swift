import ArgumentParser
import DocumentFiles
import DocumentKit
import Model

/// `shapeedit restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Go back to an earlier version of a document.",
        discussion: """
            What it replaces is an earlier version in turn: restoring again goes back to it, and \
            `shapeedit undo` takes the restoring of a shape, slide or list back. Waits up to ten \
            seconds for programs that are writing the document or hold it locked.
            """)

    @Argument(help: "The document, a file of any kind.", completion: .file())
    var file: String
    @Argument(
        help:
            "The version as `shapeedit versions` names it, or the beginning of its file's name; else the newest earlier one."
    )
    var version: String?
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let document = try DocumentVersions(file)
        let restored = try WriteClaim.run(on: file) { () throws(Failure) in
            try document.restore(version)
        }
        if json {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    [("restored", restored.map(VersionReport.json) ?? "null")]))
        } else if let restored {
            Console.say(
                line:
                    "\(file): as it was at \(HistoryReport.time(restored.modified)) (\(restored.name))"
            )
        } else {
            Console.say(line: "\(file): nothing to change")
        }
    }
}

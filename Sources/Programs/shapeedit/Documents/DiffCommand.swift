import ArgumentParser
import Editing
import Glibc
import Model

/// `shapeedit diff`.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Say what is different in another document.",
        discussion: """
            Compares what the documents say, not how they are written. The exit code is 0 if they \
            say the same and 1 if they do not.
            """)

    @Argument(help: "The first document, or - for standard input.", completion: .file())
    var first: String
    @Argument(help: "The second document, or - for standard input.", completion: .file())
    var second: String
    @OptionGroup var typing: TypeOption
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard first != "-" || second != "-" else {
            throw Failure(.usage, "diff: standard input is only one of the two documents")
        }
        let type = try typing.documentType
        let old = try DocumentSource.load(first, type: type).document
        let new = try DocumentSource.load(second, type: type).document
        let changes = old.differences(to: new)
        if json {
            Console.say(
                JSONText.object(
                    JSONText.path("first", first) + JSONText.path("second", second)
                        + [("changes", JSONText.array(changes.map(JSONText.change)))]))
        } else {
            for change in changes { Console.say(change.description) }
        }
        if !changes.isEmpty { throw ExitCode(1) }
    }
}

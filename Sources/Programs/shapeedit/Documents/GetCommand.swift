import ArgumentParser
import Documents
import Editing
import Model
import PathText

/// `shapeedit get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print values of a document.",
        discussion: """
            Without a path, every value with its path. What is printed is what `set` takes, with \
            line ends, tabs and backslashes of texts written out; with --json texts are as they are. \
            A name in double quotes is one whatever it says: '"a=b".color'.
            """)

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var file: String
    @Argument(
        help: "Paths such as solid.1.color, camera.position, element.3.fillColor, item.2.text.")
    var paths: [String] = []
    @OptionGroup var typing: TypeOption
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let document = try DocumentSource.load(file, type: try typing.documentType).document
        var values: [(path: String, value: String)] = []
        if paths.isEmpty {
            values = document.paths
        } else {
            for path in paths.map(\.repairedPath) {
                do throws(EditError) { values.append((path, try document.value(at: path))) } catch {
                    throw Failure(.badData, "\(file): \(error)")
                }
            }
        }
        if json {
            // The names in an object are different ones, whoever asks for a path twice.
            var told: Set<String> = []
            Console.say(
                JSONText.object(
                    values.filter { told.insert($0.path).inserted }.map {
                        ($0.path, JSONText.string(EditableDocument.plainText(of: $0.value)))
                    }))
        } else if paths.isEmpty {
            for (path, value) in values { Console.say(data: "\(path)=\(value)") }
        } else {
            for (_, value) in values { Console.say(data: value) }
        }
    }
}

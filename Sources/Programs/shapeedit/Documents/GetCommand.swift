import ArgumentParser
import Documents
import Editing
import Model
import PathText

/// `shapeedit get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print values of a document.",
        discussion: "Without a path, every value with its path.")

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
            Console.say(JSONText.object(values.map { ($0.path, JSONText.string($0.value)) }))
        } else if paths.isEmpty {
            for (path, value) in values { Console.say("\(path)=\(value)") }
        } else {
            for (_, value) in values { Console.say(value) }
        }
    }
}

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
            line ends, tabs and backslashes of texts written out; with --json numbers, truth \
            values and vectors are those of JSON, and texts are as they are. A name in double quotes \
            is one whatever it says: '"a=b".color'.
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
        if json {
            // The names in an object are different ones, whoever asks for a path twice.
            var told: Set<String> = []
            let values = try values(document.jsonPaths) { (paths) throws(EditError) in
                try document.json(at: paths)
            }
            Console.say(
                JSONText.object(
                    values.filter { told.insert($0.path).inserted }.map {
                        ($0.path, JSONText.value($0.value))
                    }))
            return
        }
        let values = try values(document.paths) { (paths) throws(EditError) in
            try document.values(at: paths)
        }
        for (path, value) in values {
            Console.say(data: paths.isEmpty ? "\(path)=\(value)" : value)
        }
    }

    /// The values that are asked for, or all.
    private func values<Value>(
        _ all: @autoclosure () -> [(path: String, value: Value)],
        _ values: ([String]) throws(EditError) -> [Value]
    ) throws(Failure) -> [(path: String, value: Value)] {
        if paths.isEmpty { return all() }
        let paths = paths.map(\.repairedPath)
        do throws(EditError) {
            return zip(paths, try values(paths)).map { (path: $0, value: $1) }
        } catch {
            throw Failure(.badData, "\(file): \(error)")
        }
    }
}

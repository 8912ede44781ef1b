import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Model

/// `shapeedit convert`.
struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Write a document as another type.",
        discussion: """
            .shape and .shapeFile become each other; what nobody knows in a .shapeFile goes along in \
            the .shape. A .list becomes lines of text (.txt, .md), and such lines a .list; from \
            standard input, or a file of another name, with --type text. Lines hold what is to be \
            done and whether it is: a note tells what else the list says, such as its colour. An \
            existing file is only replaced with --force, while a pipe is written to, and nothing that \
            would be lost of a drawing is lost without --lossy.
            """)

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var source: String
    @Argument(help: "The file to make, or - for standard output.", completion: .file())
    var target: String
    @OptionGroup var typing: TypeOption
    @Option(
        help: "The type to make, where the target's name does not tell it; text for lines.",
        completion: .list(DocumentType.allCases.map(\.rawValue) + ["text"]))
    var to: String?
    @Flag(help: "Replace an existing file.")
    var force = false
    @Flag(help: "Leave out what the other type cannot hold.")
    var lossy = false
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let (bytes, losses) = try converted()
        for loss in losses { Console.complain("\(source): \(loss)") }
        if !losses.isEmpty, !lossy {
            throw Failure(
                .badData,
                "\(source): this would be lost (above); nothing was written. With --lossy it is")
        }
        if force, WrittenFile.isDocument(target) {
            // One more step of its history.
            let description = Edit.text(of: ["convert", source])
            let problem = try DocumentFile(target).replace(with: bytes, describedAs: description)
            if let problem { Console.complain("\(target): \(problem)") }
        } else {
            try DocumentOutput.write(bytes, to: target, overwriting: force)
        }
        if !DocumentOutput.isStandardOutput(target) {
            Console.say(
                line: json
                    ? JSONText.object(
                        JSONText.path("source", source) + JSONText.path("target", target)
                            + [("losses", JSONText.array(losses.map(JSONText.string)))])
                    : "made \(target)")
        }
    }

    private func converted() throws -> (bytes: [UInt8], losses: [String]) {
        if isTextSource {
            return (try listFromText(), [])
        }
        let content = try DocumentSource.load(source, type: try typing.documentType)
        for note in content.notes { Console.complain("\(source): \(note)") }
        if to == "text" || to == nil && Self.isText(target) {
            guard let lines = content.document.taskLines else {
                throw Failure(.badData, "\(source): only a list becomes lines of text")
            }
            for note in lines.notes { Console.complain("\(source): note: \(note)") }
            return (Array(lines.text.utf8), [])
        }
        let type = try targetType(content.document.type)
        let document: EditableDocument
        let losses: [String]
        do throws(EditError) {
            (document, losses) = try content.document.converted(to: type)
        } catch { throw Failure(.badData, "\(source): \(error)") }
        do throws(DocumentError) {
            // Layout is kept where the document stays what it is.
            let before = type == content.document.type ? content.bytes : nil
            return (try document.bytes(replacing: before), losses)
        } catch { throw Failure(.badData, "\(source): \(error)") }
    }

    private func listFromText() throws(Failure) -> [UInt8] {
        let text = try DocumentSource.text(of: source)
        guard try targetType(.list) == .list else {
            throw Failure(.usage, "\(target): lines of text become a .list")
        }
        do throws(DocumentError) {
            return try TaskList(items: try TaskList.items(from: text)).archived()
        } catch { throw Failure(.badData, "\(source): \(error)") }
    }

    private func targetType(_ fallback: DocumentType) throws(Failure) -> DocumentType {
        if let to { return try TypeOption.parse(to, for: "--to", or: ["text"]) }
        guard let type = DocumentType(fileName: target) else {
            if DocumentOutput.isStandardOutput(target) || WrittenFile.isStream(target) {
                return fallback
            }
            let isDrawn = RenderCommand.formats.contains { target.lowercased().hasSuffix("." + $0) }
            throw Failure(
                .usage,
                isDrawn
                    ? "\(target): no type of documents; `shapeedit render` draws a document into it"
                    : "\(Failure.shown(target)): the name does not tell a type; end it with .shape, .shapeFile, "
                        + ".slide, .list, .txt or .md, or give --to")
        }
        return type
    }

    /// Lines of text, by the name or because that is said.
    private var isTextSource: Bool {
        typing.type.map { $0.lowercased() == "text" } ?? Self.isText(source)
    }

    private static func isText(_ name: String) -> Bool {
        let lower = name.lowercased()
        return lower.hasSuffix(".txt") || lower.hasSuffix(".md")
    }
}

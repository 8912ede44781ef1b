import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Glibc
import Model
import PathText

/// `shapeedit new`.
struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a new document.",
        discussion: """
            Without a name, or with that of a folder, the document is called Untitled, Untitled-2 and \
            so on. An existing file is never overwritten.
            """)

    @Argument(help: "The file to make, or the folder to make it in.", completion: .file())
    var file: String?
    @OptionGroup var typing: TypeOption
    @Option(help: "What it starts as; see --list-templates.", completion: .list(Self.templates))
    var template: String?
    @Option(help: "The document's title.")
    var title: String?
    @Flag(help: "List the templates of the type and make nothing.")
    var listTemplates = false
    @Flag(help: "Print JSON.")
    var json = false

    /// Of all types, each name once.
    private static let templates = DocumentType.allCases.reduce(into: [String]()) { names, type in
        names += EditableDocument.templates(for: type).filter { !names.contains($0) }
    }

    func run() throws {
        let type = try chosenType()
        if listTemplates {
            let names = EditableDocument.templates(for: type)
            Console.say(
                json ? JSONText.array(names.map(JSONText.string)) : names.joined(separator: "\n"))
            return
        }
        let title = try title.map { (word) throws(Failure) in try Edits.text(word) }
        var document: EditableDocument
        do throws(EditError) {
            document = try EditableDocument.template(template, type: type)
            if let title {
                _ = try document.apply([try Edit(words: ["title", title])])
            }
        } catch {
            throw Failure(
                error.kind == .usage || error.kind == .notFound ? .usage : .badData,
                "\(file ?? type.rawValue): \(error)")
        }
        let path = try make(document, type)
        Console.say(
            line: json
                ? JSONText.object(
                    "file", at: path,
                    [("type", JSONText.string(type.rawValue))]) : "made \(path)")
    }

    private func chosenType() throws(Failure) -> DocumentType {
        let named = file.flatMap { isFolder($0) ? nil : DocumentType(fileName: $0) }
        if let given = try typing.documentType {
            if let named, named != given {
                throw Failure(
                    .usage,
                    "\(file ?? ""): the name says \(named.rawValue), --type says \(given.rawValue)")
            }
            return given
        }
        if let named { return named }
        if file == "" { throw Failure(.usage, "new: the name of the document is empty") }
        if let file, !isFolder(file) {
            throw Failure(
                .usage,
                "\(file): the name does not say which type of document to make; end it with .shape, "
                    + ".slide, .list or .shapeFile, or give --type")
        }
        return .shape
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func make(_ document: EditableDocument, _ type: DocumentType) throws(Failure) -> String
    {
        if let file, !isFolder(file) {
            try DocumentFile.create(file, document)
            return file
        }
        let folder = file.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        for number in 1...10_000 {
            let name = number == 1 ? "Untitled" : "Untitled-\(number)"
            let path = folder + name + "." + type.fileExtension
            do throws(Failure) {
                try DocumentFile.create(path, document)
                return path
            } catch {
                var status = stat()
                guard error.kind == .cannotCreate, lstat(path.cPath, &status) == 0 else {
                    throw error
                }
            }
        }
        throw Failure(.cannotCreate, "\(folder)Untitled: all names up to Untitled-10000 are taken")
    }
}

import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Model
import PathText

/// The name of a verb of the editing language, as a type: each verb is a command of its own.
protocol VerbName {
    static var verb: String { get }
    /// What shells offer for the words after the document.
    static var words: CompletionKind { get }
}

extension VerbName {
    static var words: CompletionKind { .default }
}

/// A command that makes one edit: `shapeedit VERB FILE WORDS...`.
struct VerbCommand<Name: VerbName>: ParsableCommand {
    static var configuration: CommandConfiguration {
        VerbHelp.configurations[Name.verb] ?? CommandConfiguration(commandName: Name.verb)
    }

    @OptionGroup var options: EditOptions
    @Argument(help: "The document.", completion: .file())
    var file: String
    // What begins with a minus sign is a number more often than an option.
    @Argument(
        parsing: .allUnrecognized, help: "What to do; see the usage above.", completion: Name.words)
    var words: [String] = []

    func run() throws {
        let name = DashedWords.shown(self.file)
        let file = try DocumentFile(name, type: try options.documentType)
        let edit = try Edits.one([Name.verb] + Edits.plain(words))
        options.report(try options.apply([edit], to: file), of: name)
    }
}

enum SetVerb: VerbName { static let verb = "set" }
enum UnsetVerb: VerbName { static let verb = "unset" }
enum AddVerb: VerbName {
    static let verb = "add"
    static var words: CompletionKind { .list(VerbHelp.types(of: verb).flatMap(\.kinds)) }
}
enum RemoveVerb: VerbName { static let verb = "remove" }
enum RenameVerb: VerbName { static let verb = "rename" }
enum MoveVerb: VerbName { static let verb = "move" }
enum RotateVerb: VerbName { static let verb = "rotate" }
enum ScaleVerb: VerbName { static let verb = "scale" }
enum ColorVerb: VerbName { static let verb = "color" }
enum DuplicateVerb: VerbName { static let verb = "duplicate" }
enum OrderVerb: VerbName { static let verb = "order" }
enum GroupVerb: VerbName { static let verb = "group" }
enum UngroupVerb: VerbName { static let verb = "ungroup" }
enum BackgroundVerb: VerbName { static let verb = "background" }
enum TitleVerb: VerbName { static let verb = "title" }
enum AlignVerb: VerbName { static let verb = "align" }
enum DistributeVerb: VerbName { static let verb = "distribute" }
enum ChainVerb: VerbName { static let verb = "chain" }
enum TextVerb: VerbName { static let verb = "text" }

/// What the editing language says of a verb, as help of its command.
enum VerbHelp {
    /// Of the commands that are one verb. Kept, because the parser asks for each of them at every
    /// word of a command line.
    static let configurations: [String: CommandConfiguration] = Verb.all.reduce(into: [:]) {
        known, verb in
        let name = verb.name
        known[name] = CommandConfiguration(
            commandName: name, abstract: abstract(name),
            usage: usage(name) { words in "\(name) FILE \(words)" }, discussion: types(name))
    }

    static func abstract(_ name: String) -> String {
        (Verb.all.first { $0.name == name }?.summary ?? "") + "."
    }

    /// The verb's forms, each with the file put in by `form` from the words after the verb.
    static func usage(_ name: String, _ form: (String) -> String) -> String {
        let forms = Verb.all.first { $0.name == name }?.usage ?? []
        return forms.map {
            ("shapeedit " + form(String($0.dropFirst(name.count + 1)))).trimmed
        }.joined(separator: "\n") + "\n  [--dry-run] [--json] [--type TYPE]"
    }

    static func types(_ name: String) -> String {
        let types = types(of: name)
        let having = "For " + types.map { "." + $0.fileExtension }.joined(separator: ", ")
        if name == "add" {
            let kinds = types.map {
                "in a .\($0.fileExtension): " + $0.kinds.joined(separator: ", ")
            }
            return having + ". A KIND is, " + kinds.joined(separator: "; ")
                + ". What follows -- is no option."
        }
        return having + "." + words(of: Verb.all.first { $0.name == name }?.usage ?? [])
            + " What follows -- is no option."
    }

    /// What the words in capital letters of a usage are.
    private static func words(of usage: [String]) -> String {
        let usage = usage.joined(separator: " ")
        if usage.contains("PATH") {
            return " A PATH leads to a value of the document, such as title, or of a part, such as "
                + "solid.1.color or Ball.position.x; `shapeedit get FILE` lists them. In double "
                + "quotes a name is one whatever it says: '\"a=b\".color'."
        }
        guard usage.contains("TARGET") else { return "" }
        return " A TARGET is a name, a number from 1, one of a kind such as torus.2, a selector "
            + "such as type=torus, or all. In double quotes a name is one whatever it says: "
            + "'\"a=b\"'."
    }

    static func types(of name: String) -> [DocumentType] {
        Verb.all.first { $0.name == name }?.types ?? []
    }
}

extension DocumentType {
    /// The kinds of parts that can be put in.
    fileprivate var kinds: [String] { EditableDocument.kinds(for: self) }
}

extension String {
    /// Without blanks at the end.
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// Words of the command line as edits.
enum Edits {
    /// What was typed without the `--` that says where options end; a failure for what is no option
    /// before it.
    static func plain(_ words: [String]) throws(Failure) -> [String] {
        let words = words.map(DashedWords.shown)
        let end = words.firstIndex(of: "--") ?? words.count
        try DashedWords.check(words[..<end])
        return Array(words[..<end] + words[end...].dropFirst())
    }

    static func one(_ words: [String]) throws(Failure) -> Edit {
        let words = try words.map { (word) throws(Failure) in try text(word) }
        do throws(EditError) { return try Edit(words: words) } catch {
            throw Failure(.usage, error.description)
        }
    }

    /// A word of the command line as a text of a document. Words may be any bytes, as paths are; a text
    /// is refused then, where it would become another one.
    static func text(_ word: String) throws(Failure) -> String {
        guard let text = String(validating: word.pathBytes, as: UTF8.self) else {
            throw Failure(.badData, "'\(word)' is not UTF-8, as texts in documents are")
        }
        return text
    }

    static func script(_ text: String, from name: String) throws(Failure) -> [Edit] {
        do throws(EditError) { return try Edit.script(text) } catch {
            throw Failure(error.kind == .usage ? .usage : .badData, "\(name): \(error)")
        }
    }
}

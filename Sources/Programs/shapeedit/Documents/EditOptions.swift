import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Model

/// How a document's type may be given.
struct TypeOption: ParsableArguments {
    @Option(
        help:
            "The document's type: shape, shapeFile, slide or list; else its name tells, or its content.",
        completion: .list(DocumentType.allCases.map(\.rawValue)))
    var type: String?

    var documentType: DocumentType? {
        get throws(Failure) {
            guard let type else { return nil }
            return try Self.parse(type, for: "--type")
        }
    }

    /// The type of a name.
    ///
    /// - Parameters:
    ///   - option: what the name was given for, for the message.
    ///   - others: what else may be given there.
    static func parse(
        _ name: String, for option: String, or others: [String] = []
    ) throws(Failure) -> DocumentType {
        let known = DocumentType.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
        guard let known else {
            throw Failure(
                .usage,
                "\(option) \(name): there is no such type; it is one of "
                    + (DocumentType.allCases.map(\.rawValue) + others).joined(separator: ", "))
        }
        return known
    }
}

/// The options of every command that changes a document.
struct EditOptions: ParsableArguments {
    @OptionGroup var typing: TypeOption
    @Flag(name: [.long, .customShort("n")], help: "Only say what would change.")
    var dryRun = false
    @Flag(help: "Print JSON.")
    var json = false

    var documentType: DocumentType? {
        get throws(Failure) { try typing.documentType }
    }

    /// Changes a document as the options say. Where its content has to come, a terminal shows how far that is.
    ///
    /// - Parameter script: where the edits come from, for messages.
    func apply(
        _ edits: [Edit], to file: DocumentFile, from script: String? = nil
    ) throws(Failure) -> DocumentFile.Edited {
        try ArrivalLine.shown(file) { (file) throws(Failure) in
            try file.apply(edits, from: script, dryRun: dryRun)
        }
    }

    /// Says what changed, and what had to be repaired for it.
    func report(_ edited: DocumentFile.Edited, of file: String) {
        let changes = edited.changes
        for repair in edited.repairs { Console.complain("\(file): \(repair)") }
        if let problem = edited.historyProblem { Console.complain("\(file): \(problem)") }
        if json {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    [
                        ("dryRun", dryRun ? "true" : "false"),
                        ("changes", JSONText.array(changes.map(JSONText.change))),
                    ]))
        } else if changes.isEmpty {
            Console.say(line: "\(file): nothing to change")
        } else {
            for change in changes { Console.say(change.description) }
            if dryRun { Console.say("(dry run: nothing was written)") }
        }
    }
}

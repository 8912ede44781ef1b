public import Documents

/// A verb of the command line and of scripts. Help, completions and man pages are made from these.
public struct Verb: Hashable, Sendable {
    /// The first word of the edit.
    public let name: String
    /// What it does, in one sentence without a full stop.
    public let summary: String
    /// Its forms, one a line, without the name of the document.
    public let usage: [String]
    /// The types of documents that have it.
    public let types: [DocumentType]

    /// Whether it leaves every part in its place, so that parts need not be looked for to compare.
    var keepsPlaces: Bool {
        [
            "set", "unset", "rename", "move", "rotate", "scale", "color", "camera", "background",
            "title", "align", "distribute", "text",
        ].contains(name)
    }

    /// Whether it leaves besides what every part is called and of which kind it is.
    var keepsNames: Bool { keepsPlaces && !["set", "unset", "rename"].contains(name) }

    init(
        _ name: String, _ summary: String, _ usage: [String],
        _ types: [DocumentType] = DocumentType.allCases
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.types = types
    }

    /// Why a type of document does not have it, and what to do instead.
    func refusal(for type: DocumentType) -> String {
        let having = types.map { ".\($0.fileExtension)" }.joined(separator: " and ")
        switch type {
        case .shapeFile where types.contains(.shape):
            return "a .shapeFile holds one solid of fixed size at the origin and a camera; convert "
                + "it to a .shape to do this"
        case .list where ["color", "move", "order", "text"].contains(name):
            let other = ["order": "move", "text": "edit"][name] ?? name
            return "only for \(having); use 'list \(other)'"
        case .slide where name == "group":
            return "slides have no groups; 'chain' joins lines and curves"
        case .slide where name == "camera": return "slides have no camera; see canvas"
        default: return "only for \(having)"
        }
    }
}

/// What searching needs of a document.
public struct DocumentFacts: Hashable, Sendable {
    /// What it is called apart from its file's name; nil if it has no name of its own.
    public var title: String?
    /// The words in it, a line for each text, at most `Limits.searchTextBytes`.
    public var text: String

    /// Facts of their two parts.
    public init(title: String?, text: String) {
        self.title = title
        self.text = text
    }
}

extension DocumentType {
    /// The facts of a document of this type.
    public func facts(of bytes: [UInt8]) throws(DocumentError) -> DocumentFacts {
        var words = SearchText()
        switch self {
        case .shape:
            let scene = try Scene.read(bytes)
            words.add(names: scene.nodes)
            return DocumentFacts(title: DocumentType.title(scene.title), text: words.text)
        case .shapeFile:
            return DocumentFacts(title: nil, text: try ShapeFile.read(bytes).kind.name)
        case .slide:
            let slide = try Slide.read(bytes).slide
            words.add(slide.author)
            words.add(slide.summary)
            for element in slide.elements {
                words.add(element.json["text"]?.string)
                words.add(element.comment)
            }
            return DocumentFacts(title: DocumentType.title(slide.title), text: words.text)
        case .list:
            for item in try TaskList.read(bytes).items { words.add(item.text) }
            return DocumentFacts(title: nil, text: words.text)
        }
    }

    /// A title as one line of bounded length; nil if there is nothing to see.
    static func title(_ text: String?) -> String? {
        guard let text else { return nil }
        // Not by characters, one of which can have any number of marks.
        let start = String(text.unicodeScalars.prefix(Limits.nameLength))
        let line = TaskList.oneLine(start)
        return line.utf8.allSatisfy(\.isBlank) ? nil : line
    }
}

/// Lines of text up to a number of bytes.
private struct SearchText {
    private(set) var text = ""

    mutating func add(_ line: String?) {
        let room = Limits.searchTextBytes - text.utf8.count - 1
        guard let line, !line.isEmpty, room > 0 else { return }
        if !text.isEmpty { text += "\n" }
        // Of what is longer the beginning.
        text +=
            line.utf8.count <= room ? line : String(decoding: line.utf8.prefix(room), as: UTF8.self)
    }

    mutating func add(names nodes: [SceneNode]) {
        for node in nodes {
            add(node.name)
            switch node {
            case .solid(let solid): add(solid.shape.kind.name)
            case .group(let group): add(names: group.children)
            }
        }
    }
}

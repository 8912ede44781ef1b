public import Documents

extension EditableDocument {
    /// A new document. Without a name it is the first of `templates(for:)`.
    public static func template(
        _ name: String?, type: DocumentType
    ) throws(EditError) -> EditableDocument {
        let names = templates(for: type)
        let name = name?.lowercased() ?? names[0]
        guard names.contains(name) else {
            throw EditError(
                .notFound, at: name,
                NearNames.unknown("template", name, among: names))
        }
        switch type {
        case .shape:
            guard let kind = SolidKind(name: name) else { return .scene(Scene()) }
            let solid = Solid(name: kind.standardName, shape: SolidShape(kind))
            return .scene(Scene(nodes: [.solid(solid)]))
        case .shapeFile: return .shapeFile(ShapeFile(kind: SolidKind(name: name) ?? .sphere))
        case .slide:
            var slide = Slide(title: "Untitled")
            if name == "title" { slide.elements = [slide.titleElement] }
            return .slide(slide)
        case .list: return .list(TaskList())
        }
    }

    /// The kinds of parts that `add` puts into documents of a type.
    public static func kinds(for type: DocumentType) -> [String] {
        switch type {
        case .shape: SolidKind.allCases.map(\.name) + ["group"]
        case .shapeFile: []
        case .slide: ElementKeys.types
        case .list: ["item"]
        }
    }

    /// What names a kind of part that a type of document has, in small letters; an error for others.
    static func kind(_ word: String, for type: DocumentType) throws(EditError) -> String {
        let kinds = kinds(for: type)
        let name = word.lowercased()
        guard kinds.contains(name) else {
            throw EditError(.data, at: "add", NearNames.unknown("kind", name, among: kinds))
        }
        return name
    }

    /// The names of the templates of a type, the usual one first.
    public static func templates(for type: DocumentType) -> [String] {
        switch type {
        case .shape: SolidKind.allCases.map(\.name) + ["empty"]
        case .shapeFile: SolidKind.allCases.map(\.name)
        case .slide: ["empty", "title"]
        case .list: ["empty"]
        }
    }
}

public import Documents

extension EditableDocument {
    /// The value at a path, as text that `set` takes. A value that was not given is the one that
    /// counts instead; without one there is an error of kind `notFound`.
    public func value(at path: String) throws(EditError) -> String { try values(at: [path])[0] }

    /// The values at paths, as ``value(at:)`` gives them: of many it takes no longer for each the more
    /// there are.
    public func values(at paths: [String]) throws(EditError) -> [String] {
        try fields(at: paths).map(\.text)
    }

    /// The values at paths as JSON: numbers, truth values and arrays of numbers are such, and texts
    /// have line ends, tabs and backslashes that are not written out. For programs; it is not what
    /// `set` takes.
    public func json(at paths: [String]) throws(EditError) -> [JSONValue] {
        try fields(at: paths).map(\.json)
    }

    private func fields(at paths: [String]) throws(EditError) -> [FieldValue] {
        switch self {
        case .scene(let scene): try scene.values(at: paths)
        case .shapeFile(let file):
            try paths.map { (path) throws(EditError) in try file.value(at: path) }
        case .slide(let slide): try slide.values(at: paths)
        case .list(let list): try list.values(at: paths)
        }
    }

    /// All paths that have a value, with it, in the document's order.
    public var paths: [(path: String, value: String)] { values.map { ($0.path, $0.value.text) } }

    /// All paths that have a value, with it as JSON, in the document's order.
    public var jsonPaths: [(path: String, value: JSONValue)] {
        values.map { ($0.path, $0.value.json) }
    }

    private var values: [(path: String, value: FieldValue)] {
        switch self {
        case .scene(let scene): scene.paths
        case .shapeFile(let file): file.paths
        case .slide(let slide): slide.paths
        case .list(let list): list.paths
        }
    }

    /// Facts for people, one a line.
    public var summary: [String] {
        switch self {
        case .scene(let scene): scene.facts
        case .shapeFile(let file): file.facts
        case .slide(let slide): slide.facts
        case .list(let list): list.facts
        }
    }

    /// What is wrong with the document though it can be read, one sentence each.
    public func problems() -> [String] {
        switch self {
        case .scene(let scene): scene.complaints
        case .shapeFile(let file): file.complaints
        case .slide(let slide): slide.problems.map(\.description)
        case .list(let list): list.complaints
        }
    }

    /// What is worth knowing about the document though nothing is wrong with it, one sentence each.
    public func remarks() -> [String] {
        switch self {
        case .scene(let scene): scene.remarks
        case .shapeFile(let file): file.remarks
        case .slide(let slide): slide.remarks
        case .list(let list): list.remarks
        }
    }

    /// What is different in another document: nothing exactly where both say the same, unknown
    /// keys included. Layout, the order of keys and defaults that are written out do not count.
    /// Between documents of different types only that is told.
    public func differences(to other: EditableDocument) -> [Change] {
        switch (self, other) {
        case (.scene(let old), .scene(let new)): old.changes(to: new, inPlace: false)
        case (.shapeFile(let old), .shapeFile(let new)): old.changes(to: new)
        case (.slide(let old), .slide(let new)): old.changes(to: new, inPlace: false)
        case (.list(let old), .list(let new)): old.changes(to: new)
        default: [Change(.value, "type", before: type.rawValue, after: other.type.rawValue)]
        }
    }
}

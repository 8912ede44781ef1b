import Documents

/// A document of parts, of which most edits change one.
protocol PartedDocument: EditedDocument {
    /// An element of a slide, a solid or group of a scene.
    associatedtype Part: Equatable

    /// Where the parts are that are in no other part.
    static var partsPath: WritableKeyPath<Self, [Part]> { get }

    /// How all parts are found, and for each where it is in `parts`, if it can be edited without the
    /// others.
    var found: (index: PartIndex, places: [Int?]) { get }
    /// Words that mean no part, or not one.
    static var reserved: Set<String> { get }
    /// How many parts there can be.
    static var mostParts: Int { get }

    static func outline(of part: Part) -> PartIndex.Outline
    /// The part under another name; nil if it has none unless it is given one.
    static func renamed(_ part: Part, _ name: String) -> Part?
    /// The key that names a part.
    static var nameKey: String { get }
    /// A part in words.
    static func words(of part: Part) -> String
    /// A new part in words.
    static func longWords(of part: Part) -> String
    /// What is different in another state of a part, whose keys have these paths.
    static func changes(from old: Part, to new: Part, at path: (String) -> String) -> [Change]
}

extension PartedDocument {
    /// The parts that are in no other part.
    var parts: [Part] { self[keyPath: Self.partsPath] }

    /// Puts a part in the place of another, or after all.
    mutating func put(_ part: Part, at place: Int) {
        if place < parts.count {
            self[keyPath: Self.partsPath][place] = part
        } else {
            self[keyPath: Self.partsPath].append(part)
        }
    }

    /// Takes a part out.
    mutating func remove(at place: Int) -> Part {
        self[keyPath: Self.partsPath].remove(at: place)
    }

    /// The document with other parts.
    func holding(_ parts: [Part]) -> Self {
        var document = self
        document[keyPath: Self.partsPath] = parts
        return document
    }
}

extension Scene: PartedDocument {
    static var partsPath: WritableKeyPath<Scene, [SceneNode]> { \.nodes }

    var found: (index: PartIndex, places: [Int?]) {
        let parts = SceneParts(self)
        let places = parts.entries.map { entry in
            entry.depth == 0 && !entry.node.isGroup ? entry.number : nil
        }
        return (parts.index, places)
    }

    static var reserved: Set<String> { SceneParts.reserved }
    static var mostParts: Int { Limits.sceneNodes }

    static func outline(of part: SceneNode) -> PartIndex.Outline { part.outline }

    static func renamed(_ part: SceneNode, _ name: String) -> SceneNode? {
        var part = part
        part.name = name
        return part
    }

    static var nameKey: String { "name" }
    static func words(of part: SceneNode) -> String { part.words }
    static func longWords(of part: SceneNode) -> String { part.longWords }

    static func changes(
        from old: SceneNode, to new: SceneNode, at path: (String) -> String
    ) -> [Change] { old.changes(to: new, at: path) }
}

extension Slide: PartedDocument {
    static var partsPath: WritableKeyPath<Slide, [SlideElement]> { \.elements }

    var found: (index: PartIndex, places: [Int?]) {
        (SlideParts(elements).index, Array(elements.indices))
    }

    static var reserved: Set<String> { SlideParts.reserved }
    static var mostParts: Int { Limits.slideElements }

    static func outline(of part: SlideElement) -> PartIndex.Outline { part.outline }
    static func renamed(_ part: SlideElement, _ name: String) -> SlideElement? { nil }
    static var nameKey: String { "comment" }
    static func words(of part: SlideElement) -> String { part.words }
    static func longWords(of part: SlideElement) -> String { part.words }

    static func changes(
        from old: SlideElement, to new: SlideElement, at path: (String) -> String
    ) -> [Change] { old.changes(to: new, at: path) }
}

import Documents

/// A document of one type as a value that edits are made on.
protocol EditedDocument: Equatable {
    static var type: DocumentType { get }

    /// Does what a verb says with the words after it.
    mutating func perform(_ verb: String, _ words: inout Arguments) throws(EditError)
    /// An error if an edit brought in a value that none may, though files hold it.
    func checkRanges(after old: Self) throws(EditError)
    /// What is different in what an edit has made of it.
    func changes(to other: Self, by edit: Edit) -> [Change]
}

extension EditedDocument {
    func checkRanges(after old: Self) throws(EditError) {}

    /// Makes an edit and tells what changed by it. After an error it may be half made.
    mutating func make(_ edit: Edit) throws(EditError) -> [Change] {
        guard edit.verb.types.contains(Self.type) else {
            throw EditError(.usage, at: edit.verb.name, edit.verb.refusal(for: Self.type))
        }
        let before = self
        var arguments = Arguments(edit)
        try perform(edit.verb.name, &arguments)
        guard self != before else { return [] }
        try checkRanges(after: before)
        return before.changes(to: self, by: edit)
    }
}

extension ShapeFile: EditedDocument {
    static var type: DocumentType { .shapeFile }

    func changes(to other: ShapeFile, by edit: Edit) -> [Change] { changes(to: other) }
}

extension TaskList: EditedDocument {
    static var type: DocumentType { .list }

    func changes(to other: TaskList, by edit: Edit) -> [Change] {
        changes(to: other, moved: other.item(movedBy: edit))
    }

    /// The item that `list move` has just put in its place.
    private func item(movedBy edit: Edit) -> ItemID? {
        guard edit.words.starts(with: ["list", "move"]),
            let place = edit.words.last.flatMap({ Int($0) }), items.indices.contains(place - 1)
        else { return nil }
        return items[place - 1].id
    }
}

extension Scene: EditedDocument {
    static var type: DocumentType { .shape }

    func changes(to other: Scene, by edit: Edit) -> [Change] {
        changes(to: other, inPlace: edit.verb.keepsPlaces)
    }
}

extension Slide: EditedDocument {
    static var type: DocumentType { .slide }

    func changes(to other: Slide, by edit: Edit) -> [Change] {
        changes(to: other, inPlace: edit.verb.keepsPlaces)
    }
}

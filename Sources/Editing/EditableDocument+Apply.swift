import Documents

extension EditableDocument {
    /// Makes edits, all of them or, if one cannot be made, none, and tells what changed by each in
    /// turn. What already was as it should be is no change.
    public mutating func apply(_ edits: [Edit]) throws(EditError) -> [Change] {
        var result = self
        var changes: [Change] = []
        for edit in edits {
            let before = result
            let isChanged: Bool
            do throws(EditError) {
                try result.perform(edit)
                isChanged = result != before
                if isChanged, case .scene(let old) = before, case .scene(let new) = result {
                    try new.checkRanges(after: old)
                }
            } catch {
                throw error.at(line: edit.line)
            }
            if isChanged {
                changes += before.differences(
                    to: result, inPlace: edit.verb.keepsPlaces, moved: result.item(movedBy: edit))
            }
        }
        do throws(DocumentError) {
            try result.check()
        } catch {
            throw EditError(
                error.kind == .tooLarge ? .outOfRange : .data, at: error.place.description,
                error.reason)
        }
        changes += losses(writing: result).map(\.change)
        self = result
        return changes
    }

    /// What the document loses when it is written as another state of it.
    private func losses(writing result: EditableDocument) -> [ArchiveLoss] {
        switch (self, result) {
        case (.list(let old), .list(let new)) where old != new: old.losses
        case (.shapeFile(let old), .shapeFile(let new)) where old != new:
            old.unreadableCamera.map { [$0] } ?? (old.camera != new.camera ? old.cameraLosses : [])
        default: []
        }
    }

    /// The item that `list move` has just put in its place.
    private func item(movedBy edit: Edit) -> ItemID? {
        guard case .list(let list) = self, edit.words.starts(with: ["list", "move"]),
            let place = edit.words.last.flatMap({ Int($0) }), list.items.indices.contains(place - 1)
        else { return nil }
        return list.items[place - 1].id
    }

    private mutating func perform(_ edit: Edit) throws(EditError) {
        guard edit.verb.types.contains(type) else {
            throw EditError(.usage, at: edit.verb.name, edit.verb.refusal(for: type))
        }
        var arguments = Arguments(edit)
        switch self {
        case .scene(var scene):
            try scene.perform(edit.verb.name, &arguments)
            self = .scene(scene)
        case .shapeFile(var file):
            try file.perform(edit.verb.name, &arguments)
            self = .shapeFile(file)
        case .slide(var slide):
            try slide.perform(edit.verb.name, &arguments)
            self = .slide(slide)
        case .list(var list):
            try list.perform(edit.verb.name, &arguments)
            self = .list(list)
        }
    }

    /// Whether the document could be written and read again.
    private func check() throws(DocumentError) {
        switch self {
        case .scene(let scene): _ = try Scene(scene.json)
        case .shapeFile(let file): _ = try file.binary()
        case .slide(let slide): _ = try Slide(slide.json)
        case .list(let list): _ = try TaskList.read(try list.archived())
        }
    }
}

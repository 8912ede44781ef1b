import Documents

extension EditableDocument {
    /// Makes edits, all of them or, if one cannot be made, none, and tells what changed by each in
    /// turn. What already was as it should be is no change.
    public mutating func apply(_ edits: [Edit]) throws(EditError) -> [Change] {
        var (result, changes) = try made(edits)
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

    private func made(
        _ edits: [Edit]
    ) throws(EditError) -> (document: EditableDocument, changes: [Change]) {
        switch self {
        case .scene(let scene):
            var run = PartRun(scene)
            let changes = try edits.makeEach { (edit) throws(EditError) in try run.make(edit) }
            return (.scene(run.document), changes)
        case .slide(let slide):
            var run = PartRun(slide)
            let changes = try edits.makeEach { (edit) throws(EditError) in try run.make(edit) }
            return (.slide(run.document), changes)
        case .shapeFile(var file):
            let changes = try edits.makeEach { (edit) throws(EditError) in try file.make(edit) }
            return (.shapeFile(file), changes)
        case .list(var list):
            let changes = try edits.makeEach { (edit) throws(EditError) in try list.make(edit) }
            return (.list(list), changes)
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

extension [Edit] {
    /// Makes one after the other; errors carry the line.
    fileprivate func makeEach(
        _ make: (Edit) throws(EditError) -> [Change]
    ) throws(EditError) -> [Change] {
        var changes: [Change] = []
        for edit in self {
            do throws(EditError) { changes += try make(edit) } catch {
                throw error.at(line: edit.line)
            }
        }
        return changes
    }
}

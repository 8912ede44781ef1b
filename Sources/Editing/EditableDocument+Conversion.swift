public import Documents

extension EditableDocument {
    /// The document as one of another type, and what is lost on the way. Scenes and shape files
    /// become each other; other types only themselves.
    public func converted(
        to type: DocumentType
    ) throws(EditError) -> (document: EditableDocument, losses: [String]) {
        do throws(DocumentError) {
            switch (self, type) {
            case _ where type == self.type: return (self, [])
            case (.scene(let scene), .shapeFile):
                let (file, losses) = try ShapeFile.converted(from: scene)
                let unknown = scene.unknownPaths.map { "\($0): it has no such key" }
                return (.shapeFile(file), losses.map(\.description) + unknown)
            case (.shapeFile(let file), .shape):
                let (scene, losses) = Scene.converted(from: file)
                return (.scene(scene), losses.map(\.description))
            default:
                throw DocumentError(
                    .notRepresentable,
                    "a .\(self.type.fileExtension) cannot become a .\(type.fileExtension); only "
                        + ".shape and .shapeFile become each other")
            }
        } catch {
            throw EditError(
                .data, at: error.place == .whole ? "" : error.place.description, error.reason)
        }
    }

    /// A list as lines of text, and notes of what they do not hold or say in another way; nil for
    /// other types.
    public var taskLines: (text: String, notes: [String])? {
        guard case .list(let list) = self else { return nil }
        return (list.taskLines, list.notesOfLines)
    }
}

import Documents
import Editing
import Testing

extension EditableDocument {
    /// Applies a script and gives the changes in words.
    mutating func run(_ script: String) throws -> [String] {
        try apply(try Edit.script(script)).map(\.description)
    }

    /// The error a script ends in; the document must be as before.
    func error(_ script: String) -> EditError? {
        var copy = self
        do throws(EditError) {
            _ = try copy.apply(try Edit.script(script))
            return nil
        } catch {
            #expect(copy == self, "half of the script was applied: \(script)")
            return error
        }
    }

    /// A document of a text.
    static func of(_ text: String, _ type: DocumentType) throws -> EditableDocument {
        try read(Array(text.utf8), as: type).document
    }

    /// The bytes of the document read again.
    func reread() throws -> EditableDocument {
        try EditableDocument.read(try bytes(replacing: nil), as: type).document
    }
}

/// Small documents to edit.
enum Sample {
    static let scene = """
        {"version": 1, "x-tool": [1], "nodes": [
          {"type": "sphere", "name": "Ball", "x-keep": true},
          {"type": "group", "name": "Pair", "position": [0, 1, 0], "children": [
            {"type": "cube", "name": "Box", "position": [2, 0, 0]},
            {"type": "torus", "color": "#ffcc00"}]},
          {"type": "torus", "name": "Ring"}]}
        """

    static let slide = """
        {"elements": [
          {"shapeType": "line", "originx": 0, "originy": 0, "endx": 10, "endy": 0},
          {"shapeType": "circle", "originx": 100, "originy": 50, "radius": 10,
           "fillColor": "#FF0000", "x-keep": 1},
          {"shapeType": "text", "originx": 0, "originy": 0, "width": 80, "height": 20,
           "fontHeight": 12, "text": "Hello", "comment": "greeting"},
          {"shapeType": "line", "originx": 10, "originy": 0, "endx": 10, "endy": 30}],
         "title": "One", "canvasWidth": 400, "canvasHeight": 300}
        """

    static func list() -> EditableDocument {
        .list(
            TaskList(items: [
                TaskItem("milk"), TaskItem("bread"), TaskItem("eggs"),
                TaskItem("tea", isComplete: true),
            ]))
    }
}

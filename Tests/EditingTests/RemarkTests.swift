import Documents
import Editing
import Testing

@Suite struct RemarkTests {
    @Test func `unknown keys of a scene are noted and make nothing unsound`() throws {
        let text = """
            {"version": 1, "titel": "A", "camera": {"fielfOfView": 50}, "nodes": [
              {"type": "sphere", "colour": "red", "width": 2},
              {"type": "group", "name": "Pair", "children": [
                {"type": "cube", "name": "Box", "width": 1, "x-mine": 1}]}]}
            """
        let (scene, notes) = try EditableDocument.read(Array(text.utf8), as: .shape)
        #expect(notes.isEmpty)
        #expect(scene.problems().isEmpty)
        #expect(
            scene.remarks() == [
                "titel: unknown key; did you mean 'title'?",
                "camera.fielfOfView: unknown key; did you mean 'fieldOfView'?",
                "solid.1.colour: unknown key; did you mean 'color'?",
                "solid.1.width: unknown key; it is kept", "Box.x-mine: unknown key; it is kept",
            ])
    }

    @Test func `unknown keys of a slide are noted and make nothing unsound`() throws {
        let text = """
            {"elements": [
              {"shapeType": "chain", "originx": 0, "originy": 0, "elements": [
                {"shapeType": "line", "endx": 5, "endy": 5, "thicknes": 2}]},
              {"shapeType": "line", "originx": 0, "originy": 0, "endx": 1, "endy": 1, "radius": 2}],
             "bgcolour": "red", "foo": 1, "desc": "known"}
            """
        let (slide, notes) = try EditableDocument.read(Array(text.utf8), as: .slide)
        #expect(notes.isEmpty)
        #expect(slide.problems().isEmpty)
        #expect(
            slide.remarks() == [
                "bgcolour: unknown key; did you mean 'bgcolor'?", "foo: unknown key; it is kept",
                "element.1.element.1.thicknes: unknown key; did you mean 'thickness'?",
                "element.2.radius: unknown key; it is kept",
            ])
    }

    @Test func `a camera that cannot be read is not lost without a word`() throws {
        let bytes = try PropertyList.dictionary([
            PropertyList.Entry("shape", .integer(2)),
            PropertyList.Entry("cameraState", .data([1, 2, 3])),
        ]).binary()
        let (read, notes) = try EditableDocument.read(bytes, as: .shapeFile)
        var file = read
        #expect(notes.count == 1, "\(notes)")
        let (_, losses) = try file.converted(to: .shape)
        #expect(losses == ["cameraState: data that cannot be read as a camera"])
        #expect(try file.run("set shape=cylinder").isEmpty)
        #expect(
            try file.run("set shape=torus") == [
                "shape: cylinder -> torus", "cameraState: unset, was data",
            ])
        #expect(try file.reread().problems().isEmpty)
    }

    @Test func `documents of our own have nothing to note`() throws {
        for type in DocumentType.allCases {
            for name in EditableDocument.templates(for: type) {
                #expect(try EditableDocument.template(name, type: type).remarks().isEmpty)
            }
        }
    }
}

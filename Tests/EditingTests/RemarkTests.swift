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

    @Test func `of very many unknown keys the first are noted and the others counted`() throws {
        let keys = (0..<1_500).map { "\"k\($0)\": 1" }.joined(separator: ",")
        let scene = try EditableDocument.of("{\"version\": 1, \"nodes\": [], \(keys)}", .shape)
        let remarks = scene.remarks()
        #expect(remarks.count == 1_001)
        #expect(remarks.last == "...: 500 more unknown keys are kept")
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

    @Test func `unknown values of a shape file are told in words`() throws {
        func file(_ entries: [PropertyList.Entry]) throws -> EditableDocument {
            let shape = PropertyList.Entry("shape", .integer(2))
            let bytes = try PropertyList.dictionary([shape] + entries).binary()
            return try EditableDocument.read(bytes, as: .shapeFile).document
        }
        let old = try file([
            PropertyList.Entry("a", .integer(1)), PropertyList.Entry("n", .real(.nan)),
            PropertyList.Entry("d", .data(Array(repeating: 0x0a, count: 20))),
            PropertyList.Entry(
                "o",
                .dictionary([
                    PropertyList.Entry("x", .array([.string("two\nlines"), .boolean(true)]))
                ])),
        ])
        let new = try file([
            PropertyList.Entry("a", .string("1")), PropertyList.Entry("n", .real(.nan)),
            PropertyList.Entry("u", .unsigned(.max)),
        ])
        let data = String(repeating: "0a", count: 16)
        #expect(
            old.differences(to: new).map(\.description) == [
                "a: 1 (a whole number) -> 1 (a string)", "d: unset, was <\(data)... (20 bytes)>",
                #"o: unset, was {x: ['two\nlines', true]}"#, "u: set to 18446744073709551615",
            ])
        #expect(old.differences(to: old).isEmpty)
    }

    @Test func `reals of a shape file differ where they say something else`() throws {
        func file(_ real: PropertyList) throws -> EditableDocument {
            let bytes = try PropertyList.dictionary([
                PropertyList.Entry("shape", .integer(2)), PropertyList.Entry("r", real),
            ]).binary()
            return try EditableDocument.read(bytes, as: .shapeFile).document
        }
        let same: [(PropertyList, PropertyList)] = [
            (.real(0), .real(-0.0)), (.real32(0), .real32(-0.0)), (.date(0), .date(-0.0)),
            (.real(.nan), .real(Double(nan: 1, signaling: false))),
            (.real32(.nan), .real32(-.nan)),
        ]
        for (one, other) in same {
            #expect(one == other)
            #expect(one.hashValue == other.hashValue)
            #expect(try file(one).differences(to: file(other)).isEmpty)
        }
        #expect(
            try file(.real(1.5)).differences(to: file(.real32(1.5))).map(\.description) == [
                "r: 1.5 (a real number of 64 bits) -> 1.5 (a real number of 32 bits)"
            ])
        #expect(try !file(.real(.nan)).differences(to: file(.real(0))).isEmpty)
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

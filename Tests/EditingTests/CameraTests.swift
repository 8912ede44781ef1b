import Documents
import Editing
import Testing

@Suite struct CameraTests {
    private func camera(_ script: String, type: DocumentType = .shape) throws -> [String] {
        var document = try EditableDocument.template("sphere", type: type)
        _ = try document.run(script)
        return ["position", "rotation", "target"].compactMap { key in
            document.paths.first { $0.path == "camera.\(key)" }?.value
        }
    }

    @Test(arguments: [
        ("camera orbit 90", ["4,0,0", "0,1,0,90"]), ("camera orbit 0,90", ["0,4,0", "-1,0,0,90"]),
        ("camera orbit 180\ncamera orbit 180", ["0,0,4", "0,0,0,0"]),
        ("camera zoom 2", ["0,0,2", "0,0,0,0"]), ("camera pan 1,2", ["1,2,4", "0,0,0,0"]),
        ("camera orbit 90\ncamera pan 1,0", ["4,0,-1", "0,1,0,90"]),
        ("camera look-at Sphere\ncamera orbit -90", ["-4,0,0", "0,0,0"]),
        ("camera look-at 1,0,0\ncamera zoom 0.5", ["-1,0,8", "1,0,0"]),
        ("camera look-at 0,0,0\ncamera pan 1,0", ["1,0,4", "1,0,0"]),
        ("camera orbit 30,40\ncamera reset", ["0,0,4", "0,0,0,0"]),
        ("set camera.target=1,1,1 camera.target.x=3", ["0,0,4", "3,1,1"]),
        ("set camera.target=1,1,1\nunset camera.target", ["0,0,4", "0,0,0,0"]),
    ])
    func `the camera moves as told`(script: String, expected: [String]) throws {
        #expect(try camera(script) == expected)
    }

    @Test func `a camera with a target stops short of the pole`() throws {
        let position = try camera("camera look-at 0,0,0\ncamera orbit 0,500")[0]
        let height = try #require(Double(position.split(separator: ",")[1]))
        #expect(height > 3.99 && height < 4)
    }

    @Test func `a solid in a turned group is looked at where it is`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        _ = try scene.run("rotate Pair z 90\nscale Pair 2\ncamera look-at Box")
        #expect(try scene.value(at: "camera.target") == "0,5,0")
    }

    @Test func `shape files have the same camera`() throws {
        var file = try EditableDocument.template(nil, type: .shapeFile)
        #expect(
            try file.run("camera zoom 2\nset shape=cone camera.position.x=1") == [
                "camera.position: 0,0,4 -> 0,0,2", "shape: sphere -> cone",
                "camera.position: 0,0,2 -> 1,0,2",
            ])
        #expect(try file.run("set solid.1.shape=cone camera.rotation=0,0,0,0").isEmpty)
        #expect(try file.reread().differences(to: file).isEmpty)
        #expect(try camera("camera look-at 4,0,4", type: .shapeFile)[1].hasPrefix("0,-1,0,"))
    }

    @Test(arguments: [
        "move 1 1,0,0", "add cube", "set solid.1.color=red", "background red", "title T",
        "set camera.fieldOfView=50", "group G 1",
    ])
    func `what shape files cannot hold needs converting`(script: String) throws {
        let file = try EditableDocument.template(nil, type: .shapeFile)
        let error = try #require(file.error(script))
        #expect(error.reason.contains("convert"), "\(error)")
    }

    @Test func `scenes and shape files become each other`() throws {
        var file = try EditableDocument.template("torus", type: .shapeFile)
        _ = try file.run("camera orbit 30,20")
        let (scene, losses) = try file.converted(to: .shape)
        #expect(losses.isEmpty)
        #expect(try scene.value(at: "solid.1.shape") == "torus")
        let (back, none) = try scene.converted(to: .shapeFile)
        #expect(none.isEmpty)
        #expect(back.differences(to: file).isEmpty)
        let sample = try EditableDocument.of(Sample.scene, .shape)
        #expect(try !sample.converted(to: .shapeFile).losses.isEmpty)
        #expect(throws: EditError.self) { try sample.converted(to: .slide) }
        #expect(try sample.converted(to: .shape).document == sample)
    }

    @Test func `a shape file without a camera is sound, one with a wrong camera is not`() throws {
        func problems(_ camera: [PropertyList.Entry]) throws -> [String] {
            let list = PropertyList.dictionary([PropertyList.Entry("shape", .integer(2))] + camera)
            let read = try EditableDocument.read(list.binary(), as: .shapeFile)
            #expect(read.notes == read.document.problems())
            return read.notes
        }
        #expect(try problems([]).isEmpty)
        #expect(try problems([PropertyList.Entry("cameraState", .integer(1))]).count == 1)
        #expect(try problems([PropertyList.Entry("cameraState", .data([1]))]).count == 1)
    }
}

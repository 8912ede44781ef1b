import Documents
import Editing
import Testing

/// Values that edits of scenes do not bring in.
@Suite struct SceneRangeTests {
    @Test(arguments: [
        ("add cube Die roundedEdge=5", "Die.roundedEdge", "at most 1"),
        ("set Box.roundedEdge=1.2", "Box.roundedEdge", "at most 1"),
        ("set Box.width=0.1", "Box.roundedEdge", "at most 0.05"),
        ("set Ball.rotation=0,0,0,45", "Ball.rotation", "0,1,0,45"),
        ("add cone rotation=0,0,0,45", "Cone.rotation", "0,1,0,45"),
        ("rotate Ball to=0,0,0,45", "Ball.rotation", "0,1,0,45"),
        ("set camera.rotation=0,0,0,45", "camera.rotation", "0,1,0,45"),
        ("set camera.target=0,0,4", "camera.target", "looks nowhere"),
        ("camera look-at 0,0,4", "camera.target", "looks nowhere"),
        ("set Ball.position=0,0,4\ncamera look-at Ball", "camera.target", "looks nowhere"),
        ("camera zoom 1e-30", "camera zoom", "1000000000"),
        ("camera zoom 1e30", "camera zoom", "1e-06"),
        ("set camera.position=0,0,1e40", "camera.position", "1000000000"),
        ("scale Ball 1e300", "scale", "at most 1e+41"),
        ("scale Ball 1e30\nscale Ball 1e30", "scale", "at most 1e+41"),
        ("rotate Ball 1e300", "rotate", "at most 1e+41"),
        ("rotate Ball z -1e300", "rotate", "at least -1e+41"),
        ("rotate Ball 1e41\nrotate Ball 1e41", "rotate", "at most 1e+41"),
        ("move Ball 1e41,0,0\nmove Ball 1e41,0,0", "move", "at most 1e+41"),
        ("set Ball.color='rgb(300,0,0)'", "Ball.color", "0 to 255"),
    ])
    func `values that count as others are refused`(
        script: String, place: String, reason: String
    ) throws {
        let scene = try EditableDocument.of(Sample.scene, .shape)
        let error = try #require(scene.error(script))
        #expect(error.kind == .outOfRange)
        #expect(error.place == place, "\(error)")
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `values that are given together count together`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        _ = try scene.run("add cube Die width=0.1 roundedEdge=0.05")
        _ = try scene.run("set Box.width=0.1 Box.roundedEdge=0")
        _ = try scene.run("set camera.target=0,0,4 camera.position=0,0,5")
    }

    @Test func `what was out of range in the file does not hinder other edits`() throws {
        let text = """
            {"version": 1, "camera": {"position": [0, 0, 3e30]}, "nodes": [
              {"type": "cube", "name": "Box", "roundedEdge": 5, "rotation": [0, 0, 0, 45]}]}
            """
        var scene = try EditableDocument.of(text, .shape)
        _ = try scene.run("color Box red\nadd sphere\nduplicate Box\ncamera zoom 1e10")
    }
}

import Documents
import Editing
import Testing

@Suite struct SceneEditTests {
    @Test func `a name that others gave is taken as it is told`() throws {
        let text = #"""
            {"version": 1, "nodes": [
              {"type": "cube", "name": "1"}, {"type": "cube", "name": "a\nb"}]}
            """#
        var scene = try EditableDocument.of(text, .shape)
        let told = scene.paths.filter { $0.path.hasSuffix(".name") }
        #expect(told.map(\.path) == ["solid.1.name", "solid.2.name"])
        let script = told.map { "set '\($0.path)=\($0.value)'" }.joined(separator: "\n")
        #expect(try scene.run(script).isEmpty)
        #expect(scene.error("set solid.2.name=1")?.place == "solid.2.name")
    }

    @Test func `of parts that are called alike the one that went is told`() throws {
        var scene = try EditableDocument.of(
            """
            {"version": 1, "nodes": [
              {"type": "sphere", "name": "A", "color": "#ff0000"},
              {"type": "sphere", "name": "A", "color": "#00ff00"},
              {"type": "cube", "name": "B"}]}
            """, .shape)
        #expect(try scene.run("remove solid.1") == ["solid.1: removed sphere at 0,0,0"])
        var slide = try EditableDocument.of(
            """
            {"elements": [
              {"shapeType": "circle", "comment": "A", "originx": 1, "originy": 1, "radius": 1},
              {"shapeType": "circle", "comment": "A", "originx": 2, "originy": 2, "radius": 1},
              {"shapeType": "line", "originx": 0, "originy": 0, "endx": 9, "endy": 9}]}
            """, .slide)
        #expect(try slide.run("remove element.1") == ["element.1: removed circle at 1,1"])
    }

    @Test func `what is taken away is not in the file any more`() throws {
        let text = """
            {"version": 1, "camera": {"fieldOfView": 30, "position": [0, 0, 9], "lens": 1}, "nodes": [
              {"type": "cube", "opacity": 0.5, "width": 3, "visible": false, "rotation": [0, 1, 0, 5],
               "scale": 2, "x-keep": 1},
              {"children": [], "type": "group", "position": [1, 2, 3], "visible": false}]}
            """
        var scene = try EditableDocument.of(text, .shape)
        let keys = ["opacity", "width", "visible", "rotation", "scale"].map { "solid.1.\($0)" }
        let others = [
            "group.1.position", "group.1.visible", "camera.fieldOfView", "camera.position",
        ]
        #expect(try scene.run("unset \((keys + others).joined(separator: " "))").count == 9)
        let bytes = try scene.bytes(replacing: Array(text.utf8))
        #expect(
            try JSONValue.read(bytes)
                == JSONValue.read(
                    Array(
                        """
                        {"version": 1, "camera": {"lens": 1}, "nodes": [
                          {"type": "cube", "x-keep": 1}, {"children": [], "type": "group"}]}
                        """.utf8)))
    }

    @Test func `each verb tells what changed`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        let changes = try scene.run(
            """
            set Ball.shape=cube solid.1.color=#3cabdb camera.position=0,0,9
            move Ball 1,0,0
            move Ball to=5,5,5
            rotate Ball 45
            rotate Ball y 45
            scale Ball 2
            color Ball gold
            rename Ball Block
            unset Block.color
            background navy
            title 'Two words'
            """)
        #expect(
            changes == [
                "camera.position: 0,0,4 -> 0,0,9", "Ball.shape: sphere -> cube",
                "Ball.radius: unset, was 1", "Ball.color: set to #3cabdb",
                "Ball.width: set to 2", "Ball.height: set to 2", "Ball.depth: set to 2",
                "Ball.roundedEdge: set to 0.1", "Ball.position: 0,0,0 -> 1,0,0",
                "Ball.position: 1,0,0 -> 5,5,5", "Ball.rotation: 0,0,0,0 -> 0,1,0,45",
                "Ball.rotation: 0,1,0,45 -> 0,1,0,90", "Ball.scale: 1,1,1 -> 2,2,2",
                "Ball.color: #3cabdb -> #ffd700", "Ball.name: Ball -> Block",
                "Block.color: unset, was #ffd700", "background: set to #000080",
                "title: set to Two words",
            ])
        #expect(scene.differences(to: try scene.reread()).isEmpty)
    }

    @Test func `moving in one direction leaves the others to the last digit`() throws {
        var scene = try EditableDocument.of(
            """
            {"version": 1, "nodes": [
              {"type": "sphere", "name": "Ball", "position": [0.12345678901234, 1e-10, 0.1]}]}
            """, .shape)
        #expect(
            try scene.run("move Ball 0,0,0.2") == [
                "Ball.position: 0.12345678901234,1e-10,0.1 -> 0.12345678901234,1e-10,0.3"
            ])
    }

    @Test func `what already is so is no change`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        let before = scene
        #expect(
            try scene.run(
                """
                set Ball.position=0,0,0 Ball.shape=sphere solid.3.color=rgb(255,204,0)
                move Ball 0,0,0
                order Ball back
                unset title
                camera reset
                """
            ).isEmpty)
        #expect(scene == before)
    }

    @Test func `parts come, go and are copied`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        #expect(
            try scene.run(
                """
                add cone
                add cone Peak position=0,2,0 height=3
                duplicate Pair
                remove Ring Peak
                """) == [
                    "Cone: added cone at 0,0,0, #595bd4",
                    "Peak: added cone at 0,2,0, height 3, #595bd4",
                    "Pair 2: added group of 2", "Box 2: added cube at 2,0,0, #3cabdb, in Pair 2",
                    "solid.5: added torus at 0,0,0, #ffcc00, in Pair 2",
                    "Ring: removed torus at 0,0,0", "Peak: removed cone at 0,2,0",
                ])
        #expect(throws: EditError.self) { try scene.value(at: "Ring.color") }
    }

    @Test func `groups are made and taken apart without moving what is in them`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        #expect(
            try scene.run("ungroup Pair") == [
                "Pair: removed group of 2", "Box: moved from place 1 in Pair to place 2",
                "Box.position: 2,0,0 -> 2,1,0", "solid.3: moved from place 2 in Pair to place 3",
                "solid.3.position: 0,0,0 -> 0,1,0",
            ])
        #expect(
            try scene.run("group Both Ball Ring") == [
                "Both: added group of 2", "Ball: moved from place 1 to place 1 in Both",
                "Ring: moved from place 4 to place 2 in Both",
            ])
        _ = try scene.run("rotate group.1 z 90\nmove Both 1,0,0\nmove Ring 0,2,0\nungroup Both")
        #expect(try scene.value(at: "Ring.position") == "-1,0,0")
        #expect(try scene.value(at: "Ring.rotation") == "0,0,1,90")
    }

    @Test func `order has a front and a back`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        #expect(try scene.run("order Ball front") == ["Ball: moved from place 1 to place 3"])
        #expect(try scene.run("order Ball backward") == ["Ball: moved from place 3 to place 2"])
        #expect(try scene.run("order Ball 1") == ["Ball: moved from place 2 to place 1"])
        #expect(scene.error("order Ball 4")?.kind == .outOfRange)
        #expect(scene.error("order Ball forwards")?.reason.contains("'forward'") == true)
    }

    @Test func `unknown keys stay`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        _ = try scene.run("color all red\ngroup G Ball Ring\nmove G 1,1,1")
        let text = String(decoding: try scene.bytes(replacing: nil), as: UTF8.self)
        #expect(text.contains("x-tool"))
        #expect(text.contains("x-keep"))
    }

    @Test func `the text of what did not change stays as it was`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        _ = try scene.run("set Ring.opacity=0.5")
        let text = String(
            decoding: try scene.bytes(replacing: Array(Sample.scene.utf8)), as: UTF8.self)
        let before = "\"Ring\"}"
        #expect(Sample.scene.contains(before))
        let parts = text.split(separator: "\"Ring\"", maxSplits: 1).map { String($0) }
        #expect(parts[0] == String(Sample.scene.prefix(parts[0].count)))
        #expect(parts[1].contains("0.5"))
    }

    @Test(arguments: [
        ("set Ball.colr=red", "Ball.colr", "did you mean 'color'?"),
        ("set Bal.color=red", "Bal.color", "did you mean 'Ball'?"),
        ("set Ball.color=gren", "Ball.color", "did you mean 'green'?"),
        ("set Ball.opacity=2", "Ball.opacity", "a number from 0 to 1"),
        ("set Ball.radius=0", "Ball.radius", "more than 0"),
        ("set Ball.width=1", "Ball.width", "a sphere"),
        ("set Ball.position=1,2", "Ball.position", "x,y,z"),
        ("set Ball.position.w=1", "Ball.position.w", "known are x, y, z"),
        ("set Ball.scale=0", "Ball.scale", "greater than 0"),
        ("set Ball.visible=maybe", "Ball.visible", "true or false"),
        ("set Ball.shape=ball", "Ball.shape", "sphere, cube"),
        ("set Ball.name=Ring", "Ball.name", "free is 'Ring 2'"),
        ("set camera.fieldOfView=180", "camera.fieldOfView", "1 to 179"),
        (
            "set solid.9.color=red", "solid.9", "there is no solid 9; the last here is solid.4"
        ),
        ("set solid.color=red", "solid.color", "from solid.1 to solid.4"),
        ("set cone.1.color=red", "cone.1", "no cone"),
        ("set Ball", "set", "PATH=VALUE"), ("get Ball", "", "did you mean 'set'?"),
        ("rename Ball Ring", "Ring", "already"), ("add sphere Ball", "Ball", "already"),
        ("add ball", "add", "sphere"), ("move Ball", "move", "usage: move TARGET"),
        ("rotate Ball 0,0,0 5", "rotate", "no direction"),
        ("rotate Ball q 5", "rotate", "x, y, z or X,Y,Z"),
        ("add cube all", "add", "something else"), ("rename Ball 12", "12", "something else"),
        ("ungroup Ball", "Ball", "not a group"),
        ("group G Ball Box", "group", "different groups"), ("camera fly", "camera", "orbit"),
        ("align Ball left", "align", "only for .slide"), ("remove Ball extra", "extra", "unknown"),
        ("set version=2", "version", "cannot be changed"),
        ("set Ball.position=1e42,0,0", "Ball.position", "at most"),
    ])
    func `errors say where and what would be right`(
        script: String, place: String, reason: String
    ) throws {
        let error = try #require(try? EditableDocument.of(Sample.scene, .shape).failure(script))
        #expect(error.place == place, "\(error)")
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `few edits cannot make a scene without bounds`() throws {
        let scene = try EditableDocument.template("sphere", type: .shape)
        let doubling = (0..<40).map { "duplicate Sphere Copy\($0)\ngroup Sphere\($0) all" }
        #expect(scene.error(doubling.joined(separator: "\n")) != nil)
        var script = ["group G0 Sphere"]
        for depth in 1..<40 { script.append("group G\(depth) G\(depth - 1)") }
        let error = try #require(scene.error(script.joined(separator: "\n")))
        #expect(error.kind == .outOfRange)
        var wide = ["group G0 Sphere"]
        for depth in 1..<15 {
            wide += [
                "duplicate G\(depth - 1) Twin\(depth)",
                "group G\(depth) G\(depth - 1) Twin\(depth)",
            ]
        }
        #expect(scene.error(wide.joined(separator: "\n"))?.kind == .outOfRange)
    }
}

extension EditableDocument {
    /// The error of a script, also where it is no script.
    func failure(_ script: String) throws -> EditError? {
        do throws(EditError) {
            _ = try Edit.script(script)
        } catch {
            return error
        }
        return error(script)
    }
}

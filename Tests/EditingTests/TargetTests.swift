import Documents
import Editing
import Testing

@Suite struct TargetTests {
    @Test func `a selector of a name means those that are called exactly so, if any are`() throws {
        let scene = try EditableDocument.of(
            """
            {"version": 1, "nodes": [
              {"type": "cube", "name": "Ball"}, {"type": "cube", "name": "ball"},
              {"type": "cube", "name": "Ball"}, {"type": "cube", "name": "Box"}]}
            """, .shape)
        // What the error advises is done to those it counted.
        #expect(scene.error("color Ball red")?.reason.contains("name=Ball for all") == true)
        for (name, paths) in [
            ("Ball", ["solid.1", "solid.3"]), ("BALL", ["solid.1", "ball", "solid.3"]),
            ("box", ["Box"]),
        ] {
            var copy = scene
            let told = try copy.run("color name=\(name) red")
            #expect(told == paths.map { "\($0).color: set to #ff0000" })
        }
        var slide = try EditableDocument.of(
            """
            {"elements": [
              {"shapeType": "circle", "comment": "a", "originx": 1, "originy": 1, "radius": 1},
              {"shapeType": "circle", "comment": "A", "originx": 2, "originy": 2, "radius": 1}]}
            """, .slide)
        let told = try slide.run("scale name=A 2")
        #expect(told.contains("A.radius: 1 -> 2") && told.allSatisfy { $0.hasPrefix("A.") })
    }

    /// The paths of what `color TARGET black` changes.
    private func hit(_ target: String) throws -> [String] {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        return try scene.apply(try Edit.script("color \(target) black")).map {
            String($0.path.split(separator: ".").dropLast().joined(separator: "."))
        }
    }

    @Test(arguments: [
        ("Ball", ["Ball"]), ("ball", ["Ball"]), ("2", ["Box"]), ("solid.3", ["solid.3"]),
        ("torus.2", ["Ring"]), ("group.1", ["Box", "solid.3"]), ("Pair", ["Box", "solid.3"]),
        ("all", ["Ball", "Box", "solid.3", "Ring"]), ("type=torus", ["solid.3", "Ring"]),
        ("type=torus color=#fc0", ["solid.3", "Ring"]), ("type=torus name=Ring", ["Ring"]),
        ("position=2,0,0", ["Box"]), ("position.x=2", ["Box"]), ("radius=1", ["Ball"]),
        ("type=group", ["Box", "solid.3"]), ("name=none", ["solid.3"]),
    ])
    func `targets are names, numbers, labels and selectors`(
        target: String, expected: [String]
    ) throws {
        #expect(try hit(target) == expected)
    }

    @Test func `of a document of many parts it is told what else it has`() throws {
        let solid = #"{"type": "cube"}"#
        let element = #"{"shapeType": "line"}"#
        func many(_ part: String) -> String {
            Array(repeating: part, count: 30).joined(separator: ",")
        }
        for (text, type) in [
            (#"{"version": 1, "nodes": [\#(many(solid))]}"#, DocumentType.shape),
            (#"{"elements": [\#(many(element))]}"#, .slide),
        ] {
            let error = try EditableDocument.of(text, type).error("set heading=x")
            #expect(error?.reason.contains("title, ") == true, "\(error as Any)")
        }
    }

    @Test(arguments: [
        ("5", EditError.Kind.notFound, "solid.4"), ("Bll", .notFound, "'Ball'"),
        ("type=cone", .notFound, "nothing"), ("typ=cone", .notFound, "'type'"),
        ("group.2", .notFound, "group.1"),
    ])
    func `what is not there is not found`(
        target: String, kind: EditError.Kind, reason: String
    ) throws {
        let scene = try EditableDocument.of(Sample.scene, .shape)
        let error = try #require(scene.error("color \(target) black"))
        #expect(error.kind == kind)
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `many targets of one edit are found as few are`() throws {
        let lines = (1...30).map { "add \($0 % 2 == 0 ? "cube" : "torus") 'Part \($0)'\n" }
        var scene = EditableDocument.scene(Scene())
        _ = try scene.run(lines.joined() + "group Pair 'Part 1' 'Part 3'\nadd cube Ärger")
        // By label, by name and in another case.
        let words = (4...24).map { number in
            ["solid.\(number)", "'Part \(number)'", "'pART \(number)'"][number % 3]
        }
        let removed = try scene.run("remove \(words.joined(separator: " ")) äRGER group.1")
        #expect(removed.count == 25, "\(removed)")
        // Parts 2 and 25 to 30 are left.
        let rest = try scene.run("remove cube.1 torus.1 solid.3 solid.4 solid.5 'part 29' 7")
        #expect(rest.count == 7, "\(rest)")
        #expect(scene.error("remove \(words.joined(separator: " "))")?.kind == .notFound)
    }

    @Test func `a name of several parts is ambiguous`() throws {
        var scene = try EditableDocument.of(
            """
            {"version":1,"nodes":[{"type":"cube","name":"A"},{"type":"cone","name":"A"},
             {"type":"cone","name":"a.b"},{"type":"cone","name":"7"}]}
            """, .shape)
        let error = try #require(scene.error("color A red"))
        #expect(error.kind == .ambiguous)
        #expect(error.reason.contains("solid.1, solid.2"))
        #expect(try scene.run("color name=A red").map { $0.prefix(7) } == ["solid.1", "solid.2"])
        #expect(scene.error("rename name=A B")?.kind == .ambiguous)
        #expect(scene.problems() == ["nodes: 2 parts are called 'A'"])
        #expect(try scene.run("set a.b.color=red") == ["solid.3.color: set to #ff0000"])
        #expect(try scene.run("remove name=7") == ["solid.4: removed cone at 0,0,0"])
    }

    /// Names that say something else where they stand alone.
    private static let oddNames = [
        "a=b", "name=Ball", "a.b=c.d", "x = y", "it's", "say \"hi\"", "\"quoted\"", #"back\slash"#,
        #"ends\"#, "by=1,2", "1,2,3", "#fc0", "Ball.color", " blank ", "\"", "=", ".", "é=ü",
        "\u{301}x",
    ]

    @Test(arguments: oddNames)
    func `any name of a solid is found in double quotes`(name: String) throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        _ = try scene.apply([try Edit(words: ["rename", "Ball", Edit.word(of: name)])])
        let inside = Edit.word(of: name).replacing("\"", with: "\\\"")
        let address = "\"\(inside)\""
        #expect(try scene.value(at: address + ".name") == Edit.word(of: name))
        let color = try scene.apply([try Edit(words: ["set", "\(address).color=#010203"])])
        #expect(color.map(\.after) == ["#010203"], "\(color)")
        #expect(try scene.value(at: "solid.1.color") == "#010203")
        let moved = try scene.apply([try Edit(words: ["move", address, "to=7,8,9"])])
        #expect(moved.map(\.after) == ["7,8,9"], "\(moved)")
        #expect(try scene.apply([try Edit(words: ["remove", address])]).count == 1)
        #expect(scene.error("remove '\"gone\"'")?.kind == .notFound)
    }

    @Test func `a value may begin with a mark that combines with the sign before it`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        let words = ["set", "title=\u{301}x", "Ball.name=\u{301}y"]
        _ = try scene.apply([try Edit(words: words)])
        #expect(try scene.value(at: "title") == "\u{301}x")
        #expect(try scene.value(at: "solid.1.name") == "\u{301}y")
        let moved = try scene.apply([try Edit(words: ["move", "name=\u{301}y", "to=7,8,9"])])
        #expect(moved.map(\.after) == ["7,8,9"], "\(moved)")
    }

    @Test(arguments: ["all", "title", "7", "line.1", "canvas", "two\nlines", "a=b", "x.y"])
    func `any comment of an element is found in double quotes`(name: String) throws {
        var slide = EditableDocument.slide(Slide(title: "T"))
        _ = try slide.apply([
            try Edit(words: ["add", "line"]), try Edit(words: ["add", "circle"]),
            try Edit(words: ["rename", "2", Edit.word(of: name)]),
        ])
        let address = "\"\(Edit.word(of: name))\""
        #expect(try slide.value(at: address + ".shapeType") == "circle")
        let changes = try slide.apply([
            try Edit(words: ["set", "\(address).radius=12"]), try Edit(words: ["remove", address]),
        ])
        #expect(changes.count == 2, "\(changes)")
        #expect(try slide.value(at: "1.shapeType") == "line")
    }

    @Test func `items of lists are found in double quotes, and quotes that belong to a name stay`()
        throws
    {
        var list = EditableDocument.list(TaskList())
        _ = try list.apply([
            try Edit(words: ["list", "add", "done", "7", "text=milk", "\"milk\" and more"])
        ])
        for word in [#""done""#, #""7""#, #""text=milk""#, #""milk" and more"#] {
            let changes = try list.apply([try Edit(words: ["list", "check", word])])
            #expect(!changes.isEmpty, "\(word)")
        }
        #expect(try list.value(at: #""7".completed"#) == "true")
        let error = try #require(list.error("list check 'milk=tea'"))
        #expect(error.reason.contains("unknown key"))
        let scene = try EditableDocument.of(
            #"{"version":1,"nodes":[{"type":"cube","name":"a=b"}]}"#, .shape)
        let hint = try #require(scene.error("color a=b red"))
        #expect(hint.reason.contains(#""a=b""#), "\(hint)")
        #expect(try scene.value(at: #""A=B".shape"#) == "cube")
        #expect(throws: EditError.self) { try scene.value(at: #""a=b"=shape"#) }
    }

    @Test(arguments: ["solid.9.shape", "9.shape", "solid.shape", "solid"])
    func `a shape file has one solid and says so`(path: String) throws {
        let file = try EditableDocument.template("cone", type: .shapeFile)
        #expect(try file.value(at: "solid.1.shape") == "cone")
        do throws(EditError) {
            _ = try file.value(at: path)
            Issue.record("there is a value at \(path)")
        } catch {
            #expect(error.kind == .notFound)
            #expect(error.reason.contains("one solid, solid.1"))
        }
    }

    @Test func `every path shown can be read and set`() throws {
        for document in [
            try EditableDocument.of(Sample.scene, .shape),
            try EditableDocument.of(Sample.slide, .slide), Sample.list(),
            try EditableDocument.template("cone", type: .shapeFile),
        ] {
            #expect(!document.paths.isEmpty)
            for (path, value) in document.paths {
                #expect(try document.value(at: path) == value)
            }
            #expect(throws: EditError.self) { try document.value(at: "nothing.here") }
        }
    }

    @Test func `a selector can be one quoted word`() throws {
        var scene = try EditableDocument.of(Sample.scene, .shape)
        let words = try scene.run("color 'type=torus color=#fc0' red")
        #expect(words.count == 2 && words.allSatisfy { $0.contains("#ff0000") }, "\(words)")
        #expect(scene.error("color 'type=torus color=#123' red")?.reason == "nothing here is so")
        // A value with a blank in it stays one.
        _ = try scene.run("set Ball.name='Big Ball'\nremove 'name=Big Ball'")
    }

    @Test(arguments: [
        ("type=tours", DocumentType.shape, "unknown shape 'tours'; did you mean 'torus'?"),
        ("visible=true color=redd", .shape, "'redd' is not a colour; did you mean 'red'?"),
        ("opacity=2", .shape, "2 where a number from 0 to 1 is expected"),
        ("position=1,2", .shape, "'1,2' where x,y,z is expected"),
        ("type=lime", .slide, "unknown type 'lime'; did you mean 'line'?"),
        ("radius=-1", .slide, "-1 where a number of 0 or more is expected"),
        ("done=perhaps", .list, "'perhaps' where true or false is expected"),
        // What could be so.
        ("type=cone", .shape, "nothing here is so"),
        ("type=GROUP scale=2", .shape, "nothing here is so"),
        ("opacity=0.1", .shape, "nothing here is so"), ("name=all", .shape, "nothing here is so"),
        ("color=none", .shape, "nothing here is so"), ("type=arc", .slide, "nothing here is so"),
        ("uuid=1", .list, "nothing here is so"), ("text=beer", .list, "nothing here is so"),
    ])
    func `a selector whose value no part can have says what would be right`(
        selector: String, type: DocumentType, reason: String
    ) throws {
        let document =
            switch type {
            case .shape: try EditableDocument.of(Sample.scene, .shape)
            case .slide: try EditableDocument.of(Sample.slide, .slide)
            default: Sample.list()
            }
        let error = document.error("remove '\(selector)'")
        #expect(error?.reason == reason)
        #expect(error?.place == selector)
    }

    @Test func `what a file holds is found, though no edit would bring it in`() throws {
        var slide = try EditableDocument.of(
            """
            {"elements": [{"shapeType": "blob"}, {"shapeType": "circle", "radius": -1}]}
            """, .slide)
        #expect(try slide.run("remove radius=-1").count == 1)
        #expect(try slide.run("remove type=blob").count == 1)
    }

    @Test func `the canvas is set by the keys that files have, too`() throws {
        var slide = try EditableDocument.of(#"{"elements": []}"#, .slide)
        #expect(
            try slide.run("set canvasHeight=600 canvaswidth=800")
                == ["canvas.width: set to 800", "canvas.height: set to 600"])
        #expect(try slide.value(at: "canvasWidth") == "800")
        #expect(try slide.run("unset canvas").count == 2)
        #expect(slide.error("set canvasWidth=0")?.reason.contains("1 to 100000") == true)
        for wrong in ["1.5", "-3", "1e9"] {
            let reason = slide.error("set canvasWidth=\(wrong)")?.reason
            let isTold = reason?.contains("whole numbers from 1 to 100000") == true
            #expect(isTold, "\(wrong): \(reason ?? "none")")
        }
        #expect(slide.error("set canvasWidth.x=3")?.reason.contains("unknown part 'x'") == true)
    }
}

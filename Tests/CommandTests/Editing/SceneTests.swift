import TestSupport
import Testing

@Suite(.oneAtATime) struct SceneTests {
    @Test(arguments: Desk.places)
    func `a scene of three solids, orbit, render, undo twice`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "Toys.shape", "--title", "Toys")
            #expect(
                try desk.run("add", "Toys.shape", "cube", "Box", "position=2.5,0,0")
                    == "Box: added cube at 2.5,0,0, #3cabdb\n")
            try desk.run("add", "Toys.shape", "torus", "Ring", "position=-2.5,0,0", "--json")
            let before = try desk.get("Toys.shape", "camera.position")
            try desk.run("camera", "orbit", "Toys.shape", "30,10")
            #expect(try desk.get("Toys.shape", "camera.position") != before)
            try desk.run("render", "Toys.shape", "-o", "Toys.png", "--size", "220x270")
            let picture = try #require(desk.bytes("Toys.png"))
            #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            #expect(try desk.run("undo", "Toys.shape").contains("camera orbit 30,10"))
            #expect(try desk.run("undo", "Toys.shape", "--json").contains("add torus Ring"))
            #expect(try desk.get("Toys.shape", "camera.position") == before)
            try desk.fail(65, "get", "Toys.shape", "Ring.color")
            #expect(try desk.get("Toys.shape", "Box.position") == "2.5,0,0")
            // What was drawn stays drawn.
            #expect(desk.bytes("Toys.png") == picture)
        }
    }

    @Test func `names show what in them cannot be seen, and JSON means the same`() throws {
        try withDesk(.plain) { desk in
            let name = "gpj\u{202E}x\u{200B}"
            try desk.run("new", "s.shape")
            let said = try desk.run("rename", "s.shape", "1", name)
            #expect(said.contains("gpj\\u202ex\\u200b") && !said.contains("\u{202E}"))
            #expect(!(try desk.run("show", "s.shape")).contains("\u{202E}"))
            let json = try JSONValue.read(try desk.run("get", "s.shape", "1.name", "--json"))
            #expect(json["1.name"] == .string(name))
            // Programs get it as it is.
            #expect(try desk.get("s.shape", "1.name") == name)
        }
    }

    @Test func `every verb of scenes does what it says`() throws {
        try withDesk(.plain) { desk in
            let file = "s.shape"
            try desk.run("new", file)
            try desk.run("add", file, "cube", "Box", "--json")
            try desk.run("set", file, "Box.color=#102030", "Box.opacity=0.5", "--json")
            #expect(try desk.get(file, "Box.color") == "#102030")
            try desk.run("unset", file, "Box.color", "--json")
            #expect(try desk.get(file, "Box.color") == "#3cabdb")
            try desk.run("rename", file, "Box", "Crate", "--json")
            try desk.run("move", file, "Crate", "-1,2,0", "--json")
            #expect(try desk.get(file, "Crate.position") == "-1,2,0")
            try desk.run("move", file, "type=cube", "to=0,0,-3")
            #expect(try desk.get(file, "Crate.position") == "0,0,-3")
            try desk.run("rotate", file, "Crate", "-90", "--json")
            #expect(try desk.get(file, "Crate.rotation") != "0,0,0,0")
            try desk.run("scale", file, "Crate", "2", "--json")
            #expect(try desk.get(file, "Crate.scale") == "2,2,2")
            try desk.run("color", file, "Crate", "#fc0", "--json")
            #expect(try desk.get(file, "Crate.color").lowercased() == "#ffcc00")
            try desk.run("duplicate", file, "Crate", "Twin", "--json")
            try desk.run("order", file, "Twin", "back", "--json")
            #expect(try desk.get(file, "solid.1.name") == "Twin")
            try desk.run("group", file, "Pair", "Crate", "Twin", "--json")
            #expect(try desk.get(file, "Pair.type") == "group")
            try desk.run("ungroup", file, "Pair", "--json")
            try desk.run("background", file, "#eeeeff", "--json")
            #expect(try desk.get(file, "background").lowercased() == "#eeeeff")
            try desk.run("title", file, "Two crates", "--json")
            #expect(try desk.get(file, "title") == "Two crates")
            for words in [["pan", "1,0"], ["zoom", "2"], ["look-at", "Crate"]] {
                let before = try desk.run("get", file)
                _ = try desk.shapeedit(["camera", words[0], file, words[1], "--json"])
                #expect(try desk.run("get", file) != before, "\(words)")
            }
            try desk.run("camera", "reset", file)
            #expect(try desk.get(file, "camera.position") == "0,0,4")
            // The file and the motion may change places.
            try desk.run("camera", file, "orbit", "-45")
            try desk.run("remove", file, "Twin", "--json")
            try desk.fail(65, "get", file, "Twin.name")
            #expect(try desk.run("validate", file) == "s.shape: sound (shape)\n")
            let all = try JSONValue.read(try desk.run("get", file, "--json"))
            #expect(all["Crate.shape"] == .string("cube"))
            let facts = try JSONValue.read(try desk.run("show", file, "--json"))
            #expect(facts["type"] == .string("shape"))
        }
    }

    @Test func `an edit that changes nothing writes nothing`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("set", "s.shape", "Sphere.color=#102030")
            let before = try desk.shell("stat -c '%i %y' s.shape")
            #expect(
                try desk.run("set", "s.shape", "Sphere.color=#102030")
                    == "s.shape: nothing to change\n")
            #expect(try desk.shell("stat -c '%i %y' s.shape") == before)
        }
    }

    @Test func `what follows two dashes is no option`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "--", "--json")
            #expect(try desk.get("s.shape", "title") == "--json")
            try desk.run("new", "l.list")
            try desk.run("list", "add", "l.list", "--", "-n", "--")
            #expect(try desk.run("list", "show", "l.list") == "1. [ ] -n\n2. [ ] --\n")
        }
    }

    @Test func `what begins with a minus sign and can be no option is none`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            // Some of the letters are those of options.
            for title in ["- none", "-no name", "-1n", "-ohne", "- [ ] honey\n- [x] onions"] {
                try desk.run("title", "s.shape", title, "--json")
                #expect(try desk.get("s.shape", "title").replacing(#"\n"#, with: "\n") == title)
            }
            #expect(try desk.fail(65, "move", "s.shape", "1", "-1,-inf,0").contains("'-inf'"))
            try desk.run("camera", "orbit", "s.shape", "-30,-10", "-n")
            try desk.run("new", "l.list")
            try desk.run("list", "add", "l.list", "- onions", "-n")
            try desk.run("list", "add", "l.list", "- onions", "-5 in all")
            let shown = "1. [ ] - onions\n2. [ ] -5 in all\n"
            #expect(try desk.run("list", "show", "l.list") == shown)
            try desk.run("new", "--", "- n.shape")
            try desk.run("title", "-n", "- n.shape", "x")
        }
    }

    @Test func `values in JSON are the texts themselves, each path once`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let text = "two\nlines, a\ttab, C:\\new and \"quotes\""
            try desk.run("title", "s.shape", #"two\nlines, a\ttab, C:\\new and "quotes""#)
            let output = try desk.run("get", "s.shape", "title", "title", "--json")
            #expect(try JSONValue.read(output) == .object(["title": .string(text)]))
            #expect(output.ranges(of: "\"title\"").count == 1, "\(output)")
            // Without JSON it is what can be set.
            let shown = try desk.get("s.shape", "title")
            #expect(shown == #"two\nlines, a\ttab, C:\\new and "quotes""#)
            try desk.run("new", "l.list")
            try desk.run("list", "paste", "l.list", input: Array("C:\\new\ttab\n".utf8))
            let item = try JSONValue.read(try desk.run("get", "l.list", "--json"))
            #expect(item["item.1.text"] == .string("C:\\new\ttab"))
            // What a terminal would take for an order goes to programs as it is.
            try desk.run("list", "add", "l.list", "a\u{1b}b")
            #expect(try desk.run("get", "l.list", "item.1.text") == "a\u{1b}b\n")
            // What is no text, as other programs may have written it.
            try desk.write(
                #"{"elements":[{"shapeType":"line","originx":["a\\nb"],"comment":"c\\nd"}]}"#,
                to: "s.slide")
            let values = try JSONValue.read(try desk.run("get", "s.slide", "--json"))
            #expect(values["element.1.comment"] == .string("c\\nd"), "\(values)")
            #expect(values["element.1.originx"] == .string(#"[ "a\\nb" ]"#), "\(values)")
        }
    }

    @Test func `numbers, truth values and vectors are those of JSON, as the schema says`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("set", "s.shape", "title=7", "Sphere.radius=1.5")
            let output = try desk.run(
                "get", "s.shape", "title", "Sphere.radius", "Sphere.visible", "Sphere.position",
                "Sphere.rotation.degrees", "--json")
            #expect(
                output == #"{"title": "7", "Sphere.radius": 1.5, "Sphere.visible": true, "#
                    + #""Sphere.position": [0, 0, 0], "Sphere.rotation.degrees": 0}"# + "\n")
            try desk.run("new", "d.slide")
            try desk.run("add", "d.slide", "text", "T", "text=1.5", "size=30,40")
            let slide = try desk.run(
                "get", "d.slide", "T.text", "T.width", "T.size", "T.interactive", "canvas",
                "canvas.width", "--json")
            #expect(
                slide
                    == #"{"T.text": "1.5", "T.width": 30, "T.size": [30, 40], "#
                    + #""T.interactive": false, "canvas": [4000, 3000], "canvas.width": 4000}"#
                    + "\n")
            try desk.run("new", "l.list")
            try desk.run("list", "add", "l.list", "true")
            #expect(
                try desk.run("get", "l.list", "item.1.text", "item.1.completed", "--json")
                    == #"{"item.1.text": "true", "item.1.completed": false}"# + "\n")
        }
    }

    @Test func `JSON holds any text`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let text = "tab\t quote\" back\\slash \u{1b}[31m \u{7f} \u{85} é 😀"
            try desk.run("title", "s.shape", text, "--json")
            let value = try JSONValue.read(try desk.run("get", "s.shape", "title", "--json"))
            #expect(value["title"]?.text?.contains("quote") == true)
            // Nothing of it may give orders to the terminal; programs get what it is.
            let printed = try desk.get("s.shape", "title")
            #expect(printed.contains("\u{1b}[31m"))
            #expect(
                try desk.run("set", "s.shape", "title=\(printed)").contains("nothing to change"))
            let program = try BuiltPrograms.shapeedit()
            let shown = try desk.shell("script -qec '\(program) get s.shape title' /dev/null")
            #expect(shown.contains("quote"))
            for output in [shown, try desk.run("history", "s.shape")] {
                #expect(!output.unicodeScalars.contains("\u{1b}"))
            }
        }
    }
}

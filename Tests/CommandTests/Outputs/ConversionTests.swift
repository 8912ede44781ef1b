import TestSupport
import Testing

@Suite(.oneAtATime) struct ConversionTests {
    @Test(arguments: Desk.places)
    func `a shapeFile becomes a shape and back without loss`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for kind in ["sphere", "cube", "cylinder", "cone", "torus", "pyramid"] {
                let file = "\(kind).shapeFile"
                try desk.run("new", file, "--template", kind)
                try desk.run("camera", "orbit", file, "35,20")
                try desk.run("convert", file, "\(kind).shape", "--json")
                try desk.run("convert", "\(kind).shape", "again.shapeFile", "--force")
                #expect(try desk.run("diff", file, "again.shapeFile") == "")
                #expect(desk.bytes("again.shapeFile") == desk.bytes(file))
                #expect(try desk.get("\(kind).shape", "solid.1.shape") == kind)
            }
        }
    }

    @Test func `a new scene of one solid becomes a shapeFile and comes back`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape", "--template", "cube")
            try desk.run("camera", "orbit", "a.shape", "35,20")
            try desk.run("convert", "a.shape", "a.shapeFile")
            try desk.run("convert", "a.shapeFile", "b.shape")
            #expect(try desk.get("b.shape", "Cube.shape") == "cube")
            // Whichever solid it is by then.
            try desk.run("set", "a.shape", "Cube.shape=torus")
            try desk.run("convert", "a.shape", "a.shapeFile", "--force")
            // A name that somebody has given is not lost without a word.
            try desk.run("rename", "a.shape", "Cube", "Ring")
            let message = try desk.fail(65, "convert", "a.shape", "c.shapeFile")
            #expect(message.contains("a.shape: solid.1.name: a .shapeFile has none"), "\(message)")
        }
    }

    @Test func `what a shapeFile cannot hold is told as what shapeFiles have`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape")
            try desk.run("add", "a.shape", "cube")
            try desk.run(
                "set", "a.shape", "title=T", "background=red", "camera.fieldOfView=40",
                "solid.1.radius=2", "solid.1.position.x=1", "solid.1.color=blue",
                "solid.1.opacity=0.5", "solid.1.visible=false")
            let told = try desk.fail(65, "convert", "a.shape", "a.shapeFile").split(separator: "\n")
            #expect(told.count == 10)
            // The file named first is the scene.
            for line in told.dropLast() { #expect(line.contains(" .shapeFile "), "\(line)") }
        }
    }

    @Test(arguments: ["png", "SVG", "pdf", "glb", "stl", "obj"])
    func `who wants a picture is told what draws it`(_ format: String) throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape")
            let message = try desk.fail(64, "convert", "a.shape", "a.\(format)")
            #expect(message.contains("shapeedit render"), "\(message)")
            #expect(desk.bytes("a.\(format)") == nil)
        }
    }

    @Test func `unknown keys of a shapeFile survive the way through a shape`() throws {
        try withDesk(.plain) { desk in
            try desk.write(
                """
                <?xml version="1.0"?><plist version="1.0"><dict><key>zeta</key><array><integer>1\
                </integer><date>2016-05-04T03:02:01Z</date></array><key>shape</key>\
                <integer>4</integer></dict></plist>
                """, to: "a.shapeFile")
            try desk.run("convert", "a.shapeFile", "a.shape")
            #expect(try desk.run("validate", "a.shape") == "a.shape: sound (shape)\n")
            try desk.run("set", "a.shape", "solid.1.shape=cone")
            try desk.run("convert", "a.shape", "b.shapeFile")
            let difference = try desk.shapeedit(["diff", "a.shapeFile", "b.shapeFile"])
            #expect(difference.text == "shape: torus -> cone\n", "\(difference)")
        }
    }

    @Test func `unknown keys of a shape are lost only with a word`() throws {
        try withDesk(.plain) { desk in
            try desk.write(
                """
                {"version": 1, "author": "me", "camera": {"lens": 35},
                 "nodes": [{"type": "cone", "mass": 2}]}
                """, to: "a.shape")
            let message = try desk.fail(65, "convert", "a.shape", "a.shapeFile")
            for path in ["author", "camera.lens", "solid.1.mass"] {
                #expect(message.contains("a.shape: \(path): "), "\(message)")
            }
            try desk.run("convert", "a.shape", "a.shapeFile", "--lossy")
        }
    }

    @Test func `what lines of text do not hold of a list is told`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            try desk.run("list", "add", "a.list", "milk", " eggs ", "\u{a0}tea")
            try desk.run("list", "color", "a.list", "blue")
            let result = try desk.shapeedit(["convert", "a.list", "a.md"])
            #expect(result.status == 0)
            let told = [
                "color: blue", "item.2.text: blanks around it", "item.3.text: blanks around it",
            ].map { "shapeedit: a.list: note: \($0), which lines of text do not hold\n" }
            #expect(result.errorText == told.joined())
            try desk.run("list", "color", "a.list", "gray")
            try desk.run("list", "remove", "a.list", "2", "3")
            #expect(try desk.shapeedit(["convert", "a.list", "b.md"]).errorText.isEmpty)
        }
    }

    @Test func `lines of an item that become one are told`() throws {
        try withDesk(.plain) { desk in
            let sample = "\(OutputSchema.packageRoot)/Tests/DocumentsTests/Corpus/xml.list"
            try desk.shell("sed 's/<string>milk</<string>milk\\neggs</' '\(sample)' > a.list")
            let result = try desk.shapeedit(["convert", "a.list", "a.md"])
            #expect(result.status == 0)
            #expect(result.errorText.contains("a.list: note: item.1.text: of several lines"))
            #expect(!result.errorText.contains("item.2.text"))
            #expect(
                desk.bytes("a.md").map { String(decoding: $0, as: UTF8.self) }?.hasPrefix(
                    "- [ ] milk eggs\n") == true)
        }
    }

    @Test func `what would be lost is not lost unasked`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "two.shape")
            try desk.run("add", "two.shape", "cube")
            let message = try desk.fail(65, "convert", "two.shape", "two.shapeFile")
            #expect(message.contains("--lossy"))
            #expect(try desk.names() == ["two.shape"])
            let result = try desk.shapeedit(
                ["convert", "two.shape", "two.shapeFile", "--lossy", "--json"])
            #expect(result.status == 0)
            #expect(try JSONValue.read(result.output)["losses"]?.elements.isEmpty == false)
            #expect(try desk.fail(65, "convert", "two.shape", "a.slide").contains(".slide"))
        }
    }

    @Test func `lists become lines of text and back`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            try desk.run("list", "add", "a.list", "milk", "brot & käse")
            try desk.run("list", "check", "a.list", "milk")
            try desk.run("convert", "a.list", "a.md")
            let text = try #require(desk.bytes("a.md"))
            #expect(String(decoding: text, as: UTF8.self) == "- [ ] brot & käse\n- [x] milk\n")
            try desk.fail(73, "convert", "a.md", "a.list")
            try desk.run("convert", "a.md", "b.list")
            #expect(
                try desk.run("list", "show", "b.list") == "1. [ ] brot & käse\n2. [x] milk\n")
            // Lines as other programs write them.
            try desk.write("x done\n* bullet\n\nbare\n- [ ] box\n", to: "other.txt")
            try desk.run("convert", "other.txt", "b.list", "--force")
            let shown = try desk.run("list", "show", "b.list")
            for line in ["[x] done", "[ ] bullet", "[ ] bare", "[ ] box"] {
                #expect(shown.contains(line + "\n"), "\(shown)")
            }
            #expect(try desk.run("convert", "a.list", "-", "--to", "text").hasPrefix("- [ ] brot"))
            try desk.fail(64, "convert", "a.md", "a.slide")
        }
    }

    @Test func `diff compares what documents say`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape")
            try desk.shell("tr -d '\\n ' < a.shape > b.shape; cp a.shape c.shape")
            #expect(desk.bytes("a.shape") != desk.bytes("b.shape"))
            #expect(try desk.run("diff", "a.shape", "b.shape") == "")
            try desk.run("set", "c.shape", "Sphere.radius=2")
            let result = try desk.shapeedit(["diff", "a.shape", "c.shape"])
            #expect(result.status == 1 && result.text == "Sphere.radius: 1 -> 2\n")
            let json = try desk.shapeedit(["diff", "a.shape", "c.shape", "--json"])
            #expect(json.status == 1)
            #expect(try JSONValue.read(json.output)["changes"]?.elements.count == 1)
            try desk.fail(66, "diff", "a.shape", "missing.shape")
        }
    }

    @Test func `validate says what is wrong with which`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "good.shape")
            try desk.write(
                #"{"elements": [{"shapeType": "circle", "radius": -1,}]}"#, to: "bad.slide")
            try desk.write("", to: "empty.list")
            let result = try desk.shapeedit(["validate", "good.shape", "bad.slide", "empty.list"])
            #expect(result.status == 65)
            #expect(result.text.contains("good.shape: sound (shape)\n"))
            #expect(result.text.contains("bad.slide: ") && result.errorText.contains("empty.list"))
            let json = try desk.shapeedit(
                ["validate", "good.shape", "bad.slide", "missing.shape", "--json"])
            #expect(json.status == 65)
            let reports = try JSONValue.read(json.output).elements
            #expect(reports.map { $0["sound"] } == [true, false, false].map { .boolean($0) })
        }
    }

    @Test func `validate tells notes and finds the document sound`() throws {
        try withDesk(.plain) { desk in
            try desk.write(
                #"{"version": 1, "nodes": [{"type": "sphere", "colour": "red"}]}"#, to: "a.shape")
            #expect(
                try desk.run("validate", "a.shape")
                    == "a.shape: note: solid.1.colour: unknown key; did you mean 'color'?\n"
                    + "a.shape: sound (shape)\n")
            let reports = try JSONValue.read(try desk.run("validate", "a.shape", "--json"))
            #expect(reports.elements.map { $0["sound"] } == [.boolean(true)])
            #expect(reports.elements.map { $0["notes"]?.elements.count } == [1])
        }
    }
}

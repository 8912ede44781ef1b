import TestSupport
import Testing

@Suite(.oneAtATime) struct SlideTests {
    @Test(arguments: Desk.places)
    func `a slide from nothing`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let file = "Plan.slide"
            try desk.run("new", file, "--title", "Plan", "--template", "empty")
            try desk.run("background", file, "#FFFFEE", "--json")
            try desk.run(
                "add", file, "rectangle", "House", "originx=1000", "originy=1500", "width=800",
                "height=600", "fillColor=#C0392B", "--json")
            try desk.run("add", file, "circle", "Sun", "radius=200", "fillColor=#FC0")
            try desk.run("move", file, "Sun", "to=3000,500", "--json")
            try desk.run("add", file, "text", "Label")
            // What it is called is what it shows until it is told something else.
            #expect(try desk.get(file, "Label.text") == "Label")
            try desk.run("text", file, "Label", "Our house", "--json")
            try desk.run(
                "add", file, "line", "One", "originx=0", "originy=0", "endx=100", "endy=0")
            try desk.run(
                "add", file, "line", "Two", "originx=100", "originy=0", "endx=100", "endy=100")
            try desk.run("chain", file, "One", "Two", "--json")
            try desk.run("duplicate", file, "Sun", "Moon", "--json")
            try desk.run("color", file, "Moon", "fill=#DDDDDD", "stroke=#000000", "--json")
            try desk.run("move", file, "Moon", "-500,+50")
            try desk.run("align", file, "House", "Sun", "Moon", "left", "--json")
            try desk.run("distribute", file, "House", "Sun", "Moon", "vertically", "--json")
            try desk.run("order", file, "Label", "front", "--json")
            try desk.run("rename", file, "House", "Home", "--json")
            try desk.run("scale", file, "Home", "1.5", "--json")
            try desk.run("set", file, "canvas=1024,768", "--json")
            #expect(try desk.get(file, "canvas") == "1024,768")
            #expect(try desk.get(file, "Label.text") == "Our house")
            #expect(try desk.get(file, "title") == "Plan")
            #expect(try desk.run("validate", file) == "Plan.slide: sound (slide)\n")
            let root = try JSONValue.read(try #require(desk.bytes(file)))
            let kinds = (root["elements"]?.elements ?? []).compactMap { $0["shapeType"]?.text }
            #expect(kinds.sorted() == ["chain", "circle", "circle", "rectangle", "text"])
            #expect(kinds.last == "text")
            try desk.run("undo", file, "--json")
            #expect(try desk.get(file, "canvas") == "4000,3000")
        }
    }

    @Test func `what slides do not have is refused with what they have`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.slide")
            #expect(try desk.fail(64, "group", "a.slide", "G", "all").contains("chain"))
            #expect(try desk.fail(64, "camera", "orbit", "a.slide", "3").contains("canvas"))
            #expect(try desk.fail(64, "list", "add", "a.slide", "milk").contains(".list"))
        }
    }

    @Test func `what is wrong is shown once, apart from what was repaired`() throws {
        try withDesk(.plain) { desk in
            try desk.write(
                #"{"elements": [{"shapeType": "circle", "originx": 1, "originy": 1, "#
                    + #""radius": -1,}], "title": "T"}"#, to: "a.slide")
            let said = try desk.shapeedit(["show", "a.slide"]).errorText
            let lines = said.split(separator: "\n")
            #expect(lines.count == 2 && Set(lines).count == 2, "\(said)")
            let shown = try JSONValue.read(try desk.run("show", "a.slide", "--json"))
            #expect(shown["notes"]?.elements.count == 1)
            #expect(shown["notes"]?.elements.first?.text?.contains("trailing comma") == true)
            #expect(shown["problems"]?.elements.count == 1)
            #expect(shown["problems"]?.elements.first?.text?.contains("negative") == true)
        }
    }

    @Test func `an edit says what it repairs`() throws {
        try withDesk(.plain) { desk in
            try desk.write(#"{"elements":[/* keep me */],"title":"a",}"#, to: "r.slide")
            func said(_ words: String...) throws -> [Substring] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 0, "\(words): \(result)")
                return result.errorText.split(separator: "\n")
            }
            // What is not written repairs nothing.
            #expect(try said("set", "r.slide", "title=a").isEmpty)
            let foreseen = try said("set", "r.slide", "title=b", "--dry-run", "--json")
            let told = try said("set", "r.slide", "title=b", "--json")
            #expect(told == foreseen)
            #expect(told.count == 2, "\(told)")
            #expect(told.first?.contains("r.slide: line 1, column 14: a comment") == true)
            #expect(told.last?.contains("a trailing comma") == true)
            #expect(try said("set", "r.slide", "title=c").isEmpty)
        }
    }

    @Test func `a bulk file becomes slides, all or none`() throws {
        try withDesk(.plain) { desk in
            let slide = #"{"elements": [], "title": "T"}"#
            try desk.write(
                #"{"type": "bulkAggregateFile", "filenameBase": "Page", "1": [], "#
                    + #""2": [\#(slide), \#(slide)]}"#, to: "bulk.json")
            try desk.write("precious", to: "Page2.slide")
            try desk.fail(73, "slide", "import-bulk", "bulk.json")
            #expect(try desk.names() == ["Page2.slide", "bulk.json"])
            // Also by a symlink to nothing, which is found only on the way.
            try desk.shell("ln -sf nowhere Page2.slide")
            try desk.fail(73, "slide", "import-bulk", "bulk.json")
            #expect(try desk.names() == ["Page2.slide", "bulk.json"])
            try desk.shell("rm Page2.slide")
            let made = try JSONValue.read(
                try desk.run("slide", "import-bulk", "bulk.json", "--json"))
            #expect(made["made"]?.elements.count == 2)
            #expect(try desk.names() == ["Page1.slide", "Page2.slide", "bulk.json"])
            try desk.write(
                #"{"type": "bulkAggregateFile", "filenameBase": "P", "3": []}"#, to: "bulk.json")
            let none = try desk.shapeedit(["slide", "import-bulk", "bulk.json"])
            #expect(none.status == 0 && none.errorText.contains("version 3 has no slides"))
            let text =
                #"{"type": "bulkURLFile", "filenameBase": "P", "#
                + #""1": ["http://a.example/b.slide"]}"#
            #expect(
                try desk.run("slide", "import-bulk", "-", input: Array(text.utf8))
                    == "http://a.example/b.slide\n")
        }
    }
}

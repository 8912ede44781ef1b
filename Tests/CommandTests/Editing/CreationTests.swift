import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct CreationTests {
    @Test(arguments: Desk.places)
    func `new documents without a name are numbered`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for name in ["Untitled", "Untitled-2", "Untitled-3"] {
                #expect(try desk.run("new") == "made \(name).shape\n")
            }
            #expect(try desk.run("new", "--type", "list") == "made Untitled.list\n")
            try desk.shell("mkdir sub && rm Untitled-2.shape")
            #expect(try desk.run("new", "sub") == "made sub/Untitled.shape\n")
            #expect(try desk.run("new", "sub/") == "made sub/Untitled-2.shape\n")
            #expect(try desk.run("new") == "made Untitled-2.shape\n")
            let report = try JSONValue.read(try desk.run("new", "--json"))
            #expect(report["file"] == .string("Untitled-4.shape"))
        }
    }

    @Test(arguments: Desk.places)
    func `new never overwrites`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for name in ["a.shape", "a.shapeFile", "a.slide", "a.list"] {
                try desk.write("precious", to: name)
                let message = try desk.fail(73, "new", name)
                #expect(message == "shapeedit: \(name) exists already and is left as it is\n")
                #expect(desk.bytes(name) == Array("precious".utf8))
            }
            try desk.shell("ln -s nowhere dangling.shape")
            try desk.fail(73, "new", "dangling.shape")
            #expect(
                try desk.names() == [
                    "a.list", "a.shape", "a.shapeFile", "a.slide", "dangling.shape",
                ])
        }
    }

    @Test func `many at once get a name each`() throws {
        try withDesk(.plain) { desk in
            let programs = try (0..<8).map { _ in try desk.start(["new", "--type", "slide"]) }
            let said = Set(programs.map { $0.wait().text })
            #expect(said.count == 8 && said.contains("made Untitled.slide\n"))
            #expect(try desk.names().count == 8)
        }
    }

    @Test func `every template of every type makes a sound document`() throws {
        try withDesk(.plain) { desk in
            for type in ["shape", "shapeFile", "slide", "list"] {
                let listed = try JSONValue.read(
                    try desk.run("new", "--list-templates", "--json", "--type", type))
                #expect(!listed.elements.isEmpty)
                for template in listed.elements.compactMap(\.text) {
                    let name = "\(template).\(type)"
                    try desk.run("new", name, "--template", template)
                    let report = try desk.run("validate", name)
                    #expect(report == "\(name): sound (\(type))\n")
                }
            }
            let message = try desk.fail(64, "new", "x.shape", "--template", "sfere")
            #expect(message.contains("sphere"))
        }
    }

    @Test func `wrong uses of new say what would be right`() throws {
        try withDesk(.plain) { desk in
            #expect(try desk.fail(64, "new", "thing").contains(".slide"))
            #expect(try desk.fail(64, "new", "a.list", "--type", "slide").contains("--type says"))
            #expect(try desk.fail(64, "new", "--type", "cube").contains("shapeFile"))
            try desk.fail(73, "new", "no/such/folder.shape")
            #expect(try desk.names() == [])
        }
    }
}

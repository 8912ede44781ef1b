import FoundationEssentials
import Probing
import TestSupport
import Testing

/// Names on Linux are bytes: commands take and tell those that are not UTF-8 too.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ByteNameTests {
    /// In Latin-1.
    private static let name = ByteString(Array("caf".utf8) + [0xe9] + Array(".list".utf8))
    private static let repaired = "caf\u{FFFD}.list"

    private static func base64(_ name: ByteString) -> String {
        Data(name.bytes).base64EncodedString()
    }

    @Test func `a text that is not UTF-8 is refused, not made another one`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "l.list")
            let shapeedit = try BuiltPrograms.shapeedit()
            for words in ["list add l.list a\\377b", "new --title a\\377 t.slide"] {
                let line = "\(shapeedit) $(printf '\(words)') 2>&1; test $? = 65"
                #expect(try desk.shell(line).contains(#"a\xff"#), "\(words)")
            }
            #expect(try desk.run("list", "show", "l.list") == "(nothing to do)\n")
            #expect(try desk.names() == ["l.list"])
            // A noncharacter is UTF-8, though paths have another meaning for some.
            let odd = String(decoding: [0xEF, 0xB7, 0x98, 0xEF, 0xB7, 0xA1], as: UTF8.self)
            try desk.run("list", "add", "l.list", odd)
            #expect(try desk.run("list", "copy", "l.list") == odd + "\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `commands take names that are not UTF-8`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let path = ByteString(desk.folder + "/") + Self.name
            #expect(try desk.run(bytes: "new", Self.name) == "made caf\\xe9.list\n")
            try desk.run(bytes: "list", "add", Self.name, "milk")
            #expect(try desk.run(bytes: "get", Self.name, "item.1.text") == "milk\n")
            let versions = try JSONValue.read(
                try desk.run(bytes: "versions", "--json", Self.name).bytes)
            #expect(versions["file"]?.text == Self.repaired)
            #expect(versions["fileBytes"]?.text == Self.base64(Self.name))
            let output = Self.name + ".png"
            for command: ByteString in ["render", "thumbnail"] {
                let drawn = try JSONValue.read(
                    try desk.run(bytes: command, "--json", Self.name, "-o", output).bytes)
                #expect(drawn["output"]?.text == Self.repaired + ".png")
                #expect(drawn["outputBytes"]?.text == Self.base64(output), "\(command)")
            }
            // Its card has the name that is told everywhere else.
            let card = try desk.run(bytes: "render", Self.name, "-o", "-", "--format", "svg").text
            #expect(card.contains(">\(Self.repaired.prefix { $0 != "." })<"))
            let token = try desk.run(bytes: "bookmark", "create", Self.name).text.dropLast()
            let resolved = try desk.run(bytes: "bookmark", "resolve", ByteString(String(token)))
            #expect(resolved == path + "\n")
            try desk.run(bytes: "grant", Self.name, "--to", "reader")
            let grants = try JSONValue.read(try desk.run("grants", "--json")).elements
            #expect(grants.map { $0["path"]?.text } == ["work/" + Self.repaired])
            #expect(
                grants.map { $0["pathBytes"]?.text } == [Self.base64("work/" + Self.name)])
            // The claim, and what the command gets.
            let shown = try desk.run(
                bytes: "coordinate", "--write", Self.name, "--", "cat", Self.name)
            let reader = try desk.volume.agent()
            #expect(shown == reader.content(Self.name))
            desk.volume.endAgents()
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `JSON has the bytes of every path`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            func say(_ words: ByteString...) throws -> JSONValue {
                try JSONValue.read(try desk.run(bytes: words + ["--json"]).bytes)
            }
            func expect(_ said: JSONValue, _ name: String, _ path: ByteString) {
                #expect(said[name]?.text?.contains("\u{FFFD}") == true, "\(said)")
                #expect(said[name + "Bytes"]?.text == Self.base64(path), "\(said)")
            }
            try desk.run(bytes: "new", Self.name)
            let text = Self.name + ".txt"
            let converted = try say("convert", Self.name, text)
            expect(converted, "source", Self.name)
            expect(converted, "target", text)
            let other = Self.name + ".list"
            try desk.run(bytes: "new", other)
            let different = try say("diff", Self.name, other)
            expect(different, "first", Self.name)
            expect(different, "second", other)
            expect(try say("grant", Self.name, "--to", "reader"), "document", Self.name)
            expect(try say("revoke", Self.name), "document", Self.name)
            // That of the folder where a container is mounted, too.
            let base = try #require(desk.volume.container).base
            let point = ByteString(base + "/") + ByteString([0xff])
            try desk.shell("mkdir \(base)/$(printf '\\377')")
            try desk.run("container", "create", "other")
            try desk.run(bytes: "mount", "other", point)
            defer { _ = try? desk.run(bytes: "unmount", point) }
            expect(try say("container", "info", "other"), "mountPoint", point)
            expect(try #require(try say("status", point).elements.first), "mountPoint", point)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what is found has the names it has`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let folder: ByteString = ByteString([0xff]) + "folder"
            let inside = folder + "/" + Self.name
            let agent = try desk.volume.agent()
            agent.makeDirectory(folder)
            agent.store(inside, "one")
            agent.store("other", "two")
            let path = ByteString(desk.folder + "/") + inside
            #expect(try desk.run(bytes: "find", "-0", folder) == path + ByteString([0]))
            #expect(try desk.run(bytes: "find", folder) == path + "\n")
            let found = try JSONValue.read(try desk.run(bytes: "find", folder, "--json").bytes)
            #expect(
                found.elements.map { $0["path"]?.text }
                    == [desk.folder + "/\u{FFFD}folder/" + Self.repaired])
            #expect(found.elements.map { $0["pathBytes"]?.text } == [Self.base64(path)])
            // A saved query keeps the bytes of its folder, and its links lead to those of the file.
            try desk.run(bytes: "find", folder, "--save", "mine")
            let query = desk.volume.root + "/.shapeedit/queries/mine"
            #expect(agent.entries(query).map(\.name) == [Self.name])
            #expect(agent.readLink(query + "/" + Self.name) == "../../../work/" + inside)
            #expect(agent.content(query + "/" + Self.name) == "one")
            desk.volume.endAgents()
        }
    }
}

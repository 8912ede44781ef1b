import TestSupport
import Testing

@Suite(.oneAtATime) struct ListTests {
    @Test(arguments: Desk.places)
    func `a shopping list`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let file = "Shopping.list"
            try desk.run("new", file)
            #expect(
                try desk.run("list", "add", file, "milk", "bread", "two eggs")
                    == "item.1: added [ ] milk\nitem.2: added [ ] bread\nitem.3: added [ ] two eggs\n"
            )
            try desk.run("list", "check", file, "milk", "--json")
            #expect(
                try desk.run("list", "show", file) == "1. [ ] bread\n2. [ ] two eggs\n3. [x] milk\n"
            )
            try desk.run("list", "edit", file, "2", "six eggs", "--json")
            try desk.run("list", "toggle", file, "1", "--json")
            try desk.run("list", "uncheck", file, "milk")
            try desk.run("list", "move", file, "milk", "2", "--json")
            try desk.run("list", "color", file, "blue", "--json")
            let shown = try JSONValue.read(try desk.run("list", "show", file, "--json"))
            #expect(shown["color"] == .string("blue"))
            let items = (shown["items"]?.elements ?? []).map { ($0["text"], $0["done"]) }
            #expect(items.map(\.0) == [.string("six eggs"), .string("milk"), .string("bread")])
            #expect(items.map(\.1) == [.boolean(false), .boolean(false), .boolean(true)])
            #expect(try desk.run("list", "copy", file) == "six eggs\nmilk\nbread\n")
            let copied = try JSONValue.read(try desk.run("list", "copy", file, "2", "--json"))
            #expect(copied["text"] == .string("milk"))
            #expect(try desk.run("list", "copy", file, "bread") == "bread\n")
            try desk.run("list", "paste", file, input: Array("  cheese \n\n tea\n".utf8))
            #expect(try desk.run("list", file, "show").contains("[ ] cheese\n"))
            try desk.run("list", "clear-done", file, "--json")
            try desk.run("list", "remove", file, "tea", "--json")
            #expect(try desk.run("list", "copy", file) == "cheese\nsix eggs\nmilk\n")
            try desk.run("undo", file)
            try desk.run("undo", file)
            #expect(try desk.run("list", "show", file).contains("[x] bread"))
        }
    }

    @Test func `an item of several lines is shown on one`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "l.list")
            try desk.run("list", "add", "l.list", "abcdefghij")
            // As long, so that all else stays where it is. No edit brings such an item in.
            try desk.shell(#"LC_ALL=C sed -i 's/abcdefghij/a\n2. [x] b/' l.list"#)
            #expect(try desk.run("list", "show", "l.list") == "1. [ ] a\\n2. [x] b\n")
        }
    }

    @Test(arguments: Desk.places)
    func `the list of today is made when it is first used`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            // One in each container, at its root.
            let home = desk.volume.container?.mountPoint ?? desk.folder
            let said = try desk.run("list", "today").split(separator: "\n")
            #expect(said.count == 2 && said[0].hasPrefix("made ") && said[1] == "(nothing to do)")
            #expect(said[0].hasSuffix("/Today.list"))
            let added = try desk.run("list", "today", "add", "water the plants")
            #expect(added == "item.1: added [ ] water the plants\n")
            #expect(try desk.run("list", "today") == "1. [ ] water the plants\n")
            #expect(desk.bytes(home + "/Today.list") != nil)
            try desk.shell("mkdir sub")
            try desk.run("list", "today", "add", "tea", "--in", "sub", "--json")
            #expect(desk.bytes("sub/Today.list") != nil)
        }
    }

    @Test(arguments: Desk.places)
    func `a dry run does not make the list of today, nor does a mistake`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let home = desk.volume.container?.mountPoint ?? desk.folder
            let added = try desk.run("list", "today", "add", "tea", "--dry-run")
            #expect(added == "item.1: added [ ] tea\n(dry run: nothing was written)\n")
            #expect(try desk.run("list", "today", "-n") == "(nothing to do)\n")
            try desk.run("list", "today", "copy", "-n", "--json")
            try desk.fail(65, "list", "today", "check", "tea", "-n")
            try desk.fail(73, "list", "today", "add", "tea", "-n", "--in", "nowhere")
            try desk.fail(66, "list", "today", "add", "tea", "-n", "--in", "")
            try desk.fail(64, "list", "today", "make", "tea")
            #expect(desk.bytes(home + "/Today.list") == nil)
            // One that is there is only looked at.
            try desk.run("list", "today", "add", "water")
            let before = desk.bytes(home + "/Today.list")
            try desk.run("list", "today", "add", "tea", "-n")
            #expect(desk.bytes(home + "/Today.list") == before)
        }
    }

    @Test func `what is pasted from standard input is taken as it is`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            try desk.run("new", "b.list")
            let text = #"C:\temp"# + "\n" + #"get c:\new \\"# + "\none\ttwo\n"
            try desk.run("list", "paste", "a.list", input: Array(("\r\n  " + text).utf8))
            let copied = try desk.run("list", "copy", "a.list")
            #expect(copied == text)
            try desk.run("list", "paste", "b.list", input: Array(copied.utf8))
            #expect(try desk.run("list", "copy", "b.list") == text)
            try desk.run("list", "paste", "b.list", "-", input: Array("milk".utf8))
            #expect(try desk.run("list", "copy", "b.list") == "milk\n" + text)
        }
    }

    @Test func `what is copied is pasted as the same items, control characters too`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            try desk.run("new", "b.list")
            let text = "a\u{1b}[31mb\tc\n\u{7}bell \\x07 \\n\ndel\u{7f} \u{9b}é 😀\n"
            try desk.run("list", "paste", "a.list", input: Array(text.utf8))
            let copied = try desk.run("list", "copy", "a.list")
            #expect(copied == text)
            try desk.run("list", "paste", "b.list", input: Array(copied.utf8))
            #expect(try desk.run("list", "copy", "b.list") == text)
            try desk.run("new", "c.list")
            #expect(try desk.run("list", "copy", "c.list") == "")
            let shown = try JSONValue.read(try desk.run("list", "copy", "b.list", "--json"))
            #expect(shown["text"]?.text.map { $0 + "\n" } == text)
        }
    }

    @Test func `what is no part of the list is said`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            try desk.run("list", "add", "a.list", "milk")
            #expect(try desk.fail(65, "list", "check", "a.list", "7").contains("1"))
            try desk.fail(65, "list", "copy", "a.list", "0")
            #expect(try desk.fail(65, "list", "color", "a.list", "pink").contains("red"))
            #expect(try desk.fail(64, "list", "frob", "a.list").contains("check"))
            #expect(try desk.fail(64, "list", "add").contains("name the list"))
            #expect(try desk.run("list", "copy", "a.list") == "milk\n")
        }
    }
}

import Documents
import Editing
import Testing

@Suite struct ListEditTests {
    /// The items after a script as `milk,bread|tea`, done ones after the bar.
    private func items(_ script: String) throws -> String {
        var list = Sample.list()
        _ = try list.run(script)
        guard case .list(let list) = list else { return "" }
        let open = list.items.filter { !$0.isComplete }.map(\.text)
        let done = list.items.filter(\.isComplete).map(\.text)
        #expect(list.items.map(\.text) == open + done, "what is done comes last")
        return open.joined(separator: ",") + "|" + done.joined(separator: ",")
    }

    @Test(arguments: [
        ("list add butter jam", "butter,jam,milk,bread,eggs|tea"),
        ("add item butter", "butter,milk,bread,eggs|tea"),
        ("add item butter completed=yes", "milk,bread,eggs|tea,butter"),
        ("add item 'oat milk' done=no", "oat milk,milk,bread,eggs|tea"),
        ("list check bread", "milk,eggs|bread,tea"), ("list check tea", "milk,bread,eggs|tea"),
        ("list check 1 2", "eggs|bread,milk,tea"), ("list uncheck tea", "milk,bread,eggs,tea|"),
        ("list toggle all", "tea|eggs,bread,milk"), ("set item.3.done=yes", "milk,bread|eggs,tea"),
        ("list move eggs 1", "eggs,milk,bread|tea"),
        ("list edit 1 'oat milk'", "oat milk,bread,eggs|tea"),
        ("rename bread rolls", "milk,rolls,eggs|tea"), ("list remove bread 4", "milk,eggs|"),
        ("list remove done", "milk,bread,eggs|"), ("list clear-done", "milk,bread,eggs|"),
        ("list paste ' a \\n\\n b'", "a,b,milk,bread,eggs|tea"),
        ("list remove open", "|tea"), ("list remove completed=false", "|tea"),
    ])
    func `lists keep the order of the original app`(script: String, expected: String) throws {
        #expect(try items(script) == expected)
    }

    @Test func `changes are told in words`() throws {
        var list = Sample.list()
        #expect(
            try list.run("list check milk\nlist color red\nlist edit tea 'green tea'") == [
                "item.3.completed: false -> true", "item.3: moved from place 1 to place 3",
                "color: gray -> red", "item.4.text: tea -> green tea",
            ])
        #expect(try list.run("list color red\nlist check milk").isEmpty)
        #expect(try list.reread() == list)
        #expect(try list.copiedItems([]) == "bread\neggs\nmilk\ngreen tea")
        #expect(try list.copiedItems(["done"]) == "milk\ngreen tea")
    }

    @Test(arguments: [
        ("list move milk 2", ["item.2: moved from place 1 to place 2"]),
        ("list move bread 1", ["item.1: moved from place 2 to place 1"]),
        ("list move milk 3", ["item.3: moved from place 1 to place 3"]),
        ("list move eggs 2", ["item.2: moved from place 3 to place 2"]),
        (
            "list check bread",
            ["item.3.completed: false -> true", "item.3: moved from place 2 to place 3"]
        ),
        ("list check eggs", ["item.3.completed: false -> true"]),
    ])
    func `what moved is the item that was meant`(script: String, changes: [String]) throws {
        var list = Sample.list()
        #expect(try list.run(script) == changes)
    }

    @Test(arguments: [
        ("list chek 1", "list", "'check'"), ("list check 9", "item.9", "item.4"),
        ("list move eggs 4", "list move", "open"), ("list move eggs 5", "list move", "1 to 4"),
        ("list color pink", "color", "gray"), ("list copy", "list copy", "no edit"),
        ("move 1 1,1", "move", "list move"), ("set item.1.uuid=x", "item.1.uuid", "keeps"),
        ("list check mlik", "mlik", "'milk'"), ("add thing x", "add", "item"),
        ("list remove done\nlist remove done", "done", "nothing"),
        ("list add ''", "list add", "empty"), ("list edit 1 ''", "item.1", "empty"),
        ("list edit 1 ' \\t '", "item.1", "empty"), ("set item.1.text=", "item.1.text", "empty"),
        ("rename milk ''", "item.1", "empty"), ("unset item.1.text", "item.1.text", "empty"),
        ("add item butter complted=yes", "complted", "'completed'"),
        ("add item butter done=maybe", "done", "true or false"),
        ("add item butter jam", "add", "KEY=VALUE"), ("add item", "add", "NAME"),
        ("list add 'a\\nb'", "list add", "one line"),
        ("list edit 1 'a\\nb'", "item.1", "one line"),
    ])
    func `errors say where and what would be right`(
        script: String, place: String, reason: String
    ) throws {
        let error = try #require(Sample.list().error(script))
        #expect(error.place == place, "\(error)")
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `a list made of text has what is open first, whatever the lines say`() throws {
        let text = "- [ ] milk\n- [x] bread\n- [ ] eggs\n"
        let list = EditableDocument.list(TaskList(items: try TaskList.items(from: text)))
        #expect(list.problems().isEmpty)
        #expect(try list.value(at: "item.2.text") == "eggs")
    }

    @Test func `a text of several lines is kept and noted, and nothing is wrong with it`() throws {
        let bytes = try TaskList(items: [TaskItem("a"), TaskItem("b\u{2028}c")]).archived()
        let (list, notes) = try EditableDocument.read(bytes, as: .list)
        #expect(notes.isEmpty)
        #expect(list.problems().isEmpty)
        #expect(list.remarks().map { $0.prefix(11) } == ["item.2.text"])
        #expect(try list.bytes(replacing: bytes) == bytes)
    }

    @Test func `too long a text is refused`() {
        let long = String(repeating: "a", count: Limits.itemTextBytes + 1)
        #expect(Sample.list().error("list add \(long)")?.kind == .outOfRange)
        #expect(Sample.list().error("list edit 1 \(long)")?.kind == .outOfRange)
    }
}

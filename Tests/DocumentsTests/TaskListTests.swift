import DocumentFuzzing
import Documents
import Glibc
import Testing

/// Lists in and out, and what the original app does with them.
@Suite struct TaskListTests {
    private func list(_ marks: String) -> TaskList {
        TaskList(
            items: marks.map { TaskItem(String($0).lowercased(), isComplete: $0.isUppercase) })
    }

    /// The list as letters; what is done is in capitals.
    private func marks(_ list: TaskList) -> String {
        list.items.map { $0.isComplete ? $0.text.uppercased() : $0.text }.joined()
    }

    @Test func `archives of other writers are read`() throws {
        for name in ["groceries.list", "xml.list"] {
            let list = try TaskList.read(try Samples.read(name))
            #expect(list.color == .green)
            #expect(list.items.map(\.text) == ["milk", "bread", "caf\u{e9} \u{1F4D6}"])
            #expect(list.items.map(\.isComplete) == [false, true, false])
        }
        let empty = try TaskList.read(try Samples.read("empty.list"))
        #expect(empty.items.isEmpty)
        #expect(empty.color == .gray)
    }

    @Test(.enabled(if: Samples.hasOriginals, Samples.withoutOriginals))
    func `a list of the original app is written as it was, to the byte`() throws {
        let bytes = try Samples.original("Tech Toys.list")
        var list = try TaskList.read(bytes)
        #expect(list.items.map(\.text) == ["iPad Air", "Thunderbolt Display", "Mac Pro"])
        #expect(list.color == .blue)
        #expect(list.items[0].id.description == "DE8EE7F1-01D9-4E1B-A47A-F3CDA15A2FCC")
        #expect(try list.archived() == bytes)
        try list.toggle(at: 0)
        #expect(try TaskList.read(list.archived()) == list)
    }

    @Test(arguments: [
        ("archiver", DocumentError.Kind.otherFormat), ("cycle", .malformed),
        ("shared-item", .malformed),
        ("range", .malformed), ("class", .unknown), ("uuid", .badValue), ("color", .badValue),
        ("long-text", .tooLarge), ("unknown-container", .unknown), ("root", .malformed),
    ])
    func `a hostile archive is refused`(name: String, kind: DocumentError.Kind) throws {
        let bytes = try Samples.read("bad-\(name).list")
        let error = #expect(throws: DocumentError.self) { try TaskList.read(bytes) }
        #expect(error?.kind == kind, "\(String(describing: error))")
        #expect(error?.place != .whole)
    }

    @Test func `any list comes back`() throws {
        var generator = DocumentGenerator(SeededGenerator(seed: 11))
        for _ in 0..<500 {
            let list = generator.list()
            #expect(try TaskList.read(list.archived()) == list)
        }
    }

    @Test func `unknown values of an archive stay`() throws {
        var list = list("aB")
        list.otherEntries = [ArchivedEntry("sort", .inline(.integer(3)))]
        list.items[1].otherEntries = [
            ArchivedEntry("stars", .inline(.real(2.5))),
            ArchivedEntry("note", .object(.string("memo"))),
            ArchivedEntry("count", .object(.integer(7))),
            ArchivedEntry("icon", .object(.data([1, 2]))),
            ArchivedEntry("nothing", .object(.string("$null"))),
            ArchivedEntry(
                "due",
                .instance(
                    className: "NSDate", entries: [PropertyList.Entry("NS.time", .real(8))])),
        ]
        let again = try TaskList.read(list.archived())
        #expect(again == list)
        #expect(again.losses.isEmpty)
    }

    @Test func `a value that an item and the list share is kept in both`() throws {
        let list = try TaskList.read(try Samples.read("shared-unknown.list"))
        #expect(list.otherEntries == [ArchivedEntry("more", .object(.string("milk")))])
        #expect(try TaskList.read(list.archived()) == list)
    }

    /// The list `groceries` with changes to its archive.
    private func changed(
        _ change: (inout [PropertyList.Entry], inout [PropertyList]) -> Void
    ) throws -> [UInt8] {
        guard
            case .dictionary(var frame) = try PropertyList.read(try Samples.read("groceries.list")),
            let place = frame.firstIndex(where: { $0.key == "$objects" }),
            case .array(var objects) = frame[place].value
        else { throw DocumentError(.malformed, "groceries.list is no archive") }
        change(&frame, &objects)
        for index in frame.indices where frame[index].key == "$objects" {
            frame[index].value = .array(objects)
        }
        return try PropertyList.dictionary(frame).binary()
    }

    private func add(_ key: String, _ value: PropertyList, to object: inout PropertyList) {
        guard case .dictionary(let entries) = object else { return }
        object = .dictionary(entries + [PropertyList.Entry(key, value)])
    }

    @Test func `what an archive written anew does not hold is told`() throws {
        let bytes = try changed { frame, objects in
            frame.append(PropertyList.Entry("zzz", .string("top")))
            add("foo", .data([1]), to: &objects[5])
            add("$classhints", .array([]), to: &objects[15])
        }
        let list = try TaskList.read(bytes)
        #expect(
            list.losses.map(\.path) == [
                "archive.zzz", "archive.AAPLList.$classhints", "item.1.uuid.foo",
            ])
        #expect(try TaskList.read(list.archived()).losses.isEmpty)
    }

    @Test func `an array that could be changed stays one`() throws {
        let bytes = try changed { _, objects in
            objects[14] = .dictionary([
                PropertyList.Entry("$classname", .string("NSMutableArray")),
                PropertyList.Entry(
                    "$classes",
                    .array(["NSMutableArray", "NSArray", "NSObject"].map { .string($0) })),
            ])
        }
        let again = try TaskList.read(bytes).archived()
        guard case .array(let objects) = try PropertyList.read(again)["$objects"] else {
            Issue.record("no array")
            return
        }
        #expect(try TaskList.read(bytes).losses.isEmpty)
        #expect(objects.contains { $0["$classname"] == .string("NSMutableArray") })
        #expect(!objects.contains { $0["$classname"] == .string("NSArray") })
    }

    @Test func `a list holds as many items as its archive can, and more are counted`() throws {
        func list(_ count: Int) -> TaskList {
            TaskList(items: (0..<count).map { TaskItem("\($0)") })
        }
        let full = list(Limits.listItems)
        #expect(try TaskList.read(full.archived()) == full)
        let error = #expect(throws: DocumentError.self) {
            try list(Limits.listItems + 1).archived()
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.reason.contains("at most \(Limits.listItems)") == true)
    }

    /// It took seconds while the record of their class was looked through for each item.
    @Test func `many items of a class with very many entries are read at once`() throws {
        let items = (0..<3_000).map { TaskItem("\($0)") }
        guard
            case .dictionary(var frame) = try PropertyList.read(
                try TaskList(items: items).archived()),
            let table = frame.firstIndex(where: { $0.key == "$objects" }),
            case .array(var objects) = frame[table].value,
            let record = objects.firstIndex(where: {
                $0["$classname"] == .string("AAPLListItem")
            }), case .dictionary(let entries) = objects[record]
        else {
            Issue.record("no record of the items' class")
            return
        }
        let others = (0..<20_000).map { PropertyList.Entry("k\($0)", .boolean(true)) }
        objects[record] = .dictionary(others + entries)
        frame[table].value = .array(objects)
        let bytes = try PropertyList.dictionary(frame).binary()
        let start = Self.threadSeconds
        #expect(try TaskList.read(bytes).items.count == 3_000)
        #expect(Self.threadSeconds - start < 3)
    }

    /// How long this thread has had a processor.
    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `a text that very many values share is bounded`() throws {
        let bytes = try changed { _, objects in
            objects.append(.string(String(repeating: "a", count: 10_000)))
            for index in 0..<500 { add("k\(index)", .uid(objects.count - 1), to: &objects[1]) }
        }
        let error = #expect(throws: DocumentError.self) { try TaskList.read(bytes) }
        #expect(error?.kind == .unknown)
    }

    @Test(arguments: [
        ("abCD", 0, "bACD"), ("abCD", 1, "aBCD"), ("abCD", 2, "abcD"), ("abCD", 3, "abdC"),
        ("a", 0, "A"), ("A", 0, "a"),
    ])
    func `toggling moves an item to the boundary`(before: String, at: Int, after: String) throws {
        var list = list(before)
        let place = try list.toggle(at: at)
        #expect(marks(list) == after)
        #expect(list.items[place].text == String(Array(before)[at]).lowercased())
    }

    @Test func `open items are added first, done ones last`() {
        var list = list("aB")
        list.add([TaskItem("x"), TaskItem("y", isComplete: true), TaskItem("z")])
        #expect(marks(list) == "xzaBY")
    }

    @Test func `items move on their side of the boundary only`() throws {
        var list = list("abCD")
        try list.move(from: 0, to: 1)
        #expect(marks(list) == "baCD")
        #expect(throws: DocumentError.self) { try list.move(from: 1, to: 2) }
        #expect(throws: DocumentError.self) { try list.move(from: 0, to: 4) }
        #expect(marks(list) == "baCD")
        #expect(list.removeDone().map(\.text) == ["c", "d"])
        #expect(marks(list) == "ba")
    }

    @Test func `copy gives a line an item and paste takes them`() throws {
        var list = list("aB")
        #expect(try list.copied(0..<2) == "a\nb")
        #expect(try list.paste("  one \r\n\n\u{2028}two\n") == 2)
        #expect(marks(list) == "onetwoaB")
        #expect(throws: DocumentError.self) { try list.copied([7]) }
    }

    @Test func `of very much that an archive holds besides no more is told than is listed`() throws
    {
        guard case .dictionary(let frame) = try PropertyList.read(list("aB").archived()) else {
            Issue.record("no archive")
            return
        }
        let others = (0..<2 * Limits.listedRepairs).map {
            PropertyList.Entry("other\($0)", .boolean(true))
        }
        let bytes = try PropertyList.dictionary(others + frame).binary()
        #expect(try TaskList.read(bytes).losses.count == Limits.listedRepairs)
    }

    @Test func `text of other programs is read`() throws {
        let text = String(decoding: try Samples.read("tasks.txt"), as: UTF8.self)
        let items = try TaskList.items(from: text)
        #expect(items.map(\.text) == ["milk", "eggs", "bare line", "bread", "call Ann", "tea"])
        #expect(items.map(\.isComplete) == [false, false, false, true, true, true])
        let list = TaskList(items: items)
        #expect(list.taskLines.hasPrefix("- [ ] milk\n- [ ] eggs\n- [ ] bare line\n- [x] bread\n"))
        #expect(try TaskList.items(from: list.taskLines).map(\.text) == items.map(\.text))
    }

    @Test(arguments: ["-", "*", "+", "\u{2022}", "- [ ]", "- [x]"])
    func `a bullet without text is no item`(bullet: String) throws {
        let text = "- milk\n\(bullet) \n  \(bullet)\n\(bullet)\tbread\n"
        #expect(try TaskList.items(from: text).map(\.text) == ["milk", "bread"])
        // To paste is to put lines in as they are.
        var list = TaskList()
        #expect(try list.paste("-") == 1)
        #expect(list.items.map(\.text) == ["-"])
    }

    @Test func `the longest text of an item comes back from its line`() throws {
        let longest = String(repeating: "x", count: Limits.itemTextBytes)
        let lines = TaskList(items: [TaskItem(longest)]).taskLines
        #expect(try TaskList.items(from: lines).map(\.text) == [longest])
        #expect(throws: DocumentError.self) { try TaskList.items(from: "- [ ] y" + longest) }
        var pasted = TaskList(items: [])
        #expect(try pasted.paste(longest) == 1)
        #expect(throws: DocumentError.self) {
            var list = TaskList(items: [])
            try list.paste("y" + longest)
        }
    }
}

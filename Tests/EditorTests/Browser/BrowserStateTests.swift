import Drawing
import Editor
import PathText
import Terminal
import Testing

@testable import Browser

/// What the browser does with keys, listings and pictures, and what it shows.
struct BrowserStateTests {
    private func entry(_ path: String, _ item: UInt64, viewed: Int64 = 0) -> BrowserEntry {
        BrowserEntry(path: path, item: item, size: 10, changed: 1, viewed: viewed)
    }

    private func shape(
        _ columns: Int = 80, _ rows: Int = 40, _ graphics: GraphicsProtocol = .blocks
    ) -> TerminalShape {
        TerminalShape(columns: columns, rows: rows, graphics: graphics, cell: .usual)
    }

    /// A browser of documents called by letters, numbered from 1 on.
    private func browser(
        _ names: [String] = ["c.shape", "a.slide", "B.list", "d.md"], shape: TerminalShape? = nil
    ) -> BrowserState {
        var state = BrowserState(name: "work", shape: shape ?? self.shape())
        let entries = names.enumerated().map { entry($1, UInt64($0 + 1)) }
        _ = state.update(.listed(entries, problem: nil))
        return state
    }

    private func text(_ state: BrowserState) -> String {
        let screen = state.screen
        return (0..<screen.rows).map { screen.text(row: $0) }.joined(separator: "\n")
    }

    @discardableResult
    private func type(_ text: String, _ state: inout BrowserState) -> [BrowserEffect] {
        text.flatMap { state.update(.input(.key(.character($0)))) }
    }

    private func press(_ key: Key, _ state: inout BrowserState, _ modifiers: Modifiers = [])
        -> [BrowserEffect]
    {
        state.update(.input(.key(key, modifiers)))
    }

    @Test func `documents are sorted by name, whatever the case`() {
        let state = browser()
        #expect(state.entries.map(\.name) == ["a.slide", "B.list", "c.shape", "d.md"])
        #expect(state.selected?.path == "a.slide")
        #expect(text(state).contains("All documents"))
        #expect(!text(state).contains("Recently viewed"))
    }

    @Test func `names are looked through for letters once, not for each key and picture`() {
        var state = browser()
        type("a", &state)
        let first = state.matching
        _ = press(.down, &state)
        _ = state.screen
        let second = state.matching
        // Both are there: what was made anew is elsewhere.
        first.withUnsafeBufferPointer { first in
            second.withUnsafeBufferPointer { second in
                #expect(first.count == 2 && first.baseAddress == second.baseAddress)
            }
        }
        _ = state.update(.titled([4: "Plan"]))
        #expect(state.matching.map(\.name) == ["a.slide", "c.shape", "d.md"])
    }

    @Test func `a folder that is there again is not said to be missing`() {
        var state = browser()
        _ = state.update(.listed([], problem: "work: not connected"))
        #expect(state.message == "work: not connected" && state.isBad && state.entries.count == 4)
        _ = state.update(.listed([entry("a", 1)], problem: nil))
        #expect(state.message.isEmpty && !state.isBad && state.entries.count == 1)
        // What else was said stays.
        _ = state.update(.listed([], problem: "work: not connected"))
        _ = state.update(.done("made b", isBad: false, select: nil))
        _ = state.update(.listed([entry("a", 1)], problem: nil))
        #expect(state.message == "made b")
    }

    @Test func `the name counts, not the folder it is in`() {
        let state = browser(["b/Alpha.shape", "a/zeta.shape", "beta.shape", "c/alpha.shape"])
        #expect(
            state.entries.map(\.path) == [
                "b/Alpha.shape", "c/alpha.shape", "beta.shape", "a/zeta.shape",
            ])
    }

    /// Hard links have one number, and so may files of two disks below one folder.
    @Test(arguments: [GraphicsProtocol.blocks, .none])
    func `several names of one file are documents of their own`(_ graphics: GraphicsProtocol) {
        var state = BrowserState(name: "work", shape: shape(80, 40, graphics))
        let (first, second) = (entry("b.shape", 7, viewed: 9), entry("z.shape", 7, viewed: 9))
        _ = state.update(.listed([first, entry("c.shape", 2)], problem: nil))
        #expect(state.selected?.path == "b.shape")
        // Another name does not take the selection over.
        let all = [entry("a.shape", 7), second, entry("c.shape", 2), first]
        _ = state.update(.listed(all, problem: nil))
        #expect(state.selected?.path == "b.shape")
        #expect(text(state).contains("z") && text(state).contains("b"))
        type("z.sh", &state)
        #expect(state.selected?.path == "z.shape")
        _ = press(.delete, &state)
        #expect(text(state).contains("Delete z.shape?"))
        #expect(press(.character("y"), &state) == [.delete("z.shape", item: 7)])
        // The others stay what they are.
        _ = press(.escape, &state)
        _ = state.update(.listed([first, entry("c.shape", 2)], problem: nil))
        #expect(state.entries.map(\.path) == ["b.shape", "c.shape"])
        #expect(state.selected?.path == "b.shape")
    }

    @Test func `names that are no text are shown repaired, and named as they are`() {
        let bytes: [CChar] = [0x61, -1, 0x2E, 0x73, 0]
        var state = browser([String(cPath: bytes)])
        for graphics in [GraphicsProtocol.blocks, .none] {
            _ = state.update(.resized(shape(80, 40, graphics)))
            #expect(text(state).contains("a\u{FFFD}"))
        }
        _ = press(.delete, &state)
        #expect(text(state).contains("Delete a\u{FFFD}.s?"))
        guard case .delete(let path, _)? = press(.character("y"), &state).first else {
            Issue.record("nothing is deleted")
            return
        }
        #expect(path.pathBytes == [0x61, 0xFF, 0x2E, 0x73])
    }

    @Test func `names that differ in a control character do not look alike`() {
        var state = browser(["new\nline.list", "newline.list"])
        for graphics in [GraphicsProtocol.blocks, .none] {
            _ = state.update(.resized(shape(80, 40, graphics)))
            #expect(text(state).contains("new\\u000aline"))
        }
        _ = press(.delete, &state)
        #expect(text(state).contains("Delete new\\u000aline.list?"))
    }

    @Test func `a name that is too long for its line leaves a space before the state`() {
        var state = browser(
            [String(repeating: "a", count: 200) + ".list"], shape: shape(40, 10, .none))
        let details = BrowserDetails(state: "dirty", progress: nil, pin: "")
        _ = state.update(.inspected([1: details]))
        #expect(text(state).contains("aaa… dirty"))
    }

    @Test func `what was viewed last comes first, newest first`() {
        var state = browser()
        _ = state.update(
            .listed(
                [entry("a", 1, viewed: 5), entry("b", 2), entry("c", 3, viewed: 9)], problem: nil))
        #expect(state.recent.map(\.path) == ["c", "a"])
        #expect(text(state).contains("Recently viewed"))
        // The same document is in both sections; with a filter only in one.
        #expect(Shelves(state).places.count == 5)
        type("a", &state)
        #expect(Shelves(state).places.count == 1)
    }

    @Test func `typing filters, Backspace and Escape undo it, Escape leaves`() {
        var state = browser()
        type("LI", &state)
        #expect(state.matching.map(\.name) == ["a.slide", "B.list"])
        #expect(text(state).contains("2 of 4 documents"))
        _ = press(.backspace, &state)
        #expect(state.filter == "L")
        #expect(press(.escape, &state) == [])
        #expect(state.filter.isEmpty && state.matching.count == 4)
        #expect(press(.escape, &state) == [.quit])
    }

    @Test func `documents are shown and found by their titles too`() {
        for graphics in [GraphicsProtocol.blocks, .none] {
            var state = browser(shape: shape(80, 40, graphics))
            _ = state.update(.titled([2: "My Fancy Title"]))
            #expect(text(state).contains("My Fancy Title"))
            #expect(text(state).contains("a.slide"))
            type("fancy", &state)
            #expect(state.matching.map(\.name) == ["a.slide"])
            #expect(state.selected?.name == "a.slide")
            _ = state.update(.titled([:]))
            #expect(state.matching.isEmpty)
        }
    }

    @Test func `arrows move among cards and Enter opens`() {
        // Three cards a row.
        var state = browser(["a", "b", "c", "d", "e"], shape: shape(66, 40))
        _ = press(.right, &state)
        _ = press(.down, &state)
        #expect(state.selected?.path == "e")
        _ = press(.down, &state)
        #expect(state.selected?.path == "e")
        _ = press(.up, &state)
        #expect(press(.enter, &state) == [.open("b")])
        _ = press(.end, &state)
        #expect(state.selected?.path == "e")
        _ = press(.home, &state)
        #expect(state.selected?.path == "a")
    }

    @Test func `the selection stays with its document when it moves, and near it when it goes`() {
        var state = browser(["a", "b", "c"])
        _ = press(.right, &state)
        _ = state.update(
            .listed([entry("a", 1), entry("z", 2), entry("c", 3), entry("b", 9)], problem: nil))
        #expect(state.selected?.path == "z")
        _ = state.update(.listed([entry("a", 1), entry("c", 3)], problem: nil))
        #expect(state.selected?.path == "c")
        _ = state.update(.listed([], problem: nil))
        #expect(state.selected == nil)
        #expect(press(.enter, &state) == [] && press(.down, &state) == [])
        #expect(text(state).contains("No documents here"))
    }

    @Test func `what was made or renamed is selected when it is there`() {
        var state = browser(["a", "b"])
        #expect(state.update(.done("made new", isBad: false, select: "new")) == [.look])
        _ = state.update(.listed([entry("a", 1), entry("b", 2), entry("new", 3)], problem: nil))
        #expect(state.selected?.path == "new")
    }

    @Test func `keys ask for names and for deletion`() {
        var state = browser(["folder/a.slide", "b.shape"])
        _ = press(.home, &state)
        // By name, wherever they are.
        #expect(state.selected?.path == "folder/a.slide")
        let item = state.selected?.item ?? 0
        _ = press(.function(2), &state)
        #expect(state.answer == "a.slide")
        _ = press(.character("u"), &state, .control)
        #expect(press(.enter, &state) == [])
        type("new.slide", &state)
        #expect(
            press(.enter, &state) == [
                .rename("folder/a.slide", item: item, to: "folder/new.slide")
            ])
        _ = press(.delete, &state)
        #expect(text(state).contains("Delete folder/a.slide?"))
        #expect(press(.character("n"), &state) == [])
        _ = press(.delete, &state)
        #expect(press(.character("y"), &state) == [.delete("folder/a.slide", item: item)])
        _ = press(.character("n"), &state, .control)
        _ = press(.character("u"), &state, .control)
        type("x.list", &state)
        #expect(press(.enter, &state) == [.create("x.list")])
        _ = press(.character("n"), &state, .control)
        #expect(press(.escape, &state) == [] && state.question == nil)
    }

    @Test func `a name that would be hidden is refused, and may be mended`() {
        var state = browser()
        for (name, mended) in [(".shape", "x.shape"), ("folder/.x/a.list", "folder/a.list")] {
            _ = press(.character("n"), &state, .control)
            _ = press(.character("u"), &state, .control)
            type(name, &state)
            #expect(press(.enter, &state) == [])
            #expect(text(state).contains("names that begin with a dot are not shown here"))
            _ = press(.character("u"), &state, .control)
            type(mended, &state)
            #expect(press(.enter, &state) == [.create(mended)])
        }
    }

    @Test func `promises show their state, and keys bring, drop and pin`() {
        var state = browser(["a", "b"])
        _ = state.update(
            .inspected([
                1: BrowserDetails(state: "promise"),
                2: BrowserDetails(state: "downloading", progress: 40, pin: "keep"),
            ]))
        #expect(text(state).contains("not here"))
        #expect(text(state).contains("↓ 40%"))
        #expect(press(.character("e"), &state, .control) == [.materialize("a")])
        #expect(press(.character("p"), &state, .control) == [.pin("a", "keep")])
        _ = press(.right, &state)
        #expect(press(.character("e"), &state, .control) == [.evict("b")])
        #expect(press(.character("p"), &state, .control) == [.pin("b", "default")])
    }

    @Test func `pictures are wanted for what is on the screen, once, and shown where they belong`()
        throws
    {
        var state = browser((0..<100).map { "\($0)" })
        let wanted = state.wantedPictures
        #expect(!wanted.isEmpty && wanted.count < 20)
        let size = try PixelSize(width: 10, height: 10)
        let red = Bitmap(size: size, color: 0xFF_0000)
        for (version, size) in wanted { _ = state.update(.pictured(version, size, red)) }
        #expect(state.wantedPictures.isEmpty)
        let cells = state.screen.cells.filter { $0.style.text == .exact(0xFF_0000) }
        #expect(cells.count >= wanted.count * 10)
        // Where there was none it is looked for again, and a new version has another.
        let (version, room) = wanted[0]
        _ = state.update(.pictured(version, room, nil))
        #expect(state.wantedPictures.isEmpty)
        state.retryPictures()
        #expect(state.wantedPictures.count == 1)
        _ = press(.pageDown, &state)
        #expect(!state.wantedPictures.isEmpty)
        // On a terminal that takes pixels they lie over the screen.
        _ = state.update(.resized(shape(80, 40, .kitty)))
        #expect(state.overlays.isEmpty)
        for (version, size) in state.wantedPictures {
            _ = state.update(.pictured(version, size, red))
        }
        #expect(!state.overlays.isEmpty)
    }

    @Test func `the selection is always in sight, in any size`() {
        for graphics in [GraphicsProtocol.blocks, .kitty, .none] {
            for (columns, rows) in [(1, 1), (2, 3), (20, 5), (40, 14), (80, 24), (300, 100)] {
                var state = browser(
                    (0..<200).map { "\($0).shape" }, shape: shape(columns, rows, graphics))
                for key in [Key.end, .up, .pageUp, .home, .down, .pageDown, .pageDown, .right] {
                    _ = press(key, &state)
                    let shelves = Shelves(state)
                    guard shelves.bodyRows >= shelves.cardRows, let place = state.selection else {
                        continue
                    }
                    #expect(shelves.cards.contains { $0.place == place }, "\(columns)x\(rows)")
                }
                #expect(state.screen.rows == max(1, rows))
            }
        }
    }

    @Test(arguments: [22, 24, 25, 30, 40])
    func `what was viewed lately and all the others are in sight together`(rows: Int) throws {
        var state = browser([], shape: shape(80, rows))
        let entries = (1...30).map { entry("\($0).shape", $0, viewed: $0 < 9 ? 2 : 0) }
        _ = state.update(.listed(entries, problem: nil))
        let cards = Shelves(state).cards
        #expect(Set(cards.map(\.place.section)) == [.recent, .all])
        for card in cards {
            #expect(card.area.row >= 2 && card.area.row + card.area.rows <= rows - 1)
            let others = cards.filter {
                $0.place != card.place && $0.area.column == card.area.column
            }
            #expect(others.allSatisfy { abs($0.area.row - card.area.row) > card.area.rows })
        }
    }

    @Test func `the mouse selects, and opens what is selected`() throws {
        var state = browser(["a", "b", "c"])
        let card = try #require(Shelves(state).cards.last)
        let event = BrowserEvent.input(
            .mouse(MouseEvent(.press, column: card.area.column + 2, row: card.area.row + 1)))
        #expect(state.update(event) == [])
        #expect(state.selected?.path == "c")
        #expect(state.update(event) == [.open("c")])
    }

    @Test func `any keys at all keep it whole`() {
        var generator = Numbers(seed: 7)
        let keys: [Key] = [
            .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .delete, .enter, .escape,
            .backspace, .function(1), .function(2), .character("a"), .character("y"),
            .character("n"), .character("u"), .character("p"),
        ]
        for _ in 0..<30 {
            var state = browser(["a", "ab", "b/c", "d.shape"], shape: shape(60, 20))
            for _ in 0..<200 {
                let key = keys[Int(generator.next() % UInt64(keys.count))]
                let modifiers: Modifiers = generator.next() % 4 == 0 ? .control : []
                _ = press(key, &state, modifiers)
                if generator.next() % 20 == 0 {
                    let count = generator.next() % 6
                    _ = state.update(
                        .listed((0..<count).map { entry("e\($0)", $0 + 1) }, problem: nil))
                }
                let shelves = Shelves(state)
                #expect(state.selection == nil || shelves.places.contains(state.selection!))
                _ = state.screen
            }
        }
    }
}

/// Pseudo-random numbers.
private struct Numbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}

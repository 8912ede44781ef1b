import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// Undo and redo in the editor while others edit the document: it has one history for all.
@Suite(.oneAtATime) struct SharedUndoTests {
    private static let list = TaskList(items: [TaskItem("bread")])

    private func items(_ place: Workplace) -> [String] {
        ((try? TaskList.read(place.bytes)) ?? TaskList()).items.map(\.text)
    }

    /// An editor of the list in which milk was added, saved and undone.
    private func undoneMilk() throws -> (Workplace, PseudoTerminal) {
        let place = try Workplace("a.list", Self.list)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("bread"))
        terminal.type("amilk\r")
        #expect(terminal.wait { items(place) == ["milk", "bread"] })
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["bread"] })
        return (place, terminal)
    }

    @Test func `undo takes what others did only when that has been said`() throws {
        let place = try Workplace("a.list", Self.list)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("bread"))
        terminal.type("amilk\r")
        #expect(terminal.wait { items(place) == ["milk", "bread"] })
        #expect(try place.edit("list", "add", place.file, "rice").status == 0)
        #expect(terminal.shows("rice"))
        // The second of these was typed before anybody could read what the first one has said.
        terminal.type("uu")
        #expect(terminal.shows("Changed by others"))
        #expect(terminal.shows("u again undoes"))
        #expect(items(place) == ["rice", "milk", "bread"])
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["milk", "bread"] })
        // And this one is the editor's own.
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["bread"] })
        terminal.type("UUq")
        #expect(terminal.end() == 0)
        #expect(items(place).contains("milk"))
    }

    @Test func `undo does not take what others did since the screen was drawn`() throws {
        let place = try Workplace("a.list", Self.list)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("bread"))
        kill(terminal.process, SIGSTOP)
        #expect(try place.edit("list", "add", place.file, "rice").status == 0)
        terminal.type("u")
        kill(terminal.process, SIGCONT)
        #expect(terminal.shows("u again undoes"))
        #expect(items(place) == ["rice", "bread"])
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    @Test func `what was undone can be redone though others edited the document since`() throws {
        let (place, terminal) = try undoneMilk()
        #expect(try place.edit("list", "add", place.file, "rice").status == 0)
        #expect(terminal.shows("rice"))
        terminal.type("U")
        #expect(terminal.shows("Redone"))
        #expect(terminal.wait { items(place) == ["milk", "rice", "bread"] })
        terminal.type("Uq")
        #expect(terminal.end() == 0)
        #expect(items(place) == ["milk", "rice", "bread"])
    }

    @Test func `what others redid is not redone twice`() throws {
        let (place, terminal) = try undoneMilk()
        #expect(try place.edit("redo", place.file).status == 0)
        #expect(terminal.shows("Changed by others"))
        terminal.type("U")
        #expect(terminal.shows("Nothing to redo"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(items(place) == ["milk", "bread"])
    }

    @Test func `what others redid and edited upon before anybody looked is not redone twice`()
        throws
    {
        let (place, terminal) = try undoneMilk()
        #expect(terminal.shows("Undone"))
        kill(terminal.process, SIGSTOP)
        #expect(try place.edit("redo", place.file).status == 0)
        #expect(try place.edit("list", "add", place.file, "rice").status == 0)
        terminal.type("U")
        kill(terminal.process, SIGCONT)
        #expect(terminal.shows("Nothing to redo"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(items(place) == ["rice", "milk", "bread"])
    }

    @Test func `what others redid is undone and redone as one's own`() throws {
        let (place, terminal) = try undoneMilk()
        #expect(try place.edit("redo", place.file).status == 0)
        #expect(terminal.shows("Changed by others"))
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["bread"] })
        #expect(try place.edit("list", "add", place.file, "rice").status == 0)
        #expect(terminal.shows("rice"))
        terminal.type("U")
        #expect(terminal.wait { items(place) == ["milk", "rice", "bread"] })
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    /// A copy with the date of what it is a copy of.
    @Test func `undo does not take what others put in place, however old that says it is`() throws {
        let place = try Workplace("a.list", Self.list)
        #expect(try place.edit("list", "add", place.file, "milk").status == 0)
        let older = try Workplace("b.list", TaskList(items: [TaskItem("salt")]))
        #expect(try run(["touch", "-d", "2001-01-01", older.file]).status == 0)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("milk"))
        #expect(try run(["cp", "--preserve=timestamps", older.file, place.file]).status == 0)
        #expect(terminal.shows("salt"))
        terminal.type("u")
        #expect(terminal.shows("u again undoes"))
        #expect(items(place) == ["salt"])
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["milk", "bread"] })
        // What was there when it began is everybody's.
        terminal.type("u")
        #expect(terminal.wait { items(place) == ["bread"] })
        terminal.type("q")
        #expect(terminal.end() == 0)
    }
}

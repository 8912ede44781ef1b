import Glibc
import Probing
import TestSupport
import Testing

/// Histories that cannot be written down: what is done is done, and what cannot be undone or redone is said.
@Suite(.oneAtATime) struct UnkeptHistoryTests {
    @Test func `an edit that cannot be undone says so`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            // A file where the folder of the histories should be.
            try desk.shell("touch blocked")
            let binary = try BuiltPrograms.shapeedit()
            for home in ["XDG_STATE_HOME='\(desk.path("blocked"))'", "-u XDG_STATE_HOME -u HOME"] {
                let said = try desk.shell(
                    "env \(home) '\(binary)' set s.shape title='\(home.count)' 2>&1")
                #expect(said.contains("s.shape: it cannot be undone"), "\(said)")
            }
            #expect(try desk.shapeedit(["set", "s.shape", "title=x"]).errorText.isEmpty)
            // Nor can one whose state cannot be written where earlier ones are.
            try desk.shell("cd '\(desk.stateHome)/shapeedit/history'/* && mkdir steps.new")
            let said = try desk.shapeedit(["title", "s.shape", "y"]).errorText
            #expect(said.contains("s.shape: it cannot be undone"), "\(said)")
        }
    }

    @Test(arguments: Desk.places) func `an undo that cannot be taken back says so`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            for title in ["one", "two"] { try desk.run("title", "s.shape", title) }
            try desk.shell("cd '\(desk.stateHome)/shapeedit/history'/* && mkdir steps.new")
            let undone = try desk.shapeedit(["undo", "s.shape"])
            #expect(undone.status == 0)
            #expect(undone.errorText.contains("s.shape: it cannot be redone: its history"))
            #expect(try desk.run("get", "s.shape", "title") == "one\n")
            try desk.shell("cd '\(desk.stateHome)/shapeedit/history'/* && rmdir steps.new")
            try desk.run("title", "s.shape", "three")
            #expect(try desk.shapeedit(["undo", "s.shape"]).errorText.isEmpty)
            #expect(try desk.shapeedit(["redo", "s.shape"]).errorText.isEmpty)
            #expect(try desk.run("get", "s.shape", "title") == "three\n")
        }
    }

    @Test func `a history goes with what was written, not to what others put in its place then`()
        throws
    {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            // The next state waits for somebody to read it, when the document is written already.
            let fifo =
                try desk.shell(
                    "cd '\(desk.stateHome)/shapeedit/history'/* && mkfifo 2.new && pwd"
                ).dropLast() + "/2.new"
            try desk.run("new", "other.shape")
            for title in ["theirs", "later"] { try desk.run("title", "other.shape", title) }
            let edit = try desk.start(["title", "s.shape", "two"])
            waitUntil { (try? desk.get("s.shape", "title")) == "two" || !edit.isRunning }
            try desk.shell("mv other.shape s.shape")
            try desk.shell("timeout 60 cat '\(fifo)'")
            #expect(edit.wait().status == 0)
            let steps = try HistoryTests.steps(desk, "s.shape").0
            #expect(steps.suffix(2) == ["title theirs", "title later"])
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "theirs")
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// Histories of which something was damaged, by a loss of power or by hand.
@Suite(.oneAtATime) struct DamagedHistoryTests {
    @Test(arguments: [": >", "printf x >>"])
    func `undo puts no damaged state into the document`(_ damage: String) throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            try desk.run("title", "s.shape", "two")
            // As after a power failure: nothing waited for the state "title one" to be on the disk.
            try desk.shell(
                "cd \"$(dirname \"$(find '\(desk.stateHome)/shapeedit' -name steps)\")\" && "
                    + "\(damage) 1")
            let found = try desk.shapeedit(["undo", "s.shape"])
            #expect(found.status == 0 && found.errorText.contains("passed over 1 state"))
            // The one before it, which has no title.
            try desk.fail(65, "get", "s.shape", "title")
            #expect(try desk.get("s.shape", "Sphere.shape") == "sphere")
            try desk.fail(65, "undo", "s.shape")
            try desk.run("redo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "two")
            try desk.run("title", "s.shape", "three")
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "two")
        }
    }

    /// What becomes of the state of the title "two", the third, or of its line.
    @Test(arguments: [
        ": > \"$h/2\"", "rm \"$h/2\"", "printf x >> \"$h/2\"", "sed -i '4s/.*/\\x00/' \"$h/steps\"",
    ])
    func `a damaged state bars no other one`(_ damage: String) throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            for title in ["one", "two", "three", "four"] { try desk.run("title", "s.shape", title) }
            try desk.shell("h=$(echo '\(desk.stateHome)'/shapeedit/history/*); \(damage)")
            let left = ["as it was found", "title one", "title three", "title four"]
            #expect(try HistoryTests.steps(desk, "s.shape").0 == left)
            try desk.run("undo", "s.shape")
            let second = try desk.shapeedit(["undo", "s.shape"])
            #expect(second.status == 0)
            #expect(try desk.get("s.shape", "title") == "one")
            let isSaid = second.errorText.contains("passed over 1 state that cannot be read")
            #expect(isSaid || damage.contains("steps"), "\(second)")
            try desk.run("undo", "s.shape")
            try desk.fail(65, "undo", "s.shape")
            for title in ["one", "three", "four"] {
                try desk.run("redo", "s.shape")
                #expect(try desk.get("s.shape", "title") == title)
            }
            // The current one is there, so it is put right.
            try desk.shell(": > \"$(echo '\(desk.stateHome)'/shapeedit/history/*)/4\"")
            try desk.run("undo", "s.shape")
            try desk.run("redo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "four")
        }
    }

    @Test(arguments: [
        // The times of all states, and the number of the next one.
        #"2,$s/^([0-9]+) [0-9]+ /\1 9223372036854775807 /"#,
        #"1s/^([0-9]+) [0-9]+ /\1 9223372036854775807 /"#,
    ])
    func `a history with the largest numbers costs no document`(_ damage: String) throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "mine")
            try desk.shell(
                "find '\(desk.stateHome)/shapeedit' -name steps -exec sed -i -E '\(damage)' {} +")
            #expect(
                try desk.shell("grep -r 9223372036854775807 '\(desk.stateHome)/shapeedit' | wc -l")
                    != "0\n")
            try desk.shell(
                #"printf '{"version": 1, "title": "theirs", "nodes": []}' > s.shape"#)
            try desk.run("title", "s.shape", "mine again")
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "theirs")
        }
    }
}

import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct HistoryTests {
    /// Descriptions of the steps, and which one is current.
    static func steps(_ desk: Desk, _ file: String) throws -> ([String], Int?) {
        let steps =
            try JSONValue.read(try desk.run("history", file, "--json"))["steps"]?.elements ?? []
        return (
            steps.compactMap { $0["description"]?.text },
            steps.firstIndex { $0["current"] == .boolean(true) }
        )
    }

    @Test(arguments: Desk.places)
    func `undo and redo step through what was done`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            var states = [try #require(desk.bytes("s.shape"))]
            for title in ["one", "two", "three"] {
                try desk.run("title", "s.shape", title)
                states.append(try #require(desk.bytes("s.shape")))
            }
            for state in states.dropLast().reversed() {
                try desk.run("undo", "s.shape")
                #expect(desk.bytes("s.shape") == state)
            }
            try desk.fail(65, "undo", "s.shape")
            for state in states.dropFirst() {
                try desk.run("redo", "s.shape", "--json")
                #expect(desk.bytes("s.shape") == state)
            }
            try desk.fail(65, "redo", "s.shape")
            // A new edit takes the place of what was undone.
            try desk.run("undo", "s.shape")
            try desk.run("title", "s.shape", "other")
            try desk.fail(65, "redo", "s.shape")
            let (steps, current) = try Self.steps(desk, "s.shape")
            #expect(steps.suffix(3) == ["title one", "title two", "title other"])
            #expect(current == steps.count - 1)
        }
    }

    @Test func `what history shows can be typed again`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            let texts = ["two words", "it's", "#1", "plain", "$HOME", "käse; rm *", "\"q\""]
            try desk.run("list", "add", "a.list", "first")
            for text in texts {
                try desk.run("list", "edit", "a.list", "1", text)
                let stated = try #require(try Self.steps(desk, "a.list").0.last)
                #expect(stated.hasPrefix("list edit 1 "), "\(stated)")
                let words = try desk.shell("printf '%s\\n' \(stated)")
                #expect(words == "list\nedit\n1\n\(text)\n", "\(stated)")
                // In scripts too.
                try desk.run("undo", "a.list")
                try desk.run("apply", "a.list", "-", input: Array(stated.utf8))
                #expect(try desk.run("list", "show", "a.list") == "1. [ ] \(text)\n")
            }
            try desk.run("list", "add", "a.list", "a", "b c")
            #expect(try Self.steps(desk, "a.list").0.last == "list add a 'b c'")
        }
    }

    @Test(arguments: Desk.places)
    func `the history goes with the document to another name`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            try desk.shell("mkdir sub && mv s.shape sub/t.shape")
            #expect(try desk.run("undo", "sub/t.shape").contains("title one"))
            #expect(try desk.run("redo", "sub/t.shape").contains("title one"))
            try desk.run("title", "sub/t.shape", "two")
            #expect(try Self.steps(desk, "sub/t.shape").0.suffix(2) == ["title one", "title two"])
            // Another document under the old name has a history of its own.
            try desk.run("new", "s.shape")
            try desk.fail(65, "undo", "s.shape")
        }
    }

    @Test(arguments: Desk.places)
    func `a document keeps its history when it is moved and then written by another program`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            let edited = try #require(desk.bytes("s.shape"))
            try desk.shell("mkdir -p folder; mv s.shape folder/t.shape")
            // In place: the file stays the same one.
            try desk.shell("sed s/one/two/ folder/t.shape > text; cat text > folder/t.shape")
            try desk.run("undo", "folder/t.shape")
            #expect(desk.bytes("folder/t.shape") == edited)
            try desk.run("undo", "folder/t.shape")
            #expect(try desk.run("get", "folder/t.shape").contains("title: one") == false)
            try desk.run("redo", "folder/t.shape")
            try desk.run("redo", "folder/t.shape")
            #expect(try desk.run("get", "folder/t.shape", "title") == "two\n")
        }
    }

    @Test func `a file has no history of one that was removed, even if it got the inode`() throws {
        try withDesk(.plain) { desk in
            // Each edit makes a new inode: after an even number of them ext4 gives the new file that of
            // the removed one.
            for edits in 1...4 {
                try desk.run("new", "a.list")
                for number in 1...edits { try desk.run("list", "add", "a.list", "old \(number)") }
                try desk.shell("rm a.list")
                try desk.run("new", "a.list")
                #expect(try Self.steps(desk, "a.list").0 == ["as it was found"])
                try desk.fail(65, "undo", "a.list")
                try desk.shell("rm a.list")
            }
            // Nor if it begins as the removed one was last.
            try desk.run("new", "a.list")
            for text in ["old", "older"] { try desk.run("list", "add", "a.list", text) }
            for _ in 1...2 { try desk.run("undo", "a.list") }
            try desk.shell("rm a.list")
            try desk.run("new", "a.list")
            try desk.fail(65, "redo", "a.list")
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `a container has no history of another one that had its name`(_ place: DataPath) throws {
        let stateHome = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(stateHome) }
        for title in ["first", "second"] {
            // Both containers are called "test", and the document has the same id in both.
            try withVolume(place) { volume in
                let desk = Desk(volume: volume, stateHome: stateHome)
                try desk.run("new", "s.shape")
                try desk.fail(65, "undo", "s.shape")
                try desk.fail(65, "redo", "s.shape")
                try desk.run("title", "s.shape", title)
                // It is the same container the next time.
                try desk.volume.remount()
                #expect(try Self.steps(desk, "s.shape").0.last == "title \(title)")
                try desk.run("undo", "s.shape")
            }
        }
    }

    @Test(arguments: Desk.places)
    func `a save by another program can be undone`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "mine")
            let mine = desk.bytes("s.shape")
            try desk.shell("sed s/mine/theirs/ s.shape > new && cat new > s.shape && rm new")
            #expect(try desk.get("s.shape", "title") == "theirs")
            let undone = try desk.run("undo", "s.shape")
            #expect(undone.contains(place == .plain ? "another program" : "the version of 20"))
            #expect(desk.bytes("s.shape") == mine)
            try desk.run("redo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "theirs")
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"), .timeLimit(.minutes(2)),
        arguments: DataPath.mounts.prefix(1))
    func `undo goes back into versions that other programs saved`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for title in ["first", "second", "third"] {
                try desk.shell(
                    #"printf '{"version": 1, "title": "\#(title)", "nodes": []}' > s.shape"#)
                // Saves less than two seconds apart count as one version.
                usleep(2_060_000)
            }
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "second")
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "first")
            try desk.fail(65, "undo", "s.shape")
            try desk.run("redo", "s.shape")
            try desk.run("redo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "third")
            // It survives the mount.
            try desk.run("undo", "s.shape")
            try desk.volume.remount()
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "first")
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"), .timeLimit(.minutes(2)),
        arguments: DataPath.mounts.prefix(1))
    func `who goes back beyond a full history can come forth to its newest state`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            for title in ["first", "second"] {
                try desk.shell(
                    #"printf '{"version": 1, "title": "\#(title)", "nodes": []}' > s.shape"#)
                // Saves less than two seconds apart count as one version.
                usleep(2_060_000)
            }
            try desk.run("title", "s.shape", "third")
            try desk.run("undo", "s.shape")
            // As after a hundred edits that were all taken back: as many states as a history holds.
            try desk.shell(
                "cd \"$(dirname \"$(find '\(desk.stateHome)/shapeedit' -name steps)\")\" && "
                    + "awk 'NR == 2 { for (i = 0; i < 98; i++) print } 1' steps > more && "
                    + "mv more steps")
            let (full, _) = try Self.steps(desk, "s.shape")
            #expect(full.count == 101 && full.last == "title third", "\(full)")
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "first")
            let (steps, current) = try Self.steps(desk, "s.shape")
            #expect(steps.count == 101 && steps.last == "title third", "\(steps)")
            #expect(current == 0)
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `states that somebody else's edits made are called by their time`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            let other = Desk(volume: desk.volume, stateHome: desk.stateHome + "/other")
            try other.run("new", "s.shape")
            for title in ["one", "two", "three"] {
                try other.run("title", "s.shape", title)
                // Saves less than two seconds apart count as one version.
                usleep(2_060_000)
            }
            for _ in 1...2 {
                let undone = try desk.run("undo", "s.shape")
                let words = undone.split(separator: " ", omittingEmptySubsequences: true)
                #expect(undone.hasPrefix("s.shape: undone: the version of 20"), "\(undone)")
                let moment = words.suffix(2).joined(separator: " ").dropLast()
                let stamp = try desk.shell("date -d '\(moment)' +%s")
                let age =
                    try #require(Int(try desk.shell("date +%s").dropLast()))
                    - (try #require(Int(stamp.dropLast())))
                #expect((0...60).contains(age), "\(undone)")
            }
            #expect(try desk.get("s.shape", "title") == "one")
            #expect(try Self.steps(desk, "s.shape").0.allSatisfy { $0.hasPrefix("the version of") })
            // Whose edits they were still knows them.
            #expect(try Self.steps(other, "s.shape").0.contains("title two"))
        }
    }

    @Test(arguments: Desk.places)
    func `a state that others made is told with its own time, in the order of the states`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            func save(_ title: String, _ moment: String) throws {
                try desk.shell(
                    #"printf '{"version": 1, "title": "\#(title)", "nodes": []}' > s.shape"#
                        + " && touch -d '\(moment)' s.shape")
            }
            func times() throws -> [String] {
                let steps = try JSONValue.read(try desk.run("history", "s.shape", "--json"))
                return (steps["steps"]?.elements ?? []).compactMap { $0["time"]?.text }
            }
            try save("first", "2020-02-02 12:00:00")
            #expect(try times().map { $0.prefix(10) } == ["2020-02-02"])
            try desk.run("title", "s.shape", "mine")
            // Older than what it replaces, and younger than all.
            for moment in ["2019-01-01", "2199-01-01"] {
                try save("theirs of \(moment)", moment)
                let now = try times()
                #expect(now == now.sorted() && (now.last ?? "") < "2190", "\(now)")
                try desk.run("title", "s.shape", "mine again after \(moment)")
            }
            for title in [
                "theirs of 2199-01-01", "mine again after 2019-01-01", "theirs of 2019-01-01",
                "mine", "first",
            ] {
                try desk.run("undo", "s.shape")
                #expect(try desk.get("s.shape", "title") == title)
            }
            try desk.fail(65, "undo", "s.shape")
        }
    }

    @Test func `without a place for histories documents are edited all the same`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let stateless = Desk(volume: desk.volume, stateHome: "/proc/nowhere")
            try stateless.run("title", "s.shape", "one")
            #expect(try desk.get("s.shape", "title") == "one")
            try stateless.fail(65, "undo", "s.shape")
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `what undo replaces stays among the versions if no history has it`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            let stateless = Desk(volume: desk.volume, stateHome: "/proc/nowhere")
            func save(_ title: String) throws -> String {
                try desk.shell(
                    #"printf '{"version": 1, "title": "\#(title)", "nodes": []}' > s.shape"#)
                return try #require(try desk.versionNames("s.shape").last)
            }
            // The rule would let it go before it is gone back to.
            try desk.run("pin-version", "s.shape", try save("first"))
            let second = try save("second")
            try stateless.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "first")
            try desk.letRetentionLook(at: "s.shape")
            #expect(try desk.versionNames("s.shape").contains(second))
            try stateless.run("restore", "s.shape", second)
            #expect(try desk.get("s.shape", "title") == "second")
        }
    }

    /// The editor calls a state after the line that was typed.
    @Test func `a history is not lost for what a state is called`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            try desk.run("title", "s.shape", "two")
            try desk.shell(
                "find '\(desk.stateHome)/shapeedit' -name steps "
                    + "-exec sed -i 's/title two/\u{301}B.color=red/' {} +")
            let (steps, _) = try Self.steps(desk, "s.shape")
            #expect(steps.suffix(2) == ["title one", "\u{301}B.color=red"])
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "one")
        }
    }

    @Test func `a history of a program that noted no hashes is read`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "one")
            try desk.run("title", "s.shape", "two")
            try desk.shell(
                "find '\(desk.stateHome)/shapeedit' -name steps "
                    + "-exec sed -i 's/ sha256:[0-9a-f]*//' {} +")
            #expect(try Self.steps(desk, "s.shape").0.suffix(2) == ["title one", "title two"])
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "one")
        }
    }

    @Test func `undo takes nothing back that it cannot keep`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "mine")
            let theirs = #"{"version": 1, "title": "theirs", "nodes": []}"#
            try desk.write(theirs, to: "s.shape")
            let steps = try desk.shell("find '\(desk.stateHome)/shapeedit' -name steps")
            // Where the next state is to be kept, as if there were no room for it.
            let next = steps.dropLast("steps\n".count) + "2"
            try desk.shell("mkdir -p '\(next)/full'")
            #expect(try desk.fail(74, "undo", "s.shape").contains("nothing was changed"))
            #expect(try desk.get("s.shape", "title") == "theirs")
            try desk.shell("rm -r '\(next)'")
            try desk.run("undo", "s.shape")
            #expect(try desk.get("s.shape", "title") == "mine")
            try desk.run("redo", "s.shape")
            #expect(desk.bytes("s.shape") == Array(theirs.utf8))
        }
    }

    @Test func `histories are the user's own`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "secret")
            let open = try desk.shell(
                "find '\(desk.stateHome)/shapeedit' -type f -perm /077 | wc -l")
            #expect(open == "0\n")
        }
    }
}

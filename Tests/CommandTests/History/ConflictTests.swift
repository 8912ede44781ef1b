import Glibc
import TestSupport
import Testing

/// Conflict versions: who replaces what it has not seen, `conflicts`, `resolve`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ConflictTests {
    /// How an editor saves.
    enum Save: String, CaseIterable, Sendable {
        case inPlace, renameOver, backup, unlink

        /// In this process, which is what the mount goes by.
        func save(_ text: String, _ path: String) throws {
            switch self {
            case .inPlace: try write(text, path, O_TRUNC)
            case .renameOver:
                try write(text, path + ".tmp", O_CREAT)
                try #require(rename(path + ".tmp", path) == 0)
            case .backup:
                try #require(rename(path, path + "~") == 0)
                try write(text, path, O_CREAT | O_EXCL)
            case .unlink:
                try #require(Glibc.unlink(path) == 0)
                try write(text, path, O_CREAT | O_EXCL)
            }
        }

        private func write(_ text: String, _ path: String, _ flags: Int32) throws {
            let file = open(path, O_WRONLY | flags, 0o644)
            try #require(file >= 0, "\(path): \(errno)")
            defer { close(file) }
            let bytes = Array(text.utf8)
            try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        }
    }

    private static func read(_ desk: Desk, _ file: String) -> String? {
        desk.bytes(file).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func conflicts(_ desk: Desk, _ file: String) throws -> [JSONValue] {
        let found = try JSONValue.read(try desk.run("conflicts", file, "--json")).elements
        return found.flatMap { $0["versions"]?.elements ?? [] }
    }

    /// This process saves what it made of a version that another one has replaced since.
    private static func clash(_ desk: Desk, _ file: String, _ save: Save = .inPlace) throws {
        try desk.shell("printf 'the first text' > \(file)")
        #expect(read(desk, file) == "the first text")
        try desk.shell("printf 'theirs' > \(file)")
        try save.save("mine", desk.path(file))
        #expect(read(desk, file) == "mine")
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `documents that go while conflicts are listed are left out`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for number in 10..<40 { try Self.clash(desk, "c\(number).txt") }
            try desk.shell("for file in c*.txt; do rm $file; sleep 0.01; done > rm.log 2>&1 &")
            // Each listing has to succeed, whatever goes meanwhile.
            var rounds = 0
            while rounds < 200, try !desk.run("conflicts", ".").isEmpty { rounds += 1 }
            #expect(rounds < 200)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a listing of conflicts shows what stays while others go`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let names = (10..<40).map { String(repeating: "\($0)", count: 80) }
            for name in names { try Self.clash(desk, name) }
            let agent = try desk.volume.agent()
            let folder = agent.open(
                desk.volume.root + "/.shapeedit/conflicts", O_RDONLY | O_DIRECTORY)
            var seen = Set(agent.nextEntries(folder, count: 4096).map(\.name.text))
            #expect(seen.count > 2 && seen.count < names.count)
            for name in names[..<5] { agent.unlink(ByteString(name)) }
            while true {
                let some = agent.nextEntries(folder, count: 4096).map(\.name.text)
                if some.isEmpty { break }
                seen.formUnion(some)
            }
            #expect(seen.isSuperset(of: names[5...]), "\(seen.count)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1), Save.allCases)
    func `what is replaced unseen stays as a conflict version`(
        _ place: DataPath, _ save: Save
    ) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt", save)
            let versions = try Self.conflicts(desk, "note.txt")
            try #require(versions.count == 1)
            let name = try #require(versions[0]["version"]?.text)
            #expect(versions[0]["conflict"] == .boolean(true))
            #expect(
                try desk.shell(
                    "getfattr --only-values -n user.shapeedit.conflicts note.txt") == name)
            let links = try desk.shell("ls '\(desk.volume.root.text)/.shapeedit/conflicts'")
            #expect(links == "note.txt\n")
            #expect(try desk.run("conflicts", ".").contains("\n  "))
            // The replaced content is there to read, and is the way back.
            try desk.run("resolve", "note.txt", "--keep", name)
            #expect(Self.read(desk, "note.txt") == "theirs")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            #expect(try desk.run("conflicts", ".").isEmpty)
            try desk.run("restore", "note.txt")
            #expect(Self.read(desk, "note.txt") == "mine")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1), Save.allCases)
    func `who has seen what is replaced, or never saw the document, makes no conflict`(
        _ place: DataPath, _ save: Save
    ) throws {
        try withDesk(place) { desk in
            // A new process that has seen nothing.
            try desk.shell("printf one > note.txt; printf two > note.txt; printf three > note.txt")
            // This one: read, changed by others, read again, saved; and saved again.
            #expect(Self.read(desk, "note.txt") == "three")
            try desk.shell("printf four > note.txt")
            #expect(Self.read(desk, "note.txt") == "four")
            try save.save("five", desk.path("note.txt"))
            try save.save("six", desk.path("note.txt"))
            // Others append, and change in place: that takes nothing away.
            #expect(Self.read(desk, "note.txt") == "six")
            try desk.shell("printf ' and more' >> note.txt")
            let file = open(desk.path("note.txt"), O_WRONLY | O_APPEND)
            #expect(write(file, "!", 1) == 1)
            close(file)
            #expect(Self.read(desk, "note.txt") == "six and more!")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            #expect(try desk.fail(65, "resolve", "note.txt", "--keep", "both").contains("note.txt"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a shell goes on with what its programs have left`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            // One that has a script to do has nothing of the document in memory.
            for step in [
                "sed -i s/one/two/ note.txt", "seq 3 > two; cp two note.txt; cat note.txt",
                "(echo two > note.txt)", "sh -c 'sh -c \"seq 3 > note.txt\"; true'",
                "seq 3 | tee note.txt", "printf two > two; mv two note.txt", "seq 3 > note.txt",
            ] {
                try desk.shell("echo one > note.txt; \(step); echo three > note.txt")
                #expect(try Self.conflicts(desk, "note.txt").isEmpty, "\(step)")
            }
            // What others do in between it has not seen, unless a program of its own has.
            for (look, count) in [("cat note.txt", 0), (":", 1)] {
                try desk.shell(
                    """
                    sh -c 'echo one > note.txt; sleep 1; \(look); echo three > note.txt' &
                    sleep 0.4; echo two > note.txt; wait
                    """)
                #expect(try Self.conflicts(desk, "note.txt").count == count, "\(look)")
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a conflict is kept through retention and a remount, and resolved by keeping both`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            // Saves in the same second would thin it out.
            for text in ["more", "and more", "and more still"] {
                #expect(Self.read(desk, "note.txt") != nil)
                try Save.inPlace.save(text, desk.path("note.txt"))
            }
            try desk.volume.remount()
            #expect(try Self.conflicts(desk, "note.txt").count == 1)
            let answer = try JSONValue.read(
                try desk.run("resolve", "note.txt", "--keep", "both", "--json"))
            #expect(answer["kept"]?.text == "both")
            let copy = try #require(answer["copies"]?.elements.first?.text)
            #expect(copy.hasPrefix("note (conflict of ") && copy.hasSuffix(").txt"), "\(copy)")
            #expect(Self.read(desk, copy) == "theirs")
            #expect(Self.read(desk, "note.txt") == "and more still")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
        }
    }

    /// The copy went to the folder for temporary files, and the conflict was over.
    @Test(
        .enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "only root acts as others"),
        arguments: DataPath.mounts.prefix(1))
    func `a conflict of which both cannot be kept stays one`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            try desk.shell("chown 65534 note.txt && chmod 755 .")
            let result = try desk.shell(
                """
                TMPDIR=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups \
                    \(try BuiltPrograms.shapeedit()) resolve note.txt --keep both 2>&1 || echo refused $?
                """)
            #expect(result.contains("Permission denied"), "\(result)")
            #expect(result.contains("refused \(EX_NOPERM)"), "\(result)")
            #expect(try Self.conflicts(desk, "note.txt").count == 1)
            try desk.run("resolve", "note.txt", "--keep", "both")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            #expect(try desk.shell("ls").contains("note (conflict of "))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a conflict version that is resolved stays among the others`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            let conflict = try #require(try Self.conflicts(desk, "note.txt").first)
            let theirs = try #require(conflict["version"]?.text)
            try desk.run("resolve", "note.txt", "--keep", "current")
            try desk.letRetentionLook(at: "note.txt")
            #expect(try desk.versionNames("note.txt").contains(theirs))
            try desk.run("restore", "note.txt", theirs)
            #expect(Self.read(desk, "note.txt") == "theirs")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `keeping both of a document with the longest name shortens the copy's name`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            // 255 bytes, of which the stem has 125 letters of two bytes and one of one.
            let name = "x" + String(repeating: "\u{e9}", count: 125) + ".txt"
            try Self.clash(desk, name)
            let answer = try JSONValue.read(
                try desk.run("resolve", name, "--keep", "both", "--json"))
            let copy = try #require(answer["copies"]?.elements.first?.text)
            #expect(copy.utf8.count > 252 && copy.utf8.count <= 255, "\(copy)")
            #expect(copy.hasPrefix("x\u{e9}") && copy.contains("\u{e9} (conflict of "), "\(copy)")
            #expect(copy.hasSuffix(").txt"), "\(copy)")
            #expect(Self.read(desk, copy) == "theirs")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a program merges, and one that gives up changes nothing`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            let complaint = try desk.fail(70, "resolve", "note.txt", "--merge", "exit 3")
            #expect(complaint.contains("3") && complaint.contains("note.txt"))
            #expect(Self.read(desk, "note.txt") == "mine")
            #expect(try Self.conflicts(desk, "note.txt").count == 1)
            try desk.run(
                "resolve", "note.txt", "--merge",
                #"(cat "$LOCAL"; printf ' and '; cat "$REMOTE") > "$MERGED"; "#
                    + #"cp "$LOCAL" "$MERGED.orig"; dirname "$MERGED" > '\#(desk.path("where"))'"#)
            #expect(Self.read(desk, "note.txt") == "mine and theirs")
            // Its backups go with its copies.
            let folder = try desk.shell("cat where").filter { $0 != "\n" }
            #expect(folder.hasPrefix("/") && access(folder, F_OK) != 0, "\(folder)")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            // Who saves while somebody merges is not overwritten.
            try Self.clash(desk, "other.txt")
            let late = try desk.fail(
                75, "resolve", "other.txt", "--merge",
                "printf merged > \"$MERGED\"; printf late > '\(desk.path("other.txt"))'")
            #expect(late.contains("other.txt"))
            #expect(Self.read(desk, "other.txt") == "late")
            #expect(try Self.conflicts(desk, "other.txt").isEmpty == false)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a conflict of one document is not marked through another`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            try desk.shell("echo other > other.txt")
            let found = try Self.conflicts(desk, "note.txt")
            let version = try #require(found.first?["version"]?.text)
            try desk.volume.agent().setAttribute(
                "other.txt", "user.shapeedit.conflict.\(version)", "unresolved", fails: ENOENT)
            #expect(try Self.conflicts(desk, "note.txt").count == 1)
            #expect(try Self.conflicts(desk, "other.txt").isEmpty)
            let links = try desk.shell("ls '\(desk.volume.root.text)/.shapeedit/conflicts'")
            #expect(links == "note.txt\n", "\(links)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document with the longest name is merged, and programs see its ending`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            let name = String(repeating: "n", count: 251) + ".txt"
            try Self.clash(desk, name)
            try desk.run(
                "resolve", name, "--merge",
                #"case "$LOCAL$REMOTE$MERGED" in *.txt/*.txt/*.txt) ;; *) exit 9;; esac; "#
                    + #"cat "$LOCAL" "$REMOTE" > "$MERGED""#)
            #expect(Self.read(desk, name) == "minetheirs")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `resolving waits for a program that is writing, as restoring does`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try Self.clash(desk, "note.txt")
            let name = try #require(try Self.conflicts(desk, "note.txt").first?["version"]?.text)
            let agent = try desk.volume.agent()
            let file = agent.open("note.txt", O_RDWR | O_TRUNC)
            agent.write(file, "unsaved")
            // At the same time, because each waits for long.
            let programs = try [["--keep", name], ["--merge", "cp \"$REMOTE\" \"$MERGED\""]].map {
                try desk.start(["resolve", "note.txt"] + $0)
            }
            for program in programs {
                let result = program.wait()
                #expect(result.status == 75, "\(result)")
                #expect(result.errorText.contains("process \(agent.process)"), "\(result)")
            }
            agent.close(file)
            #expect(Self.read(desk, "note.txt") == "unsaved")
            #expect(try Self.conflicts(desk, "note.txt").map { $0["version"]?.text }.contains(name))
            try desk.run("resolve", "note.txt", "--keep", name)
            #expect(Self.read(desk, "note.txt") == "theirs")
            try desk.run("restore", "note.txt")
            #expect(Self.read(desk, "note.txt") == "unsaved")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `two programs that never read make no endless pile`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf first > note.txt")
            for round in 0..<20 {
                #expect(Self.read(desk, "note.txt") != nil)
                try desk.shell("printf 'theirs \(round)' > note.txt")
                try Save.inPlace.save("mine \(round)", desk.path("note.txt"))
            }
            #expect(try Self.conflicts(desk, "note.txt").count == 16)
            try desk.run("resolve", "note.txt", "--keep", "current")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            #expect(Self.read(desk, "note.txt") == "mine 19")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a program marks versions of its own document, and only those`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > note.txt; sleep 2.3; printf two > note.txt; printf x > b")
            let old = try desk.shell(
                "ls '\(desk.volume.root.text)/.shapeedit/versions/work/note.txt'")
            let name = try #require(old.split(separator: "Z-").last?.split(separator: ".").first)
            try desk.shell("setfattr -n user.shapeedit.conflict.\(name) -v unresolved note.txt")
            #expect(try Self.conflicts(desk, "note.txt").count == 1)
            for bad in [
                "-n user.shapeedit.conflict.\(name) -v unresolved b",
                "-n user.shapeedit.conflict.\(name) -v nonsense note.txt",
                "-n user.shapeedit.conflict.9999-1 -v unresolved note.txt",
            ] {
                #expect(try desk.shell("setfattr \(bad) 2>&1 || true").isEmpty == false)
            }
            try desk.shell("setfattr -n user.shapeedit.conflict.\(name) -v none note.txt")
            #expect(try Self.conflicts(desk, "note.txt").isEmpty)
            #expect(try desk.fail(64, "resolve", "note.txt").contains("--keep"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"), arguments: DataPath.mounts.prefix(1))
    func `a process that has the number of an earlier one has not seen what that one saw`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 'the first text' > file.txt")
            let script = """
                import os, sys, time
                def run(number, act):
                    for _ in range(1000):
                        with open("/proc/sys/kernel/ns_last_pid", "w") as last: last.write(str(number - 1))
                        child = os.fork()
                        if child == 0:
                            if os.getpid() == number: act()
                            os._exit(0)
                        assert os.waitpid(child, 0)[1] == 0
                        if child == number: return
                    sys.exit("no such number")
                def free(number):
                    while os.path.exists(f"/proc/{number}"): number += 1
                    return number
                first = free(20000)
                run(first, lambda: open("file.txt").read())
                run(free(first + 50), lambda: open("file.txt", "w").write("theirs"))
                # A number cannot come again so soon.
                time.sleep(11)
                run(first, lambda: open("file.txt", "w").write("mine"))
                """
            try desk.shell("python3 -c '\(script)'")
            #expect(Self.read(desk, "file.txt") == "mine")
            #expect(try Self.conflicts(desk, "file.txt").isEmpty)
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// `versions`, `restore`, `pin-version`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct VersionCommandTests {
    /// Saves less than two seconds apart count as one.
    private static let apart: UInt32 = 2_060_000

    private static func text(_ desk: Desk, _ file: String) -> String? {
        desk.bytes(file).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a file goes back to an earlier version, and back again`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            // Longer than what the program copies at once, and of different lengths.
            let old = String(repeating: "the old text\n", count: 150_000)
            try desk.write(old, to: "note.txt")
            usleep(Self.apart)
            try desk.shell("printf new > note.txt")
            let before = try desk.versions("note.txt")
            #expect(before.count == 2)
            #expect(before.map { $0["current"] } == [.boolean(false), .boolean(true)])
            #expect(before.map { $0["size"] } == [.number(Double(old.utf8.count)), .number(3)])
            // Without a word it is the newest that differs, twice there and back.
            try desk.run("restore", "note.txt", "--json")
            #expect(Self.text(desk, "note.txt") == old)
            try desk.run("restore", "note.txt")
            #expect(Self.text(desk, "note.txt") == "new")
            // Nothing was lost on the way, although it went fast.
            let first = try #require(before.first?["version"]?.text)
            #expect(try desk.run("restore", "note.txt", first).contains(first))
            #expect(Self.text(desk, "note.txt") == old)
            #expect(try desk.run("restore", "note.txt", first).contains("nothing to change"))
            #expect(try desk.fail(66, "restore", "note.txt", "1-99").contains("1-99"))
            #expect(try desk.fail(66, "restore", "none.txt").contains("none.txt"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what a restore replaces stays, however soon it was saved before`(
        _ place: DataPath
    ) throws {
        func scene(_ title: String) -> String {
            #"{"version": 1, "title": "\#(title)", "nodes": []}"#
        }
        try withDesk(place) { desk in
            // What `undo` knows the states of, and what it does not.
            for file in ["drawing.shape", "note.txt"] {
                try desk.shell("printf '%s' '\(scene("first"))' > \(file)")
                let first = try #require(try desk.versionNames(file).last)
                // The rule would let it go before it is gone back to.
                try desk.run("pin-version", file, first)
                try desk.shell("printf '%s' '\(scene("second"))' > \(file)")
                let second = try #require(try desk.versionNames(file).last)
                try desk.run("restore", file, first)
                #expect(Self.text(desk, file) == scene("first"))
                try desk.letRetentionLook(at: file)
                #expect(try desk.versionNames(file).contains(second), "\(file)")
                try desk.run("restore", file, second)
                #expect(Self.text(desk, file) == scene("second"))
            }
        }
    }

    @Test(
        .enabled(if: isInstalled("strace"), "needs strace"), arguments: DataPath.mounts.prefix(1))
    func `a restore that is done is done, whatever becomes of its claim`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf old > note.txt")
            usleep(Self.apart)
            try desk.shell("printf new > note.txt")
            // The first message asks for the claim, the second one lets it go.
            try desk.shell(
                """
                strace -f -qq -o /dev/null -e trace=sendto -e inject=sendto:error=EPIPE:when=2 \
                    '\(try BuiltPrograms.shapeedit())' restore note.txt
                """)
            #expect(Self.text(desk, "note.txt") == "old")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `restoring waits for a program that is writing, and keeps what it wrote`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.shell("printf a > note.txt")
            usleep(Self.apart)
            try desk.shell("printf b > note.txt")
            usleep(Self.apart)
            let agent = try desk.volume.agent()
            let file = agent.open("note.txt", O_RDWR | O_TRUNC)
            agent.write(file, "unsaved")
            #expect(
                try desk.fail(75, "restore", "note.txt", desk.versionNames("note.txt")[0])
                    .contains("process \(agent.process)"))
            agent.close(file)
            usleep(Self.apart)
            try desk.run("restore", "note.txt", desk.versionNames("note.txt")[0])
            #expect(Self.text(desk, "note.txt") == "a")
            // What was written meanwhile is one of its versions.
            try desk.run("restore", "note.txt")
            #expect(Self.text(desk, "note.txt") == "unsaved")
        }
    }

    /// To a `String` the slash before such a name is no slash.
    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document whose name begins with a combining mark has versions`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            let name = "\u{301}x.shape"
            for title in ["first", "second"] {
                try desk.shell(
                    #"printf '{"version": 1, "title": "\#(title)", "nodes": []}' > "\#(name)""#)
                usleep(Self.apart)
            }
            #expect(try desk.versions(name).count == 2)
            try desk.run("undo", name)
            #expect(try desk.get(name, "title") == "first")
            try desk.run("restore", name)
            #expect(try desk.get(name, "title") == "second")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `versions are named once, also by the beginning of the moment`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > note.txt")
            usleep(Self.apart)
            // Every save by rename is another item.
            for text in ["two", "three"] {
                try desk.shell("printf \(text) > new && mv new note.txt")
                usleep(Self.apart)
            }
            let names = try desk.versionNames("note.txt")
            #expect(names.count == 3 && Set(names).count == 3, "\(names)")
            let folder = "\(desk.volume.root.text)/.shapeedit/versions/work/note.txt"
            let files = try desk.shell("ls '\(folder)'").split(separator: "\n").map(String.init)
            #expect(files.count == 2)
            let oldest = try #require(files.first)
            let moment = try #require(oldest.split(separator: "Z").first.map(String.init))
            try desk.run("restore", "note.txt", moment)
            #expect(Self.text(desk, "note.txt") == "one")
            // What all have in common names none.
            let common = String(moment.prefix(2))
            #expect(try desk.fail(66, "restore", "note.txt", common).contains("several"))
            let value = try desk.shell(
                "getfattr --only-values -n user.shapeedit.version '\(folder)/\(oldest)'")
            #expect(names.first == value)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `undo takes a restored document back`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "yours")
            usleep(Self.apart)
            try desk.run("title", "s.shape", "mine")
            let first = try #require(try desk.versionNames("s.shape").dropLast().last)
            try desk.run("restore", "s.shape", first)
            #expect(try desk.get("s.shape", "title") == "yours")
            #expect(try desk.run("undo", "s.shape").contains("restore \(first)"))
            #expect(try desk.get("s.shape", "title") == "mine")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a pinned version stays until it is unpinned`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            func isThere(_ name: String) throws -> Bool {
                try desk.versionNames("note.txt").contains(name)
            }
            /// Looks until it is gone, half a minute at most.
            func goes(_ name: String) throws -> Bool {
                for _ in 0..<100 {
                    if try !isThere(name) { return true }
                    usleep(300_000)
                }
                return false
            }
            // The file is not written again before the pin: it is the current version.
            try desk.shell("printf one > note.txt")
            let pinned = try #require(try desk.versionNames("note.txt").last)
            try desk.run("pin-version", "note.txt", pinned, "--json")
            // Saves in quick succession: the rule lets all but the last go.
            let other = try desk.shell(
                "printf two > note.txt; "
                    + "name=$(getfattr --only-values -n user.shapeedit.version note.txt); "
                    + "printf three > note.txt; printf '%s-%s' $(stat -c %i note.txt) $name")
            #expect(other.hasPrefix("\(pinned.prefix { $0 != "-" })-") && other != pinned)
            #expect(try goes(other))
            #expect(try isThere(pinned))
            // The pin outlives the daemon.
            let container = try #require(desk.volume.container)
            try container.killDaemon()
            try desk.volume.remountAfterCrash()
            let kept = try desk.versions("note.txt").first { $0["version"]?.text == pinned }
            #expect(kept?["pinned"] == .boolean(true))
            #expect(try desk.run("versions", "note.txt").contains("pinned"))
            try desk.run("restore", "note.txt", pinned)
            #expect(Self.text(desk, "note.txt") == "one")
            try desk.run("unpin-version", "note.txt", pinned)
            #expect(try goes(pinned))
            #expect(try desk.fail(66, "pin-version", "note.txt", pinned).contains(pinned))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a version is pinned while its document is saved by renaming`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > note.txt")
            let name = try #require(try desk.versionNames("note.txt").last)
            try desk.run("pin-version", "note.txt", name)
            let failures = try desk.shell(
                """
                (while [ ! -e stop ]; do printf x > new; mv new note.txt; done) > log 2>&1 &
                python3 -c '
                import os, sys
                for _ in range(1500):
                    try:
                        os.setxattr("note.txt", "user.shapeedit.pin." + sys.argv[1], b"keep")
                    except OSError as error:
                        # The kernel walks the path once more, and may find it replaced again.
                        if error.errno != 116:
                            print(error)
                ' \(name)
                : > stop
                wait
                """)
            #expect(failures == "")
        }
    }

    /// What had been copied until then took the document's place.
    @Test(arguments: DataPath.mounts)
    func `a restore that is killed leaves the document as it was`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("head -c 100000000 /dev/zero | tr '\\0' a > large.bin")
            let old = try #require(try desk.versionNames("large.bin").last)
            try desk.run("pin-version", "large.bin", old)
            try desk.shell("head -c 100000001 /dev/zero | tr '\\0' b > large.bin")
            let isWhole = { try desk.shell("tr -d b < large.bin | wc -c").hasPrefix("0") }
            var wait: UInt32 = 10_000
            var killed = 0
            while true {
                let program = try desk.start(["restore", "large.bin", old])
                usleep(wait)
                program.kill(signal: SIGKILL)
                if program.wait(seconds: 60).status == 0 { break }
                if try !isWhole() {
                    // It had come to the end.
                    #expect(try desk.shell("tr -d a < large.bin | wc -c").hasPrefix("0"))
                    break
                }
                killed += 1
                wait += wait / 2
            }
            #expect(killed > 0)
            try desk.run("restore", "large.bin", old)
            #expect(try desk.shell("tr -d a < large.bin | wc -c").hasPrefix("0"))
            #expect(try desk.shell("stat -c %s large.bin") == "100000000\n")
        }
    }

    /// All of its length was asked for on the disk.
    @Test(arguments: DataPath.mounts)
    func `a version with holes comes back with them`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf begin > disk.img; truncate -s 2T disk.img")
            try desk.shell("printf end >> disk.img")
            let old = try #require(try desk.versionNames("disk.img").last)
            try desk.run("pin-version", "disk.img", old)
            try desk.shell("printf small > disk.img")
            try desk.run("restore", "disk.img", old)
            #expect(try desk.shell("head -c 5 disk.img; tail -c 3 disk.img") == "beginend")
            #expect(try desk.shell("stat -c %s disk.img") == "\((2 << 40) + 3)\n")
            #expect(try #require(Int(try desk.shell("stat -c %b disk.img").dropLast())) < 8_192)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `only the owner pins, and only in a mount there are versions`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > note.txt && printf other > other.txt")
            let name = try #require(try desk.versionNames("note.txt").last)
            if DataPath.isPrivileged {
                try desk.fail(77, "pin-version", "note.txt", name, user: nobody)
                // Who may write has what is replaced kept.
                let other = try desk.volume.agent(user: nobody)
                let apart: ByteString = "user.shapeedit.apart"
                other.setAttribute("note.txt", apart, "current", fails: EACCES)
                try desk.shell("chmod 666 note.txt")
                other.setAttribute("note.txt", apart, "current")
            }
            // A version of another document is none of this one.
            let attribute = "user.shapeedit.pin.\(name)"
            let result = try desk.volume.run("setfattr", "-n", attribute, "-v", "keep", "other.txt")
            #expect(result.status != 0 && result.errorText.contains("No such file"))
            let wrong = try desk.volume.run("setfattr", "-n", attribute, "-v", "yes", "note.txt")
            #expect(wrong.status != 0)
        }
        try withDesk(.plain) { desk in
            try desk.write("x", to: "note.txt")
            for command in ["versions", "restore"] {
                #expect(try desk.fail(64, command, "note.txt").contains("not in a mounted"))
            }
        }
    }
}

import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// What an app's mount shows of the documents that were granted to it, and does with them.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedDocumentTests {
    private static let document: ByteString = "in test/a.txt"

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an open with O_NONBLOCK does not wait for claims at the owner's`(_ place: DataPath)
        throws
    {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let there = try both.appAgent()
            let claim = try HeldClaim(both.owner, "--write", "a.txt")
            claim.waitUntilGranted()
            _ = there.open(Self.document, O_RDONLY | O_NONBLOCK, fails: EWOULDBLOCK)
            _ = there.open(Self.document, O_WRONLY | O_NONBLOCK, fails: EWOULDBLOCK)
            claim.end()
            there.close(there.open(Self.document, O_RDONLY | O_NONBLOCK))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `many that wait for a claim at the owner's keep nobody from another document`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            try both.owner.agent().store("b.txt", "another")
            for document in ["a.txt", "b.txt"] {
                try both.run("grant", document, "--to", "notes", "--write")
            }
            let there = try both.appAgent()
            #expect(there.content("in test/b.txt") == "another")
            let claim = try HeldClaim(both.owner, "--write", "a.txt")
            claim.waitUntilGranted()
            let waiting = try (0..<12).map { _ in try both.appAgent() }
            for agent in waiting { agent.beginOpen(Self.document, O_RDONLY) }
            for agent in waiting { agent.waitUntilBlocked(in: SYS_openat) }
            #expect(there.content("in test/b.txt") == "another")
            for agent in waiting { #expect(!agent.hasFinished(within: 0)) }
            claim.end()
            for agent in waiting { agent.finish("open of what was claimed") }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `programs of the app and of the owner append to each other`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            var expected: ByteString = "one"
            let late = there.open(Self.document, O_WRONLY)
            let writers = [
                (there, late), (here, here.open("a.txt", O_WRONLY | O_APPEND)),
                (there, there.open(Self.document, O_WRONLY | O_APPEND)),
            ]
            // Whether a descriptor appends is as it was set last.
            there.setFlags(late, O_WRONLY | O_APPEND)
            for round in 0..<10 {
                for (agent, file) in writers {
                    let line: ByteString = "round \(round)\n"
                    agent.write(file, line)
                    expected = expected + line
                }
            }
            there.setFlags(late, O_WRONLY)
            there.write(late, "ONE", offset: 0)
            expected = "ONE" + ByteString(Array(expected.bytes.dropFirst(3)))
            for (agent, file) in writers { agent.close(file) }
            #expect(here.content("a.txt") == expected)
            #expect(there.content(Self.document) == expected)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a granted document is edited in place, and its owner sees it at once`(_ place: DataPath)
        throws
    {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            #expect(there.names(".") == [])
            there.status("in test", fails: ENOENT)
            // Both kernels know both before.
            #expect(here.content("a.txt") == "one")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            #expect(there.names(".") == ["in test"])
            #expect(there.names("in test") == ["a.txt"])
            #expect(there.content(Self.document) == "one")
            for round in 0..<20 {
                there.store(Self.document, "from the app \(round)")
                #expect(here.content("a.txt") == "from the app \(round)")
                #expect(here.status("a.txt").size == Int("from the app \(round)".utf8.count))
                here.store("a.txt", "from the owner, \(round)")
                #expect(there.content(Self.document) == "from the owner, \(round)")
                #expect(there.status(Self.document).size == here.status("a.txt").size)
            }
            let file = there.open(Self.document, O_WRONLY | O_APPEND)
            there.write(file, ", more")
            // Nobody sees half of it: not at the owner's, not in another process of the app.
            #expect(here.content("a.txt") == "from the owner, 19")
            let other = try both.appAgent()
            #expect(other.content(Self.document) == "from the owner, 19")
            // Who writes sees it.
            #expect(there.content(Self.document) == "from the owner, 19, more")
            #expect(there.status(Self.document).size == 24)
            // Nor does it mix with what a reader has open.
            let old = other.open(Self.document, O_RDONLY)
            there.truncate(file, size: 15)
            there.synchronize(file)
            there.close(file)
            #expect(here.content("a.txt") == "from the owner,")
            #expect(other.content(Self.document) == "from the owner,")
            #expect(other.readToEnd(old) == "from the owner, 19")
            other.close(old)
            there.truncate(Self.document, size: 4)
            #expect(here.content("a.txt") == "from")
            // Tags are the document's.
            there.setAttribute(Self.document, "user.tag", "blue")
            #expect(here.attribute("a.txt", "user.tag") == "blue")
            #expect(there.attributeNames(Self.document) == ["user.tag"])
            #expect(
                there.attribute(Self.document, "user.shapeedit.id")
                    == here.attribute("a.txt", "user.shapeedit.id"))
            #expect(there.attribute(Self.document, "user.shapeedit.container") == "test")
            let container: ByteString = "user.shapeedit.container.id"
            #expect(
                there.attribute(Self.document, container) == here.attribute("a.txt", container))
            #expect(there.attribute(Self.document, "user.shapeedit.state") == "local")
            // Locks hold among all.
            let (mine, theirs) = (here.open("a.txt", O_RDWR), there.open(Self.document, O_RDWR))
            here.lock(mine, LOCK_EX)
            there.lock(theirs, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
            there.beginLock(theirs, LOCK_EX)
            #expect(!there.hasFinished(within: 100))
            here.lock(mine, LOCK_UN)
            there.finish("lock of the app")
            here.lock(mine, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
            there.close(theirs)
            here.close(mine)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `two of the longest name are told apart by names that are no longer`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let name = String(repeating: "n", count: 251) + ".txt"
            let second = String(repeating: "n", count: 247) + " (2).txt"
            here.makeDirectory("d")
            for path in [name, "d/" + name] {
                here.store(ByteString(path), "content")
                try both.run("grant", path, "--to", "notes")
            }
            #expect(there.names("in test") == [second, name])
            for name in [name, second] {
                #expect(there.content(ByteString("in test/" + name)) == "content")
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `the folder of an owner has a name that nothing had when it was looked for`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let there = try both.appAgent()
            there.status("in test", fails: ENOENT)
            there.status("in test (2)", fails: ENOENT)
            there.makeDirectory("in test")
            try both.run("grant", "a.txt", "--to", "notes")
            #expect(there.names(".") == ["in test", "in test (2)"])
            #expect(there.content("in test (2)/a.txt") == "one")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `the grant follows the document wherever it goes`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            here.makeDirectory("d")
            here.makeDirectory("d/e")
            here.store("d/e/b.txt", "another")
            try both.run("grant", "d/e/b.txt", "--to", "notes")
            here.rename("a.txt", "d/b.txt")
            // Two alike have different names.
            #expect(there.names("in test") == ["b (2).txt", "b.txt"])
            #expect(
                Set(["in test/b.txt", "in test/b (2).txt"].map { there.content($0) })
                    == ["one", "another"])
            try both.run("revoke", "d/e/b.txt")
            #expect(there.names("in test") == ["b.txt"])
            // Saved by renaming, while the app has it open.
            let old = there.open("in test/b.txt", O_RDONLY)
            here.store("d/.new", "two")
            here.rename("d/.new", "d/b.txt")
            #expect(there.content("in test/b.txt") == "two")
            #expect(there.readToEnd(old) == "one")
            there.close(old)
            there.store("in test/b.txt", "three")
            #expect(here.content("d/b.txt") == "three")
            // Another document under its name is another document.
            here.rename("d/b.txt", "d/c.txt")
            here.store("d/b.txt", "new")
            #expect(there.names("in test") == ["c.txt"])
            there.store("in test/c.txt", "four")
            #expect(here.content("d/b.txt") == "new")
            #expect(here.content("d/c.txt") == "four")
            // The app's own name for the folder wins.
            there.makeDirectory("other")
            there.rename("other", "in test", fails: EPERM)
            there.removeDirectory("in test", fails: EPERM)
            there.makeDirectory("in test", fails: EEXIST)
            // Deleted: nothing is left to see.
            here.unlink("d/c.txt")
            there.status("in test/c.txt", fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a hard link, and a save that leaves it as backup, take no granted document away`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            here.link("a.txt", "b.txt")
            #expect(there.names("in test") == ["a.txt"])
            here.store(".new", "two")
            here.rename(".new", "a.txt")
            #expect(there.names("in test") == ["a.txt"])
            #expect(there.content(Self.document) == "two")
            there.store(Self.document, "three")
            #expect(here.content("a.txt") == "three")
            #expect(here.content("b.txt") == "one")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document granted for reading is not changed`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes")
            #expect(there.status(Self.document).mode & 0o222 == 0)
            for flags in [O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_WRONLY | O_TRUNC] {
                there.open(Self.document, flags, fails: EACCES)
            }
            there.truncate(Self.document, size: 0, fails: EACCES)
            there.setAttribute(Self.document, "user.tag", "blue", fails: EACCES)
            there.changeMode(Self.document, 0o666, fails: EPERM)
            // Whatever is granted, the folder is not the app's to change.
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            there.unlink(Self.document, fails: EROFS, EACCES)
            there.open("in test/new", O_CREAT | O_WRONLY, fails: EROFS, EACCES)
            there.makeDirectory("in test/new", fails: EROFS, EACCES)
            there.symlink(to: "x", "in test/new", fails: EROFS, EACCES)
            there.store("own", "x")
            there.rename("own", Self.document, fails: EXDEV, EACCES)
            there.rename(Self.document, "own", fails: EXDEV, EACCES)
            there.link(Self.document, "linked", fails: EXDEV)
            there.changeMode(Self.document, 0o777, fails: EPERM)
            there.changeMode("in test", 0o777, fails: EPERM)
            there.changeMode("in test", there.status("in test").mode & 0o7777)
            there.setAttribute(Self.document, "user.shapeedit.grant.mail", "read", fails: EPERM)
            there.setAttribute(Self.document, "user.shapeedit.bookmark", "", fails: EPERM)
            #expect(here.content("a.txt") == "one")
            // An open handle for writing is one for reading when the grant is.
            let file = there.open(Self.document, O_RDWR)
            try both.run("grant", "a.txt", "--to", "notes")
            there.write(file, "x", fails: EACCES)
            #expect(there.read(file, count: 3) == "one")
            there.close(file)
            #expect(here.content("a.txt") == "one")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `revoking ends the reading and writing of what is open`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            for command in ["revoke", "grant"] {
                try both.run("grant", "a.txt", "--to", "notes", "--write")
                let reading = there.open(Self.document, O_RDONLY)
                let writing = there.open(Self.document, O_RDWR)
                #expect(there.read(reading, count: 1) == "o")
                there.write(writing, "ONE")
                there.lock(writing, LOCK_EX)
                if command == "revoke" {
                    try both.run("revoke", "a.txt", "--to", "notes")
                } else {
                    try both.run("grant", "a.txt", "--to", "notes", "--until", "1s")
                    usleep(2_100_000)
                }
                there.read(reading, count: 1, fails: EACCES)
                there.read(writing, count: 1, fails: EACCES)
                there.write(writing, "x", fails: EACCES)
                there.truncate(writing, size: 0, fails: EACCES)
                // A lock is given back all the same, and no new one is taken.
                there.lock(writing, LOCK_UN)
                there.lock(writing, LOCK_SH | LOCK_NB, fails: EACCES)
                let mine = here.open("a.txt", O_RDONLY)
                here.lock(mine, LOCK_EX | LOCK_NB)
                here.close(mine)
                there.status(Self.document, fails: ENOENT)
                there.open(Self.document, O_RDONLY, fails: ENOENT)
                #expect(there.names(".") == [])
                there.close(reading)
                there.close(writing)
                // What was written before counts.
                #expect(here.content("a.txt") == "ONE")
                here.store("a.txt", "one")
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what the kernel keeps of a document goes with the grant`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let there = try both.appAgent()
            let out = there.open("out", O_RDWR | O_CREAT)
            for command in ["revoke", "grant"] {
                try both.run("grant", "a.txt", "--to", "notes")
                let file = there.open(Self.document, O_RDONLY)
                let mapping = there.map(file, length: 3, writable: false, shared: false)
                #expect(there.memory(mapping, count: 3) == "one")
                #expect(there.sendFile(from: file, to: out, count: 3) == 3)
                if command == "revoke" {
                    try both.run("revoke", "a.txt", "--to", "notes")
                } else {
                    try both.run("grant", "a.txt", "--to", "notes", "--until", "1s")
                    usleep(2_000_000)
                }
                // What the kernel keeps goes in the background.
                there.sendFile(from: file, to: out, count: 3, untilItFails: EACCES)
                there.write(out, mapping, untilItFails: EFAULT)
                there.unmap(mapping)
                there.close(file)
            }
            there.close(out)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who writes a document sees what its owner writes, also past read(2)`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let out = there.open("out", O_RDWR | O_CREAT)
            let (mine, theirs) = (here.open("a.txt", O_RDWR), there.open(Self.document, O_RDWR))
            #expect(there.sendFile(from: theirs, to: out, count: 3) == 3)
            here.write(mine, "ONE")
            // What the kernel keeps goes in the background.
            let scratch = there.open("scratch", O_RDWR | O_CREAT)
            waitUntil(seconds: 30) {
                there.seek(scratch, 0)
                there.sendFile(from: theirs, to: scratch, count: 3)
                return there.read(scratch, count: 3, offset: 0) == "ONE"
            }
            #expect(there.sendFile(from: theirs, to: out, count: 3) == 3)
            #expect(there.content("out") == "oneONE")
            for file in [out, scratch, theirs] { there.close(file) }
            here.close(mine)
        }
    }
}

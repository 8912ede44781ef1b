import Glibc
import Probing
import TestSupport
import Testing

/// What stays at the owner's of granted documents that are removed.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct RemovedGrantTests {
    @Test(arguments: DataPath.mounts.prefix(2))
    func `a granted document that an app has looked at goes when it is removed or replaced`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.store("b.txt", "to be replaced")
            here.store("c.txt", "to be read")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            try both.run("grant", "b.txt", "--to", "notes")
            try both.run("grant", "c.txt", "--to", "notes")
            #expect(there.names("in test") == ["a.txt", "b.txt", "c.txt"])
            there.store("in test/a.txt", "from the app")
            #expect(there.content("in test/b.txt") == "to be replaced")
            #expect(there.status("in test/c.txt").size == 10)
            here.unlink("a.txt")
            here.store("b.tmp", "another")
            here.rename("b.tmp", "b.txt")
            here.unlink("c.txt")
            // Two folders, and what is not granted.
            #expect(try Self.has(4, both.owner))
            #expect(there.names("in test") == ["b.txt"])
            #expect(there.content("in test/b.txt") == "another")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(2))
    func `a removed document that is open in an app's mount has a size, attributes, and can be cut`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.store("b.txt", "to be read")
            here.setAttribute("b.txt", "user.comment", "kept")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            try both.run("grant", "b.txt", "--to", "notes")
            let written = there.open("in test/a.txt", O_RDWR)
            let read = there.open("in test/b.txt", O_RDONLY)
            here.unlink("a.txt")
            here.unlink("b.txt")
            #expect(there.status(read).size == 10 && there.status(read).links == 0)
            #expect(there.attribute(read, "user.comment") == "kept")
            #expect(there.attributeNames("/proc/self/fd/\(read.number)").contains("user.comment"))
            #expect(there.attribute(read, "user.none", fails: ENODATA) == "")
            #expect(there.write(written, "longer") == 6)
            #expect(there.status(written).size == 6)
            there.truncate(written, size: 2)
            #expect(there.status(written).size == 2)
            there.status("in test/b.txt", fails: ENOENT)
            there.close(written)
            there.close(read)
            #expect(try Self.has(3, both.owner))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `who has a removed document open in an app's mount reads on, and then it goes`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let file = there.open("in test/a.txt", O_RDONLY)
            here.unlink("a.txt")
            #expect(there.read(file, count: 10) == "one")
            there.close(file)
            #expect(try Self.has(3, both.owner))
        }
    }

    /// Whether there are so many items soon, but for those without a name that wait to be cleared away. As long
    /// as the kernel knows any of these it does not.
    private static func has(_ count: Int, _ owner: Volume) throws -> Bool {
        let look = """
            count() { sed -n "s/.*$1.: \\([0-9]*\\).*/\\1/p" "$0"; }
            until [ $(($(count items) - $(count unlinked))) = \(count) ]; do sleep 0.05; done
            """
        let status = "\(owner.root.text)/.shapeedit/status.json"
        return try owner.run("timeout", "60", "sh", "-c", look, status).status == 0
    }
}

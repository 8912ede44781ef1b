import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit recents`, and `.shapeedit/recents`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct RecentTests {
    /// Paths below the desk as `recents` lists them.
    private static func listed(_ desk: Desk) throws -> [String] {
        let result = try JSONValue.read(try desk.run("recents", desk.folder, "--json"))
        return result.elements.compactMap { $0["path"]?.text }.map {
            String($0.dropFirst(desk.folder.count + 1))
        }
    }

    /// Opens documents as somebody does: each in a program of its own, with time between.
    private static func open(_ desk: Desk, _ names: String...) throws {
        for name in names {
            try desk.shell("cat '\(name)' > /dev/null")
            // Never eight within a second, however fast the machine.
            usleep(200_000)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what people open is listed, the last first`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 1 > a.txt")
            try desk.shell("mkdir d && printf 2 > d/b.txt")
            try desk.shell("printf 3 > c.txt; printf 4 > .hidden; mkdir .h; printf 5 > .h/x")
            #expect(try Self.listed(desk) == ["c.txt", "d/b.txt", "a.txt"])
            try Self.open(desk, "a.txt")
            #expect(try Self.listed(desk) == ["a.txt", "c.txt", "d/b.txt"])
            // Where they are now; saved by renaming they are the same, deleted they are gone.
            try desk.shell("mv a.txt d/b2.txt && rm c.txt && printf new > t && mv t d/b.txt")
            let now = try Self.listed(desk)
            #expect(Set(now) == ["d/b2.txt", "d/b.txt"])
            // The links are in the mount, and lead there.
            let folder = desk.volume.root.text + "/.shapeedit/recents"
            #expect(try desk.shell("ls '\(folder)' | sort") == "b.txt\nb2.txt\n")
            // That opens it: from here on either of the two is the last.
            #expect(try desk.shell("cat '\(folder)/b.txt'") == "new")
            try desk.volume.remount()
            #expect(try Set(Self.listed(desk)) == Set(now))
            // What was recorded outlives a crash.
            try #require(desk.volume.container).killDaemon()
            try desk.volume.remountAfterCrash()
            #expect(try Set(Self.listed(desk)) == Set(now))
            // Two of one name.
            try desk.shell("mkdir e && printf x > e/b.txt")
            #expect(try desk.shell("ls '\(folder)' | sort") == "b (2).txt\nb.txt\nb2.txt\n")
            #expect(try desk.run("recents", desk.path("e")).hasSuffix("/e/b.txt\n"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `whose picture is asked for is not used by that`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 1 > a.txt")
            try desk.shell("printf 2 > b.txt")
            // Those that are kept, and others that are drawn at once.
            for size in ["256", "300"] {
                _ = try desk.run("thumbnail", desk.path("a.txt"), "-o", "-", "--size", size)
                #expect(try Self.listed(desk) == ["b.txt", "a.txt"])
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what programs go through does not count`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("for n in $(seq 40); do echo $n > sweep$n.txt; done")
            try desk.volume.remount()
            #expect(try Self.listed(desk) == [])
            try Self.open(desk, "sweep7.txt")
            // Recorded, so that it is not taken for the beginning of what follows.
            try desk.volume.remount()
            // One program, programs in a row, an archive.
            try desk.shell("grep -r nothing . ; true")
            try desk.shell("find . -name '*.txt' -exec cat {} \\; > /dev/null")
            try desk.shell("tar cf /dev/null --to-stdout . 2> /dev/null || tar c . > /dev/null")
            #expect(try Self.listed(desk) == ["sweep7.txt"])
            // Forgotten, so that what follows is not taken for more of that.
            try desk.volume.remount()
            #expect(try Self.listed(desk) == ["sweep7.txt"])
            // One of low priority counts for nothing, however few it opens.
            try desk.shell("nice -n 19 cat sweep8.txt > /dev/null")
            #expect(try Self.listed(desk) == ["sweep7.txt"])
            if isInstalled("python3") {
                // As indexers and backups open.
                let script = "import os; os.open('sweep9.txt', os.O_RDONLY | os.O_NOATIME)"
                try desk.shell("python3 -c \"\(script)\"")
                #expect(try Self.listed(desk) == ["sweep7.txt"])
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `recent documents are forgotten on demand, and are their owner's`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 1 > a.txt")
            try desk.shell("printf 2 > b.txt")
            let folder = desk.volume.root.text + "/.shapeedit/recents"
            try desk.shell("rm '\(folder)/a.txt'")
            #expect(try Self.listed(desk) == ["b.txt"])
            let forgotten = try desk.run("recents", desk.folder, "--clear", "--json")
            #expect(forgotten.contains("b.txt\""), "\(forgotten)")
            #expect(try Self.listed(desk) == [])
            try Self.open(desk, "a.txt")
            #expect(try Self.listed(desk) == ["a.txt"])
            try desk.fail(64, "recents", "/etc")
            if DataPath.isPrivileged {
                let other = try desk.volume.agent(user: nobody)
                other.status(ByteString(folder) + "/a.txt", fails: EACCES)
                let here = try desk.volume.agent()
                here.makeDirectory(ByteString(folder) + "/x", fails: EROFS)
            }
        }
    }

    /// Of links that are called alike the names tell the order, and change when one goes.
    @Test(arguments: DataPath.mounts.prefix(1))
    func `documents that are called alike are forgotten, and no others`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("mkdir -p d e/1 e/2; printf 1 > d/b.txt")
            try desk.shell("printf 2 > e/2/b.txt")
            try desk.shell("printf 3 > e/1/b.txt")
            #expect(try Self.listed(desk) == ["e/1/b.txt", "e/2/b.txt", "d/b.txt"])
            try desk.run("recents", desk.path("e"), "--clear")
            #expect(try Self.listed(desk) == ["d/b.txt"])
            try Self.open(desk, "e/1/b.txt")
            try desk.run("recents", desk.folder, "--clear")
            #expect(try Self.listed(desk) == [])
        }
    }
}

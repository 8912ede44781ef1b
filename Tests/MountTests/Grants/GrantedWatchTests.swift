import Glibc
import Probing
import TestSupport
import Testing

/// inotify in the mount of an app tells what owners do with what they granted.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedWatchTests {
    private static let saved = UInt32(IN_MODIFY | IN_CLOSE_WRITE)

    @Test(
        .enabled(if: isInstalled("inotifywait"), "needs inotifywait"),
        arguments: DataPath.mountsOfAllUsers)
    func `who watches the folder is told what the owner does with the documents`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.store("b.txt", "b")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            #expect(there.content("in test/a.txt") == "one")
            let watched = try Transcript(both.owner, both.app.mountPoint + "/in test")
            // What was granted before has been told when this is.
            try both.run("grant", "b.txt", "--to", "notes")
            _ = watched.events(until: "/b.txt CREATE")
            here.shell("echo two > a.txt")
            _ = watched.events(until: "/a.txt CLOSE_WRITE")
            #expect(there.content("in test/a.txt") == "two\n")
            // Times alone are no save.
            here.shell("touch -d 2020-01-01 a.txt")
            _ = watched.events(until: "/a.txt ATTRIB")
            here.rename("a.txt", "c.txt")
            _ = watched.events(until: "/c.txt MOVED_TO")
            // What the app does itself the kernel tells of, and nobody else.
            there.shell("printf five > 'in test/c.txt'; printf six >> 'in test/c.txt'")
            here.shell("echo bb > b.txt; echo nobody > secret.txt; chmod 600 c.txt")
            _ = watched.events(until: "/b.txt CLOSE_WRITE")
            here.unlink("b.txt")
            _ = watched.events(until: "/b.txt DELETE")
            try both.run("revoke", "c.txt")
            // Two like events are one if nobody has read the first by then.
            let told = watched.events(until: "/c.txt DELETE").mapValues { events in
                events.filter { $0 != "OPEN" }.reduce(into: [String]()) { kept, event in
                    if kept.last != event { kept.append(event) }
                }
            }
            watched.end()
            let written = ["MODIFY", "CLOSE_WRITE,CLOSE"]
            #expect(told["a.txt"]?.filter { $0 != "CREATE" } == written + ["ATTRIB", "MOVED_FROM"])
            #expect(told["b.txt"] == ["CREATE"] + written + ["DELETE"])
            #expect(told["c.txt"] == ["MOVED_TO"] + written + written + ["DELETE"])
            #expect(Set(told.keys) == ["a.txt", "b.txt", "c.txt"])
            there.shell("! test -e 'in test/c.txt'")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who watches a granted document itself is told of each save and of its end`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            #expect(there.content("in test/a.txt") == "one")
            let path = both.app.mountPoint + "/in test/a.txt"
            let watch = try #require(Watch(path))
            var saves = [
                (here, "echo two > a.txt", "two"), (here, "echo three > t; mv t a.txt", "three"),
                (there, "echo four > 'in test/a.txt'", "four"),
                (there, "cd 'in test' && echo five > t.tmp && mv t.tmp a.txt", "five"),
            ]
            saves += saves.prefix(1)
            for (who, command, content) in saves {
                who.shell(command)
                #expect(watch.sees(Self.saved, seconds: 30), "\(command)")
                #expect(there.shell("cat 'in test/a.txt'") == content + "\n")
                usleep(300_000)
                _ = watch.count(of: 0, name: "")
            }
            try both.run("revoke", "a.txt")
            #expect(watch.sees(UInt32(IN_DELETE_SELF), seconds: 30))
            // It can come again.
            try both.run("grant", "a.txt", "--to", "notes")
            #expect(there.shell("cat 'in test/a.txt'") == "two\n")
        }
    }

    @Test
    func `who watches the root is told of the folder of an owner that grants for the first time`()
        throws
    {
        try withOwnerAndApp(.passthrough) { both in
            let watch = try #require(Watch(both.app.mountPoint))
            // All owners have been asked once.
            sleep(2)
            try both.run("grant", "a.txt", "--to", "notes")
            #expect(watch.sees(UInt32(IN_CREATE), of: "in test", seconds: 30))
            #expect(try both.appAgent().content("in test/a.txt") == "one")
        }
    }

    @Test(.enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
    func `who watches all is told of what an owner grants first, with its folder`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.owner.agent().store("b.txt", "b")
            let watched = try Transcript(both.owner, both.app.mountPoint)
            // All owners have been asked once.
            sleep(2)
            try both.run("grant", "a.txt", "--to", "notes")
            try both.run("grant", "b.txt", "--to", "notes", "--write")
            let told = watched.events(until: "/in test CREATE,ISDIR", "/b.txt CREATE")
            watched.end()
            #expect(told["in test"] == ["CREATE,ISDIR"])
            #expect(told["in test/a.txt"] == ["CREATE"] && told["in test/b.txt"] == ["CREATE"])
        }
    }

    @Test func `documents of an owner that is mounted later are told`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes")
            both.owner.endAgents()
            try both.ownerContainer.unmount()
            try both.app.unmount()
            try both.mountApp()
            let there = try both.appAgent()
            #expect(there.names("in test") == [])
            let watch = try #require(Watch(both.app.mountPoint + "/in test"))
            sleep(2)
            try both.owner.remountAfterCrash()
            #expect(watch.sees(UInt32(IN_CREATE), of: "a.txt", seconds: 30))
            #expect(there.content("in test/a.txt") == "one")
        }
    }
}

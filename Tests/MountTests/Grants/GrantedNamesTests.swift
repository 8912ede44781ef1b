import Glibc
import Probing
import TestSupport
import Testing

/// Under which names an app finds what was granted to it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedNamesTests {
    @Test(arguments: DataPath.mounts.prefix(1))
    func `names that look alike are two documents`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            // The same to Unicode.
            let names = ["caf\u{e9}.txt", "cafe\u{301}.txt"]
            for (name, text) in zip(names, ["one", "two"]) {
                here.store(ByteString(name), ByteString(text))
                try both.run("grant", name, "--to", "notes", "--write")
            }
            let listed = there.entries("in test").map(\.name)
            #expect(listed.count == 2 && Set(listed) == Set(names.map { ByteString($0) }))
            for (name, text) in zip(names, ["one", "two"]) {
                #expect(there.content("in test/\(name)") == ByteString(text))
                there.store("in test/.\(name).swp", ByteString("new " + text))
            }
            #expect(there.entries("in test").count == 4)
            for name in names { there.rename("in test/.\(name).swp", "in test/\(name)") }
            for (name, text) in zip(names, ["one", "two"]) {
                #expect(here.content(ByteString(name)) == ByteString("new " + text))
            }
            // Where one is granted there is nothing of the other's name, and nothing gets there.
            try both.run("revoke", names[0])
            #expect(there.content("in test/\(names[1])") == "new two")
            there.open("in test/\(names[0])", O_RDONLY, fails: ENOENT)
            there.store("in test/.b.txt.swp", "for nobody")
            there.rename("in test/.b.txt.swp", "in test/\(names[0])", fails: EXDEV)
            #expect(here.content(ByteString(names[1])) == "new two")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what is granted later takes no name from what an app has already`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            // The one that is granted first was made last.
            for folder in ["old", "new"] {
                here.makeDirectory(ByteString(folder))
                here.store(ByteString(folder + "/same.txt"), ByteString(folder))
            }
            try both.run("grant", "new/same.txt", "--to", "notes", "--write")
            #expect(there.content("in test/same.txt") == "new")
            try both.run("grant", "old/same.txt", "--to", "notes", "--write")
            let hold = {
                #expect(there.content("in test/same.txt") == "new")
                #expect(there.content("in test/same (2).txt") == "old")
            }
            hold()
            // Other terms are no other grant.
            try both.run("grant", "new/same.txt", "--to", "notes", "--write", "--until", "1h")
            hold()
            // So what the app saves by that name is the document that it has read.
            there.store("in test/same.txt", "saved")
            #expect(here.content("new/same.txt") == "saved")
            #expect(here.content("old/same.txt") == "old")
        }
    }

    @Test func `a name costs the same however many documents are granted`() throws {
        try withOwnerAndApp(.passthrough) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            func grant(_ numbers: Range<Int>) {
                for number in numbers {
                    here.store(ByteString("\(number).txt"), "x")
                    here.setAttribute(
                        ByteString("\(number).txt"), "user.shapeedit.grant.notes", "read")
                }
            }
            func timeOfLooks() -> Duration {
                let looks = {
                    for number in 0..<50 { there.status(ByteString("in test/\(number).txt")) }
                }
                return (0..<20).map { _ in ContinuousClock().measure(looks) }.min() ?? .zero
            }
            grant(0..<50)
            let few = timeOfLooks()
            grant(50..<750)
            // Of fifteen times as many.
            #expect(timeOfLooks() < few * 6)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `names are those of just now, however often they were looked up`(_ place: DataPath)
        throws
    {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.store("b.txt", "another")
            for name in ["a.txt", "b.txt"] {
                try both.run("grant", name, "--to", "notes", "--write")
            }
            #expect(there.content("in test/a.txt") == "one")
            for _ in 0..<20 {
                here.rename("a.txt", "c.txt")
                there.open("in test/a.txt", O_RDONLY, fails: ENOENT)
                #expect(there.content("in test/c.txt") == "one")
                here.rename("c.txt", "a.txt")
                there.open("in test/c.txt", O_RDONLY, fails: ENOENT)
                #expect(there.content("in test/a.txt") == "one")
                // RENAME_EXCHANGE, twice.
                for expected in [["another", "one"], ["one", "another"]] as [[ByteString]] {
                    here.rename("a.txt", "b.txt", flags: 2)
                    #expect(["a.txt", "b.txt"].map { there.content("in test/\($0)") } == expected)
                }
            }
            here.store(".new", "saved")
            here.rename(".new", "a.txt")
            #expect(there.content("in test/a.txt") == "saved")
            // The number goes with the one that needs it.
            here.makeDirectory("d")
            here.rename("b.txt", "d/a.txt")
            #expect(there.content("in test/a (2).txt") == "another")
            try both.run("revoke", "a.txt")
            #expect(there.content("in test/a.txt") == "another")
            there.open("in test/a (2).txt", O_RDONLY, fails: ENOENT)
            try both.run("grant", "a.txt", "--to", "notes", "--until", "1s")
            usleep(2_100_000)
            there.open("in test/a (2).txt", O_RDONLY, fails: ENOENT)
            #expect(there.content("in test/a.txt") == "another")
            here.rename("d/a.txt", "d/e.txt")
            #expect(there.content("in test/e.txt") == "another")
            // The names that were told last count as long as there is nobody to ask.
            both.owner.endAgents()
            try both.ownerContainer.unmount()
            there.open("in test/e.txt", O_RDONLY, fails: EIO)
            try both.owner.remountAfterCrash()
            #expect(there.content("in test/e.txt") == "another")
            there.open("in test/a.txt", O_RDONLY, fails: ENOENT)
        }
    }

    @Test func `an open folder that is listed once more shows what is granted by then`() throws {
        try withOwnerAndApp(.passthrough) { both in
            let here = try both.owner.agent()
            here.store("b.txt", "another")
            try both.run("grant", "a.txt", "--to", "notes")
            let top = try #require(opendir(both.app.mountPoint))
            let folder = try #require(opendir("\(both.app.mountPoint)/in test"))
            defer {
                closedir(top)
                closedir(folder)
            }
            func names(_ stream: OpaquePointer) -> Set<String> {
                rewinddir(stream)
                var names: Set<String> = []
                while let entry = readdir(stream) {
                    withUnsafePointer(to: &entry.pointee.d_name) { name in
                        name.withMemoryRebound(to: CChar.self, capacity: 256) {
                            _ = names.insert(String(cString: $0))
                        }
                    }
                }
                return names.subtracting([".", ".."])
            }
            #expect(names(folder) == ["a.txt"])
            #expect(names(top) == ["in test"])
            try both.run("grant", "b.txt", "--to", "notes")
            #expect(names(folder) == ["a.txt", "b.txt"])
            try both.run("revoke", "a.txt")
            #expect(names(folder) == ["b.txt"])
            try both.run("revoke", "b.txt")
            #expect(names(folder).isEmpty)
            #expect(names(top).isEmpty)
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// inotify tells of changes that came otherwise than through the mount, as it would on a disk.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"),
    .enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
struct ReplayTests {
    /// Runs `body` with a mount, a folder that is imported to `in`, and a folder on the disk that had
    /// the same in it.
    private func withSource(
        _ dataPath: DataPath, options: [String] = [],
        _ body: (Volume, Agent, _ source: String, _ disk: String) throws -> Void
    ) throws {
        try withVolume(dataPath, options: options) { volume in
            let base = try #require(volume.container).base + "/home"
            let (source, disk) = (base + "/source", base + "/disk")
            let agent = try volume.agent()
            agent.shell(
                """
                mkdir -p \(source)/sub \(source)/gone; cd \(source)
                for n in a b c gone/x sub/y; do echo $n > $n; done; ln -s a link
                cp -a \(source) \(disk)
                """)
            try volume.shapeedit("import", "--promise", source, "@in")
            // What it made is told after it has ended, and not to those who watch from now on.
            try volume.remount()
            try body(volume, volume.agent(), source, disk)
        }
    }

    /// What watchers of the disk and of the mount are told: of `change` to the one, and of following
    /// it to the other. On the disk a name that is taken twice at once is kept free by a file `aside`, on the
    /// mount by names like that.
    private func compare(
        _ volume: Volume, _ agent: Agent, _ source: String, _ disk: String, _ change: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        func isAside(_ path: String) -> Bool {
            path == "aside" || path.hasPrefix(".shapeedit-aside-")
        }
        let plain = try Transcript(volume, disk)
        // What comes last tells that all has come.
        agent.shell("cd \(disk); \(change); : > .end; rm .end")
        var expected = plain.events(until: "/.end DELETE")
        expected[".end"] = nil
        plain.end()
        agent.shell("cd \(source); \(change)")
        let mounted = try Transcript(volume, volume.directory + "/in")
        try volume.shapeedit("import", "--refresh", "@in")
        agent.shell(": > \(source)/.end")
        try volume.shapeedit("import", "--refresh", "@in")
        var told = mounted.events(until: "/.end CREATE")
        told[".end"] = nil
        mounted.end()
        agent.shell("rm \(source)/.end")
        try volume.shapeedit("import", "--refresh", "@in")
        #expect(!expected.isEmpty, sourceLocation: location)
        for path in Set(expected.keys).union(told.keys) where !isAside(path) {
            #expect(told[path] == expected[path], "\(path)", sourceLocation: location)
        }
        // What makes way is told of from its beginning to its end.
        let (waits, waited) = (expected["aside"], told.filter { isAside($0.key) }.map(\.value))
        #expect(Set(waited) == Set([waits].compactMap { $0 }), sourceLocation: location)
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a refresh is told as the same changes on a disk`(_ dataPath: DataPath) throws {
        try withSource(dataPath) { volume, agent, source, disk in
            try compare(
                volume, agent, source, disk,
                "echo new > new; : > empty; mkdir folder; ln -s b other; echo z > sub/z")
            #expect(agent.shell("cat in/new in/sub/z; readlink in/other") == "new\nz\nb\n")
            try compare(volume, agent, source, disk, "echo longer 1<> a; rm c link")
            #expect(agent.shell("cat in/a") == "longer\n")
            try compare(volume, agent, source, disk, "mv b sub/moved; mv sub/z z")
            #expect(agent.shell("cat in/sub/moved in/z") == "b\nz\n")
            try compare(volume, agent, source, disk, "rm -r gone")
            agent.shell("! ls in/gone; ls -lR in > /dev/null")
            agent.shell("diff -r --no-dereference in \(source)")
            // The names are what they are for everybody, and changes go on as ever.
            agent.shell("echo more >> in/new; mv in/new in/newer; rm -r in/sub; mkdir in/sub")
            #expect(agent.content("in/newer") == "new\nmore\n")
        }
    }

    @Test func `names that change hands at the source are told as on a disk`() throws {
        try withSource(.passthrough) { volume, agent, source, disk in
            try compare(volume, agent, source, disk, "mv b aside; mv a b; mv aside a")
            #expect(agent.shell("cat in/a in/b") == "b\na\n")
            // One goes on where the next one was, all round.
            try compare(volume, agent, source, disk, "mv c aside; mv b c; mv a b; mv aside a")
            #expect(agent.shell("cat in/a in/b in/c") == "c\nb\na\n")
            try compare(volume, agent, source, disk, "mv sub aside; mv gone sub; mv aside gone")
            #expect(agent.shell("cat in/gone/y in/sub/x") == "sub/y\ngone/x\n")
            // Another thing has the name.
            try compare(volume, agent, source, disk, "mv link aside; ln -s c link; rm aside")
            #expect(agent.shell("readlink in/link") == "c\n")
            // Nobody who looks sees anything but what is there.
            let links = agent.shell("ls -A in; diff -r --no-dereference in \(source)")
            #expect(links == "a\nb\nc\ngone\nlink\nsub\n")
            agent.shell("echo more >> in/a; mv in/a in/b; rm -r in/sub; mkdir in/sub; rmdir in/sub")
            #expect(agent.content("in/b") == "c\nmore\n")
        }
    }

    /// A program that looks for the names in a folder without pause.
    private func look(
        _ volume: Volume, for names: [String], in folder: String
    ) throws -> RunningProgram {
        let loop = "cd \"$0\"; while :; do for n in \"$@\"; do [ -e $n ]; done; done"
        return try volume.start(["sh", "-c", loop, "\(volume.directory)/\(folder)"] + names)
    }

    @Test func `what goes is told also where somebody looks for it all the while`() throws {
        try withVolume(.passthrough) { volume in
            let source = try #require(volume.container).base + "/home/source"
            let agent = try volume.agent()
            let names = (0..<8).map { "f\($0)" }
            let list = names.joined(separator: " ")
            agent.shell("mkdir \(source); cd \(source); mkdir \(list); : > x")
            try volume.shapeedit("import", "--promise", source, "@in")
            let mounted = try Transcript(volume, volume.directory + "/in")
            // The kernel learns that the names are free before the watchers are told.
            let looks = try look(volume, for: names, in: "in")
            agent.shell("cd \(source); rmdir \(list)")
            try volume.shapeedit("import", "--refresh", "@in")
            let told = mounted.events()
            looks.kill(signal: SIGKILL)
            _ = looks.wait(seconds: 10)
            mounted.end()
            for name in names {
                #expect(told[name]?.contains("DELETE,ISDIR") == true, "\(name): \(told)")
            }
        }
    }

    @Test func `a folder that moves is told of also where somebody looks at its new place`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let source = try #require(volume.container).base + "/home/source"
            let agent = try volume.agent()
            let names = (0..<6).map { "f\($0)" }
            let list = names.joined(separator: " ")
            agent.shell("mkdir -p \(source)/a \(source)/b; cd \(source)/a; mkdir \(list)")
            try volume.shapeedit("import", "--promise", source, "@in")
            // There and back.
            for (from, to) in [("a", "b"), ("b", "a"), ("a", "b")] {
                let mounted = try Transcript(volume, volume.directory + "/in")
                let looks = try look(volume, for: names, in: "in/\(to)")
                agent.shell("cd \(source); mv \(from)/* \(to)")
                try volume.shapeedit("import", "--refresh", "@in")
                let told = mounted.events()
                looks.kill(signal: SIGKILL)
                _ = looks.wait(seconds: 10)
                mounted.end()
                for name in names {
                    let (here, there) = (told["\(from)/\(name)"], told["\(to)/\(name)"])
                    #expect(here?.contains("MOVED_FROM,ISDIR") == true, "\(told)")
                    #expect(there?.contains("MOVED_TO,ISDIR") == true, "\(told)")
                }
            }
        }
    }

    @Test func `an import is told in the folder that is watched`() throws {
        try withVolume(.passthrough) { volume in
            let source = try #require(volume.container).base + "/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir -p \(source)/sub in; echo a > \(source)/a; echo b > \(source)/sub/b")
            let mounted = try Transcript(volume, volume.directory + "/in")
            try volume.shapeedit("import", "--promise", source, "@in")
            let told = mounted.events()
            mounted.end()
            #expect(told["a"] == ["CREATE", "OPEN", "MODIFY", "CLOSE_WRITE,CLOSE"])
            #expect(told["sub"]?.first == "CREATE,ISDIR")
            // What the command says to the daemon is no change of the folder.
            #expect(told[""] == nil)
            agent.shell("diff -r in \(source)")
        }
    }

    @Test func `an import is told in the folders that it makes as a copy is on a disk`() throws {
        try withVolume(.passthrough) { volume in
            let base = try #require(volume.container).base + "/home"
            let (source, disk) = (base + "/source", base + "/disk")
            let agent = try volume.agent()
            let folders = "one one/two one/two/three other"
            agent.shell(
                """
                mkdir -p \(source) \(disk); cd \(source); mkdir \(folders)
                for d in \(folders); do echo $d > $d/a; : > $d/b; ln -s a $d/link; done
                """)
            let plain = try Transcript(volume, disk)
            // A copy that leaves who watches the time to follow it.
            agent.shell(
                """
                cd \(source)
                for d in \(folders); do
                    mkdir \(disk)/$d; sleep 0.3; cp -P $d/a $d/b $d/link \(disk)/$d; sleep 0.1
                done
                """)
            let expected = plain.events()
            plain.end()
            #expect(expected.count == 16)
            var told: [String: [String]] = [:]
            // Who watches may be too slow for once on a busy machine, here as beside a copy.
            for attempt in 0..<3 where told != expected {
                agent.shell("mkdir in\(attempt)")
                let mounted = try Transcript(volume, volume.directory + "/in\(attempt)")
                try volume.shapeedit("import", "--promise", source, "@in\(attempt)")
                told = mounted.events()
                mounted.end()
            }
            for path in Set(expected.keys).union(told.keys) {
                #expect(told[path] == expected[path], "\(path)")
            }
        }
    }

    @Test func `too many changes are told by their folder`() throws {
        try withVolume(.passthrough) { volume in
            let source = try #require(volume.container).base + "/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir -p \(source) in; cd \(source); seq 5000 | xargs touch")
            let mounted = try Transcript(volume, volume.directory)
            let start = nanosecondsNow()
            try volume.shapeedit("import", "--promise", source, "@in")
            var told = mounted.lines()
            for _ in 0..<12 where told.last?.event != "ATTRIB,ISDIR" { told = mounted.lines() }
            // Without the time in which nothing came.
            let seconds = (nanosecondsNow() - start) / 1_000_000_000 - 5
            mounted.end()
            let named = Set(told.map(\.path).filter { $0.hasPrefix("in/") }).count
            // So many in each second.
            #expect(named > 0 && named <= 1_000 * (seconds + 2), "\(named) in \(seconds) s")
            let folder = told.last { $0.path == "in" && $0.event == "ATTRIB,ISDIR" }
            #expect(named == 5_000 || folder != nil)
            // After all of them, unless some were of another second.
            let last = try #require(told.last)
            let isLast = last.path.hasPrefix("in") && last.event == "ATTRIB,ISDIR"
            #expect(isLast || named > 1_000, "\(last)")
            #expect(agent.shell("ls in | wc -l") == "5000\n")
        }
    }

    @Test func `nothing is repeated on demand`() throws {
        try withSource(.passthrough, options: ["no_replay"]) { volume, agent, source, _ in
            agent.shell("echo new > \(source)/new")
            let mounted = try Transcript(volume, volume.directory + "/in")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.content("in/new") == "new\n")
            #expect(mounted.events()["new"]?.contains("CREATE") != true)
            mounted.end()
        }
    }

    @Test func `the helper changes nothing, and goes when it has nothing to do`() throws {
        try withSource(.passthrough) { volume, agent, source, _ in
            let daemon = try #require(try volume.container?.status().pid)
            let helpers = "pgrep -P \(daemon) -f -- '--helper replay' | wc -l"
            agent.shell("cd \(source); for i in $(seq 50); do echo $i > f$i; done")
            let mounted = try Transcript(volume, volume.directory + "/in")
            let before = agent.shell("stat -c '%n %Y %Z %i' in/a in/sub")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(waitUntil { agent.shell(helpers) == "1\n" })
            let told = mounted.events(until: "/f9 CLOSE_WRITE", "/f50 CREATE")
            #expect(told["f50"]?.first == "CREATE")
            mounted.end()
            #expect(agent.shell("stat -c '%n %Y %Z %i' in/a in/sub") == before)
            waitUntil { agent.shell(helpers) == "0\n" }
            #expect(agent.shell(helpers) == "0\n")
            #expect(agent.shell("find in -name 'f*' | wc -l") == "50\n")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `the folder of a saved query is told what comes and goes in it`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("echo a > a.txt; echo b > b.txt; echo c > c.md")
            let folder = volume.root.text + "/.shapeedit/queries/texts"
            agent.shell("setfattr -n user.shapeedit.query.texts -v type=txt \(volume.root.text)")
            #expect(agent.shell("ls \(folder)") == "a.txt\nb.txt\n")
            let mounted = try Transcript(volume, folder)
            agent.shell("mv c.md c.txt; rm a.txt; echo more >> b.txt; echo d > d.dat")
            let told = mounted.events(until: "/c.txt CREATE", "/a.txt DELETE")
            #expect(told["c.txt"] == ["CREATE"], "\(told)")
            #expect(told["a.txt"] == ["DELETE"], "\(told)")
            #expect(told["b.txt"] == nil && told["d.dat"] == nil, "\(told)")
            agent.shell("mkdir e; mv b.txt e")
            let moved = mounted.lines(until: "/b.txt DELETE", "/b.txt CREATE")
                .filter { $0.path == "b.txt" }
            #expect(moved.map(\.event) == ["DELETE", "CREATE"], "\(moved)")
            mounted.end()
            #expect(agent.shell("ls \(folder); cat \(folder)/b.txt") == "b.txt\nc.txt\nb\nmore\n")
            agent.shell("! touch \(folder)/x 2> /dev/null; ! rm \(folder)/b.txt 2> /dev/null")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what a saved query has found for a moment comes before it goes`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let folder = volume.root.text + "/.shapeedit/queries/texts"
            agent.shell("setfattr -n user.shapeedit.query.texts -v type=txt \(volume.root.text)")
            let mounted = try Transcript(volume, folder)
            // All go at once, while their coming is told; not more than are told in a second.
            agent.shell(
                """
                for round in 1 2 3; do
                    mkdir d; for n in $(seq 100); do echo > d/$round-$n.txt; done
                    sleep 0.1$round; mv d .d$round
                done; echo > last.txt
                """)
            let told = mounted.lines(until: "/last.txt CREATE")
            mounted.end()
            var shown: Set<String> = []
            for line in told where !line.path.isEmpty {
                if line.event == "CREATE" { shown.insert(line.path) }
                if line.event == "DELETE" { #expect(shown.remove(line.path) != nil, "\(line)") }
            }
            #expect(shown == ["last.txt"], "\(told.count) told, \(told.suffix(3))")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `who watches the saved queries is told which are saved and forgotten`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let root = volume.root.text
            let queries = root + "/.shapeedit/queries"
            let save = "setfattr -n user.shapeedit.query."
            agent.shell("echo a > a.txt")
            let mounted = try Transcript(volume, queries)
            agent.shell("\(save)texts -v type=txt \(root)")
            #expect(mounted.events(until: "/texts CREATE")["texts"] == ["CREATE,ISDIR"])
            // Another query of that name has the folder that is there.
            agent.shell("\(save)texts -v type=md \(root); \(save)other -v type=txt \(root)")
            let saved = mounted.events(until: "/other CREATE", "/texts CREATE")
            #expect(saved["texts"] == ["CREATE,ISDIR"] && saved["other"] == ["CREATE,ISDIR"])
            #expect(agent.shell("ls \(queries); ls \(queries)/other") == "other\ntexts\na.txt\n")
            // The one is told by the kernel, the other is repeated: each once.
            agent.shell("rmdir \(queries)/other; setfattr -x user.shapeedit.query.texts \(root)")
            let told = mounted.events(until: "/texts DELETE,ISDIR", "/other DELETE,ISDIR")
            for name in ["other", "texts"] {
                let count = told[name]?.filter { $0 == "DELETE,ISDIR" }.count
                #expect(count == 1, "\(told)")
            }
            mounted.end()
            #expect(agent.shell("ls \(queries)") == "")
            agent.shell("\(save)texts -v type=txt \(root)")
            #expect(agent.shell("ls \(queries)/texts") == "a.txt\n")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a saved query that is removed at once is not told to come after it went`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let root = volume.root.text
            let queries = root + "/.shapeedit/queries"
            let mounted = try Transcript(volume, queries)
            let save = "setfattr -v type=txt \(root) -n user.shapeedit.query."
            let forget = "setfattr \(root) -x user.shapeedit.query."
            for number in 0..<5 {
                agent.shell("\(save)a\(number); rmdir \(queries)/a\(number)")
                agent.shell("\(save)b\(number); \(forget)b\(number)")
            }
            agent.shell("\(save)last")
            var shown: Set<String> = []
            let told = mounted.lines(until: "/last CREATE")
            for line in told {
                if line.event.hasPrefix("CREATE") { shown.insert(line.path) }
                if line.event.hasPrefix("DELETE") { shown.remove(line.path) }
            }
            #expect(shown == ["last"], "\(told)")
            // What is repeated both times comes and goes.
            let repeated = told.filter { $0.path == "b4" && $0.event.hasSuffix(",ISDIR") }
            #expect(repeated.map(\.event) == ["CREATE,ISDIR", "DELETE,ISDIR"], "\(told)")
            mounted.end()
            #expect(agent.shell("ls \(queries)") == "last\n")
        }
    }
}

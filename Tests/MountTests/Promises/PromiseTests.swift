import Glibc
import Probing
import TestSupport
import Testing

/// Documents whose content is in a store: what they look like, and what fetches it.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct PromiseTests {
    @Test(arguments: DataPath.ofPromises)
    func `a promise shows its true name, size and date, and looking fetches nothing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.makeDirectory("folder")
            agent.store("folder/note.txt", "twelve bytes")
            agent.shell("head -c 300000 /dev/urandom > folder/data.bin; touch -d @1000000 folder/*")
            let before = agent.shell("stat -c '%n %i %s %Y %a' folder/*")
            try volume.evictAll()
            #expect(try volume.state("folder/note.txt") == "promise")
            #expect(try volume.blobs().local == [])
            #expect(agent.shell("stat -c '%n %i %s %Y %a' folder/*") == before)
            #expect(agent.shell("stat -c %b folder/*") == "1\n1\n")
            agent.shell("ls -lR . && find . -size +1k && du -s . && getfattr -dm- -R .")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell("stat -c '%n %i %s %Y %a' folder/*") == before)
            #expect(try volume.fetchedBytes() == 0)
            #expect(after.content("folder/note.txt") == "twelve bytes")
            #expect(try volume.fetchedBytes() == 12)
            #expect(try volume.state("folder/note.txt") == "local")
            // Here now: nothing more comes.
            #expect(after.content("folder/note.txt") == "twelve bytes")
            #expect(try volume.fetchedBytes() == 12)
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `many openers share one download`(_ dataPath: DataPath) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("head -c 3000000 /dev/urandom > data; sha256sum data > sum")
            try volume.evictAll()
            agent.shell(
                "for i in 1 2 3 4 5 6 7 8; do sha256sum -c --quiet sum || touch bad & done; wait")
            #expect(!agent.names(".").contains("bad"))
            #expect(try volume.fetchedBytes() <= 3_000_000 + 100)
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `a large promise is read in blocks`(_ dataPath: DataPath) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let maker = try volume.agent()
            maker.shell("head -c 40000001 /dev/urandom > large; sha256sum large > sum")
            maker.shell("tail -c 5000 large > end; dd if=large of=middle bs=1M skip=20 count=1")
            try volume.evictAll()
            // What the kernel has in its pages is read from there, and nothing of it comes.
            try volume.remount()
            let agent = try volume.agent()
            // A look at what it is.
            agent.shell("head -c 16384 large > /dev/null; dd if=large bs=4k count=4 of=/dev/null")
            #expect(try volume.fetchedBytes() <= 2 << 20)
            #expect(try volume.state("large") == "promise")
            agent.shell("tail -c 5000 large | cmp - end")
            agent.shell("dd if=large bs=1M skip=20 count=1 | cmp - middle")
            #expect(try volume.fetchedBytes() <= 7 << 20)
            agent.shell("sha256sum -c sum && cp large copy && cmp large copy")
            #expect(try volume.fetchedBytes() <= 40_000_001 + 1_100_000)
            try waitUntil { try volume.state("large") == "local" }
            #expect(try volume.state("large") == "local")
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `a large promise that has not come is mapped, run and copied`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell(
                """
                head -c 9000000 /dev/urandom > large; sha256sum large > sum
                (cat /bin/true; head -c 6000000 /dev/zero) > program; chmod +x program
                cp large second; sha256sum second > sum2
                """)
            try volume.evictAll()
            agent.shell("./program")
            let file = agent.open("large", O_RDONLY)
            let mapping = agent.map(file, length: 9_000_000, writable: false, shared: true)
            let bytes = agent.memory(mapping, offset: 8_999_000, count: 1000)
            #expect(bytes == agent.read(file, count: 1000, offset: 8_999_000))
            agent.close(file)
            agent.shell("cp --reflink=auto second copied && sha256sum copied | cut -c1-64 > a")
            agent.shell("cut -c1-64 sum2 | cmp - a && sha256sum -c sum sum2")
        }
    }

    @Test(.enabled(if: isInstalled("rsync"), "needs rsync"))
    func `copying tools take a promise's true bytes`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell(
                """
                mkdir in; head -c 200000 /dev/urandom > in/a; head -c 9000000 /dev/urandom > in/b
                (head -c 100000 /dev/zero; echo end) > in/holes; (cd in && sha256sum *) > sums
                """)
            for tool in [
                "cp -r in out", "cp --sparse=always -r in out", "install -D -t out in/*",
                "tar --sparse -c in | (mkdir out && tar -x -C out --strip-components=1)",
                "rsync -aS in/ out/",
            ] {
                try volume.settle()
                try volume.shapeedit("evict", "@in")
                agent.shell("\(tool) && (cd out && sha256sum --quiet -c ../sums) && rm -r out")
            }
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `changing what a promise is called, or replacing it, fetches nothing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("for i in 1 2 3 4 5 6; do head -c 100000 /dev/urandom > f$i; done")
            try volume.evictAll()
            agent.shell(
                """
                mkdir .Trash-0; mv f1 moved; mv f2 .Trash-0/; chmod 600 moved; setfattr -n user.x -v y moved
                ln moved link; touch link; : > f3; echo new > f4; echo other > tmp; mv tmp f5; rm f6
                truncate -s 0 moved
                """)
            #expect(try volume.fetchedBytes() == 0)
            #expect(agent.shell("cat f3 f4 f5") == "new\nother\n")
            #expect(agent.status("link").size == 0)
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `writing to a promise brings its content first`(_ dataPath: DataPath) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("log", "one\n")
            agent.store("cut", "0123456789")
            agent.shell("head -c 6000000 /dev/urandom > large; cp large plain.tmp")
            try volume.evictAll()
            agent.shell("echo two >> log; truncate -s 4 cut")
            #expect(agent.content("log") == "one\ntwo\n")
            #expect(agent.content("cut") == "0123")
            agent.shell("printf X | dd of=large bs=1 seek=5000000 conv=notrunc")
            agent.shell(
                "cmp -n 5000000 large plain.tmp && cmp -i 5000001 large plain.tmp; "
                    + "dd if=large bs=1 skip=5000000 count=1 | grep X")
            try volume.evictAll()
            #expect(agent.content("log") == "one\ntwo\n")
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `a large promise that was open for writing goes and comes again`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell(
                "head -c 6000000 /dev/urandom > large; cp large plain; sha256sum large > sum")
            try volume.evictAll()
            for flags in [O_RDWR, O_WRONLY | O_APPEND] {
                // Nothing is read and nothing is written.
                agent.close(agent.open("large", flags))
                for _ in 1...2 {
                    try volume.shapeedit("materialize", "@large")
                    agent.shell("sha256sum -c sum")
                    try volume.evictAll()
                }
            }
            agent.shell("printf X | dd of=large bs=1 seek=5000000 conv=notrunc; cp plain large")
            for _ in 1...2 {
                try volume.evictAll()
                try volume.shapeedit("materialize", "@large")
                agent.shell("printf X >> large; truncate -s 6000000 large; sha256sum -c sum")
            }
        }
    }

    @Test(arguments: [1_000_000, 6_000_000])
    func `what has just come stays when another document with the same content goes`(_ size: Int)
        throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let before = try volume.agent()
            before.shell("head -c \(size) /dev/urandom > one; cp one two; sha256sum one > ../sum")
            try volume.evictAll()
            // Without what the kernel still has of them.
            try volume.remount()
            let agent = try volume.agent()
            // At once: what has come is recorded within a second.
            try volume.shapeedit("materialize", "@one")
            agent.shell("setfattr -n user.shapeedit.state -v promise two")
            #expect(try volume.state("one") == "local")
            agent.shell("echo more >> one && truncate -s \(size) one && sha256sum -c ../sum")
        }
    }

    @Test func `what came of a content that is not whole goes with an eviction`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > ../sum")
            try volume.evictAll()
            try volume.remount()
            let later = try volume.agent()
            func bytes() throws -> Int {
                let folder = try #require(volume.container).folder
                let listed = try Probing.run(
                    ["find", "\(folder)/incoming", "-type", "f", "-printf", "%b\n"])
                return listed.text.split(separator: "\n").compactMap { Int($0) }.reduce(0, +)
            }
            later.shell("head -c 100 large > /dev/null")
            #expect(try bytes() > 0)
            // A close is told a moment after it has returned.
            var isGone = false
            for _ in 0..<600 where !isGone {
                isGone = try volume.outcome("evict", "@large").status == 0 && bytes() == 0
                if !isGone { usleep(50_000) }
            }
            #expect(isGone)
            #expect(try volume.state("large") == "promise")
            later.shell("sha256sum large | cut -c1-64 > ../now; cut -c1-64 ../sum | cmp - ../now")
        }
    }

    @Test func `earlier versions that are in the store come back`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("doc.txt", "first")
            try volume.evictAll()
            sleep(3)
            // Replaces a promise: its bytes are in the store only.
            agent.store("doc.txt", "second")
            let versions = "\(volume.root)/.shapeedit/versions/work/doc.txt"
            #expect(agent.shell("cat \(versions)/*") == "first")
        }
    }

    @Test func `what is open, pinned or not in the store stays, and the user is told why`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("doc", "content")
            let fresh = try volume.shapeedit("evict", "@doc", fails: EX_TEMPFAIL)
            #expect(fresh.errorText.contains("doc: it is not in the store yet"))
            try volume.settle()
            let file = agent.open("doc", O_RDONLY)
            let open = try volume.shapeedit("evict", "@doc", fails: EX_TEMPFAIL)
            #expect(open.errorText.contains("doc: it is open"))
            agent.close(file)
            try volume.shapeedit("pin", "@.")
            let pinned = try volume.shapeedit("evict", "@doc", fails: EX_TEMPFAIL)
            #expect(pinned.errorText.contains("pinned"))
            try volume.shapeedit("unpin", "@.")
            // Who is told to unpin is told what: that of the document would change nothing.
            agent.shell("mkdir -p in/sub; mv doc in/sub")
            try volume.shapeedit("pin", "@in")
            let inside = try volume.shapeedit("evict", "@in/sub/doc", fails: EX_TEMPFAIL)
            #expect(inside.errorText.contains("its folder work/in is pinned"), "\(inside)")
            try volume.shapeedit("unpin", "@in")
            agent.shell("mv in/sub/doc .")
            try volume.shapeedit("evict", "@doc")
            #expect(try volume.state("doc") == "promise")
            // A pin brings it back.
            try volume.shapeedit("pin", "@doc")
            try waitUntil { try volume.state("doc") == "local" }
            #expect(try volume.state("doc") == "local")
            try volume.remount()
            #expect(
                try volume.run("getfattr", "-n", "user.shapeedit.pin", "doc").text.contains("keep"))
        }
    }

    @Test func `materialize brings many, and says how far it is`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir in; for i in $(seq 50); do head -c 50000 /dev/urandom > in/$i; done")
            agent.shell("head -c 9000000 /dev/urandom > in/large")
            try volume.evictAll()
            let result = try volume.shapeedit("materialize", "@in", "--json")
            #expect(result.errorText.contains("\"percent\": 100"), "\(result)")
            #expect(try volume.state("in/large") == "local")
            #expect(try volume.fetchedBytes() == 50 * 50_000 + 9_000_000)
            // Nothing to do.
            try volume.shapeedit("materialize", "@in")
            #expect(try volume.fetchedBytes() == 50 * 50_000 + 9_000_000)
        }
    }

    @Test func `status tells how documents come, as it changes`() throws {
        let server = try FaultyServer(.webDAV, name: "watch")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("head -c 6000 /dev/urandom > doc")
            try volume.evictAll()
            let log = "\(container.base)/watched"
            let watch = try RunningProgram(
                [
                    "sh", "-c", "exec \"$0\" status --watch --json > \(log)",
                    try BuiltPrograms.shapeedit(),
                ].map { Array($0.utf8) }, environment: container.environment)
            // It looks when it has told of the mount.
            try waitUntil(seconds: 30) {
                try Probing.run(["cat", log]).text.contains("\(container.mountPoint)\"")
            }
            // Six seconds long.
            try server.plan("GET slow")
            agent.shell("cat doc > /dev/null")
            func lines() throws -> [Substring] {
                try Probing.run(["cat", log]).text.split(separator: "\n")
                    .filter { $0.contains("\(volume.directory)/doc\"") }
            }
            try waitUntil(seconds: 30) {
                try lines().contains { $0.contains("\"local\"") }
            }
            watch.kill(signal: SIGTERM, group: true)
            _ = watch.wait(seconds: 10)
            let told = try lines()
            #expect(told.count { $0.contains("\"downloading\"") } >= 2, "\(told)")
            #expect(told.last?.contains("\"state\": \"local\"") == true, "\(told)")
            try server.plan()
        }
    }

    @Test func `what status counts as stored can be evicted`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            let script = """
                import json, os, time
                def left():
                    with open("../.shapeedit/status.json") as file: status = json.load(file)
                    return sum(status[key] for key in ("sessions", "notYetDurable", "uploads"))
                for turn in range(2):
                    names = [f"d{turn}.{number}" for number in range(100)]
                    for name in names:
                        with open(name, "wb") as file: file.write(os.urandom(20000))
                    end = time.monotonic() + 60
                    while left(): assert time.monotonic() < end
                    for name in names: os.setxattr(name, "user.shapeedit.state", b"promise")
                """
            agent.store("../waiter.py", ByteString(script))
            agent.shell("python3 ../waiter.py")
        }
    }

    @Test func `one that cannot be pinned keeps no other from it`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            try volume.agent().shell("touch a b; mkdir d")
            for (verb, pin) in [("pin", "keep"), ("unpin", "default")] {
                let result = try volume.outcome(verb, "@a", "@missing", "@d", "@b", "--json")
                #expect(result.status == Int(EX_NOINPUT), "\(result)")
                #expect(result.text.contains("No such file"), "\(result)")
                let pins = try volume.run("getfattr", "-n", "user.shapeedit.pin", "a", "b", "d")
                #expect(pins.text.ranges(of: "=\"\(pin)\"").count == 3, "\(pins)")
            }
        }
    }

    @Test func `files outside of a mount are refused, and get no attribute`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let folder = "\(container.base)/foreign"
            let file = "\(folder)/file"
            _ = try Probing.run(["sh", "-c", "mkdir \(folder) && echo content > \(file)"])
            // As an earlier version left it behind.
            _ = try Probing.run([
                "setfattr", "-n", "user.shapeedit.state", "-v", "promise", file,
            ])
            let before = try Probing.run(["getfattr", "-d", "-m", "-", folder, file]).text
            for words in [
                ["evict", file], ["evict", folder], ["pin", file], ["pin", folder],
                ["pin", "--online-only", file], ["unpin", folder], ["materialize", file],
                ["pin-version", file, "1"], ["bookmark", "create", file],
                ["grant", file, "--to", "other"], ["resolve", file, "--keep", "both"],
            ] {
                let result = try container.command(words)
                #expect(result.status == Int(EX_USAGE), "\(words): \(result)")
            }
            let refused = try container.command("evict", file)
            #expect(refused.errorText.contains("it is not in a mounted container"), "\(refused)")
            #expect(try Probing.run(["getfattr", "-d", "-m", "-", folder, file]).text == before)
        }
    }

    @Test func `a container without a store has no promises`() throws {
        try withVolume(.passthrough) { volume in
            try volume.agent().store("doc", "content")
            let result = try volume.shapeedit("evict", "@doc", fails: EX_USAGE)
            #expect(result.errorText.contains("its container has no store"))
            #expect(result.errorText.split(separator: "\n").count == 1, "\(result)")
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// Stores that are gone or hold other bytes, daemons that die: nothing wrong is ever read, nothing is
/// lost, and everything goes on by itself.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct StoreFaultTests {
    private static let impatient = ["store_timeout=2"]

    private func move(_ from: String, _ to: String) { #expect(rename(from, to) == 0) }

    @Test(arguments: DataPath.ofPromises)
    func `without its store a promise gives an error that says why, all else works`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath, store: "folder", options: Self.impatient) { volume in
            let store = try #require(volume.container).storeFolder
            let before = try volume.agent()
            before.store("small", "content")
            before.shell("head -c 9000000 /dev/urandom > large; sha256sum large > ../sum")
            try volume.evictAll()
            // Without what the kernel still has of them.
            try volume.remount()
            let agent = try volume.agent()
            move(store, store + ".away")
            _ = agent.open("small", O_RDONLY, fails: EIO, ETIMEDOUT)
            let writing = agent.open("small", O_RDWR)
            _ = agent.write(writing, "more", offset: 0, fails: EIO, ETIMEDOUT)
            agent.close(writing)
            let file = agent.open("large", O_RDONLY)
            _ = agent.read(file, count: 100, fails: EIO, ETIMEDOUT)
            agent.close(file)
            let reason = try volume.run("getfattr", "-n", "user.shapeedit.error", "small").text
            #expect(reason.contains(store), "\(reason)")
            // New documents are made, read and kept as ever.
            agent.store("new", "made meanwhile")
            #expect(agent.content("new") == "made meanwhile")
            agent.store("small", "replaced")
            agent.shell("ls -l; mv large moved")
            let refused = try volume.shapeedit("evict", "@new", fails: EX_TEMPFAIL)
            #expect(refused.errorText.contains("not in the store yet"))
            let failed = try volume.shapeedit("materialize", "@moved", fails: EX_UNAVAILABLE)
            #expect(failed.errorText.contains(store))
            let told = try volume.shapeedit(
                "materialize", "@moved", "--json", fails: EX_UNAVAILABLE)
            #expect(told.errorText.contains("\"done\": 0"), "\(told)")
            #expect(!told.errorText.contains("\"done\": 1"), "\(told)")
            move(store + ".away", store)
            agent.shell("sha256sum < moved | cut -c1-64 > now; cut -c1-64 ../sum | cmp - now")
            try volume.settle()
            #expect(try volume.state("new") == "local")
        }
    }

    @Test func `the reason why a large promise did not come goes when it comes`() throws {
        try withVolume(.passthrough, store: "folder", options: Self.impatient) { volume in
            let store = try #require(volume.container).storeFolder
            let before = try volume.agent()
            before.shell("head -c 9000000 /dev/urandom > large")
            try volume.evictAll()
            try volume.remount()
            let agent = try volume.agent()
            func reason() throws -> String {
                try volume.run(
                    "getfattr", "--only-values", "-n", "user.shapeedit.error", "large"
                ).text
            }
            move(store, store + ".away")
            let file = agent.open("large", O_RDONLY)
            _ = agent.read(file, count: 100, fails: EIO, ETIMEDOUT)
            agent.close(file)
            #expect(try reason().contains(store))
            move(store + ".away", store)
            agent.shell("head -c 10 large > ../ten")
            #expect(try reason() == "")
            try volume.shapeedit("materialize", "@large")
            #expect(try reason() == "")
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `wrong bytes in the store are never read`(_ dataPath: DataPath) throws {
        try withVolume(dataPath, store: "folder", options: Self.impatient) { volume in
            let before = try volume.agent()
            before.store("small", "the right bytes")
            before.shell("head -c 9000000 /dev/urandom > large")
            let begin = before.shell("head -c 1000 large | sha256sum")
            try volume.evictAll()
            try volume.remount()
            let agent = try volume.agent()
            for blob in try volume.blobs().store {
                _ = try Probing.run(["sh", "-c", "chmod u+w \(blob); cp -p \(blob) \(blob).right"])
                // In the sixth block of the large one, at the end of the small one.
                _ = try Probing.run([
                    "sh", "-c",
                    """
                    s=$(stat -c %s \(blob)); o=$((s > 6000000 ? 6000000 : s - 5))
                    printf WRONG | dd of=\(blob) bs=1 seek=$o conv=notrunc
                    """,
                ])
            }
            _ = agent.open("small", O_RDONLY, fails: EIO)
            #expect(agent.shell("head -c 1000 large | sha256sum") == begin)
            let file = agent.open("large", O_RDONLY)
            _ = agent.read(file, count: 100, offset: 6_000_000, fails: EIO)
            #expect(agent.read(file, count: 100, offset: 8_000_000).count == 100)
            agent.close(file)
            #expect(
                try volume.run("getfattr", "-n", "user.shapeedit.error", "small").text
                    .contains("other bytes"))
            #expect(try volume.state("small") == "promise")
            for blob in try volume.blobs().store where blob.hasSuffix(".right") {
                move(blob, String(blob.dropLast(6)))
            }
            #expect(agent.content("small") == "the right bytes")
            agent.shell("cat large > /dev/null")
        }
    }

    @Test func `what waits for the store tells why, also when it is to be let go`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let store = try #require(volume.container).storeFolder
            #expect(rename(store, store + ".away") == 0)
            let agent = try volume.agent()
            func reason(_ name: String) throws -> String {
                try volume.run("getfattr", "--only-values", "-n", "user.shapeedit.error", name).text
            }
            let words = "is its disk mounted?"
            agent.shell("echo one > a; sync a")
            #expect(try waitUntil { try reason("a").contains(words) })
            // Nothing has been tried of it yet: the store is left alone for a while.
            agent.shell("echo two > b")
            #expect(try reason("b").contains(words))
            let refused = try volume.shapeedit("evict", "@b", fails: EX_TEMPFAIL)
            #expect(refused.errorText.contains(words), "\(refused)")
            #expect(rename(store + ".away", store) == 0)
            try volume.evictAll()
            #expect(try reason("b").isEmpty)
        }
    }

    @Test func `a content that cannot be opened for a while goes up afterwards`() throws {
        try withVolume(.passthrough, store: "folder", options: Self.impatient) { volume in
            let store = try #require(volume.container).storeFolder
            let agent = try volume.agent()
            move(store, store + ".away")
            agent.store("doc", "acknowledged")
            agent.shell("sync doc")
            let local = try volume.blobs().local
            let blob = try #require(local.first)
            #expect(local.count == 1)
            // Stands for an open that fails: of a disk that is ill, or of a daemon with too many files.
            move(blob, blob + ".away")
            var reason = ""
            for _ in 0..<1200 where !reason.contains("cannot be opened") {
                usleep(50_000)
                reason =
                    try volume.run(
                        "getfattr", "--only-values", "-n", "user.shapeedit.error", "doc"
                    ).text
            }
            #expect(reason.contains("cannot be opened"))
            move(blob + ".away", blob)
            move(store + ".away", store)
            try volume.settle()
            #expect(try volume.state("doc") == "local")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `a content that a crash left immutable can be evicted, and comes again`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("doc", "content")
            try volume.settle()
            let blob = try #require(try volume.blobs().local.first)
            let frozen = try Probing.run(["chattr", "+i", blob])
            if frozen.status != 0 { try Test.cancel("no flags here: \(frozen)") }
            try volume.shapeedit("evict", "@doc")
            #expect(try volume.state("doc") == "promise")
            #expect(try volume.blobs().local.isEmpty)
            #expect(agent.content("doc") == "content")
        }
    }

    @Test func `what was not uploaded when the daemon died goes up in the next mount`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("doc", "acknowledged")
            agent.end()
            try container.killDaemon()
            try container.mount()
            let after = try Agent(in: volume.directory)
            try volume.settle()
            #expect(try volume.state("doc") == "local")
            #expect(after.content("doc") == "acknowledged")
            after.end()
        }
    }

    @Test func `the daemon dies while contents come and go`() throws {
        var random = SplitMix(seed: Seed.next("the daemon dies while contents come and go"))
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            _ = try volume.run(
                "sh", "-c",
                "for i in 1 2 3 4; do head -c $((i * 3000000)) /dev/urandom > f$i; done; sha256sum f* > sums"
            )
            try volume.evictAll()
            // Those of them that were acknowledged are noted outside of the mount.
            let notes = "\(container.base)/notes"
            mkdir(notes, 0o755)
            for round in 1...25 {
                let work = try RunningProgram(
                    [
                        "sh", "-c",
                        """
                        cd \(volume.directory) || exit
                        (i=0; while :; do i=$((i + 1)); name=new-\(round)-$i
                            head -c 20000 /dev/urandom > \(notes)/content
                            cat \(notes)/content > $name || exit
                            (cd \(notes) && sha256sum < content | sed "s/-/$name/" >> sums)
                        done) &
                        while :; do
                        cat f1 f2 f3 f4 > /dev/null
                        setfattr -n user.shapeedit.state -v promise f* new-*
                        done 2> /dev/null
                        """,
                    ].map { Array($0.utf8) })
                usleep(UInt32.random(in: 20_000...300_000, using: &random))
                try container.killDaemon()
                work.kill(signal: SIGKILL, group: true)
                _ = work.wait(seconds: 10)
                try container.mount()
                // A line of the notes may have been cut off by the kill.
                let result = try volume.run(
                    "sh", "-c",
                    """
                    sha256sum --quiet -c sums || exit 1
                    cd \(notes) && grep -x '[0-9a-f]*  new-\(round)-[0-9]*' sums > whole || exit 0
                    cd - > /dev/null && sha256sum --quiet -c \(notes)/whole
                    """)
                #expect(result.status == 0, "round \(round): \(result)")
                _ = try volume.run("sh", "-c", "rm -f new-*; sync .; rm -f \(notes)/sums")
                _ = try container.command(["evict", volume.directory])
            }
            #expect(try container.status().fetchedBytes != nil)
        }
    }

    @Test func `evictions and opens race`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell(
                "head -c 200000 /dev/urandom > a; head -c 6000000 /dev/urandom > b; sha256sum a b > sums"
            )
            try volume.evictAll()
            agent.shell(
                """
                evict() {
                    for i in $(seq 60); do setfattr -n user.shapeedit.state -v promise a b; done
                }
                look() { for i in $(seq 40); do sha256sum --quiet -c sums || touch bad; done; }
                (evict & evict & look & look & wait) > /dev/null 2>&1
                """)
            #expect(!agent.names(".").contains("bad"))
            agent.shell("sha256sum --quiet -c sums")
        }
    }
}

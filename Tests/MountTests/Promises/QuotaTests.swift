import Glibc
import Probing
import TestSupport
import Testing

/// Contents that go by themselves: to keep within a quota, and because they are to be in the store only.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct QuotaTests {
    private func states(_ volume: Volume, _ names: [String]) throws -> [String] {
        try names.map { try volume.state($0) }
    }

    private func wait(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try condition() { return }
            usleep(50_000)
        }
        Issue.record("not within 30 s: \(what)")
    }

    @Test func `what was not opened for longest goes first, and what is pinned, open or new stays`()
        throws
    {
        try withVolume(.passthrough, store: "folder", options: ["quota=5M"]) { volume in
            let agent = try volume.agent()
            agent.shell("for i in 1 2 3 4 5; do head -c 1000000 /dev/urandom > f$i; done")
            try volume.settle()
            // All have room. Opened in this order: 5, 1, 2, 4, 3. (To settle opens all.)
            agent.shell("cat f5 f1 > /dev/null; sha256sum f? > ../sums; cat f5 f1 > /dev/null")
            try volume.shapeedit("pin", "@f1")
            let file = agent.open("f2", O_RDONLY)
            agent.shell("cat f4 f3 > /dev/null; head -c 1000000 /dev/urandom > f6; sync f6")
            let all = ["f1", "f2", "f3", "f4", "f5", "f6"]
            try wait("the first goes, and no other") {
                try states(volume, all)
                    == ["local", "local", "local", "local", "promise", "local"]
            }
            // f1 is pinned and f2 open: f4 is the next, then f2.
            agent.shell("cat f5 > /dev/null")
            try wait("the next goes") { try volume.state("f4") == "promise" }
            agent.close(file)
            agent.shell("cat f4 > /dev/null")
            try wait("what was open goes, and no other") {
                try states(volume, all)
                    == ["local", "promise", "local", "local", "local", "local"]
            }
            // Without its store everything that is new stays.
            let store = try #require(volume.container).storeFolder
            #expect(rename(store, store + ".away") == 0)
            agent.shell(
                "for i in 7 8 9; do head -c 2000000 /dev/urandom > f$i; done; sync f7 f8 f9")
            agent.shell("sha256sum f[6-9] >> ../sums; sleep 2; cat f7 f8 f9 | wc -c")
            #expect(try states(volume, ["f7", "f8", "f9"]) == ["dirty", "dirty", "dirty"])
            #expect(rename(store + ".away", store) == 0)
            try wait("within the quota again") {
                try states(volume, ["f7", "f8", "f9"]).contains("promise")
            }
            agent.shell("sha256sum --quiet -c ../sums")
        }
    }

    @Test func `what had come when the daemon died counts in the next mount`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=3M"]) { volume in
            let agent = try volume.agent()
            let all = ["f1", "f2", "f3", "f4"]
            agent.shell("for i in 1 2 3 4; do head -c 1000000 /dev/urandom > f$i; done")
            try volume.evictAll()
            agent.shell("cat f1 f2 > /dev/null")
            volume.endAgents()
            try #require(volume.container).killDaemon()
            try volume.remountAfterCrash()
            let after = try volume.agent()
            after.shell("cat f3 f4 > /dev/null")
            try wait("one of them goes") { try states(volume, all).contains("promise") }
        }
    }

    @Test func `what came of contents that are not whole counts, and goes first`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=3M"]) { volume in
            let before = try volume.agent()
            before.shell("for i in 1 2 3 4 5 6; do head -c 9000000 /dev/urandom > f$i; done")
            before.shell("echo small > small")
            try volume.evictAll()
            try volume.remount()
            let agent = try volume.agent()
            agent.shell("cat small; for i in 1 2 3 4 5 6; do head -c 100 f$i > /dev/null; done")
            let folder = try #require(volume.container).folder
            // What the last read brought may still be coming when it is looked at.
            try wait("not much more than the quota stays") {
                let listed = try Probing.run(
                    ["find", "\(folder)/incoming", "-type", "f", "-printf", "%b\n"])
                let blocks = listed.text.split(separator: "\n").compactMap { Int($0) }
                return blocks.reduce(0, +) * 512 <= 4 << 20
            }
            #expect(try volume.state("small") == "local")
        }
    }

    @Test func `so does what came of documents that have another content now`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=3M"]) { volume in
            let before = try volume.agent()
            before.shell("for i in 1 2; do head -c 9000000 /dev/urandom > f$i; done")
            try volume.evictAll()
            try volume.remount()
            let agent = try volume.agent()
            // Saves within two seconds would count as one.
            agent.shell("for i in 1 2; do head -c 100 f$i > /dev/null; done; sleep 2.1")
            agent.shell("echo new > f1; echo new > f2")
            let folder = try #require(volume.container).folder
            func parts() throws -> String {
                try Probing.run(["find", "\(folder)/incoming", "-type", "f"]).text
            }
            #expect(try parts() != "")
            agent.shell("head -c 2500000 /dev/urandom > doc; sync doc f1 f2")
            try wait("they go") { try parts() == "" }
            #expect(try states(volume, ["doc", "f1", "f2"]) == ["local", "local", "local"])
        }
    }

    @Test func `what was pinned goes when it is unpinned, and what finds no room is told`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=3M"]) { volume in
            let agent = try volume.agent()
            agent.shell("mkdir d; for i in 1 2 3 4 5; do head -c 1000000 /dev/urandom > d/$i; done")
            try volume.evictAll()
            // Whatever it saw of those that came and went: nobody has cancelled anything.
            let brought = try volume.outcome("materialize", "@d")
            #expect(!brought.errorText.contains("cancelled"), "\(brought)")
            try volume.shapeedit("pin", "@d")
            let names = (1...5).map { "d/\($0)" }
            try wait("all come") { try !states(volume, names).contains { $0 != "local" } }
            try volume.shapeedit("unpin", "@d")
            try wait("some go") { try states(volume, names).count { $0 == "promise" } >= 2 }
        }
    }

    @Test func `what cannot go though it is too much is told, with why, until it can`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=1M"]) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            func problem() throws -> String? {
                let text = try container.command("status", "--json").text
                return text.split(separator: "\n").first { $0.contains("\"quotaProblem\": ") }
                    .map(String.init)
            }
            agent.shell("for i in 1 2; do head -c 1048576 /dev/urandom > f$i; done")
            try volume.shapeedit("pin", "@f1", "@f2")
            try volume.settle()
            try wait("pins are named") {
                try problem()?.contains("cannot go: 2.0 MiB pinned\"") == true
            }
            let line =
                "quota: 1.0 MiB more than the quota, and what is here cannot go: 2.0 MiB pinned\n"
            #expect(try container.command("status").text.contains(line))
            // One more that nobody can let go of, and one that is nowhere else.
            let file = agent.open("f1", O_RDONLY)
            try volume.shapeedit("unpin", "@f1")
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            agent.shell("head -c 1572864 /dev/urandom > f3; sync f3")
            try wait("all reasons are named") {
                try problem()?.contains(
                    "cannot go: 1.0 MiB pinned, 1.0 MiB open, 1.5 MiB not in the store yet")
                    == true
            }
            #expect(rename(store + ".away", store) == 0)
            agent.close(file)
            try volume.shapeedit("unpin", "@f2")
            try wait("nothing is told when the quota is kept") { try problem() == nil }
            try volume.shapeedit("pin", "@f1", "@f2")
            try wait("it is told again") { try problem() != nil }
            agent.shell("rm f1")
            try wait("nothing is told when it was removed") { try problem() == nil }
        }
    }

    @Test func `of two bounds that one is told which is exceeded by more`() throws {
        try withVolume(.passthrough, store: "folder", options: ["quota=1M", "keep_free=900T"]) {
            volume in
            let container = try #require(volume.container)
            try volume.agent().shell("head -c 2097152 /dev/urandom > doc")
            try volume.shapeedit("pin", "@doc")
            try volume.settle()
            let words =
                " less free than to be kept free, and what is here cannot go: 2.0 MiB pinned\n"
            try wait("it is the disk") {
                try container.command("status").text.contains(words)
            }
        }
    }

    @Test func `what cannot be kept is looked at less and less often`() throws {
        try withVolume(.passthrough, store: "folder", options: ["keep_free=900T"]) { volume in
            let container = try #require(volume.container)
            try wait("it is told that nothing here is the cause") {
                try container.command("status").text
                    .contains(" less free than to be kept free: the disk is full of other things\n")
            }
            let watch = try #require(Watch("\(container.folder)/incoming"))
            sleep(20)
            // After 5 s, 10 s more, 20 s more.
            let looks = watch.count(of: UInt32(IN_OPEN), name: "")
            #expect((1...3).contains(looks), "\(looks)")
        }
    }

    @Test func `the log has what cannot go, once`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("head -c 2097152 /dev/urandom > doc")
            try volume.settle()
            try volume.shapeedit("pin", "@doc")
            volume.endAgents()
            try container.unmount()
            let daemon = try RunningProgram(
                [
                    BuiltPrograms.shapeedit(), "mount", "--foreground", "-o", "quota=1M",
                    container.name, "mount",
                ].map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            // It is told after ten seconds, and looked at each second.
            sleep(16)
            _ = try container.command("unmount", container.mountPoint)
            let ended = daemon.wait(seconds: 60)
            #expect(ended.errorText.split(separator: "more than the quota").count == 2, "\(ended)")
            try container.mount()
        }
    }

    @Test func `room is kept free on the disk`() throws {
        // More than there is: everything goes that may.
        try withVolume(.passthrough, store: "folder", options: ["keep_free=900T"]) { volume in
            let agent = try volume.agent()
            agent.shell("echo a > a; echo b > b")
            try volume.shapeedit("pin", "@a")
            try volume.settle()
            try wait("b goes") { try volume.state("b") == "promise" }
            #expect(agent.content("b") == "b\n")
            try wait("b goes again") { try volume.state("b") == "promise" }
            #expect(try volume.state("a") == "local")
        }
    }

    @Test func `what is to be online only goes after each last close`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.makeDirectory("folder")
            agent.store("folder/doc", "content")
            try volume.shapeedit("pin", "--online-only", "@folder")
            try volume.settle()
            try wait("it goes when it is stored") { try volume.state("folder/doc") == "promise" }
            for _ in 1...3 {
                let file = agent.open("folder/doc", O_RDONLY)
                #expect(agent.read(file, count: 7) == "content")
                #expect(try volume.state("folder/doc") == "local")
                agent.close(file)
                try wait("it goes when it is closed") {
                    try volume.state("folder/doc") == "promise"
                }
            }
        }
    }

    @Test func `a refusal names who has the document`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("doc", "content")
            try volume.settle()
            let reader = try RunningProgram(
                ["sh", "-c", "exec sleep 1000 < \(volume.directory)/doc"].map { Array($0.utf8) })
            try wait("it is open") { try volume.outcome("evict", "@doc").status != 0 }
            try wait("it is named") {
                try volume.shapeedit("evict", "@doc", fails: EX_TEMPFAIL).errorText
                    .contains("it is open in sleep (process ")
            }
            reader.kill(signal: SIGKILL, group: true)
            _ = reader.wait(seconds: 60)
            let writer = try RunningProgram(
                ["sh", "-c", "exec sleep 1000 >> \(volume.directory)/doc"].map { Array($0.utf8) })
            try wait("it is named") {
                try volume.outcome("evict", "@doc").errorText
                    .contains("it is being written in sleep (process ")
            }
            writer.kill(signal: SIGKILL, group: true)
            _ = writer.wait(seconds: 60)
        }
    }

    @Test func `what had just come when the container was closed counts in the next mount`() throws
    {
        try withVolume(.passthrough, store: "folder", options: ["quota=1M"]) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("for i in 1 2 3 4 5 6; do head -c 400000 /dev/urandom > f$i; done")
            agent.shell("sha256sum f? > ../sums")
            try volume.evictAll()
            func waitForQuota() throws {
                try wait("within the quota") { try volume.blobs().local.count <= 3 }
                let sound = try volume.run("sha256sum", "--quiet", "-c", "../sums")
                #expect(sound.status == 0, "\(sound)")
            }
            // Two may stay, and a third is too much for a moment.
            agent.shell("cat f1 f2 > /dev/null")
            agent.end()
            try container.unmount()
            // Not all come: the container keeps its store. In another order each time.
            let large = try run(["find", container.storeFolder, "-size", "+300k"]).text
            let local = Set(try volume.blobs().local.compactMap { $0.split(separator: "/").last })
            let away = large.split(separator: "\n").first {
                $0.split(separator: "/").last.map { !local.contains($0) } ?? false
            }
            let blob = String(try #require(away))
            #expect(rename(blob, blob + ".away") == 0)
            for _ in 0..<4 {
                let moved = try container.command("container", "move-store", container.name, "none")
                #expect(moved.status == Int(EX_UNAVAILABLE), "\(moved)")
            }
            #expect(rename(blob + ".away", blob) == 0)
            #expect(try volume.blobs().local.count > 3)
            try container.mount(options: ["quota=1M"])
            try waitForQuota()
        }
    }
}

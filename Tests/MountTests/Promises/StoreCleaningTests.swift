import Glibc
import Probing
import TestSupport
import Testing

/// What nothing needs any more leaves the store after a while, if nobody else can need it.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct StoreCleaningTests {
    /// Blobs that nothing needs stay two seconds.
    private static let brief = ["store_grace=2"]

    /// Documents that are deleted are given up for good when the volume is mounted anew.
    private func deleteForGood(_ volume: Volume, _ name: String) throws {
        let agent = try volume.agent()
        agent.shell("rm \(name)")
        try volume.remount()
    }

    /// Whether the store comes to hold so many blobs, within 120 s.
    private func comes(_ volume: Volume, to count: Int) throws -> Bool {
        for _ in 0..<1200 {
            if try volume.blobs().store.count == count { return true }
            usleep(100_000)
        }
        return false
    }

    @Test func `what was deleted leaves the store, all else stays readable`() throws {
        try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > a; echo two > b; cp b c; echo three > d")
            try volume.evictAll()
            #expect(try volume.blobs().store.count == 3)
            agent.shell("rm c")
            try deleteForGood(volume, "a")
            #expect(try comes(volume, to: 2))
            // Saved again with the same bytes, it goes there again.
            let after = try volume.agent()
            after.shell("echo one > again")
            try volume.evictAll()
            #expect(try volume.blobs().store.count == 3)
            sleep(5)
            #expect(after.shell("cat again b d") == "one\ntwo\nthree\n")
        }
    }

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `what was deleted leaves a server's store once, all else stays readable`(
        _ kind: FaultyServer.Kind
    ) throws {
        let server = try FaultyServer(kind, name: "cleaning-\(kind)")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address, options: Self.brief) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > a; echo two > b")
            try volume.evictAll()
            // From here on what is asked for is counted.
            try server.plan("DELETE none")
            try deleteForGood(volume, "a")
            for _ in 0..<1200 {
                if try server.requests()["DELETE none"] != nil { break }
                usleep(100_000)
            }
            // What was not gone would be listed, and removed, again.
            sleep(5)
            #expect(try server.requests()["DELETE none"] == 1)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.content("b") == "two\n")
            after.shell("echo one > again")
            try volume.evictAll()
            #expect(after.content("again") == "one\n")
        }
    }

    @Test func `what a put left that was cut off leaves the server`() throws {
        let server = try FaultyServer(.webDAV, name: "remnants")
        defer { server.stop() }
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        #expect(try run(["sh", "-c", "echo half > \(folder)/half"]).status == 0)
        try withVolume(.passthrough, store: server.address, options: Self.brief) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > a; sha256sum < a > sum")
            try volume.settle()
            let hash = agent.shell("cat sum").prefix(64)
            let other = String(repeating: "5", count: 64)
            for name in ["\(hash).1f", "\(other).2f", "\(other)-3.png.3f", "note"] {
                try server.request("PUT", "/incoming/\(name)", "\(folder)/half")
            }
            try server.plan("DELETE none")
            try volume.remount()
            for _ in 0..<1200 {
                if try server.requests()["DELETE none"] == 3 { break }
                usleep(100_000)
            }
            sleep(5)
            #expect(try server.requests()["DELETE none"] == 3)
            try server.request("GET", "/incoming/note")
            try volume.evictAll()
            #expect(try volume.agent().content("a") == "one\n")
        }
    }

    @Test func `within the grace, and without any, nothing is removed`() throws {
        try withVolume(.passthrough, store: "folder", options: ["store_grace=3600"]) { patient in
            try withVolume(.passthrough, store: "folder", options: ["store_grace=0"]) { forgetful in
                for volume in [patient, forgetful] {
                    let agent = try volume.agent()
                    agent.shell("echo one > a; echo two > b")
                    try volume.settle()
                    try deleteForGood(volume, "a")
                }
                sleep(5)
                for volume in [patient, forgetful] {
                    #expect(try volume.blobs().store.count == 2)
                }
            }
        }
    }

    @Test func `a store that another container, or a copy of this one, has used is left alone`()
        throws
    {
        for isCopy in [false, true] {
            try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
                let container = try #require(volume.container)
                let agent = try volume.agent()
                agent.shell("echo one > a; echo two > b")
                try volume.settle()
                if isCopy {
                    // The copy has been at the store: its mark is another one than ours.
                    let mark = try run([
                        "sh", "-c",
                        "for f in \(container.storeFolder)/pictures/00/*-owner; do echo other > $f; done",
                    ])
                    #expect(mark.status == 0)
                } else {
                    let made = try container.command(
                        [
                            "container", "create", "other", "--store",
                            "folder:\(container.storeFolder)",
                        ])
                    #expect(made.status == 0, "\(made)")
                    // Its first upload says that it is here, before anything else.
                    let told = try run([
                        "sh", "-c",
                        "for f in \(container.storeFolder)/pictures/00/*-owner; do echo shared > $f; done",
                    ])
                    #expect(told.status == 0)
                }
                try deleteForGood(volume, "a")
                sleep(6)
                #expect(try volume.blobs().store.count == 2)
            }
        }
    }

    @Test func `a container that moves to a store tells its owner before it counts on anything`()
        throws
    {
        try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo one > a; echo two > b")
            try volume.evictAll()
            let made = try container.command("container", "create", "other")
            #expect(made.status == 0, "\(made)")
            let moving = try volume.start([
                try BuiltPrograms.shapeedit(), "container", "move-store", "other",
                "folder:\(container.storeFolder)",
            ])
            var isTold = false
            for _ in 0..<1200 where !isTold {
                usleep(50_000)
                isTold =
                    try Probing.run([
                        "sh", "-c", "grep -qx shared \(container.storeFolder)/pictures/00/*-owner",
                    ]).status == 0
            }
            #expect(isTold)
            // It waits for those who may not have seen it; so long the test does not.
            #expect(Container.isAlive(Int(moving.process)))
            moving.kill(signal: SIGKILL, group: true)
            _ = moving.wait(seconds: 60)
            try deleteForGood(volume, "a")
            sleep(6)
            #expect(try volume.blobs().store.count == 2)
        }
    }

    @Test func `another spelling of a store's address leads to the store, which stays its own`()
        throws
    {
        try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo one > a; echo two > b")
            try volume.settle()
            let folder = container.storeFolder
            #expect(symlink(folder, folder + ".link") == 0)
            // Back to the first one as well, whose token is an old one then.
            for spelling in ["\(folder)/.", "\(folder).link", folder, "\(folder)/."] {
                volume.endAgents()
                try container.unmount()
                // Another container than the owner would wait for two minutes.
                let moved = try container.command(
                    "container", "move-store", container.name, "folder:\(spelling)")
                #expect(moved.status == 0 && moved.errors.isEmpty, "\(moved)")
                try container.mount()
            }
            try deleteForGood(volume, "a")
            #expect(try comes(volume, to: 1))
            #expect(try volume.agent().content("b") == "two\n")
        }
    }

    @Test func `a container that gives the store's owner time to notice it says so`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            try volume.agent().store("a", "one")
            try volume.settle()
            // It is another container to the store.
            let forgotten = try Probing.run(["rm", "\(container.folder)/store-owner"])
            #expect(forgotten.status == 0)
            try volume.remount()
            try volume.agent().shell("echo two > b; sync b")
            let words = "another container has used the store"
            try waitUntil {
                try volume.run("getfattr", "--only-values", "-n", "user.shapeedit.error", "b").text
                    .contains(words)
            }
            #expect(try volume.shapeedit("status").text.contains(words))
            #expect(try volume.state("b") == "dirty")
        }
    }

    @Test func `a copy lets nothing go that the store may have lost since it was made`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo one > a")
            try volume.settle()
            volume.endAgents()
            try container.unmount()
            let copied = try run(["cp", "-a", container.folder, container.folder + "/../copy"])
            #expect(copied.status == 0, "\(copied)")
            // As its owner removes what it needs no more.
            let blobs = try volume.blobs().store
            for blob in blobs { #expect(rename(blob, blob + ".away") == 0) }
            let mounted = try container.command("mount", "copy", container.mountPoint)
            #expect(mounted.status == 0, "\(mounted)")
            let document = volume.directory + "/a"
            let refused = try container.command("evict", document)
            #expect(refused.status == 75, "\(refused)")
            #expect(refused.errorText.contains("since the container was copied"), "\(refused)")
            #expect(try run(["cat", document]).text == "one\n")
            let unmounted = try container.command("unmount", container.mountPoint)
            #expect(unmounted.status == 0, "\(unmounted)")
            for blob in blobs { #expect(rename(blob + ".away", blob) == 0) }
            try container.mount()
        }
    }

    @Test func `killed in the middle, nothing that is needed is gone`() throws {
        try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
            let container = try #require(volume.container)
            for round in 0..<6 {
                let agent = try volume.agent()
                agent.shell(
                    "for i in 1 2 3 4 5; do echo \(round) $i > k$i; echo g \(round) $i > g$i; done")
                try volume.evictAll()
                agent.shell("rm -f g*; echo \(round) 1 > same")
                usleep(UInt32(round) * 400_000)
                volume.endAgents()
                try container.killDaemon()
                try volume.remountAfterCrash()
                let after = try volume.agent()
                #expect(
                    after.shell("cat k1 k2 k3 k4 k5")
                        == (1...5).map { "\(round) \($0)\n" }.joined())
            }
            try volume.evictAll()
        }
    }

    @Test(arguments: [false, true])
    func `what a mounted container's store has lost goes there again before it is let go`(
        _ isShared: Bool
    ) throws {
        try withVolume(.passthrough, store: "folder", options: Self.brief) { volume in
            let container = try #require(volume.container)
            if isShared {
                // As if another container had used the store before.
                volume.endAgents()
                try container.unmount()
                let shared = try Probing.run(
                    [
                        "sh", "-c",
                        "printf '%s\\tshared\\n' 'folder:\(container.storeFolder)' > store-owner && "
                            + "printf shared | tee '\(container.storeFolder)'/pictures/00/*-owner",
                    ], directory: container.folder)
                #expect(shared.status == 0, "\(shared)")
                try container.mount()
                try volume.remount()
            }
            let agent = try volume.agent()
            agent.shell("echo one > a; cp a same; echo two > b; echo three > c")
            try volume.settle()
            let blobs = try volume.blobs().store
            #expect(blobs.count == 3)
            for blob in blobs { #expect(unlink(blob) == 0) }
            #expect(try comes(volume, to: 3))
            #expect(try Set(volume.blobs().store) == Set(blobs))
            try volume.evictAll()
            #expect(try volume.blobs().local.isEmpty)
            #expect(agent.shell("cat a same b c") == "one\none\ntwo\nthree\n")
        }
    }

    @Test func `the check tells what the store lost, and puts there what is here`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo one > a")
            try volume.settle()
            for blob in try volume.blobs().store { #expect(unlink(blob) == 0) }
            volume.endAgents()
            try container.unmount()
            let told = try container.check()
            #expect(told.status == 1 && told.text.contains("goes there again"), "\(told)")
            try volume.remountAfterCrash()
            try volume.evictAll()
            #expect(try volume.agent().content("a") == "one\n")
            // A promise that cannot be kept is told, and stays.
            try volume.evictAll()
            let blobs = try volume.blobs().store
            for blob in blobs { #expect(rename(blob, blob + ".away") == 0) }
            volume.endAgents()
            try container.unmount()
            let lost = try container.check()
            #expect(lost.status == 65 && lost.text.contains("the store does not have"), "\(lost)")
            for blob in blobs { #expect(rename(blob + ".away", blob) == 0) }
            try volume.remountAfterCrash()
        }
    }

    @Test func `the check lets no damaged copy go while the store does not answer`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo content > one")
            try volume.settle()
            let hash = agent.shell("sha256sum < one").prefix(64)
            volume.endAgents()
            try container.unmount()
            let blob = "\(container.folder)/blobs/\(hash.prefix(2))/\(hash)"
            let damaged = try Probing.run([
                "sh", "-c", "test -s \(blob) && printf X | dd of=\(blob) conv=notrunc status=none",
            ])
            #expect(damaged.status == 0, "\(damaged)")
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            let told = try container.check()
            #expect(told.status == 65 && told.text.contains("did not answer"), "\(told)")
            #expect(access(blob, F_OK) == 0, "all that may be left of it is gone")
            #expect(rename(store + ".away", store) == 0)
            let repaired = try container.check()
            #expect(repaired.status == 1 && !repaired.text.contains("damaged:"), "\(repaired)")
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("one") == "content\n")
        }
    }

    @Test(arguments: ["rm -f", "truncate -s 3"])
    func `the check leaves a promise what it is when the copy of another document is damaged`(
        _ damage: String
    ) throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo content > one; echo before > two")
            try volume.settle()
            sleep(3)
            agent.shell("cat one > two")
            try volume.settle()
            try volume.shapeedit("evict", "@two")
            let hash = agent.shell("sha256sum < one").prefix(64)
            volume.endAgents()
            try container.unmount()
            // What both have: the first counts on it, the second is a promise.
            let blob = "\(container.folder)/blobs/\(hash.prefix(2))/\(hash)"
            let damaged = try Probing.run(["sh", "-c", "test -s \(blob) && \(damage) \(blob)"])
            #expect(damaged.status == 0, "\(damaged)")
            let told = try container.check()
            #expect(told.status == 1 && !told.text.contains("damaged"), "\(told)")
            try volume.remountAfterCrash()
            #expect(try volume.agent().shell("cat one two") == "content\ncontent\n")
        }
    }
}

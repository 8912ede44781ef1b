import Glibc
import Probing
import TestSupport
import Testing

/// Stores that have other bytes of a content than they should, as many: what is right is not given up for
/// them.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct DamagedStoreTests {
    /// Writes as many wrong bytes as a file has.
    private static let spoil = "head -c $(stat -c %s \"$1\") /dev/zero > \"$2\""

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `what is saved again takes the place of what is damaged in the store`(
        _ kind: FaultyServer.Kind
    ) throws {
        let server = try FaultyServer(kind, name: "damaged-\(kind)")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address, options: ["store_timeout=3"]) {
            volume in
            let container = try #require(volume.container)
            let names = ["small", "large"]
            let backup = container.base + "/home"
            for (name, size) in zip(names, [3_000, 17 << 20]) {
                let file = "\(backup)/\(name)"
                _ = try Probing.run(["sh", "-c", "head -c \(size) /dev/urandom > \(file)"])
                _ = try volume.run("cp", file, name)
            }
            try volume.evictAll()
            for name in names {
                let hash = try Probing.run(["sha256sum", "\(backup)/\(name)"]).text.prefix(64)
                let wrong = "\(backup)/wrong"
                _ = try Probing.run(["sh", "-c", Self.spoil, "sh", "\(backup)/\(name)", wrong])
                try server.request("PUT", "/\(hash.prefix(2))/\(hash)", wrong)
            }
            try volume.remount()
            for name in names {
                #expect(try volume.run("cmp", name, "\(backup)/\(name)").status != 0)
            }
            // What the store has is known in the next mount as well.
            try volume.remount()
            for name in names { _ = try volume.run("cp", "\(backup)/\(name)", "\(name).again") }
            try volume.evictAll()
            try volume.remount()
            for name in names + names.map({ $0 + ".again" }) {
                let same = try volume.run("cmp", name, "\(backup)/\(name.split(separator: ".")[0])")
                #expect(same.status == 0, "\(same)")
            }
            let known = "\(container.folder)/store-damaged"
            #expect(access(known, F_OK) != 0)
        }
    }

    @Test func `move-store does not count on what is in the new store already`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo away > a; echo here > b; head -c 9000000 /dev/urandom > c")
            agent.shell("sha256sum a b c > sums")
            try volume.settle()
            try volume.shapeedit("evict", "@a", "@c")
            agent.end()
            try container.unmount()
            // A store that has them all, each with one byte that is another.
            let other = "\(container.base)/home/other"
            let made = try Probing.run([
                "sh", "-c",
                """
                cp -r '\(container.storeFolder)' '\(other)' && rm -r '\(other)/pictures'
                for blob in '\(other)'/??/*; do
                    chmod u+w "$blob"; printf X | dd of="$blob" bs=1 seek=1 conv=notrunc
                done
                """,
            ])
            #expect(made.status == 0, "\(made)")
            let moved = try container.command(
                "container", "move-store", container.name, "folder:\(other)")
            #expect(moved.status == 0, "\(moved)")
            try container.mount()
            try volume.shapeedit("evict", "@b")
            let sound = try volume.run("sha256sum", "--quiet", "-c", "sums")
            #expect(sound.status == 0, "\(sound)")
        }
    }

    @Test func `move-store tells what is damaged here, and takes the store's after a check`() throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo content > a; echo other > b")
            try volume.settle()
            volume.endAgents()
            try container.unmount()
            let damaged = try Probing.run(
                [
                    "sh", "-c",
                    "for f in */*; do chmod u+w $f; printf X | dd of=$f bs=1 conv=notrunc; done",
                ], directory: "\(container.folder)/blobs")
            try #require(damaged.status == 0, "\(damaged)")
            let words = [
                "container", "move-store", container.name, "folder:\(container.base)/other",
            ]
            let refused = try container.command(words)
            #expect(refused.status == Int(EX_DATAERR), "\(refused)")
            #expect(refused.errorText.contains("container check \(container.name)"), "\(refused)")
            #expect(try container.check().status == 1)
            let moved = try container.command(words)
            #expect(moved.status == 0, "\(moved)")
            try container.mount()
            #expect(try volume.agent().shell("cat a b") == "content\nother\n")
        }
    }

    /// A container whose store has lost the content of an earlier version, and one byte of another.
    private func withLoss(
        _ body: (_ volume: Volume, _ container: Container, _ lost: [String]) throws -> Void
    ) throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo before > a; echo spoilt > b; echo whole > c; echo here > d")
            try volume.settle()
            let lost = agent.shell("sha256sum < a; sha256sum < b").split(separator: "\n").map {
                "\(container.storeFolder)/\($0.prefix(2))/\($0.prefix(64))"
            }
            // Later than a version may be taken for the same save.
            sleep(3)
            try volume.shapeedit("evict", "@a", "@b")
            agent.shell("echo after > a; echo later > b")
            try volume.settle()
            try volume.shapeedit("evict", "@a", "@b", "@c")
            volume.endAgents()
            try container.unmount()
            #expect(rename(lost[0], lost[0] + ".away") == 0)
            let spoilt = try Probing.run([
                "sh", "-c",
                """
                cp -p "$1" "$1.away" && chmod u+w "$1" && printf X | dd of="$1" conv=notrunc
                """, "sh", lost[1],
            ])
            #expect(spoilt.status == 0, "\(spoilt)")
            try body(volume, container, lost)
        }
    }

    /// What comes back to a store is found there when the container moves to it again.
    private func expectWayBack(
        of lost: [String], to store: String, _ container: Container, _ volume: Volume,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        for blob in lost {
            #expect(rename(blob + ".away", blob) == 0, sourceLocation: location)
        }
        let back = try container.command(
            "container", "move-store", container.name, "folder:\(store)")
        #expect(back.status == 0, "\(back)", sourceLocation: location)
        try container.mount()
        let versions = "\(volume.root)/.shapeedit/versions/work"
        #expect(
            try volume.agent().shell("cat \(versions)/[ab]/*") == "before\nspoilt\n",
            sourceLocation: location)
    }

    @Test func `move-store takes along all that is there, and tells what the old store has lost`()
        throws
    {
        try withLoss { volume, container, lost in
            let (old, other) = (container.storeFolder, "\(container.base)/home/other")
            let moved = try container.command(
                "container", "move-store", container.name, "folder:\(other)")
            #expect(moved.status == Int(EX_DATAERR), "\(moved)")
            #expect(moved.errorText.contains("lost: work/a, version "), "\(moved)")
            #expect(moved.errorText.contains("lost: work/b, version "), "\(moved)")
            #expect(!moved.errorText.contains("lost: work/c"), "\(moved)")
            #expect(moved.errorText.contains("folder:\(old) is as it was"), "\(moved)")
            // Nothing depends on the old store.
            #expect(rename(old, old + ".away") == 0)
            try container.mount()
            #expect(try volume.agent().shell("cat a b c d") == "after\nlater\nwhole\nhere\n")
            volume.endAgents()
            try container.unmount()
            // What comes back to the old store is found there, and the way back loses nothing.
            #expect(rename(old + ".away", old) == 0)
            try expectWayBack(of: lost, to: old, container, volume)
        }
    }

    @Test func `move-store to none brings all that is there, and tells what is lost`() throws {
        try withLoss { volume, container, lost in
            let moved = try container.command("container", "move-store", container.name, "none")
            #expect(moved.status == Int(EX_DATAERR), "\(moved)")
            try container.mount()
            #expect(try volume.agent().shell("cat a b c d") == "after\nlater\nwhole\nhere\n")
            volume.endAgents()
            try container.unmount()
            #expect(try container.check().status == 65)
            try expectWayBack(of: lost, to: container.storeFolder, container, volume)
        }
    }

    @Test func `move-store does not believe a store that has lost everything`() throws {
        try withLoss { volume, container, lost in
            let store = container.storeFolder
            // All documents are here, and only earlier versions are not.
            try container.mount()
            try volume.agent().shell("cat a b c > /dev/null")
            volume.endAgents()
            try container.unmount()
            let emptied = try Probing.run(
                ["sh", "-c", "mkdir away && mv ?? away"], directory: store)
            #expect(emptied.status == 0, "\(emptied)")
            let refused = try container.command(
                "container", "move-store", container.name, "folder:\(container.base)/home/other")
            #expect(refused.status == Int(EX_UNAVAILABLE), "\(refused)")
            #expect(refused.errorText.contains("nor anything else"), "\(refused)")
            let info = try container.command("container", "info", container.name)
            #expect(info.text.contains("its store: folder:\(store)"), "\(info)")
            let back = try Probing.run(["sh", "-c", "mv away/* . && rmdir away"], directory: store)
            #expect(back.status == 0, "\(back)")
            for blob in lost { #expect(rename(blob + ".away", blob) == 0) }
            try container.mount()
        }
    }
}

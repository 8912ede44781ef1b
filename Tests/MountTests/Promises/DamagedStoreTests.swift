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

    @Test(arguments: FaultyServer.Kind.allCases)
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
}

import Glibc
import Probing
import TestSupport
import Testing

/// What the blocks of a large promise are compared with lies in the container's folder `digests`.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct BlockDigestTests {
    /// A promise of nine million bytes, after `change` has worked on the file with its digests (`$digests`)
    /// and its blob in the store (`$blob`).
    private func withPromise(
        _ change: String, _ body: (Volume, Agent) throws -> Void
    ) throws {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=2"]) { volume in
            let before = try volume.agent()
            before.shell("head -c 9000000 /dev/urandom > large; sha256sum < large > ../sum")
            try volume.evictAll()
            // Without what the kernel still has of it.
            try volume.remount()
            let container = try #require(volume.container)
            let changed = try Probing.run([
                "sh", "-ec",
                """
                blob=$(find \(container.storeFolder) -type f -size +4M)
                digests=\(container.folder)/digests/$(basename $blob)
                test -s $digests
                \(change)
                """,
            ])
            #expect(changed.status == 0, "\(changed)")
            try body(volume, try volume.agent())
        }
    }

    /// Replaces the digests by those of earlier releases: the SHA-256 of each block.
    private static let former = """
        for block in 0 1 2 3 4 5 6 7 8; do
            dd if=$blob bs=1M skip=$block count=1 status=none | sha256sum | cut -c1-64
        done | python3 -c 'import sys
        sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' > $digests
        """
    private static let damageBlob = """
        chmod u+w $blob; printf WRONG | dd of=$blob bs=1 seek=6000000 conv=notrunc status=none
        """

    @Test(arguments: [0, 10, 40, 170])
    func `a damaged file of digests does not keep a promise from being read`(_ place: Int) throws {
        let damage = "printf XX | dd of=$digests bs=1 seek=\(place) conv=notrunc status=none"
        try withPromise(damage) { _, agent in agent.shell("sha256sum < large | cmp - ../sum") }
    }

    @Test func `a file of digests that is cut off does not keep a promise from being read`() throws
    {
        try withPromise("truncate -s 100 $digests") { _, agent in
            agent.shell("sha256sum < large | cmp - ../sum")
        }
    }

    @Test func `digests of earlier releases still tell wrong blocks from right ones`() throws {
        try withPromise("\(Self.former)\n\(Self.damageBlob)") { volume, agent in
            let file = agent.open("large", O_RDONLY)
            #expect(agent.read(file, count: 100, offset: 8_000_000).count == 100)
            let fetched = try volume.fetchedBytes()
            #expect(fetched <= 2 << 20)
            _ = agent.read(file, count: 100, offset: 6_000_000, fails: EIO)
            agent.close(file)
        }
    }

    @Test func `a promise with digests of an earlier release is read as it was written`() throws {
        try withPromise(Self.former) { _, agent in agent.shell("sha256sum < large | cmp - ../sum") }
    }
}

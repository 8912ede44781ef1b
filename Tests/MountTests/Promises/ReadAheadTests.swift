import Glibc
import Probing
import TestSupport
import Testing

/// How much of a large promise comes ahead of those who read it.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct ReadAheadTests {
    private func withLarge(_ megabytes: Int, _ body: (Volume, Agent) throws -> Void) throws {
        try withVolume(.passthrough, store: "folder") { volume in
            try volume.agent().shell("head -c \(megabytes << 20) /dev/urandom > large")
            try volume.evictAll()
            try volume.remount()
            try body(volume, try volume.agent())
        }
    }

    @Test func `who looks at both ends, as file does, is brought little more`() throws {
        try withLarge(200) { volume, agent in
            let ends = 7 << 20
            let look = """
                import os
                file = os.open("large", os.O_RDONLY)
                os.read(file, \(ends))
                os.pread(file, \(ends), os.fstat(file).st_size - \(ends))
                """
            agent.store("look.py", ByteString(look))
            agent.shell("python3 look.py")
            let fetched = try volume.fetchedBytes()
            #expect(fetched <= 24 << 20)
            #expect(try volume.state("large") == "promise")
        }
    }

    @Test func `all comes for who stays after the third block`() throws {
        try withLarge(40) { volume, agent in
            let file = agent.open("large", O_RDONLY)
            _ = agent.read(file, count: 5 << 19, offset: 0)
            try waitUntil { try volume.state("large") == "local" }
            #expect(try volume.state("large") == "local")
            agent.close(file)
        }
    }
}

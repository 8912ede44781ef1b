import CKernel
import Glibc
import TestSupport
import Testing

/// When a read leaves its time, as relatime has it.
@Suite(.oneAtATime) struct AccessTimeTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `access times follow relatime`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "content")
            // Older than the modification: the next read sets it.
            agent.setTimes(
                "file", accessed: .at(seconds: 1_000_000_000, nanoseconds: 0),
                modified: .at(seconds: 1_000_000_001, nanoseconds: 0))
            let start = nanosecondsNow() - 50_000_000
            _ = agent.content("file")
            let first = agent.status("file")
            #expect(first.accessed > start)
            // Now it is younger, and not a day old: the next reads do not.
            letTimePass()
            _ = agent.content("file")
            #expect(agent.status("file").accessed == first.accessed)
            // What was changed in the future is not read there.
            agent.store("future", "content")
            agent.setTimes(
                "future", accessed: .at(seconds: 1_000_000_000, nanoseconds: 0),
                modified: .at(seconds: 4_000_000_000, nanoseconds: 0))
            _ = agent.content("future")
            let read = agent.status("future").accessed
            #expect(read > start && read < start + 600_000_000_000)
            // Never by O_NOATIME.
            agent.setTimes(
                "file", accessed: .at(seconds: 1_000_000_000, nanoseconds: 0), modified: .now)
            let file = agent.open("file", O_RDONLY | O_NOATIME)
            agent.read(file)
            agent.close(file)
            #expect(agent.status("file").accessed == 1_000_000_000_000_000_000)
            // Directories are read by listing, links by following.
            agent.makeDirectory("dir")
            agent.setTimes(
                "dir", accessed: .at(seconds: 1000, nanoseconds: 0), modified: .now)
            _ = agent.names("dir")
            #expect(agent.status("dir").accessed > start)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a read after a change of attributes counts, also from the kernel's memory`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let large = ByteString([UInt8](repeating: 99, count: 200_000))
            let files: [(ByteString, ByteString)] = [("small", "content"), ("large", large)]
            for (name, content) in files {
                agent.store(name, content)
                _ = agent.content(name)
                letTimePass()
                agent.changeMode(name, 0o600)
                letTimePass()
                #expect(agent.status(name).accessed < agent.status(name).changed)
                _ = agent.content(name)
                #expect(agent.status(name).accessed > agent.status(name).changed, "\(name)")
                // By its owner's wish it was read long ago; the next read counts.
                agent.setTimes(
                    name, accessed: .at(seconds: 1_000_000_000, nanoseconds: 0),
                    modified: .unchanged)
                #expect(agent.status(name).accessed == 1_000_000_000_000_000_000)
                _ = agent.content(name)
                #expect(agent.status(name).accessed > agent.status(name).modified, "\(name)")
                // Touched, as touch(1) does; then read again when a day has gone by.
                letTimePass()
                agent.setTimes(name, accessed: .now, modified: .now)
                letTimePass()
                _ = agent.content(name)
                #expect(agent.status(name).accessed > agent.status(name).modified, "\(name)")
                agent.setTimes(
                    name, accessed: .at(seconds: 1_000_000_001, nanoseconds: 0),
                    modified: .at(seconds: 1_000_000_000, nanoseconds: 0))
                _ = agent.content(name)
                #expect(agent.status(name).accessed > 1_000_000_001_000_000_000, "\(name)")
            }
        }
    }
}

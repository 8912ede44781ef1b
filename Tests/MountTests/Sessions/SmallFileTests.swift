import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Small new files, which get a file of their own in the container late: nobody can tell.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct SmallFileTests {
    /// A program that has made small files only is taken at its word.
    private static func warmUp(_ agent: Agent) {
        for number in 0..<3 { agent.store(ByteString("warm\(number)"), "small") }
    }

    private static func content(_ number: Int, _ size: Int) -> ByteString {
        ByteString((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `small files of all sizes are the same for readers, after a crash and after a remount`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            Self.warmUp(writer)
            let sizes = [
                1, 47, 48, 49, 4095, 4096, 4097, 20_000, 65_535, 65_536, 65_537, 200_000, 9,
            ]
            for (number, size) in sizes.enumerated() {
                writer.store(ByteString("file\(number)"), Self.content(number, size))
                #expect(reader.content(ByteString("file\(number)")) == Self.content(number, size))
            }
            // Rewritten, replaced, removed, appended to before they have a file.
            writer.store("file0", "rewritten")
            writer.store("temporary", "by rename")
            writer.rename("temporary", "file1")
            writer.unlink("file2")
            let file = writer.open("file3", O_WRONLY | O_APPEND)
            writer.write(file, "more")
            writer.close(file)
            func verify(_ reader: Agent, _ moment: String) {
                #expect(reader.content("file0") == "rewritten", "\(moment)")
                #expect(reader.content("file1") == "by rename", "\(moment)")
                reader.status("file2", fails: ENOENT)
                #expect(reader.content("file3") == Self.content(3, 49) + "more", "\(moment)")
                for (number, size) in sizes.enumerated().dropFirst(4) {
                    let content = reader.content(ByteString("file\(number)"))
                    #expect(content == Self.content(number, size), "\(moment): \(size) bytes")
                }
            }
            verify(reader, "at once")
            guard let container = volume.container else { return }
            volume.endAgents()
            try container.killDaemon()
            try volume.remountAfterCrash()
            verify(try volume.agent(), "after a crash")
            // Once more: what recovery found is still only where it found it.
            volume.endAgents()
            try container.killDaemon()
            try volume.remountAfterCrash()
            verify(try volume.agent(), "after two crashes")
            try volume.remount()
            verify(try volume.agent(), "after a remount")
        }
    }

    /// What is done to a small file that is open, and what it holds afterwards.
    private static let deeds:
        [(name: String, act: @Sendable (Agent, Descriptor) -> Void, result: ByteString)] =
            [
                ("over the middle", { $0.write($1, "XX", offset: 2) }, "heXXo, world"),
                ("past the end", { $0.write($1, "end", offset: 14) }, "hello, world\0\0end"),
                ("cut", { $0.truncate($1, size: 5) }, "hello"),
                (
                    "cut and written",
                    {
                        $0.truncate($1, size: 0)
                        $0.write($1, "anew", offset: 0)
                    }, "anew"
                ),
                ("grown", { $0.truncate($1, size: 14) }, "hello, world\0\0"),
                (
                    "synced and written",
                    {
                        $0.synchronize($1)
                        $0.write($1, "J", offset: 0)
                    }, "Jello, world"
                ),
                ("allocated", { $0.allocate($1, offset: 0, length: 14) }, "hello, world\0\0"),
                (
                    "mapped",
                    {
                        let mapping = $0.map($1, length: 12, writable: true, shared: true)
                        $0.setMemory(mapping, offset: 0, "J")
                        $0.synchronize(mapping)
                        $0.unmap(mapping)
                    }, "Jello, world"
                ),
                (
                    "beyond what is packed", { $0.write($1, "end", offset: 70_000) },
                    ByteString(Array("hello, world".utf8) + Array(repeating: 0, count: 69_988))
                        + "end"
                ),
                (
                    "closed in between",
                    {
                        let copy = $0.duplicate($1)
                        $0.close(copy)
                        $0.write($1, "J", offset: 0)
                    }, "Jello, world"
                ),
            ]

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `whatever is done to a small file before its close is there after it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for (name, act, result) in Self.deeds {
                Self.warmUp(writer)
                let path = ByteString(name)
                let file = writer.open(path, O_RDWR | O_CREAT | O_EXCL)
                writer.write(file, "hello, world")
                #expect(writer.status(file).size == 12, "\(name)")
                #expect(writer.read(file, offset: 7) == "world", "\(name)")
                #expect(reader.content(path) == "", "\(name)")
                act(writer, file)
                #expect(writer.status(file).size == result.count, "\(name)")
                #expect(writer.read(file, offset: 0) == result, "\(name)")
                writer.close(file)
                #expect(reader.content(path) == result, "\(name)")
                #expect(reader.status(path).size == result.count, "\(name)")
            }
            guard let container = volume.container else { return }
            volume.endAgents()
            try container.killDaemon()
            try volume.remountAfterCrash()
            let after = try volume.agent()
            for (name, _, result) in Self.deeds {
                #expect(after.content(ByteString(name)) == result, "\(name), after a crash")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a small file keeps the time that its writer set`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            Self.warmUp(writer)
            let seconds = 1_000_000_000
            let time = FileTime.at(seconds: seconds, nanoseconds: 123_456_789)
            let expected = seconds * 1_000_000_000 + 123_456_789
            let file = writer.open("file", O_WRONLY | O_CREAT)
            writer.write(file, "content")
            writer.setTimes(file, accessed: time, modified: time)
            #expect(writer.status(file).modified == expected)
            writer.close(file)
            #expect(reader.status("file").modified == expected)
            let copy = reader.open("file", O_RDWR)
            reader.synchronize(copy)
            reader.close(copy)
            #expect(reader.status("file").modified == expected)
            guard let container = volume.container else { return }
            volume.endAgents()
            try container.killDaemon()
            try volume.remountAfterCrash()
            #expect(try volume.agent().status("file").modified == expected)
        }
    }
}

import CKernel
import Glibc
import TestSupport
import Testing

/// Who writes by an open file, as Samba does, which looks a file up (O_PATH) and opens it through /proc: that goes
/// by the node of the published version, which others read.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DirectWriterTests {
    private func open(_ name: ByteString, _ flags: Int32, _ agent: Agent) -> Descriptor {
        let place = agent.open(name, O_PATH)
        return agent.open("/proc/self/fd/\(place.number)", flags)
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `who writes by an open file is told how it is by then`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            let published = ByteString(repeating: "x", count: 5000)
            writer.store("file", published)
            let place = writer.open("file", O_PATH)
            let file = writer.open("/proc/self/fd/\(place.number)", O_RDWR)
            let reading = reader.open("file", O_RDONLY)
            writer.truncate(file, size: 0)
            #expect(writer.status(file).size == 0)
            var written = ByteString("")
            for line in 0..<30 {
                let size = writer.status(file).size
                #expect(size == written.count)
                writer.write(file, "line \(line)\n", offset: size)
                written = written + "line \(line)\n"
                #expect(writer.status(file).size == written.count)
                #expect(reader.status(reading).size == published.count)
                #expect(reader.read(reading, offset: 0) == published)
            }
            writer.write(file, "end", offset: 9000)
            #expect(writer.status(file).size == 9003)
            #expect(writer.status(place).size == 9003)
            #expect(reader.status("file").size == published.count)
            #expect(reader.content("file") == published)
            writer.truncate(file, size: written.count)
            #expect(writer.status(file).size == written.count)
            writer.close(file)
            #expect(reader.content("file") == written)
            #expect(reader.read(reading, offset: 0) == published)
            #expect(reader.status(reading).size == published.count)
        }
    }

    /// The kernel takes the node for longer by then, and has zeros behind the version's end.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `who opens a version meanwhile reads that alone, whatever is written beyond its end`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            let published = ByteString(repeating: "x", count: 1500)
            writer.store("file", published)
            let number = reader.status("file").inode
            let file = open("file", O_RDWR, writer)
            for (round, names) in [["file"], ["."], ["file", "."]].enumerated() {
                for name in names where name == "." { _ = reader.names(".") }
                let reading = reader.open("file", O_RDONLY)
                writer.write(file, "new", offset: 9000 + round)
                #expect(reader.read(reading, count: 4096, offset: 0) == published)
                #expect(reader.read(reading, count: 4096, offset: 1500) == "")
                #expect(reader.content("file") == published)
                #expect(reader.status(reading).size == published.count)
                #expect(reader.status("file").inode == number)
                reader.close(reading)
            }
            // By that other node, too.
            let other = try volume.agent()
            let second = open("file", O_RDWR, other)
            let reading = reader.open("file", O_RDONLY)
            other.write(second, "newer", offset: 20_000)
            #expect(reader.read(reading, count: 4096, offset: 0) == published)
            #expect(reader.content("file") == published)
            other.close(second)
            writer.truncate(file, size: 3)
            writer.write(file, "all", offset: 0)
            writer.close(file)
            #expect(reader.content("file") == "all")
            #expect(reader.status("file").inode == number)
            #expect(reader.read(reading, count: 4096, offset: 0) == published)
        }
    }
}

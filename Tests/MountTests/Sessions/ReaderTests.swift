import Glibc
import TestSupport
import Testing

/// A reader sees a whole version.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ReaderTests {
    private static let old = ByteString(repeating: "o", count: 20_000)
    private static let new = ByteString(repeating: "n", count: 9_000)

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a handle stays with the version it was opened on`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", Self.old)
            let before = reader.open("file", O_RDONLY)
            #expect(reader.read(before, count: 10) == ByteString(repeating: "o", count: 10))
            for round in 0..<20 {
                writer.store("file", Self.new + ByteString("\(round)"))
                #expect(reader.read(before, offset: 0) == Self.old)
                #expect(reader.status(before).size == 20_000)
                #expect(reader.content("file") == Self.new + ByteString("\(round)"))
            }
            reader.seek(before, 10)
            #expect(reader.readToEnd(before, pieces: 777).count == 19_990)
            writer.unlink("file")
            #expect(reader.read(before, offset: 0) == Self.old)
            let inode = reader.status(before).inode
            reader.close(before)
            #expect(inode > 0)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `others see the whole old version while a writer is in the middle`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for flags in [O_WRONLY | O_TRUNC, O_RDWR, O_WRONLY, O_WRONLY | O_APPEND] {
                writer.store("file", Self.old)
                let published = reader.status("file")
                let file = writer.open("file", flags)
                for piece in 0..<6 {
                    writer.write(file, ByteString(repeating: "n", count: 1500))
                    let status = reader.status("file")
                    #expect(status.size == 20_000, "piece \(piece) flags \(flags)")
                    #expect(
                        status.modified == published.modified && status.inode == published.inode)
                    #expect(reader.content("file") == Self.old)
                    let handle = reader.open("file", O_RDONLY)
                    #expect(reader.status(handle).size == 20_000)
                    #expect(reader.seek(handle, 0, Int(SEEK_END)) == 20_000)
                    reader.close(handle)
                }
                writer.truncate(file, size: 5)
                #expect(reader.status("file").size == 20_000)
                #expect(reader.content("file") == Self.old)
                writer.close(file)
                #expect(reader.status("file").size == 5)
                #expect(reader.content("file").count == 5)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a new file is empty for others until it was closed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            let file = writer.open("new", O_CREAT | O_EXCL | O_RDWR)
            #expect(reader.status("new").size == 0)
            writer.write(file, Self.new)
            #expect(reader.status("new").size == 0)
            #expect(reader.content("new") == "")
            #expect(reader.status("new").inode == writer.status(file).inode)
            writer.close(file)
            #expect(reader.content("new") == Self.new)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a reader's mapping keeps its version, even when the file shrinks`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", Self.old)
            let handle = reader.open("file", O_RDONLY)
            let mapping = reader.map(handle, length: 20_000, writable: false, shared: true)
            // One page is in memory, the others are not yet.
            #expect(reader.memory(mapping, count: 1) == "o")
            let file = writer.open("file", O_RDWR)
            writer.truncate(file, size: 0)
            writer.write(file, "short")
            #expect(
                reader.memory(mapping, offset: 4096, count: 4096).bytes.allSatisfy { $0 == 0x6f })
            writer.close(file)
            #expect(reader.memory(mapping, count: 20_000) == Self.old)
            reader.close(handle)
            #expect(reader.memory(mapping, count: 20_000) == Self.old)
            reader.unmap(mapping)
            #expect(reader.content("file") == "short")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a program runs whole while it is being rewritten`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, runner) = (try volume.agent(), try volume.agent())
            func script(_ version: Int) -> ByteString {
                "#!/bin/sh\n" + ByteString(String(repeating: "true\n", count: 400))
                    + "echo version \(version)\n"
            }
            writer.store("script", script(0), mode: 0o755)
            for version in 1...10 {
                let content = script(version).bytes
                let file = writer.open("script", O_WRONLY | O_TRUNC)
                for start in stride(from: 0, to: content.count, by: 700) {
                    writer.write(file, ByteString(Array(content[start...].prefix(700))))
                    if start % 1400 == 0 {
                        #expect(runner.shell("./script") == "version \(version - 1)\n")
                    }
                }
                writer.close(file)
                #expect(runner.shell("./script") == "version \(version)\n")
            }
            writer.shell("cp /bin/echo program")
            let file = writer.open("program", O_RDWR)
            writer.write(file, ByteString(repeating: "x", count: 4096))
            #expect(runner.shell("./program still whole") == "still whole\n")
            writer.write(file, ByteString(Array("back".utf8)))
            writer.close(file)
        }
    }
}

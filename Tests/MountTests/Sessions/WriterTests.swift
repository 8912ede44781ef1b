import Glibc
import TestSupport
import Testing

/// Writers share one live view.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct WriterTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a writer sees what it wrote by every way`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let writer = try volume.agent()
            for flags in [O_RDWR, O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_APPEND] {
                writer.store("file", "old")
                let file = writer.open("file", flags)
                writer.write(file, "a new and longer content")
                let size = flags & O_APPEND == 0 ? 24 : 27
                #expect(writer.status(file).size == size, "flags \(flags)")
                #expect(writer.status("file").size == size)
                #expect(writer.content("file").count == size)
                #expect(writer.content("file").text.hasSuffix("longer content"))
                let again = writer.open("file", O_RDONLY)
                writer.write(file, "!")
                #expect(writer.status(again).size == size + 1)
                #expect(writer.readToEnd(again).text.hasSuffix("content!"))
                writer.truncate(file, size: 5)
                #expect(writer.status("file").size == 5 && writer.status(again).size == 5)
                writer.close(again)
                #expect(writer.status("file").size == 5)
                writer.close(file)
                #expect(writer.content("file").count == 5)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `threads of a writing process see what it wrote`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", "old")
            writer.usesNewThreads = true
            let file = writer.open("file", O_RDWR)
            writer.write(file, "new content")
            #expect(writer.status("file").size == 11)
            #expect(writer.content("file") == "new content")
            #expect(reader.content("file") == "old")
            let second = writer.open("file", O_WRONLY | O_APPEND)
            writer.write(second, "!")
            #expect(writer.status(file).size == 12)
            writer.close(second)
            #expect(reader.content("file") == "old")
            writer.close(file)
            #expect(reader.content("file") == "new content!")
            // By path alone.
            writer.truncate("file", size: 3)
            #expect(reader.content("file") == "new")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `two writing processes share one file`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b, reader) = (try volume.agent(), try volume.agent(), try volume.agent())
            a.store("file", "0123456789")
            let first = a.open("file", O_RDWR)
            a.write(first, "AAA", offset: 0)
            let second = b.open("file", O_RDWR)
            #expect(b.read(second, offset: 0) == "AAA3456789")
            b.write(second, "BBB", offset: 7)
            #expect(a.read(first, offset: 0) == "AAA3456BBB")
            #expect(a.status(first) == b.status(second))
            b.truncate(second, size: 4)
            #expect(a.status(first).size == 4 && a.status("file").size == 4)
            a.write(first, "end", offset: 4)
            #expect(b.content("file") == "AAA3end")
            #expect(reader.content("file") == "0123456789")
            // The first close is not the last.
            a.close(first)
            #expect(reader.content("file") == "0123456789")
            #expect(reader.status("file").size == 10)
            #expect(b.read(second, offset: 0) == "AAA3end")
            b.write(second, "!", offset: 7)
            b.close(second)
            #expect(reader.content("file") == "AAA3end!" && a.content("file") == "AAA3end!")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a mapping of one writer is what another writes`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b, reader) = (try volume.agent(), try volume.agent(), try volume.agent())
            a.store("file", ByteString(repeating: "-", count: 8192))
            let first = a.open("file", O_RDWR)
            let mapping = a.map(first, length: 8192, writable: true, shared: true)
            let second = b.open("file", O_RDWR)
            b.write(second, "by write", offset: 100)
            #expect(a.memory(mapping, offset: 100, count: 8) == "by write")
            a.setMemory(mapping, offset: 5000, "by mapping")
            #expect(b.read(second, count: 10, offset: 5000) == "by mapping")
            #expect(reader.content("file") == ByteString(repeating: "-", count: 8192))
            a.unmap(mapping)
            a.close(first)
            b.close(second)
            let content = reader.content("file").text
            #expect(content.contains("by write") && content.contains("by mapping"))
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `two names are one item during a session`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("one", "old")
            writer.link("one", "two")
            let file = writer.open("one", O_RDWR)
            writer.write(file, "written by one")
            #expect(writer.content("two") == "written by one")
            #expect(writer.status("two") == writer.status(file))
            #expect(reader.content("one") == "old" && reader.content("two") == "old")
            let second = writer.open("two", O_RDWR | O_APPEND)
            writer.write(second, " and two")
            #expect(writer.read(file, offset: 0) == "written by one and two")
            writer.close(file)
            #expect(reader.content("two") == "old")
            // A third name made in the middle.
            reader.link("two", "three")
            #expect(reader.content("three") == "old")
            writer.close(second)
            for name: ByteString in ["one", "two", "three"] {
                #expect(reader.content(name) == "written by one and two", "\(name)")
                #expect(reader.status(name).links == 3)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `attributes that others change during a session stay`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, other) = (try volume.agent(), try volume.agent())
            writer.store("file", "old")
            let file = writer.open("file", O_RDWR)
            writer.write(file, "new content")
            other.changeMode("file", 0o600)
            other.setAttribute("file", "user.tag", "red")
            #expect(writer.status(file).permissions == 0o600)
            #expect(writer.attribute(file, "user.tag") == "red")
            #expect(other.status("file").size == 3)
            writer.changeMode(file, 0o640)
            #expect(other.status("file").permissions == 0o640)
            writer.close(file)
            let status = other.status("file")
            #expect(status.permissions == 0o640 && status.size == 11)
            #expect(other.attribute("file", "user.tag") == "red")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a session follows its file to a new name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, other) = (try volume.agent(), try volume.agent())
            writer.makeDirectory("dir")
            writer.store("file", "old")
            let file = writer.open("file", O_RDWR)
            writer.write(file, "new")
            other.rename("file", "dir/moved")
            #expect(other.content("dir/moved") == "old")
            #expect(writer.content("dir/moved") == "new")
            writer.write(file, " content")
            writer.close(file)
            #expect(other.content("dir/moved") == "new content")
            other.status("file", fails: ENOENT)
            // What is replaced during its session does not come back.
            let replaced = writer.open("dir/moved", O_RDWR)
            writer.write(replaced, "lost")
            other.store("temp", "winner")
            other.rename("temp", "dir/moved")
            writer.write(replaced, "lost again")
            writer.close(replaced)
            #expect(other.content("dir/moved") == "winner")
            // Nor does what is unlinked.
            let removed = writer.open("dir/moved", O_RDWR)
            writer.write(removed, "x")
            other.unlink("dir/moved")
            writer.close(removed)
            #expect(other.names("dir") == [])
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `truncate by name joins a session of another process`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, other) = (try volume.agent(), try volume.agent())
            writer.store("file", "0123456789")
            let file = writer.open("file", O_RDWR)
            writer.write(file, "ABC")
            other.truncate("file", size: 5)
            #expect(writer.status(file).size == 5)
            #expect(writer.read(file, offset: 0) == "ABC34")
            writer.close(file)
            #expect(other.content("file") == "ABC34")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a session survives the removal of one of its names`(_ dataPath: DataPath) throws {
        for (flags, syncing) in [
            (O_RDWR, false), (O_WRONLY | O_TRUNC, true), (O_WRONLY | O_TRUNC, false),
            (O_RDWR, true),
        ] {
            try withVolume(dataPath) { volume in
                let (writer, other) = (try volume.agent(), try volume.agent())
                writer.store("one", "old")
                writer.link("one", "two")
                let file = writer.open("two", flags)
                writer.write(file, "new content")
                if syncing { writer.synchronize(file) }
                writer.unlink("two")
                writer.close(file)
                #expect(other.content("one") == "new content")
                #expect(other.status("one").links == 1)
                // The name it was opened by, replaced by another document.
                other.store("temp", "another")
                let second = writer.open("one", flags)
                writer.write(second, "newer content")
                writer.link("one", "three")
                if syncing { writer.synchronize(second) }
                other.rename("temp", "one")
                writer.close(second)
                #expect(other.content("three") == "newer content")
                #expect(other.content("one") == "another")
                try volume.remount()
                let after = try volume.agent()
                #expect(after.content("three") == "newer content")
            }
        }
    }

    /// The kernel reads ahead into its own pages even where it writes past them to the backing file.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what was read ahead and then overwritten is not read after the close`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let reader = try volume.agent()
            for isNew in [true, false] {
                // Whoever has made small files before is likely to make another: that one is cached.
                let writer = try volume.agent()
                let name = ByteString(isNew ? "new" : "old")
                if !isNew { reader.store(name, ByteString(repeating: "o", count: 8192)) }
                let file = writer.open(name, O_CREAT | O_RDWR)
                writer.write(file, ByteString(repeating: "a", count: 8192))
                writer.readAhead(file, count: 8192)
                writer.write(file, ByteString(repeating: "b", count: 4096), offset: 0)
                writer.close(file)
                let expected =
                    String(repeating: "b", count: 4096) + String(repeating: "a", count: 4096)
                let isRead = reader.content(name).text == expected
                #expect(isRead, "\(name)")
            }
        }
    }

    /// Where the disk shares blocks, a copy takes no room that could be measured.
    @Test(arguments: DataPath.mounts)
    func `the first write copies what is long, and truncation to nothing copies nothing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let (writer, reader) = (try volume.agent(), try volume.agent())
            let old = ByteString(repeating: "x", count: 8 << 20)
            func taken() -> Int {
                let folder = "\(container.dataHome)/shapeedit/containers/\(container.name)/staging"
                let size = (try? volume.run("sh", "-c", "du -sk '\(folder)' | cut -f1").text) ?? ""
                return Int(size.dropLast()) ?? 0
            }
            for (flags, copied) in [(O_RDWR, 8 << 10), (O_RDWR | O_TRUNC, 0)] {
                writer.store("file", old)
                // Until what was written is where it stays.
                waitUntil { taken() < 1 << 10 }
                let before = taken()
                let file = writer.open("file", flags)
                #expect(taken() - before < 1 << 10, "opening alone copies nothing")
                writer.write(file, "new", offset: 0)
                let more = taken() - before
                #expect(abs(more - copied) < 1 << 10, "\(more) KiB")
                #expect(reader.content("file") == old)
                writer.close(file)
                #expect(reader.content("file").text.hasPrefix("new"))
                #expect(reader.status("file").size == (copied == 0 ? 3 : old.count))
            }
        }
    }
}

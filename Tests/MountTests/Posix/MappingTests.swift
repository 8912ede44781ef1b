import CKernel
import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct MappingTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `a shared mapping and the file are one`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            let file = agent.open("file", O_CREAT | O_RDWR)
            agent.truncate(file, size: 10_000)
            let mapping = agent.map(file, length: 10_000, writable: true, shared: true)
            agent.setMemory(mapping, "start")
            agent.setMemory(mapping, offset: 9995, "end!!")
            #expect(agent.read(file, count: 5, offset: 0) == "start")
            agent.write(file, "written", offset: 5000)
            #expect(agent.memory(mapping, offset: 5000, count: 7) == "written")
            agent.synchronize(mapping)
            // A second process that writes too.
            let theirs = other.open("file", O_RDWR)
            let second = other.map(theirs, length: 10_000, writable: true, shared: true)
            #expect(other.memory(second, count: 5) == "start")
            other.setMemory(second, offset: 100, "from the other")
            #expect(agent.memory(mapping, offset: 100, count: 14) == "from the other")
            agent.unmap(mapping)
            other.unmap(second)
            agent.close(file)
            other.close(theirs)
            let content = try volume.agent().content("file").bytes
            #expect(content.count == 10_000 && content.suffix(5) == Array("end!!".utf8)[...])
            #expect(content[100..<114] == Array("from the other".utf8)[...])
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a private mapping keeps its changes to itself`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "original content")
            let file = agent.open("file", O_RDONLY)
            let mapping = agent.map(file, length: 16, writable: true, shared: false)
            agent.setMemory(mapping, "CHANGED!")
            #expect(agent.memory(mapping, count: 16) == "CHANGED! content")
            #expect(agent.read(file) == "original content")
            agent.unmap(mapping)
            agent.close(file)
            #expect(agent.content("file") == "original content")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `mapping needs the right descriptor`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "content")
            let reading = agent.open("file", O_RDONLY)
            _ = agent.map(reading, length: 7, writable: true, shared: true, fails: EACCES)
            let writing = agent.open("file", O_WRONLY)
            _ = agent.map(writing, length: 7, writable: true, shared: true, fails: EACCES)
            _ = agent.map(writing, length: 7, writable: false, shared: true, fails: EACCES)
            let mapping = agent.map(reading, length: 7, writable: false, shared: true)
            #expect(agent.memory(mapping, count: 7) == "content")
            // Behind the end but on the last page there are zeros.
            #expect(agent.memory(mapping, offset: 7, count: 3) == "\0\0\0")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a mapping outlives the descriptor and the name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", ByteString(repeating: "m", count: 50_000))
            let file = agent.open("file", O_RDONLY)
            let mapping = agent.map(file, length: 50_000, writable: false, shared: true)
            agent.close(file)
            agent.unlink("file")
            #expect(
                agent.memory(mapping, offset: 49_000, count: 1000)
                    == ByteString(repeating: "m", count: 1000))
            agent.unmap(mapping)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `who has mapped what they closed finds it by its name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "the version before")
            let file = agent.open("file", O_RDWR)
            agent.truncate(file, size: 10_000)
            let mapping = agent.map(file, length: 10_000, writable: true, shared: true)
            agent.close(file)
            agent.setMemory(mapping, offset: 4_096, "mapped")
            #expect(agent.status("file").size == 10_000)
            #expect(agent.content("file").bytes.dropFirst(4_096).starts(with: "mapped".utf8))
            agent.truncate("file", size: 6_000)
            agent.setMemory(mapping, offset: 5_000, "later")
            #expect(agent.status("file").size == 6_000)
            #expect(agent.content("file").bytes.dropFirst(5_000).starts(with: "later".utf8))
            agent.unmap(mapping)
            let content = try volume.agent().content("file").bytes
            #expect(content.count == 6_000)
            #expect(content.dropFirst(5_000).starts(with: "later".utf8))
        }
    }

    /// The kernel writes the pages back by the size that it knows, which O_TRUNC has made too large.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `what a mapping wrote does not make a truncated file longer`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for size in [12_288, 400_000] {
                agent.store("file", ByteString(repeating: "o", count: size))
                let reader = agent.open("file", O_RDONLY)
                let file = agent.open("file", O_RDWR)
                let mapping = agent.map(file, length: size, writable: true, shared: true)
                agent.setMemory(mapping, offset: 4096, "dirty")
                agent.setMemory(mapping, offset: size - 100, "dirty")
                let again = agent.open("/proc/self/fd/\(reader.number)", O_RDWR | O_TRUNC)
                agent.close(again)
                #expect(agent.read(file, count: size, offset: 0) == "")
                agent.unmap(mapping)
                agent.close(file)
                agent.close(reader)
                #expect(agent.content("file") == "")
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `O_DIRECT reads and writes the same content`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            let direct = agent.open("file", O_CREAT | O_RDWR | O_DIRECT)
            let block = ByteString((0..<65_536).map { UInt8(truncatingIfNeeded: $0 / 7) })
            agent.write(direct, block)
            agent.write(direct, ByteString(repeating: "d", count: 4096), offset: 8192)
            // Reading and writing with and without it see the same.
            let cached = agent.open("file", O_RDWR)
            #expect(
                agent.read(cached, count: 4096, offset: 8192)
                    == ByteString(repeating: "d", count: 4096))
            agent.write(cached, ByteString(repeating: "c", count: 4096), offset: 16_384)
            #expect(
                agent.read(direct, count: 4096, offset: 16_384)
                    == ByteString(repeating: "c", count: 4096))
            agent.close(direct)
            agent.close(cached)
            var expected = block.bytes
            expected.replaceSubrange(8192..<12_288, with: [UInt8](repeating: 0x64, count: 4096))
            expected.replaceSubrange(16_384..<20_480, with: [UInt8](repeating: 0x63, count: 4096))
            #expect(other.content("file").bytes == expected)
            let reading = other.open("file", O_RDONLY | O_DIRECT)
            #expect(other.read(reading, count: 65_536).bytes == expected)
            #expect(other.read(reading, count: 4096).count == 0)
        }
    }

    /// As dd(1) does for what is left after the last whole block.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `who takes O_DIRECT back reads and writes bytes as they come`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open("file", O_CREAT | O_RDWR | O_DIRECT)
            agent.write(file, ByteString(repeating: "b", count: 4096))
            agent.setFlags(file, O_RDWR)
            agent.write(file, "the rest")
            #expect(agent.read(file, count: 3, offset: 4099) == " re")
            agent.close(file)
            let content = try volume.agent().content("file").bytes
            #expect(content.count == 4104 && content.suffix(9) == Array("bthe rest".utf8)[...])
            agent.shell(
                "head -c 300001 /dev/zero > source && dd if=source of=copy bs=65536 oflag=direct"
                    + " && cmp source copy")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `scripts and programs run`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("script", "#!/bin/sh\necho ran with $1\n", mode: 0o755)
            #expect(agent.run("./script", "it").text == "ran with it\n")
            agent.shell("cp /bin/ls program && chmod 755 program")
            #expect(agent.run("./program", "script").text == "script\n")
            agent.changeMode("script", 0o644)
            agent.access("script", X_OK, fails: EACCES)
            #expect(agent.run("sh", "-c", "./script").status == 126)
            agent.shell("rm program; ! ./program 2>/dev/null")
            // A running program may be removed and replaced by rename.
            agent.shell("cp /bin/sleep s1 && cp /bin/sleep s2 && { ./s1 1 & } && mv s2 s1 && wait")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `setuid programs run as the owner unless the mount forbids it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.shell("cp /usr/bin/id id && chown 1001 id && chmod 4755 id")
            let isForbidden = root.shell("findmnt -no OPTIONS -T .").contains("nosuid")
            #expect(agent.run("./id", "-u").text == (isForbidden ? "65534\n" : "1001\n"))
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `statfs tells the true space of the disk`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let here = agent.fileSystemStatus(".")
            let disk = agent.fileSystemStatus(
                ByteString(volume.container?.dataHome ?? volume.directory))
            #expect(here.blockSize > 0 && here.blocks > 0 && here.free <= here.blocks)
            #expect(here.available <= here.free)
            let (ours, theirs) = (here.blocks * here.blockSize, disk.blocks * disk.blockSize)
            #expect(abs(ours - theirs) <= theirs / 100)
            let left = here.available * here.blockSize
            #expect(abs(left - disk.available * disk.blockSize) < 1 << 28)
            #expect(agent.run("df", ".").status == 0)
        }
    }
}

import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct TruncateTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `shrinking forgets and growing gives zeros`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            for byDescriptor in [false, true] {
                agent.store("file", ByteString(repeating: "x", count: 10_000))
                let file = agent.open("file", O_RDWR)
                func truncate(_ size: Int) {
                    if byDescriptor {
                        agent.truncate(file, size: size)
                    } else {
                        agent.truncate("file", size: size)
                    }
                }
                var expected = [UInt8](repeating: 0x78, count: 10_000)
                for size in [5000, 5001, 9000, 4096, 4097, 0, 1, 100_000, 3, 8192] {
                    truncate(size)
                    expected = Array(expected.prefix(size))
                    expected += [UInt8](repeating: 0, count: size - expected.count)
                    #expect(agent.status(file).size == size)
                    #expect(agent.status("file").size == size)
                    #expect(agent.read(file, offset: 0).bytes == expected, "\(size)")
                }
                agent.close(file)
                #expect(other.content("file").bytes == expected)
                #expect(other.status("file").size == 8192)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `truncate by name works without any descriptor`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.store("file", "0123456789")
            for (size, content) in [
                (4, "0123"), (2, "01"), (4, "01\0\0"), (4, "01\0\0"), (0, ""),
            ] {
                letTimePass()
                let before = agent.status("file")
                agent.truncate("file", size: size)
                #expect(other.status("file").size == size)
                #expect(other.content("file") == ByteString(content))
                let after = agent.status("file")
                #expect(after.changed > before.changed && after.inode == before.inode)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `truncate refuses what is no file`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.store("file", "abc")
            agent.makeNode("fifo", mode: FileKind.fifo.modeBits | 0o600)
            agent.truncate("dir", size: 0, fails: EISDIR)
            agent.truncate("fifo", size: 0, fails: EINVAL)
            agent.truncate("missing", size: 0, fails: ENOENT)
            agent.truncate("file/x", size: 0, fails: ENOTDIR)
            agent.truncate("file", size: -1, fails: EINVAL)
            agent.truncate("file", size: Int.max, fails: EFBIG)
            agent.symlink(to: "file", "link")
            agent.truncate("link", size: 1)
            #expect(agent.content("file") == "a")
            let file = agent.open("file", O_RDWR)
            agent.truncate(file, size: -5, fails: EINVAL)
            agent.truncate(file, size: Int.max, fails: EFBIG)
            #expect(agent.status("file").size == 1)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `holes read as zeros and cost no space`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open("sparse", O_CREAT | O_RDWR)
            agent.write(file, "end", offset: 64 << 20)
            #expect(agent.status(file).size == (64 << 20) + 3)
            #expect(
                agent.read(file, count: 10, offset: 1 << 20).bytes
                    == [UInt8](repeating: 0, count: 10))
            #expect(agent.status(file).blocks < 8192)
            agent.close(file)
            #expect(agent.status("sparse").size == (64 << 20) + 3)
            #expect(agent.status("sparse").blocks < 8192)
            agent.truncate("sparse", size: 1 << 28)
            #expect(agent.status("sparse").size == 1 << 28)
            #expect(agent.status("sparse").blocks < 8192)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a small file has its holes, too, whatever was made before it`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<4 {
                let file = agent.open("small\(number)", O_CREAT | O_RDWR)
                agent.write(file, "start", offset: 0)
                agent.write(file, "end", offset: 40_960)
                #expect(agent.seek(file, 0, SEEK_HOLE) < 40_960)
                #expect(agent.seek(file, 4096, SEEK_DATA) == 40_960)
                agent.close(file)
                #expect(agent.status("small\(number)").blocks < 80)
                #expect(agent.content("small\(number)").bytes.count == 40_963)
                // Up to the next block nothing is left out.
                agent.store("tail", "x")
                let tail = agent.open("tail", O_RDWR)
                agent.write(tail, "y", offset: 8191)
                agent.close(tail)
                #expect(
                    agent.content("tail").bytes
                        == [0x78] + [UInt8](repeating: 0, count: 8190) + [0x79])
            }
        }
    }
}

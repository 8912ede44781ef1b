import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct AllocationTests {
    private let keepSize = Int32(FALLOC_FL_KEEP_SIZE)
    private let punchHole = Int32(FALLOC_FL_PUNCH_HOLE)
    private let zeroRange = Int32(FALLOC_FL_ZERO_RANGE)

    @Test(arguments: DataPath.posixOfAllUsers)
    func `fallocate reserves space and grows the file unless told not to`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "abc")
            let file = agent.open("file", O_RDWR)
            agent.allocate(file, offset: 0, length: 1 << 20)
            #expect(agent.status(file).size == 1 << 20)
            #expect(agent.status(file).blocks >= 2048)
            #expect(agent.read(file, count: 5, offset: 0) == "abc\0\0")
            agent.allocate(file, mode: keepSize, offset: 1 << 20, length: 1 << 20)
            #expect(agent.status(file).size == 1 << 20)
            agent.allocate(file, offset: 5, length: 10)
            #expect(agent.status(file).size == 1 << 20)
            agent.allocate(file, offset: -1, length: 10, fails: EINVAL)
            agent.allocate(file, offset: 0, length: 0, fails: EINVAL)
            agent.allocate(file, offset: Int.max, length: 10, fails: EFBIG)
            agent.close(file)
            #expect(agent.status("file").size == 1 << 20)
            #expect(agent.content("file").bytes.prefix(4) == [97, 98, 99, 0])
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `punched holes read as zeros and give space back`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.store("file", ByteString(repeating: "x", count: 1 << 20))
            let file = agent.open("file", O_RDWR)
            agent.synchronize(file)
            let before = agent.status(file)
            agent.allocate(
                file, mode: punchHole | keepSize, offset: 65_536, length: 512 << 10)
            let after = agent.status(file)
            #expect(after.size == 1 << 20 && after.blocks <= before.blocks - 1000)
            // Bytes that are no whole block become zeros too.
            agent.allocate(file, mode: punchHole | keepSize, offset: 10, length: 5)
            agent.allocate(file, mode: punchHole, offset: 0, length: 5, fails: EOPNOTSUPP)
            var expected = [UInt8](repeating: 0x78, count: 1 << 20)
            for index in 65_536..<65_536 + (512 << 10) { expected[index] = 0 }
            for index in 10..<15 { expected[index] = 0 }
            #expect(agent.read(file, count: 1 << 20, offset: 0).bytes == expected)
            agent.close(file)
            #expect(other.content("file").bytes == expected)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `zeroed ranges read as zeros`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", ByteString(repeating: "x", count: 20_000))
            let file = agent.open("file", O_RDWR)
            agent.allocate(file, mode: zeroRange, offset: 5000, length: 10_000)
            var expected = [UInt8](repeating: 0x78, count: 20_000)
            for index in 5000..<15_000 { expected[index] = 0 }
            #expect(agent.read(file, offset: 0).bytes == expected)
            agent.allocate(file, mode: zeroRange, offset: 19_000, length: 2000)
            #expect(agent.status(file).size == 21_000)
            agent.allocate(file, mode: zeroRange | keepSize, offset: 19_000, length: 5000)
            #expect(agent.status(file).size == 21_000)
            agent.close(file)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `SEEK_DATA and SEEK_HOLE find data and never lie about it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("full", ByteString(repeating: "x", count: 100_000))
            let full = agent.open("full", O_RDONLY)
            #expect(agent.seek(full, 0, SEEK_DATA) == 0)
            #expect(agent.seek(full, 50_000, SEEK_DATA) == 50_000)
            #expect(agent.seek(full, 0, SEEK_HOLE) == 100_000)
            agent.seek(full, 100_000, SEEK_DATA, fails: ENXIO)
            agent.seek(full, 100_000, SEEK_HOLE, fails: ENXIO)
            agent.seek(full, -1, SEEK_DATA, fails: ENXIO, EINVAL)
            let sparse = agent.open("sparse", O_CREAT | O_RDWR)
            agent.write(sparse, ByteString(repeating: "y", count: 4096), offset: 1 << 20)
            agent.truncate(sparse, size: 2 << 20)
            // Saying "all is data" would be right as well, if less helpful.
            #expect([0, 1 << 20].contains(agent.seek(sparse, 0, SEEK_DATA)))
            #expect(agent.seek(sparse, 1 << 20, SEEK_DATA) == 1 << 20)
            let hole = agent.seek(sparse, 1 << 20, SEEK_HOLE)
            #expect([(1 << 20) + 4096, 2 << 20].contains(hole))
            agent.seek(sparse, 2 << 20, SEEK_DATA, fails: ENXIO)
            agent.close(sparse)
            // What depends on it: a copy is equal.
            agent.shell("cp --sparse=auto sparse copy && cmp sparse copy")
            agent.shell("cp --sparse=always full copy && cmp full copy")
            agent.shell("tar --sparse -cf t.tar sparse full && mkdir x && tar -xf t.tar -C x")
            agent.shell("cmp sparse x/sparse && cmp full x/full")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `what a mapping wrote is no hole before it is synchronized`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open("file", O_CREAT | O_RDWR)
            agent.truncate(file, size: 1 << 20)
            let mapping = agent.map(file, length: 1 << 20, writable: true, shared: true)
            agent.setMemory(mapping, offset: 500_000, "written")
            let data = agent.seek(file, 0, SEEK_DATA)
            #expect((0...500_000).contains(data))
            #expect(agent.seek(file, 500_000, SEEK_HOLE) >= 500_007)
            #expect(agent.memory(mapping, offset: 500_000, count: 7) == "written")
            agent.unmap(mapping)
            agent.close(file)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `copy_file_range copies and moves both positions`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            var content: [UInt8] = []
            for number in 0..<50_000 { content += Array("\(100_000 + number)\n".utf8) }
            agent.store("from", ByteString(Array(content.prefix(300_000))))
            let from = agent.open("from", O_RDONLY)
            let to = agent.open("to", O_CREAT | O_RDWR)
            agent.write(to, "start ")
            agent.seek(from, 7)
            #expect(agent.copyRange(from: from, to: to, count: 70) == 70)
            #expect(agent.seek(from, 0, Int(SEEK_CUR)) == 77)
            #expect(agent.seek(to, 0, Int(SEEK_CUR)) == 76)
            var copied = 70
            while true {
                let count = agent.copyRange(from: from, to: to, count: 1 << 20)
                if count <= 0 { break }
                copied += count
            }
            #expect(copied == 300_000 - 7)
            #expect(
                agent.read(to, offset: 0).bytes
                    == Array("start ".utf8) + Array(content[7..<300_000]))
            agent.close(to)
            #expect(agent.status("to").size == 6 + 300_000 - 7)
            agent.copyRange(from: from, to: from, count: 10, fails: EBADF)
            // Within one file, apart and overlapping.
            let same = agent.open("from", O_RDWR)
            let again = agent.open("from", O_RDWR)
            agent.seek(again, 200_000)
            #expect(agent.copyRange(from: same, to: again, count: 1000) == 1000)
            #expect(agent.read(same, count: 1000, offset: 200_000).bytes == Array(content[..<1000]))
            agent.seek(same, 0)
            agent.seek(again, 500)
            agent.copyRange(from: same, to: again, count: 1000, fails: EINVAL)
            // Whoever opened it before somebody wrote to it.
            agent.seek(from, 0)
            agent.copyRange(from: from, to: again, count: 1000, fails: EINVAL)
            #expect(agent.copyRange(from: from, to: again, count: 500) == 500)
        }
    }
}

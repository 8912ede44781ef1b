import Glibc
import Probing
import TestSupport
import Testing

/// A disk that tells times by the second. What the kernel passes through is only noticed by them.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct CoarseTimeTests {
    @Test(arguments: DataPath.mounts)
    func `what is written within the second of the open is the document's`(
        _ dataPath: DataPath
    ) throws {
        let disk = try SmallDisk(mebibytes: 128, inodeSize: 128)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        let options = dataPath == .noPassthrough ? ["no_passthrough"] : []
        try container.mount(options: options)
        let agent = try Agent(in: container.mountPoint)
        let ways: [(String, (Descriptor) -> Void)] = [
            ("write", { agent.write($0, "new", offset: 0) }),
            (
                "mapping",
                { file in
                    let mapping = agent.map(file, length: 3, writable: true, shared: true)
                    agent.setMemory(mapping, "new")
                    agent.unmap(mapping)
                }
            ),
            (
                "times and write",
                { file in
                    agent.setTimes(file, accessed: nil, modified: nil)
                    agent.write(file, "new", offset: 0)
                }
            ),
            (
                "write and fsync",
                { file in
                    agent.write(file, "new", offset: 0)
                    agent.synchronize(file)
                }
            ),
        ]
        for (way, change) in ways {
            for number in 0..<5 {
                let name = ByteString("\(way) \(number)")
                agent.store(name, "old")
                let file = agent.open(name, O_RDWR)
                change(file)
                agent.close(file)
                #expect(agent.content(name) == "new", "\(name)")
            }
        }
        // The daemon is not asked for what it has in memory only.
        try container.killDaemon()
        agent.end()
        try container.mount(options: options)
        let reader = try Agent(in: container.mountPoint)
        for (way, _) in ways {
            for number in 0..<5 {
                #expect(reader.content(ByteString("\(way) \(number)")) == "new", "\(way)")
            }
        }
        // Who only opens a document changes neither its bytes nor its time.
        let before = reader.status("write 0").modified
        let file = reader.open("write 0", O_RDWR)
        #expect(reader.status(file).modified == before)
        reader.close(file)
        #expect(reader.status("write 0").modified == before)
        reader.end()
        try container.unmount()
        #expect(try container.check().status == 0)
    }

    @Test(arguments: DataPath.mounts)
    func `what is written within the second of a rename before the close is the document's`(
        _ dataPath: DataPath
    ) throws {
        let disk = try SmallDisk(mebibytes: 128, inodeSize: 128)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        try container.mount(options: dataPath == .noPassthrough ? ["no_passthrough"] : [])
        let (agent, other) = (
            try Agent(in: container.mountPoint), try Agent(in: container.mountPoint)
        )
        let (first, second) = (
            ByteString(repeating: 97, count: 200_000), ByteString(repeating: 98, count: 200_000)
        )
        for number in 0..<4 {
            agent.store("old", "old")
            let file = agent.open("new", O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
            agent.write(file, first)
            agent.rename("new", "old")
            let written = agent.status(file)
            // Every other time there is nothing to be shown: more was written already.
            if number % 2 == 1 { agent.write(file, second, offset: 0) }
            #expect(other.content("old") == (number % 2 == 1 ? "" : first), "\(number)")
            if number % 2 == 0 {
                #expect(agent.status(file).modified == written.modified)
                #expect(other.status("old").modified == written.modified)
                agent.write(file, second, offset: 0)
            }
            agent.close(file)
            #expect(other.content("old") == second, "\(number)")
        }
        agent.end()
        other.end()
        try container.unmount()
        #expect(try container.check().status == 0)
    }

    /// The version is not whole on the disk before its close, though part of it is.
    @Test(.enabled(if: FragileDisk.canBeMade, "\(FragileDisk.reason)"))
    func `what is written within the second of an fsync does not count as on the disk`() throws {
        let machine = try FragileMachine(inodeSize: 128)
        defer { machine.remove() }
        var agent = try machine.start()
        defer { agent.end() }
        // A longer one is copied by its first write, which the daemon sees.
        let size = 200 << 10
        agent.store("document", ByteString(repeating: 97, count: size))
        for letter: UInt8 in [98, 100] {
            let file = agent.open("document", O_RDWR)
            // Both in one second, if the machine is not too busy.
            let now = time(nil)
            while time(nil) == now { usleep(1_000) }
            agent.write(file, ByteString(repeating: letter, count: size), offset: 0)
            let written = agent.status(file)
            agent.synchronize(file)
            #expect(agent.status(file).modified == written.modified)
            agent.write(file, ByteString(repeating: letter + 1, count: size), offset: 0)
            agent.close(file)
            // The kernel writes when it likes.
            let half = try run([
                "sh", "-c",
                """
                find '\(machine.container.folder)' -size \(size)c -newermt '-10 seconds' \
                    -exec xfs_io -c 'sync_range -w 0 \(size / 2)' -c 'sync_range -a 0 \(size / 2)' {} ';'
                """,
            ])
            try #require(half.status == 0, "\(half)")
            agent = try machine.restart(ending: [agent])
            let content = agent.content("document")
            let isWhole = [letter, letter + 1].contains {
                content == ByteString(repeating: $0, count: size)
            }
            #expect(isWhole, "\(letter)")
        }
        agent.end()
        try machine.container.unmount()
        #expect(try machine.container.check().status == 0)
    }
}

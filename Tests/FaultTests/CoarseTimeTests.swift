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
}

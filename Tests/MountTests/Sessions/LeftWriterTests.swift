import Glibc
import Probing
import TestSupport
import Testing

/// With passthrough programs go on with the files that they have open when the daemon is gone.
@Suite(.oneAtATime, .enabled(if: DataPath.isPrivileged, "needs passthrough"))
struct LeftWriterTests {
    @Test(arguments: [false, true])
    func `who writes on when the daemon has died changes no document of the next mount`(
        isMapped: Bool
    ) throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let writer = try Agent(in: container.mountPoint)
        defer { writer.end() }
        let content = ByteString(repeating: "A", count: 200_000)
        let file = writer.open("file", O_RDWR | O_CREAT)
        writer.write(file, content)
        writer.synchronize(file)
        let mapping = writer.map(file, length: 200_000, writable: true, shared: true)
        if isMapped { writer.close(file) }
        try container.killDaemon()
        try container.mount()
        let reader = try Agent(in: container.mountPoint)
        defer { reader.end() }
        let reading = reader.open("file", O_RDONLY)
        #expect(reader.read(reading, count: 4, offset: 100) == "AAAA")
        // That seals it.
        reader.synchronize(reading)
        writer.setMemory(mapping, offset: 100, "LATE")
        if !isMapped { writer.write(file, "LATE", offset: 300) }
        #expect(reader.content("file") == content)
        reader.close(reading)
        reader.end()
        writer.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }
    /// The kernel has the version's own file for the descriptor, which is immutable for that time.
    @Test(arguments: [false, true])
    func `a version that was open through /proc for writing when the daemon died is there`(
        isDeleted: Bool
    ) throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let writer = try Agent(in: container.mountPoint)
        defer { writer.end() }
        let content = ByteString(repeating: "A", count: 200_000)
        writer.store("file", content)
        let reading = writer.open("file", O_RDONLY)
        let file = writer.open("/proc/self/fd/\(reading.number)", O_RDWR)
        let mapping = writer.map(file, length: 200_000, writable: true, shared: true)
        try container.killDaemon()
        if isDeleted {
            _ = try Probing.run(["umount", "-l", container.mountPoint])
            let result = try container.command("container", "delete", container.name)
            #expect(result.status == 0, "\(result)")
            return
        }
        try container.mount()
        let reader = try Agent(in: container.mountPoint)
        #expect(reader.content("file") == content)
        // The copy is the document's by now, and this is nobody's.
        writer.setMemory(mapping, offset: 100, "LATE")
        #expect(reader.content("file") == content)
        reader.end()
        writer.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }
}

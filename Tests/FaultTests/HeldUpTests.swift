import Glibc
import Probing
import TestSupport
import Testing

/// Requests that wait for a disk which does not answer, and those that do not need it.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct HeldUpTests {
    /// One thread of the daemon takes and answers requests as long as it is not held up.
    @Test func `requests that wait for the disk hold up no others, one by one or at once`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        try container.mount(options: ["no_passthrough"])
        let old = ByteString(repeating: 65, count: 256 << 10)
        let writers = try (0..<5).map { _ in try Agent(in: container.mountPoint) }
        let looker = try Agent(in: container.mountPoint)
        defer { for agent in writers + [looker] { agent.end() } }
        let files = writers.enumerated().map { number, writer in
            writer.store("written \(number)", old)
            return writer.open("written \(number)", O_WRONLY)
        }
        // A first piece each, so that there is a session with a file of its own.
        for (writer, file) in zip(writers, files) { writer.write(file, "first") }

        try disk.freeze()
        for (number, writer) in writers.enumerated() {
            writer.beginWrite(files[number], " and second")
            looker.status("nobody looked for this \(number)", fails: ENOENT)
        }
        for number in 0..<20 {
            looker.status("nor for this \(number)", fails: ENOENT)
        }
        #expect(!writers[0].hasFinished(within: 0), "the disk was not needed")
        try disk.thaw()
        for (number, writer) in writers.enumerated() {
            #expect(writer.finish().result == 11)
            writer.close(files[number])
            let expected = ByteString(Array("first and second".utf8) + old.bytes.dropFirst(16))
            #expect(writer.content("written \(number)") == expected)
        }
    }
}

import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// Files of mounts that do not answer are read by processes of their own.
@Suite struct AbandonedReadTests {
    @Test func `a reader that nobody waits for any more leaves no process behind`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        // Who opens one waits for a writer, as for a daemon.
        try #require(mkfifo("\(folder)/silent", 0o600) == 0)
        #expect(close(creat("\(folder)/file", 0o600)) == 0)
        let before = try Self.children()
        #expect(MountFile.read("\(folder)/silent", milliseconds: 1) == nil)
        let reader = try #require(try Self.children().subtracting(before).first)
        waitUntil(seconds: 20) { Processes.isDead(reader) }
        guard case .bytes = MountFile.read("\(folder)/file", milliseconds: 20_000) else {
            Issue.record("a file was not read")
            return
        }
        #expect(Processes.state(of: reader) == nil)
    }

    /// Processes that this thread has started.
    private static func children() throws -> Set<Int32> {
        let file = OwnedDescriptor(adopting: open("/proc/thread-self/children", O_RDONLY))
        let text = String(decoding: try WholeFile.read(file), as: UTF8.self)
        return Set(text.split(separator: " ").compactMap { Int32($0) })
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// A full disk that takes long for each entry.
@Suite(
    .oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)),
    .enabled(if: isInstalled("cc"), "needs cc"))
struct SlowFullDiskTests {
    /// Each content that is moved among the blobs takes a while.
    private static let source = """
        #define _GNU_SOURCE
        #include <sys/syscall.h>
        #include <unistd.h>
        int renameat2(int from, const char *source, int to, const char *target, unsigned flags) {
            usleep(100000);
            return syscall(SYS_renameat2, from, source, to, target, flags);
        }
        """

    /// Who wants room waits 10 s for it. All that had been saved was sealed before, whatever had been removed.
    @Test func `what was removed gives its room back before much else is sealed`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        let container = try Container(dataHome: disk.mountPoint)
        defer {
            container.remove()
            disk.remove()
        }
        try container.preload(Self.source)
        try container.mount(options: ["no_passthrough"])
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        let large = ByteString(repeating: 65, count: 8 << 20)
        agent.store("removed", large)
        for number in 0..<400 { agent.store("\(number)", "text \(number)") }
        // The disk is full by what is not the container's.
        _ = try run(["sh", "-c", "cat /dev/zero > filling"], directory: disk.mountPoint)
        agent.unlink("removed")
        agent.store("next", ByteString(repeating: 66, count: 4 << 20))
        agent.end()
        container.additionalEnvironment = [:]
        try container.killDaemon()
        unlink("\(disk.mountPoint)/filling")
        try container.mount()
        let after = try Agent(in: container.mountPoint)
        #expect(after.status("next").size == 4 << 20)
        #expect(after.content("399") == "text 399")
        after.end()
        try container.unmount()
        #expect(try container.check().status == 0)
    }
}

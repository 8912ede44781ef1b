import Glibc
import TestSupport
import Testing

/// What the end of a mount costs after many documents were removed.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain && isInstalled("cc"), "needs a mount and cc"))
struct RemovedTogetherTests {
    /// Counts how often the disk is waited for, by a byte in a file each time.
    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int fdatasync(int file) {
            const char *path = getenv("COUNTED_SYNCS");
            int count = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
            if (count >= 0) { (void)!write(count, ".", 1); close(count); }
            return syscall(SYS_fdatasync, file);
        }
        """

    @Test func `a mount whose documents were all removed does not end one by one`() throws {
        let container = try Container()
        defer { container.remove() }
        let syncs = "\(container.base)/syncs"
        try container.preload(Self.source)
        container.additionalEnvironment["COUNTED_SYNCS"] = syncs
        func count() -> Int {
            var status = stat()
            return stat(syncs, &status) == 0 ? Int(status.st_size) : 0
        }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        let documents = 200
        for number in 0..<documents { agent.store("\(number)", "text \(number)") }
        for number in 0..<documents { agent.unlink("\(number)") }
        agent.end()
        let before = count()
        try container.unmount()
        let during = count() - before
        #expect(before > 0 && during < documents / 2, "the disk was waited for \(during) times")
        container.additionalEnvironment = [:]
        #expect(try container.check().status == 0)
    }
}

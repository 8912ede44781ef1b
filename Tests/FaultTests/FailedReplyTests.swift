import Glibc
import TestSupport
import Testing

/// Contents that the kernel does not take as pages, as when its memory is short.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain && isInstalled("cc"), "needs a mount and cc"))
struct FailedReplyTests {
    /// Every other one that goes to the kernel.
    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdatomic.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static atomic_int count;
        ssize_t splice(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
            struct stat status;
            if (fstat(out, &status) == 0 && S_ISCHR(status.st_mode) && count++ % 2 == 0) {
                errno = ENOMEM;
                return -1;
            }
            return syscall(SYS_splice, in, from, out, to, length, flags);
        }
        """

    /// Nobody answered, and who read waited for ever.
    @Test func `a reply that the kernel does not take as pages is sent as bytes`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.preload(Self.source)
        try container.mount(options: ["no_passthrough"])
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        for size in [100_000, 1 << 20, 3 << 20] {
            let name = ByteString("\(size)")
            let content = ByteString(Documents.content(name: name.text, size: size))
            agent.store(name, content)
            for _ in 0..<3 {
                // O_DIRECT: nothing of it is kept by the kernel.
                let file = agent.open(name, O_RDONLY | 0o40000)
                #expect(agent.readToEnd(file) == content, "\(size) bytes")
                agent.close(file)
            }
            #expect(agent.content(name) == content, "\(size) bytes")
        }
    }
}

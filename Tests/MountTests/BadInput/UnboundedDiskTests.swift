import Glibc
import Probing
import TestSupport
import Testing

/// Network file systems without bounds, which tell more room than can be.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain && isInstalled("cc"), "needs a mount and cc"))
struct UnboundedDiskTests {
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <sys/statvfs.h>
        int statvfs(const char *path, struct statvfs *status) {
            int (*real)(const char *, struct statvfs *) = dlsym(RTLD_NEXT, "statvfs");
            int result = real(path, status);
            status->f_blocks = status->f_bfree = status->f_bavail = ~0UL;
            status->f_files = status->f_ffree = status->f_favail = ~0UL;
            return result;
        }
        """

    @Test func `a disk of more room than can be ends no mount`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.preload(Self.source)
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        agent.store("a", "text")
        let file = agent.open("b", O_RDWR | O_CREAT)
        agent.allocate(file, offset: 0, length: 1 << 20)
        agent.close(file)
        #expect(agent.content("a") == "text")
        let shown = try run(["stat", "-f", "-c", "%i", container.mountPoint])
        #expect(shown.status == 0, "\(shown)")
        agent.end()
        try container.unmount()
        container.additionalEnvironment = [:]
        #expect(try container.check().status == 0)
    }
}

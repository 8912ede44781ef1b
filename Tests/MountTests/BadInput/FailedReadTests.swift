import Glibc
import Probing
import TestSupport
import Testing

/// A disk that cannot be read for a moment is told as that, and not as damage.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain && isInstalled("cc"), "needs a mount and cc"))
struct FailedReadTests {
    /// The read of the catalog, or of its log, fails that the environment names by its number.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int number;
        ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
            ssize_t (*next)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
            char link[64], path[4096] = "";
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/catalog.sqlite")) {
                number++;
                if (getenv("FAILS") && number == atoi(getenv("FAILS"))) {
                    errno = EIO;
                    return -1;
                }
            }
            return next(file, bytes, count, offset);
        }
        """

    @Test func `a catalog that cannot be read is not called damaged`() throws {
        let container = try Container(store: "folder")
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        agent.shell("for i in $(seq 50); do echo $i > $i; done")
        agent.end()
        try container.unmount()
        try container.preload(Self.source)
        let name = container.name
        for number in [1, 2, 3, 5, 8, 13, 21] {
            container.additionalEnvironment["FAILS"] = "\(number)"
            let moved = try container.command(
                "container", "move-store", name, "folder:\(container.base)/home/\(number)")
            // All may have been read before.
            if moved.status == 0 { continue }
            #expect(moved.status == Int(EX_IOERR), "\(number): \(moved)")
            #expect(moved.errorText.contains("catalog.sqlite"), "\(number): \(moved)")
            #expect(!moved.errorText.contains("malformed"), "\(number): \(moved)")
        }
        container.additionalEnvironment = [:]
        #expect(try container.check().status == 0)
    }
}

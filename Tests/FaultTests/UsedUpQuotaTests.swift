import Glibc
import Probing
import TestSupport
import Testing

/// A disk with room of which the user may use no more: EDQUOT wherever a full disk says ENOSPC.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct UsedUpQuotaTests {
    private static let quota = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <sys/types.h>
        #define QUOTA(result, name, parameters, arguments) \\
            result name parameters { \\
                result (*next) parameters = dlsym(RTLD_NEXT, #name); \\
                result found = next arguments; \\
                if (found == -1 && errno == ENOSPC) errno = EDQUOT; \\
                return found; \\
            }
        QUOTA(ssize_t, write, (int f, const void *b, size_t n), (f, b, n))
        QUOTA(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o))
        QUOTA(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o))
        QUOTA(int, fallocate, (int f, int m, off_t o, off_t n), (f, m, o, n))
        QUOTA(int, fallocate64, (int f, int m, off64_t o, off64_t n), (f, m, o, n))
        QUOTA(int, ftruncate, (int f, off_t n), (f, n))
        QUOTA(int, ftruncate64, (int f, off64_t n), (f, n))
        """

    /// SQLite takes a used up quota for an error of the disk, so that nothing came to the catalog any more.
    @Test func `deleting makes room where a quota was used up`() throws {
        let disk = try SmallDisk(mebibytes: 40)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        try container.preload(Self.quota)
        try container.mount()
        // Attributes, since what is written goes to the disk past the daemon.
        let line = """
            for n in $(seq 60); do head -c 1M /dev/urandom > big$n || break; done 2> /dev/null
            for n in $(seq 2000); do echo $n > small$n || break; done 2> /dev/null
            value=$(head -c 3000 /dev/zero | tr '\\0' x)
            for k in 1 2 3 4 5 6 7 8; do for n in $(seq 30); do
                setfattr -n user.a$k -v $value small$n || break 2
            done; done 2> /dev/null
            cat /dev/zero > '\(disk.mountPoint)/filler' 2> /dev/null
            sleep 3
            rm '\(disk.mountPoint)/filler' big1 big2 big3
            for try in $(seq 60); do
                sleep 0.5
                if echo text > last; then exec cat last; fi 2> /dev/null
            done
            """
        let result = try run(["sh", "-c", line], directory: container.mountPoint, seconds: 300)
        #expect(result.text == "text\n", "\(result)")
        try container.unmount()
        #expect(try container.check().status == 0)
    }
}

import Coordination
import Glibc
import Model
import SystemCalls
import Testing

/// Who may have a container.
@Suite struct ContainerLockTests {
    @Test func `the lock of a container that was deleted while it was waited for is none`() throws {
        try InsideContainer.withFolder { path in
            try Container.create("test", at: path)
            let file = path + "/lock"
            // As a command has it for a moment.
            let held = open(file, O_RDWR | O_CREAT, 0o600)
            let words = "having its documents counted (process \(getpid()))"
            let written = write(held, words, words.utf8.count)
            #expect(written == words.utf8.count)
            let isHeld = flock(held, LOCK_EX) == 0
            #expect(isHeld)
            let isTaken = Monitor<Bool?>(nil)
            Threads.start("lock") {
                let lock = try? Container.lock("test", at: path, holder: "in use by a test")
                isTaken.signal { $0 = lock != nil }
            }
            // Until it has opened the file, too.
            for _ in 0..<1_000 {
                if Self.descriptors(of: file) > 1 { break }
                usleep(10_000)
            }
            unlink(file)
            close(held)
            let outcome = isTaken.wait(until: MonotonicClock.after(milliseconds: 20_000)) { $0 }
            #expect(outcome == false)
        }
    }

    /// How many descriptors of this process are of the file.
    private static func descriptors(of path: String) -> Int {
        var file = stat()
        guard stat(path, &file) == 0 else { return 0 }
        return (0..<Int32(1024)).count { number in
            var status = stat()
            return fstat(number, &status) == 0 && status.st_dev == file.st_dev
                && status.st_ino == file.st_ino
        }
    }
}

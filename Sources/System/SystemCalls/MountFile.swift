internal import CSystemShim
internal import Glibc

/// A file of a mount whose daemon may not answer, read by a process of its own.
///
/// Who waits for a request that a daemon has taken cannot be ended by any signal, nor can its process: had
/// a thread asked, a program would not end before the daemon goes on.
package enum MountFile {
    /// What came of reading.
    package enum Answer: Sendable {
        case bytes([UInt8])
        /// The daemon, or the kernel in its place, refused.
        case refused(Errno)
    }

    /// All bytes of a file; `nil` if they are not there in so many milliseconds, or no process can start.
    ///
    /// From any thread. The process that read is ended then, or ends with its request.
    package static func read(_ path: String, milliseconds: UInt64) -> Answer? {
        let end = MonotonicClock.after(milliseconds: milliseconds)
        var child: pid_t = 0
        let pipe = OwnedDescriptor(adopting: shim_read_in_child(path.cPath, &child))
        guard pipe.number >= 0 else { return nil }
        forgetEnded()
        guard let bytes = bytes(from: pipe, until: end) else {
            kill(child, SIGKILL)
            left.withLock { $0.append(child) }
            return nil
        }
        var status: Int32 = 0
        // After the end of the pipe it ends at once.
        while waitpid(child, &status, __WALL) < 0, errno == EINTR {}
        guard status & 0x7f == 0 else { return nil }
        let code = status >> 8 & 0xff
        return code == 0 ? .bytes(bytes) : .refused(Errno(code))
    }

    /// Processes that were still reading when nobody waited for them any more: those wait in the kernel, until
    /// their daemon goes on.
    private static let left = Lock<[pid_t]>([])

    /// Takes note of those of them that have ended. Until then the kernel keeps their numbers.
    private static func forgetEnded() {
        left.withLock { $0.removeAll { waitpid($0, nil, __WALL | WNOHANG) != 0 } }
    }

    /// What comes out of a pipe before its other end is closed; `nil` if that is later.
    private static func bytes(from pipe: borrowing OwnedDescriptor, until end: UInt64) -> [UInt8]? {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let now = MonotonicClock.now
            guard now < end, bytes.count <= WholeFile.limit else { return nil }
            var ready = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
            let left = (end - now + 999_999) / 1_000_000
            guard poll(&ready, 1, Int32(clamping: left)) > 0 else {
                if errno == EINTR || MonotonicClock.now >= end { continue }
                return nil
            }
            let count = Glibc.read(pipe.number, &part, part.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += part[..<count] } else if errno != EINTR { return nil }
        }
    }
}

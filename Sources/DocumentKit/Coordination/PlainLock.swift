internal import Glibc
internal import PathText
internal import SystemCalls

/// A claim outside of containers: an flock(2) lock of the item, or of its folder where there is none.
final class PlainLock {
    private let file: OwnedDescriptor

    /// Waits for other holders until `deadline` (of the monotonic clock).
    init(_ path: String, writes: Bool, until deadline: UInt64) throws(CoordinationError) {
        while true {
            let file: OwnedDescriptor
            do throws(Errno) { file = try Self.opened(path) } catch {
                throw .badPath(path, error.description)
            }
            while flock(file.number, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
                let error = Errno.last
                // No locks there (some network file systems): nobody has one.
                if [ENOTSUP, ENOSYS, EINVAL].contains(error.code) { break }
                guard [EWOULDBLOCK, EINTR].contains(error.code) else {
                    throw .badPath(path, error.description)
                }
                if MonotonicClock.now >= deadline { throw .timedOut([]) }
                usleep(2_000)
            }
            // Who held it before may have put another file in its place.
            if Self.isStill(path, file.number) {
                self.file = file
                return
            }
            if MonotonicClock.now >= deadline { throw .timedOut([]) }
        }
    }

    private static func opened(_ path: String) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/") else { throw error }
            return try OwnedDescriptor.open(
                slash == path.startIndex ? "/" : String(path[..<slash]), O_RDONLY)
        }
    }

    /// Whether the path still names what was opened; a folder stands for what is not there yet.
    private static func isStill(_ path: String, _ descriptor: Int32) -> Bool {
        var held = stat()
        var named = stat()
        guard fstat(descriptor, &held) == 0 else { return false }
        guard stat(path.cPath, &named) == 0 else { return held.st_mode & S_IFMT == S_IFDIR }
        return named.st_dev == held.st_dev && named.st_ino == held.st_ino
    }
}

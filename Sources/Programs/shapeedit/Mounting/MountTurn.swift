import Glibc
import PathText
import SystemCalls

/// The turn of those who mount at a place: an flock(2) of the folder above.
///
/// The kernel stacks mounts: of two daemons started for one folder at the same moment the second would
/// hide the first, or take its mount for the dead one that both found. Whoever cannot read the folder
/// above, or waits longer than two seconds, goes on without.
struct MountTurn: ~Copyable {
    private static let patience: UInt64 = 2_000
    private let folder: OwnedDescriptor?

    /// - Parameter point: absolute.
    init(at point: String) {
        let flags = O_RDONLY | O_DIRECTORY
        guard let opened = try? OwnedDescriptor.open(point.parentPath, flags) else {
            folder = nil
            return
        }
        let deadline = MonotonicClock.after(milliseconds: Self.patience)
        while flock(opened.number, LOCK_EX | LOCK_NB) != 0, MonotonicClock.now < deadline,
            errno == EWOULDBLOCK || errno == EINTR
        {
            usleep(2_000)
        }
        folder = consume opened
    }

    /// Lets the next one in.
    consuming func end() {}
}

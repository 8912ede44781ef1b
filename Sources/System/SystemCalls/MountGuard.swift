internal import CSystemShim
internal import Glibc

/// A process that ends with the daemon, and frees its mount if the daemon was killed and cannot end.
///
/// A thread that tells the kernel to forget a name waits there for the folder's lock, which nothing
/// interrupts. If who holds the lock waits for the daemon's answer and the daemon is killed, neither
/// would end: nor would the mount, and the container would stay locked. The guard has the kernel fail
/// what waits (fusectl). Where it cannot start, or is not root and fusectl is not mounted, only that
/// help is lost.
public struct MountGuard: Sendable {
    private let pipe: Int32

    /// Starts it. On the first thread of the process that is going to serve a mount, early: the guard
    /// keeps the memory that the process has then.
    public init() { pipe = shim_guard_mount() }

    /// Tells it that the mount is there, at an absolute path. Asks the daemon nothing.
    public func watch(_ point: String) {
        // A connection has the number of its mount's device.
        guard pipe >= 0, let mount = KernelMount.all().last(where: { $0.isMounted(at: point) }),
            mount.isShapeEdit, let colon = mount.device.firstIndex(of: ":"),
            var connection = UInt32(mount.device[mount.device.index(after: colon)...])
        else { return }
        _ = write(pipe, &connection, MemoryLayout.size(ofValue: connection))
    }
}

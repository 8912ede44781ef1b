internal import CWorkerShim
internal import Glibc
public import SystemCalls

/// Ends work that nobody waits for any more; may be used from any thread.
public final class Cancellation: Sendable {
    /// Readable once it is cancelled.
    let descriptor: OwnedDescriptor

    /// Throws if the process has no descriptors left.
    public init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try check { shim_event() })
    }

    /// Work that watches this ends soon. For good; again makes no difference.
    public func cancel() {
        var one: UInt64 = 1
        _ = write(descriptor.number, &one, 8)
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool {
        var watched = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&watched, 1, 0) > 0
    }
}

internal import Synchronization

/// How urgent a call is; may be raised while it waits for its turn. Any thread.
package final class Urgency: Sendable {
    private let awaited: Atomic<Bool>

    /// - Parameter awaited: somebody waits for the result, so it goes before background work.
    package init(awaited: Bool) { self.awaited = Atomic(awaited) }

    package var isAwaited: Bool { awaited.load(ordering: .relaxed) }

    /// From now on somebody waits.
    package func raise() { awaited.store(true, ordering: .relaxed) }
}

/// What goes along with every call of a store: how to stop it, how urgent it is, whom to tell how far
/// it is.
package struct StoreCall: Sendable {
    package var cancellation: Cancellation
    package var urgency: Urgency
    /// Called on the caller's thread, often, with the bytes of the blob (or of the range) that have
    /// gone over so far. The count goes back when a transfer starts over.
    package var progress: (@Sendable (Int64) -> Void)?
    /// Called on the caller's thread when a server that was asked for a part sends all of the blob: what
    /// lies before the part comes as well, each time.
    package var ignoresRange: (@Sendable () -> Void)?
    /// Called on the caller's thread when an attempt failed and another one follows, with why.
    package var fails: (@Sendable (StoreError) -> Void)?
    /// A blob that is there already is put in its place, whatever its size: it is known to have other bytes.
    package var replaces = false

    package init(
        cancellation: Cancellation = Cancellation(), urgency: Urgency = Urgency(awaited: true),
        progress: (@Sendable (Int64) -> Void)? = nil
    ) {
        self.cancellation = cancellation
        self.urgency = urgency
        self.progress = progress
    }
}

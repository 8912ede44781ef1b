package import Model

/// Which locks a lock can conflict with: on Linux the two know nothing of each other.
package enum LockFamily: Hashable, Sendable {
    /// fcntl(2): ranges of bytes, owned by a process (or an open file, for OFD locks).
    case record
    /// flock(2): the whole file, owned by an open file.
    case whole
}

/// Shared locks get on with each other, exclusive ones with none; one owner's never conflict.
package enum LockKind: Hashable, Sendable {
    case shared
    case exclusive
}

/// A lock that somebody wants or holds.
package struct LockRequest: Hashable, Sendable {
    package var item: ItemNumber
    package var family: LockFamily
    package var kind: LockKind
    /// First and last byte, from 0; `Int64.max` as the last means "however long the file gets".
    /// Without meaning for `.whole`.
    package var range: ClosedRange<Int64>
    /// For records what the kernel calls the lock owner, for a whole file the handle.
    package var owner: UInt64
    /// Who asked for it; F_GETLK tells others.
    package var process: Int32
    /// Of a lock that is held: since when, as the table's clock has it.
    package var since: UInt64 = 0

    package init(
        item: ItemNumber, family: LockFamily, kind: LockKind,
        range: ClosedRange<Int64> = 0...Int64.max, owner: UInt64, process: Int32
    ) {
        self.item = item
        self.family = family
        self.kind = kind
        self.range = range
        self.owner = owner
        self.process = process
    }
}

/// A held record lock that is in the way, as F_GETLK describes it.
package struct LockConflict: Hashable, Sendable {
    package var range: ClosedRange<Int64>
    package var kind: LockKind
    package var process: Int32

    package init(range: ClosedRange<Int64>, kind: LockKind, process: Int32) {
        self.range = range
        self.kind = kind
        self.process = process
    }
}

/// Names a request that waits in a ``LockTable``.
package struct WaitID: Hashable, Sendable {
    let item: ItemNumber
    let serial: UInt64
}

/// What became of a request.
package enum LockOutcome: Hashable, Sendable {
    case granted
    /// It conflicts, and did not want to wait: EAGAIN.
    case wouldBlock
    /// The waiter is kept until it is granted or cancelled.
    case waiting(WaitID)
    /// It would wait for somebody who waits for its owner: EDEADLK.
    case deadlock
}

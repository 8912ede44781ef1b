package import Model
package import SystemCalls

/// A disk that is full, or nearly.
extension ChangeLog {
    /// So many bytes for SQLite may wait when more is to come, on a disk with less than this free: there has to
    /// be room for all that waits when the container is opened again.
    fileprivate static let shortGrowth: Int64 = 128 << 10
    private static let plenty: UInt64 = 32 << 20

    /// As ``admit()``, for what makes a name or the like. Of that nothing is taken while SQLite has no room on the
    /// disk: what the journal has is for what makes room.
    ///
    /// - Parameter patience: how long room may take to come, in milliseconds.
    /// - Throws: as ``admit()``; ENOSPC while there is no room.
    package func admitGrowth(patience: UInt64 = 0) throws(Errno) {
        try admit()
        if queue.withLock({ $0.isStuck }) {
            let isFree: Bool? = queue.wait(until: MonotonicClock.after(milliseconds: patience)) {
                $0.isStuck ? nil : true
            }
            if isFree == nil { throw Errno(28) }
        }
        let room = roomToGrow()
        if room == 0 { throw Errno(28) }
        if room >= Self.plenty { return }
        let isShort = queue.signal { state in
            let isShort = state.isShort
            if !isShort { state.hurried = true }
            return isShort
        }
        if isShort { return }
        let wasStuck = queue.wait(until: MonotonicClock.after(milliseconds: 2_000)) { state in
            if state.isStuck { return true }
            return state.isShort ? false : nil
        }
        if wasStuck == true { throw Errno(28) }
    }

    /// There may be room on the disk again: SQLite is to try at once what it could not do.
    package func retry() {
        queue.signal { state in
            if !state.isStuck { return }
            state.retries = true
            state.hurried = true
        }
    }

    /// What the journal has and SQLite has not, in its order; perhaps some that it has as well.
    package var waiting: [Mutation] { queue.withLock { $0.mutations } }
}

extension ChangeLog.Queue {
    fileprivate var isShort: Bool { mutations.growth < ChangeLog.shortGrowth }
}

internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// flock(2) and fcntl(2) locks: real across all nodes of an item, where the kernel's own would only
/// see one node.
extension Volume {
    /// A number for a request that may have to wait, known to ``interruptLock(_:)`` from now on.
    func lockTicket() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            state.tickets[state.nextTicket] = LockTicket()
            return state.nextTicket
        }
    }

    /// Takes a lock. `reply` is called once, perhaps later on another thread: with `nil` when the
    /// lock is held, else with EAGAIN, EDEADLK or EINTR; or with ERESTART if it waited for other locks, and
    /// now a claim is in the way, which came meanwhile.
    ///
    /// - Parameters:
    ///   - ticket: for a request that is willing to wait.
    ///   - asksAgain: the answer is ERESTART if there are claims now.
    func acquire(
        _ request: LockRequest, through handle: Handle, ticket: UInt64?, asksAgain: Bool = false,
        reply: @escaping @Sendable (Errno?) -> Void
    ) {
        let (outcome, admitted) = state.withLock { state -> (Errno??, [LockWaiter]) in
            if asksAgain, state.coordinator.isClaimed { return (Errno(ERESTART), []) }
            if request.family == .record {
                state.lockOwners[request.item, default: [:]][handle.rawValue, default: []]
                    .insert(request.owner)
            }
            let waiter = ticket.map { LockWaiter(ticket: $0, reply: reply) }
            let (outcome, admitted) = state.locks.acquire(
                request, waiter: waiter, mayHold: state.mayHold)
            state.followLocks(request.item)
            switch outcome {
            case .granted: return (.some(nil), admitted)
            case .wouldBlock: return (Errno(EAGAIN), admitted)
            case .deadlock: return (Errno(EDEADLK), admitted)
            case .waiting(let wait):
                guard let ticket else { return (Errno(EAGAIN), admitted) }
                if state.tickets[ticket]?.interrupted == true {
                    _ = state.locks.cancel(wait)
                    return (Errno(EINTR), admitted)
                }
                state.tickets[ticket]?.wait = wait
                return (.none, admitted)
            }
        }
        if let outcome {
            if let ticket { state.withLock { state in state.tickets[ticket] = nil } }
            reply(outcome)
        }
        admit(admitted)
    }

    /// A signal came for a waiting request; true if it is to be answered with EINTR.
    func interruptLock(_ ticket: UInt64) -> Bool {
        state.withLock { state in
            guard let known = state.tickets[ticket] else { return false }
            guard let wait = known.wait else {
                state.tickets[ticket]?.interrupted = true
                return false
            }
            state.tickets[ticket] = nil
            return state.locks.cancel(wait) != nil
        }
    }

    /// Until when those that a flock(2) is refused for may be gone: all of them have just been closed.
    /// A close returns before its RELEASE has been read, and on a disk the lock has ended by then. Of
    /// ``MonotonicClock``; `nil` if somebody else is in the way.
    func endOfClosing(_ request: LockRequest) -> UInt64? {
        guard request.family == .whole else { return nil }
        return state.withLock { state in
            if state.closingLocks.isEmpty { return nil }
            let now = MonotonicClock.now
            var end: UInt64?
            for lock in state.locks.held(on: request.item)
            where lock.family == .whole && lock.owner != request.owner
                && (lock.kind == .exclusive || request.kind == .exclusive)
            {
                guard let moment = state.closingLocks[lock.owner], moment > now else { return nil }
                end = max(end ?? 0, moment)
            }
            return end
        }
    }

    /// The lock that `request` would have to wait for.
    func conflict(_ request: LockRequest) -> LockConflict? {
        state.withLock { $0.locks.test(request) }
    }

    /// The record lock that `owner` holds within `range`.
    func heldLock(
        _ item: ItemNumber, _ range: ClosedRange<Int64>, _ owner: UInt64
    ) -> LockConflict? {
        state.withLock { $0.locks.held(by: owner, within: range, on: item) }
    }

    func unlock(
        _ item: ItemNumber, _ family: LockFamily, _ range: ClosedRange<Int64>, _ owner: UInt64
    ) {
        admit(
            state.withLock { state in
                defer { state.followLocks(item) }
                return state.locks.release(
                    item, family, range, owner: owner, mayHold: state.mayHold)
            })
    }

    /// A descriptor was closed: the process's fcntl locks on the file end, and a flock(2) lock may.
    func dropRecordLocks(_ item: ItemNumber, _ handle: Handle, _ owner: UInt64) {
        let admitted = state.withLock { state -> [LockWaiter] in
            if state.locks.holdsWhole(item, handle.rawValue) {
                state.closingLocks[handle.rawValue] = MonotonicClock.now + Closing.patience
            }
            guard let owners = state.lockOwners[item] else { return [] }
            let left = owners.mapValues { $0.subtracting([owner]) }.filter { !$0.value.isEmpty }
            state.lockOwners[item] = left.isEmpty ? nil : left
            defer { state.followLocks(item) }
            return state.locks.dropOwner(item, .record, owner, mayHold: state.mayHold)
        }
        admit(admitted)
    }

    /// An open file description ended: what was locked through it alone ends too. Not where the owner
    /// has locked through another since: the kernel calls an owner by an address, and the next open
    /// file may have that of the one that ended.
    func dropHandleLocks(_ item: ItemNumber, _ handle: Handle) {
        let admitted = state.withLock { state -> [LockWaiter] in
            guard var left = state.lockOwners[item],
                let owners = left.removeValue(forKey: handle.rawValue)
            else { return [] }
            state.lockOwners[item] = left.isEmpty ? nil : left
            defer { state.followLocks(item) }
            let ended = owners.filter { owner in !left.contains { $0.value.contains(owner) } }
            return ended.flatMap {
                state.locks.dropOwner(item, .record, $0, mayHold: state.mayHold)
            }
        }
        admit(admitted)
    }

    /// The last descriptor of an open file description that had an flock was closed.
    func dropWholeLocks(_ item: ItemNumber, _ handle: Handle) {
        admit(
            state.withLock { state in
                state.closingLocks[handle.rawValue] = nil
                defer { state.followLocks(item) }
                return state.locks.dropOwner(
                    item, .whole, handle.rawValue, mayHold: state.mayHold)
            })
    }

    private func admit(_ waiters: [LockWaiter]) {
        if waiters.isEmpty { return }
        let told = state.withLock { state in
            waiters.map { waiter in
                state.tickets[waiter.ticket] = nil
                return (waiter, isBack: state.sentBack.remove(waiter.ticket) != nil)
            }
        }
        for (waiter, isBack) in told { waiter.reply(isBack ? Errno(ERESTART) : nil) }
    }
}

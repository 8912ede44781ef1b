package import Model

/// The state behind flock(2) and fcntl(2) locks on all items of a container. Pure: no I/O, no clock
/// of its own, no threads; whoever owns it guards it and tells the waiters.
///
/// As on Linux: a request is checked against held locks only, so readers may overtake a waiting
/// writer; whoever waits is tried again in the order of coming whenever a lock of the item goes or
/// gets weaker. Calls that make room answer with the waiters that were let in: they hold their lock
/// from then on and have to be told. Their `mayHold` is asked before: one that may not hold its lock at that
/// moment, for another reason than locks, is among them all the same, and does not wait any more.
package struct LockTable<Waiter: Sendable>: Sendable {
    /// Whether somebody that waits may have its lock now.
    package typealias Permission = (LockRequest, Waiter) -> Bool

    private var items: [ItemNumber: ItemLocks<Waiter>] = [:]
    /// What an owner waits for with record locks: the edges that a deadlock is found by.
    private var waits: [UInt64: [WaitID]] = [:]
    private var serial: UInt64 = 0
    private let clock: @Sendable () -> UInt64

    /// - Parameter clock: what it is by which locks are held since some moment.
    package init(clock: @escaping @Sendable () -> UInt64 = { 0 }) { self.clock = clock }

    /// The first record lock, by its first byte, that `request` would have to wait for (F_GETLK).
    package func test(_ request: LockRequest) -> LockConflict? {
        items[request.item]?.records.conflict(with: request).map {
            LockConflict(range: $0.range, kind: $0.kind, process: $0.process)
        }
    }

    /// The first record lock, by its first byte, that `owner` holds itself within `range` (F_OFD_GETLK with
    /// F_UNLCK).
    package func held(
        by owner: UInt64, within range: ClosedRange<Int64>, on item: ItemNumber
    ) -> LockConflict? {
        let own = items[item]?.records.held.first {
            $0.owner == owner && $0.range.overlaps(range)
        }
        return own.map { LockConflict(range: $0.range, kind: $0.kind, process: $0.process) }
    }

    /// Asks for a lock; what its owner held before in the same range is converted.
    ///
    /// With a `waiter`, a request that conflicts waits, unless that would be a deadlock among
    /// record locks; without one it fails. The conversion of a flock(2) lock that conflicts loses
    /// the lock that its owner had, as on Linux.
    package mutating func acquire(
        _ request: LockRequest, waiter: Waiter? = nil, mayHold: Permission = { _, _ in true }
    ) -> (outcome: LockOutcome, admitted: [Waiter]) {
        var locks = items.removeValue(forKey: request.item) ?? ItemLocks()
        if request.family == .whole {
            if locks.wholes[request.owner]?.kind == request.kind {
                items[request.item] = locks
                return (.granted, [])
            }
            locks.release(.whole, request.range, owner: request.owner)
        }
        if !locks.isBlocked(request) {
            locks.hold(request, at: clock())
            return (.granted, putBack(locks, request.item, mayHold))
        }
        guard let waiter else { return (.wouldBlock, putBack(locks, request.item, mayHold)) }
        if request.family == .record {
            items[request.item] = locks
            if isDeadlock(request.owner, locks.blockers(request)) { return (.deadlock, []) }
        }
        serial += 1
        let wait = WaitID(item: request.item, serial: serial)
        // Those who can go on now that a whole lock is lost are let in before the new one waits.
        let admitted = settle(&locks, mayHold)
        locks.waiting.append(.init(serial: serial, request: request, waiter: waiter))
        items[request.item] = locks
        if request.family == .record { waits[request.owner, default: []].append(wait) }
        return (.waiting(wait), admitted)
    }

    /// Takes the owner's locks in `range` out (F_UNLCK, LOCK_UN); not an error if there are none.
    package mutating func release(
        _ item: ItemNumber, _ family: LockFamily, _ range: ClosedRange<Int64> = 0...Int64.max,
        owner: UInt64, mayHold: Permission = { _, _ in true }
    ) -> [Waiter] {
        guard var locks = items.removeValue(forKey: item) else { return [] }
        locks.release(family, range, owner: owner)
        return putBack(locks, item, mayHold)
    }

    /// Takes out all locks of a family that the owner has on the item: it closed the file. Requests
    /// of the same owner that wait go on waiting, as those of another thread.
    package mutating func dropOwner(
        _ item: ItemNumber, _ family: LockFamily, _ owner: UInt64,
        mayHold: Permission = { _, _ in true }
    ) -> [Waiter] {
        release(item, family, owner: owner, mayHold: mayHold)
    }

    /// Stops waiting (a signal, a dead process); `nil` if the lock was granted meanwhile.
    package mutating func cancel(_ wait: WaitID) -> Waiter? {
        guard let index = items[wait.item]?.waiting.firstIndex(where: { $0.serial == wait.serial }),
            let waiting = items[wait.item]?.waiting.remove(at: index)
        else { return nil }
        forget(waiting)
        if items[wait.item]?.isEmpty == true { items[wait.item] = nil }
        return waiting.waiter
    }

    /// The locks held on an item, records by their first byte and then whole ones by owner.
    package func held(on item: ItemNumber) -> [LockRequest] {
        guard let locks = items[item] else { return [] }
        let records = locks.records.held.map { lock in
            var held = LockRequest(
                item: item, family: .record, kind: lock.kind, range: lock.range, owner: lock.owner,
                process: lock.process)
            held.since = lock.since
            return held
        }
        let wholes = locks.wholes.sorted { $0.key < $1.key }.map { owner, lock in
            var held = LockRequest(
                item: item, family: .whole, kind: lock.kind, owner: owner, process: lock.process)
            held.since = lock.since
            return held
        }
        return records + wholes
    }

    /// Whether the owner holds a lock on the whole item.
    package func holdsWhole(_ item: ItemNumber, _ owner: UInt64) -> Bool {
        items[item]?.wholes[owner] != nil
    }

    /// The items that somebody holds or wants locks on.
    package var lockedItems: some Collection<ItemNumber> { items.keys }

    /// Who holds a lock or waits for one.
    package var processes: Set<Int32> {
        var found: Set<Int32> = []
        for locks in items.values {
            for lock in locks.records.held { found.insert(lock.process) }
            for lock in locks.wholes.values { found.insert(lock.process) }
            for waiting in locks.waiting { found.insert(waiting.request.process) }
        }
        return found
    }

    /// Whether nothing is held and nobody waits.
    package var isEmpty: Bool { items.isEmpty }

    // MARK: Waiting

    private mutating func putBack(
        _ changed: ItemLocks<Waiter>, _ item: ItemNumber, _ mayHold: Permission
    ) -> [Waiter] {
        var locks = changed
        let admitted = settle(&locks, mayHold)
        if !locks.isEmpty { items[item] = locks }
        return admitted
    }

    private mutating func settle(
        _ locks: inout ItemLocks<Waiter>, _ mayHold: Permission
    ) -> [Waiter] {
        if locks.waiting.isEmpty { return [] }
        let admitted = locks.admit(at: clock(), if: mayHold)
        for waiting in admitted { forget(waiting) }
        // A key path of a generic type would be made anew for each lock, at the price of a lock.
        return admitted.map { $0.waiter }
    }

    private mutating func forget(_ waiting: ItemLocks<Waiter>.Waiting) {
        guard waiting.request.family == .record else { return }
        let owner = waiting.request.owner
        waits[owner]?.removeAll { $0.serial == waiting.serial }
        if waits[owner]?.isEmpty == true { waits[owner] = nil }
    }

    /// Whether somebody that `owner` would wait for waits for it, directly or through others, on
    /// whatever items. Linux gives up after ten steps; here every owner is visited once.
    private func isDeadlock(_ owner: UInt64, _ blockers: Set<UInt64>) -> Bool {
        var seen = blockers
        var next = Array(blockers)
        while let blocker = next.popLast() {
            for wait in waits[blocker] ?? [] {
                guard let locks = items[wait.item],
                    let waiting = locks.waiting.first(where: { $0.serial == wait.serial })
                else { continue }
                for other in locks.blockers(waiting.request) where !seen.contains(other) {
                    if other == owner { return true }
                    seen.insert(other)
                    next.append(other)
                }
            }
        }
        return false
    }
}

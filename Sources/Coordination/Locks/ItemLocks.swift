internal import Model

/// All locks of one item, and who waits for one.
struct ItemLocks<Waiter: Sendable>: Sendable {
    /// A request that conflicts with a held lock.
    struct Waiting: Sendable {
        let serial: UInt64
        let request: LockRequest
        let waiter: Waiter
    }

    /// A held flock(2).
    struct Whole: Sendable {
        let kind: LockKind
        let process: Int32
        let since: UInt64
    }

    private(set) var records = RecordLocks()
    /// flock(2)'s, by owner: either one exclusive or any number of shared ones.
    private(set) var wholes: [UInt64: Whole] = [:]
    /// In the order in which they came.
    var waiting: [Waiting] = []

    var isEmpty: Bool { records.held.isEmpty && wholes.isEmpty && waiting.isEmpty }

    func isBlocked(_ request: LockRequest) -> Bool {
        switch request.family {
        case .record: records.conflict(with: request) != nil
        case .whole: wholes.contains { conflicts($0, request) }
        }
    }

    /// The owners of the held record locks that `request` has to wait for.
    func blockers(_ request: LockRequest) -> Set<UInt64> {
        Set(records.held.lazy.filter { RecordLocks.conflicts($0, request) }.map(\.owner))
    }

    /// Puts the lock in, held from `now` on; the caller has made sure that it is not blocked.
    mutating func hold(_ request: LockRequest, at now: UInt64) {
        switch request.family {
        case .record:
            records.set(
                request.range, to: request.kind, owner: request.owner, process: request.process,
                since: now)
        case .whole:
            wholes[request.owner] = Whole(
                kind: request.kind, process: request.process, since: now)
        }
    }

    /// Takes the owner's locks in the range out; all of a `.whole` owner.
    mutating func release(_ family: LockFamily, _ range: ClosedRange<Int64>, owner: UInt64) {
        switch family {
        case .record: records.set(range, to: nil, owner: owner, process: 0, since: 0)
        case .whole: wholes[owner] = nil
        }
    }

    /// Lets in whoever is not blocked any more, in the order of coming; again from the start after
    /// a grant, because a waiter that gets a weaker lock than its owner had makes room. Who may not hold its
    /// lock now is among them, and has nothing.
    mutating func admit(at now: UInt64, if mayHold: (LockRequest, Waiter) -> Bool) -> [Waiting] {
        var admitted: [Waiting] = []
        while let index = waiting.firstIndex(where: { !isBlocked($0.request) }) {
            let next = waiting.remove(at: index)
            if mayHold(next.request, next.waiter) { hold(next.request, at: now) }
            admitted.append(next)
        }
        return admitted
    }

    private func conflicts(
        _ held: (key: UInt64, value: Whole), _ request: LockRequest
    ) -> Bool {
        held.key != request.owner && (held.value.kind == .exclusive || request.kind == .exclusive)
    }
}

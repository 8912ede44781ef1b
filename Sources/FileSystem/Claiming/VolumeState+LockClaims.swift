internal import Catalog
internal import Coordination
internal import Model

/// File locks as claims: while anybody claims by name, who holds a lock holds a claim.
extension VolumeState {
    /// The claims that stand for the locks of one owner on an item.
    struct LockClaim {
        var id: ClaimID
        var kind: LockKind
    }

    /// Processes that hold locks which no claim stands for yet, or wait for locks and are not known:
    /// they may get them while the claim waits that is about to be asked for.
    var lockHolders: Set<Int32> {
        var holders = locks.processes.filter { operators[$0] == nil }
        for item in locks.lockedItems {
            for lock in locks.held(on: item) where lockClaims[item]?[lock.owner] == nil {
                holders.insert(lock.process)
            }
        }
        return holders
    }

    /// Has a claim stand for each lock that is held; those of processes that have ended count for
    /// nobody, because nobody can tell on whose behalf they are.
    ///
    /// - Parameter holders: the processes that are there.
    func claimLocks(_ holders: [Int32: Operator]) {
        for agent in holders.values where !agent.command.isEmpty { note(agent) }
        if holders.isEmpty { return }
        for item in locks.lockedItems { claimLocks(of: item) }
    }

    /// Whether somebody that has waited for other locks may hold this one now. Claims that came meanwhile
    /// count as for a lock that is asked for; those that wait do not: they do so for what is locked.
    func mayHold(_ lock: LockRequest, _ waiter: LockWaiter) -> Bool {
        guard coordinator.isClaimed, let agent = operators[lock.process] else { return true }
        let position = index.find(lock.item)
        let paths = position == 0 ? [] : self.paths(of: position)
        let targets = paths.map { ClaimTarget($0, lock.access) }
        if targets.isEmpty { return true }
        guard coordinator.isHeldUp(agent.request(targets, .locking, deadline: .max)) else {
            return true
        }
        sentBack.insert(waiter.ticket)
        return false
    }

    /// The locks on an item have changed.
    @inline(__always)
    func followLocks(_ item: ItemNumber) {
        if coordinator.isFollowed { claimLocks(of: item) }
    }

    /// The claims that stand for locks, with the names that the locked items have now; not of those that have
    /// lost theirs.
    func lockers() -> [(id: ClaimID, targets: [ClaimTarget])] {
        lockClaims.flatMap { item, claims -> [(id: ClaimID, targets: [ClaimTarget])] in
            let position = index.find(item)
            let paths = position == 0 ? [] : self.paths(of: position)
            if paths.isEmpty { return [] }
            return claims.values.map { claim in
                (claim.id, paths.map { ClaimTarget($0, claim.kind.access) })
            }
        }
    }

    @inline(never)
    private func claimLocks(of item: ItemNumber) {
        let position = index.find(item)
        let paths = position == 0 ? [] : self.paths(of: position)
        var wanted: [UInt64: LockRequest] = [:]
        for lock in locks.held(on: item) where wanted[lock.owner]?.kind != .exclusive {
            wanted[lock.owner] = lock
        }
        var claims = lockClaims[item] ?? [:]
        var ended: [ClaimID] = []
        for (owner, claim) in claims where wanted[owner]?.kind != claim.kind {
            ended.append(claim.id)
            claims[owner] = nil
        }
        // New ones first: nobody gets in between when a lock changes hands.
        for (owner, lock) in wanted where claims[owner] == nil && !paths.isEmpty {
            guard let agent = operators[lock.process] else { continue }
            let targets = paths.map { ClaimTarget($0, lock.access) }
            var request = agent.request(targets, .locking, deadline: .max)
            request.since = lock.since
            claims[owner] = LockClaim(id: coordinator.note(request), kind: lock.kind)
        }
        lockClaims[item] = claims.isEmpty ? nil : claims
        coordinator.release(ended)
    }
}

extension LockRequest {
    /// What a claim is for that stands for the lock.
    var access: ClaimAccess { kind.access }
}

extension LockKind {
    fileprivate var access: ClaimAccess { self == .shared ? .read : .write }
}

extension ClaimTable {
    // MARK: Conflicts

    /// Claims that must not be held at the same time as `claim`.
    func others(inTheWayOf claim: Claim) -> [Claim] {
        var found: [Claim] = []
        _ = isAny(inTheWayOf: claim) { other in
            found.append(other)
            return false
        }
        return found
    }

    /// Whether a claim that conflicts with `claim` counts. Stops at the first: there can be thousands.
    private func isAny(inTheWayOf claim: Claim, _ counts: (Claim) -> Bool) -> Bool {
        var seen: Set<ClaimID> = [claim.id]
        func isInTheWay(_ mark: ClaimMark, _ place: ClaimTarget) -> Bool {
            guard !seen.contains(mark.id), let other = claims[mark.id],
                Self.conflict(place.access, claim.request, mark.access, other.request)
            else { return false }
            seen.insert(mark.id)
            return counts(other)
        }
        for tree in claim.request.origin == .coordinated ? [named, unnamed] : [named] {
            for place in claim.places {
                let (access, path) = (place.access, place.path)
                let isFound =
                    tree.at(path).contains {
                        (access.writes || $0.access.writes) && isInTheWay($0, place)
                    }
                    || tree.above(path).contains { $0.access.coversBelow && isInTheWay($0, place) }
                    || access.coversBelow && tree.below(path).contains { isInTheWay($0, place) }
                if isFound { return true }
            }
        }
        return false
    }

    /// The same, of claims in one of the phases.
    private func isAny(
        inTheWayOf claim: Claim, in phases: [ClaimListing.Phase], _ counts: (Claim) -> Bool
    ) -> Bool {
        isAny(inTheWayOf: claim) { phases.contains($0.phase) && counts($0) }
    }

    /// Whether anybody is kept waiting by a claim: then its end can let others in.
    func isWaitedFor(_ id: ClaimID) -> Bool {
        guard let claim = claims[id] else { return false }
        return isAny(inTheWayOf: claim, in: [.waiting, .preparing]) { _ in true }
    }

    /// Whether claims must not be held at once whose places with these accesses are in each other's way.
    private static func conflict(
        _ access: ClaimAccess, _ one: ClaimRequest, _ otherAccess: ClaimAccess,
        _ other: ClaimRequest
    ) -> Bool {
        if one.purpose == other.purpose { return false }
        switch (one.origin, other.origin) {
        case (.coordinated, .coordinated):
            return !(one.isNested && worksUnder(one, other))
                && !(other.isNested && worksUnder(other, one))
        case (.coordinated, _): return conflict(access, one, withProgram: other)
        case (_, .coordinated): return conflict(otherAccess, other, withProgram: one)
        default: return false
        }
    }

    /// The same of a claim by name and one of a program that knows nothing of claims.
    private static func conflict(
        _ access: ClaimAccess, _ claim: ClaimRequest, withProgram program: ClaimRequest
    ) -> Bool {
        if worksUnder(program, claim) || access.isMetadataOnly { return false }
        // Who has a document open keeps what it read when names change.
        return program.origin != .naming || access.writes
    }

    /// Whether a program that knows nothing of claims, or one that nests its own, works under one by
    /// name or another of its purpose, or holds the lock under which that was asked for. Who wants a lock
    /// waits also for claims of programs that it has started.
    private static func worksUnder(_ program: ClaimRequest, _ claim: ClaimRequest) -> Bool {
        program.family.contains(claim.holder.process)
            || program.heldPurposes.contains(claim.purpose)
            || program.isHeldLock && claim.family.contains(program.holder.process)
    }

    /// Whether `claim` waits for `other`, which conflicts with it.
    func blocks(_ other: Claim, _ claim: Claim) -> Bool {
        switch other.phase {
        case .granted: return true
        // A presenter that is to save gets past the claim that waits for it, and so does whoever goes on
        // under a claim that did.
        case .preparing: return !isStuck(other.id, behind: claim)
        case .waiting:
            return other.id < claim.id && !isStuck(other.id, behind: claim)
        }
    }

    /// Whether a preparing claim waits for the presenter on whose behalf `claim` is, or for one of
    /// the process that makes the operation.
    private func awaits(_ other: Claim, _ claim: Claim) -> Bool {
        if other.awaiting.isEmpty { return false }
        let request = claim.request
        if let presenter = request.presenter { return other.awaiting.contains(presenter) }
        if !request.worksUnderFamily { return false }
        return other.awaiting.contains {
            presenters[$0].map { request.family.contains($0.holder.process) } ?? false
        }
    }

    /// Presenters that may not be able to answer `claim`: each waits for a claim of its own that `claim` gets
    /// past, and so for the end of `claim`, as two do that save for one reader; or for a claim that is to be
    /// prepared by the presenter of `claim`, directly or through others, as those do that read together.
    func presentersHeldUp(by claim: Claim) -> Set<PresenterID> {
        let passed = others(inTheWayOf: claim).filter {
            switch $0.phase {
            case .granted: false
            case .preparing: isStuck($0.id, behind: claim)
            // Or it would have come first.
            case .waiting: $0.id < claim.id
            }
        }
        var found = passed.reduce(into: Set()) { $0.formUnion(presenters(of: $1.request)) }
        let own = presenters(of: claim.request)
        var reached = own
        var rest = own.isEmpty ? [] : preparing
        let waits = { (id: ClaimID) in claims[id]?.awaiting.isDisjoint(with: reached) == false }
        while let id = rest.first(where: waits) {
            rest.remove(id)
            if let request = claims[id]?.request { reached.formUnion(presenters(of: request)) }
        }
        found.formUnion(reached.subtracting(own))
        return found
    }

    /// On whose behalf a claim is: of the process that makes the operation all may be.
    private func presenters(of request: ClaimRequest) -> Set<PresenterID> {
        if let presenter = request.presenter { return [presenter] }
        if !request.worksUnderFamily { return [] }
        return Set(
            presenters.values.lazy.filter { request.family.contains($0.holder.process) }.map(\.id))
    }

    /// Whether a claim is of the same purpose or line as `last`, or one that `last`, an operation or a
    /// nested claim, works under.
    private func isOwn(_ claim: Claim, of last: Claim) -> Bool {
        if claim.request.isTied(to: last.request)
            || last.request.heldPurposes.contains(claim.request.purpose)
        {
            return true
        }
        return last.request.worksUnderFamily && claim.request.origin == .coordinated
            && last.request.family.contains(claim.request.holder.process)
    }

    /// Whether a request has to wait.
    func isBlocked(_ id: ClaimID) -> Bool {
        guard let claim = claims[id] else { return false }
        // Who holds is asked first: whether one that waits is in the way takes a search.
        return isAny(inTheWayOf: claim, in: [.granted, .preparing]) { blocks($0, claim) }
            || isAny(inTheWayOf: claim, in: [.waiting]) { blocks($0, claim) }
    }

    /// Who is in the way of a request, for its error.
    func obstacles(_ id: ClaimID) -> [ClaimListing] {
        guard let claim = claims[id] else { return [] }
        let held = others(inTheWayOf: claim).filter { blocks($0, claim) }.map(\.id)
        let silent = claim.awaiting.compactMap { presenters[$0] }.map {
            ClaimListing(
                id: id, holder: $0.holder, origin: .coordinated, targets: [], phase: .preparing,
                since: claim.since)
        }
        return held.sorted().compactMap(listing) + silent
    }

    // MARK: Waiting in circles

    /// Claims that are held, or preparing, and that `claim` cannot do without the end of.
    private func holders(inTheWayOf claim: Claim) -> [Claim] {
        others(inTheWayOf: claim).filter { $0.phase != .waiting && blocks($0, claim) }
    }

    /// Whether a request, or a preparing claim, waits for what `last` has (claims of its purpose, claims it
    /// works under) or for its presenter to prepare, directly or through others, or is behind one in the
    /// queue that does: then `last` may pass it, or both would wait for ever.
    private func isStuck(_ id: ClaimID, behind last: Claim) -> Bool {
        if !last.request.worksUnderFamily, !holds(last.request),
            last.request.presenter == nil || preparing.isEmpty
        {
            return false
        }
        var seen: Set<ClaimID> = [id]
        var next = [id]
        while let claim = next.popLast().flatMap({ claims[$0] }) {
            if awaits(claim, last) { return true }
            for other in others(inTheWayOf: claim) {
                if other.phase == .waiting {
                    if other.id < claim.id, seen.insert(other.id).inserted { next.append(other.id) }
                    continue
                }
                // Of two that prepare none is behind the other for that alone.
                if other.id == last.id { continue }
                // What it gets past only by others keeps it all the same: that is found once.
                if other.phase == .preparing, awaits(other, claim) { continue }
                if isOwn(other, of: last) || awaits(other, last) { return true }
                for request in pending(with: other.request) where seen.insert(request).inserted {
                    next.append(request)
                }
            }
        }
        return false
    }

    /// The requests that wait for one another in a circle with `id`, which is the last of them, and may be
    /// the only one; empty if there is no such circle.
    ///
    /// Only held claims count: a request never waits in the queue behind one that waits for its
    /// purpose, so no circle has a place in a queue in it.
    private func circle(with id: ClaimID) -> [ClaimID] {
        guard let start = claims[id], holds(start.request) else { return [] }
        var origin: [ClaimID: ClaimID] = [:]
        var seen: Set<ClaimID> = [id]
        var next = [id]
        while let claim = next.popLast().flatMap({ claims[$0] }) {
            for other in holders(inTheWayOf: claim) {
                if other.request.isTied(to: start.request) {
                    var members = [claim.id]
                    while let last = members.last, let before = origin[last] {
                        members.append(before)
                    }
                    return members.reversed()
                }
                for request in pending(with: other.request) where seen.insert(request).inserted {
                    origin[request] = claim.id
                    next.append(request)
                }
            }
        }
        return []
    }

    /// Refuses a request that would wait for ever; whether it was one.
    @discardableResult
    mutating func refuseDeadlock(_ id: ClaimID, _ events: inout [ClaimEvent]) -> Bool {
        let members = circle(with: id)
        guard !members.isEmpty, let claim = claims[id] else { return false }
        var others = members.filter { $0 != id }
        // Who waits for what they hold themselves is told of that.
        if others.isEmpty {
            let own = holders(inTheWayOf: claim).filter { $0.request.isTied(to: claim.request) }
            others = own.map(\.id)
        }
        events.append(.refused(id, .deadlock(others.compactMap(listing))))
        remove(id, &events)
        return true
    }
}

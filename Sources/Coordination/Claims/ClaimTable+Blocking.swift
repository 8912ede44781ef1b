extension ClaimTable {
    // MARK: Conflicts

    /// Claims at, above or below the places of `claim` that could conflict with it.
    func others(inTheWayOf claim: Claim) -> [Claim] {
        var found: [ClaimID] = []
        for tree in trees(near: claim) {
            for place in claim.places {
                found += tree.above(place.path)
                found += tree.at(place.path)
                if place.access.coversBelow { found += tree.below(place.path) }
            }
        }
        if found.isEmpty || found == [claim.id] { return [] }
        var seen: Set<ClaimID> = [claim.id]
        return found.compactMap { id in
            guard seen.insert(id).inserted, let other = claims[id],
                Self.conflict(other, claim)
            else { return nil }
            return other
        }
    }

    /// What holds the claims that could conflict with `claim`.
    private func trees(near claim: Claim) -> [ClaimTree<ClaimID>] {
        claim.request.origin == .coordinated ? [named, unnamed] : [named]
    }

    /// Whether a claim that conflicts with `claim` is in one of the phases, and counts. Stops at the
    /// first: there can be thousands.
    private func isAny(
        inTheWayOf claim: Claim, in phases: [ClaimListing.Phase], _ counts: (Claim) -> Bool
    ) -> Bool {
        for tree in trees(near: claim) {
            for place in claim.places {
                let near = [
                    tree.at(place.path), tree.above(place.path),
                    place.access.coversBelow ? tree.below(place.path) : [],
                ]
                for id in near.joined() where id != claim.id {
                    guard let other = claims[id], phases.contains(other.phase),
                        Self.conflict(other, claim), counts(other)
                    else { continue }
                    return true
                }
            }
        }
        return false
    }

    /// Whether anybody is kept waiting by a claim: then its end can let others in.
    func isWaitedFor(_ id: ClaimID) -> Bool {
        guard let claim = claims[id] else { return false }
        return isAny(inTheWayOf: claim, in: [.waiting, .preparing]) { _ in true }
    }

    /// Whether two claims must not be held at once.
    private static func conflict(_ one: Claim, _ other: Claim) -> Bool {
        let (first, second) = (one.request, other.request)
        if first.purpose == second.purpose { return false }
        switch (first.origin, second.origin) {
        case (.coordinated, .coordinated):
            if first.isNested, worksUnder(first, second) { return false }
            if second.isNested, worksUnder(second, first) { return false }
        case (.coordinated, _): if worksUnder(second, first) { return false }
        case (_, .coordinated): if worksUnder(first, second) { return false }
        default: return false
        }
        return one.places.contains { place in
            other.places.contains {
                conflict(place, first.origin, $0, second.origin)
            }
        }
    }

    /// Whether a program that knows nothing of claims, or one that nests its own, works under one by
    /// name, or holds the lock under which that was asked for. Who wants a lock waits also for claims of
    /// programs that it has started.
    private static func worksUnder(_ program: ClaimRequest, _ claim: ClaimRequest) -> Bool {
        program.family.contains(claim.holder.process)
            || program.isHeldLock && claim.family.contains(program.holder.process)
    }

    private static func conflict(
        _ one: ClaimTarget, _ origin: ClaimRequest.Origin, _ other: ClaimTarget,
        _ otherOrigin: ClaimRequest.Origin
    ) -> Bool {
        if origin == .coordinated, otherOrigin != .coordinated, one.access.isMetadataOnly {
            return false
        }
        if otherOrigin == .coordinated, origin != .coordinated, other.access.isMetadataOnly {
            return false
        }
        // Who has a document open keeps what it read when names change.
        if origin == .naming, !other.access.writes { return false }
        if otherOrigin == .naming, !one.access.writes { return false }
        if one.path.names.count == other.path.names.count {
            return (one.access.writes || other.access.writes) && one.path == other.path
        }
        return one.path.names.count < other.path.names.count
            ? one.access.coversBelow && other.path.isAtOrBelow(one.path)
            : other.access.coversBelow && one.path.isAtOrBelow(other.path)
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
        if claim.request.isTied(to: last.request) { return true }
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

import Coordination

/// Claims kept in a list and decided in the most obvious way; the tests' reference.
///
/// Waiting is a matrix of who waits for whom, closed by following every edge until nothing changes.
/// Ids are below 52 and purposes below 8, so that its rows are words.
struct ReferenceClaims {
    struct Claim {
        var id: UInt64
        var request: ClaimRequest
        var phase = ClaimListing.Phase.waiting
        var current: [ClaimPath]
        var awaiting: Set<UInt64> = []
        var leaseEnd: UInt64 = .max
        /// Claims that it must not be held together with: a bit for each id.
        var rivals: UInt64 = 0
        /// The bit of its purpose; those below 8 are purposes, then come presenters.
        var purpose: UInt64 { 1 << request.purpose.rawValue }
        /// What those wait for who wait for it.
        var needs: UInt64 {
            purpose | waitsFor
                | (request.origin == .coordinated ? Self.bit(request.holder.process) : 0)
        }
        /// The bit of the claims of a process; those are 1 to 4.
        static func bit(_ process: Int32) -> UInt64 { 1 << UInt64(59 + process) }
        /// Whether it works under claims of its family: as an operation does, and a nested claim.
        var isUnderFamily: Bool { request.origin != .coordinated || request.isNested }
        var waitsFor: UInt64 { awaiting.reduce(0) { $0 | 1 << (8 + $1) } }

        /// Where it excludes others: where it was asked for, and where that is now.
        var places: [ClaimTarget] {
            request.targets
                + zip(current, request.targets).map { ClaimTarget($0, $1.access) }
        }
    }

    enum Outcome: Hashable {
        case granted(UInt64)
        case deadlock(UInt64)
        case timedOut(UInt64)
        case cancelled(UInt64)
    }

    let lease: UInt64
    private(set) var claims: [Claim] = []
    var presenters: [UInt64: ClaimPath] = [:]
    /// Presenters that were passed over and have not answered since.
    private(set) var silent: Set<UInt64> = []
    /// The process of each presenter there ever was.
    var processes: [UInt64: Int32] = [:]
    private(set) var outcomes: Set<Outcome> = []
    /// Set when a grant passed an earlier request that did not wait for it.
    private(set) var unfair: String?

    init(lease: UInt64) { self.lease = lease }

    mutating func takeOutcomes() -> Set<Outcome> {
        defer { outcomes = [] }
        return outcomes
    }

    // MARK: Rules

    private static func covers(_ above: ClaimTarget, _ below: ClaimTarget) -> Bool {
        above.path.names.count < below.path.names.count && above.access.coversBelow
            && Array(below.path.names.prefix(above.path.names.count)) == above.path.names
    }

    static func conflict(_ one: Claim, _ other: Claim) -> Bool {
        if one.id == other.id || one.request.purpose == other.request.purpose { return false }
        let pairs = [(one, other), (other, one)]
        if pairs.allSatisfy({ $0.0.request.origin != .coordinated }) { return false }
        for (claim, worker) in pairs {
            let isUnder =
                worker.request.origin != .coordinated
                || worker.request.isNested && claim.request.origin == .coordinated
            if isUnder, worker.works(under: claim) { return false }
        }
        for place in one.places {
            for otherPlace in other.places {
                let isSame = place.path.names == otherPlace.path.names
                if !isSame, !covers(place, otherPlace), !covers(otherPlace, place) { continue }
                if !place.access.writes, !otherPlace.access.writes { continue }
                var counts = true
                for (claimPlace, operation) in [
                    (place, other), (otherPlace, one),
                ] where operation.request.origin != .coordinated {
                    if claimPlace.access.isMetadataOnly { counts = false }
                    if operation.request.origin == .naming, !claimPlace.access.writes {
                        counts = false
                    }
                }
                if counts { return true }
            }
        }
        return false
    }

    /// The bits of presenters on whose behalf a claim is, or whose process makes the operation or the
    /// nested claim.
    private func presented(by claim: Claim) -> UInt64 {
        if let presenter = claim.request.presenter { return 1 << (8 + presenter.rawValue) }
        if !claim.isUnderFamily { return 0 }
        return presenters.keys.reduce(0) {
            let isOwn = processes[$1].map(claim.request.family.contains) ?? false
            return $0 | (isOwn ? 1 << (8 + $1) : 0)
        }
    }

    /// The bits of whom others may wait for to let the claim pass them: its purpose and presenter,
    /// and for an operation or a nested claim also the claims that it works under.
    private func passes(_ claim: Claim) -> UInt64 {
        let family = claim.isUnderFamily ? claim.request.family : []
        let purposes = claim.request.heldPurposes.reduce(claim.purpose) { $0 | 1 << $1.rawValue }
        return family.reduce(purposes | presented(by: claim)) { $0 | Claim.bit($1) }
    }

    /// Held claims that a claim cannot do without the end of.
    private func holders(inTheWayOf claim: Claim) -> [Claim] {
        claims.filter { other in
            guard other.phase != .waiting, claim.rivals & 1 << other.id != 0 else { return false }
            return other.phase != .preparing || other.waitsFor & presented(by: claim) == 0
        }
    }

    /// Those of them that it does not get past because they wait for it, however far away. `reached` is
    /// what ``reached(withQueue:past:without:)`` says with the queue.
    private func firmHolders(inTheWayOf claim: Claim, _ reached: [UInt64: UInt64]) -> [Claim] {
        let passes = passes(claim)
        // Of two that prepare none is behind the other for that alone.
        let reached =
            claim.phase == .preparing ? self.reached(withQueue: true, without: claim.id) : reached
        return holders(inTheWayOf: claim).filter {
            $0.phase != .preparing || (reached[$0.id] ?? 0) & passes == 0
        }
    }

    /// For every pending claim the purposes that it waits for, however far away; with the queue,
    /// also those that earlier ones in it wait for. What it gets past by way of others counts unless it is
    /// known already, as `past`. One claim can be left out.
    private func reached(
        withQueue: Bool, past: [UInt64: UInt64]? = nil, without: UInt64? = nil
    ) -> [UInt64: UInt64] {
        let pending = claims.filter { $0.phase != .granted && $0.id != without }
        var reached = pending.map { claim -> UInt64 in
            let held = past.map { firmHolders(inTheWayOf: claim, $0) }
            return (held ?? holders(inTheWayOf: claim)).filter { $0.id != without }
                .reduce(claim.waitsFor) { $0 | $1.needs }
        }
        let queue = pending.map { claim in
            pending.indices.filter {
                let other = pending[$0]
                return withQueue && other.phase == .waiting && other.id < claim.id
                    && other.rivals & 1 << claim.id != 0
            }
        }
        while true {
            var changed = false
            for index in pending.indices {
                var now = reached[index]
                for other in pending.indices where now & pending[other].purpose != 0 {
                    now |= reached[other]
                }
                for other in queue[index] { now |= reached[other] }
                if now != reached[index] {
                    reached[index] = now
                    changed = true
                }
            }
            if !changed {
                return Dictionary(uniqueKeysWithValues: zip(pending.map(\.id), reached))
            }
        }
    }

    /// Whether a request has to wait. `reached` is what ``reached(withQueue:past:without:)`` says.
    private func isBlocked(_ claim: Claim, _ reached: [UInt64: UInt64]) -> Bool {
        let passes = passes(claim)
        return !firmHolders(inTheWayOf: claim, reached).isEmpty
            || claims.contains {
                $0.phase == .waiting && $0.id < claim.id && $0.rivals & 1 << claim.id != 0
                    && (reached[$0.id] ?? 0) & passes == 0
            }
    }

    /// Requests that wait in a circle.
    var deadlocked: [UInt64] {
        let reached = reached(withQueue: false, past: reached(withQueue: true))
        let holding = claims.reduce(0) { $0 | ($1.phase == .waiting ? 0 : $1.purpose) }
        return claims.filter {
            $0.phase == .waiting && (reached[$0.id] ?? 0) & holding & $0.purpose != 0
        }.map(\.id).sorted()
    }

    /// What must never be: nil if all is well.
    var violation: String? {
        let held = claims.filter { $0.phase == .granted && $0.request.origin == .coordinated }
        for one in held {
            for other in held where one.id < other.id && one.rivals & 1 << other.id != 0 {
                // Only what was renamed onto the other without being claimed.
                if one.current == one.request.targets.map(\.path),
                    other.current == other.request.targets.map(\.path)
                {
                    return "\(one.id) and \(other.id) are both held"
                }
            }
        }
        let reached = reached(withQueue: true)
        for claim in claims where claim.phase == .waiting && !isBlocked(claim, reached) {
            return "\(claim.id) waits for nobody"
        }
        if let id = deadlocked.first { return "\(id) waits in a circle" }
        return unfair
    }

    // MARK: Steps

    mutating func add(_ request: ClaimRequest, id: UInt64, at now: UInt64, isFact: Bool) {
        var claim = Claim(id: id, request: request, current: request.targets.map(\.path))
        claim.request.heldPurposes = heldPurposes(of: claim)
        claims.append(claim)
        for index in claims.indices where Self.conflict(claims[index], claim) {
            claims[index].rivals |= 1 << id
            claims[claims.count - 1].rivals |= 1 << claims[index].id
        }
        if isFact {
            claims[claims.count - 1].phase = .granted
        } else if deadlocked.contains(id) {
            outcomes.insert(.deadlock(id))
            claims.removeAll { $0.id == id }
        }
        settle(at: now)
    }

    mutating func end(_ ids: [UInt64], at now: UInt64) {
        for id in ids {
            guard let claim = claims.first(where: { $0.id == id }) else { continue }
            if claim.phase != .granted { outcomes.insert(.cancelled(id)) }
            claims.removeAll { $0.id == id }
        }
        settle(at: now)
    }

    mutating func answer(_ presenter: UInt64, _ claim: UInt64, at now: UInt64) {
        silent.remove(presenter)
        for index in claims.indices where claims[index].id == claim {
            claims[index].awaiting.remove(presenter)
        }
        settle(at: now)
    }

    mutating func dismiss(_ presenter: UInt64, at now: UInt64) {
        presenters[presenter] = nil
        silent.remove(presenter)
        for index in claims.indices { claims[index].awaiting.remove(presenter) }
        settle(at: now)
    }

    mutating func advance(to now: UInt64) {
        for claim in claims where claim.phase != .granted {
            if claim.request.deadline <= now {
                outcomes.insert(.timedOut(claim.id))
                claims.removeAll { $0.id == claim.id }
            } else if claim.leaseEnd <= now {
                for index in claims.indices where claims[index].id == claim.id {
                    silent.formUnion(claims[index].awaiting)
                    claims[index].awaiting = []
                }
            }
        }
        settle(at: now)
    }

    mutating func move(_ source: ClaimPath, _ target: ClaimPath, by process: Int32, at now: UInt64)
    {
        let isAnnounced = claims.contains { claim in
            claim.phase == .granted && claim.request.origin == .coordinated
                && claim.request.holder.process == process
                && claim.places.contains { $0.path == source && $0.access == .writeMoving }
        }
        for index in claims.indices where claims[index].phase != .waiting || isAnnounced {
            claims[index].current = claims[index].current.map {
                $0.moved(from: source, to: target) ?? $0
            }
            let claim = claims[index]
            if claim.phase != .waiting, claim.request.origin != .session { continue }
            for (place, path) in claim.current.enumerated() {
                claims[index].request.targets[place].path = path
            }
        }
        findRivals()
        settle(at: now)
    }

    private mutating func findRivals() {
        for index in claims.indices {
            let claim = claims[index]
            claims[index].rivals = claims.reduce(0) {
                $0 | (Self.conflict($1, claim) ? 1 << $1.id : 0)
            }
        }
    }

    private mutating func settle(at now: UInt64) {
        while claims.contains(where: { $0.phase != .granted }) {
            let reached = reached(withQueue: true)
            if let index = claims.indices.first(where: {
                claims[$0].phase == .preparing && claims[$0].awaiting.isEmpty
                    && !isBehindHolders(claims[$0], reached)
            }) {
                claims[index].phase = .granted
                outcomes.insert(.granted(claims[index].id))
            } else if let index = claims.indices.first(where: {
                claims[$0].phase == .waiting && !isBlocked(claims[$0], reached)
            }) {
                admit(index, reached, at: now)
            } else if let id = deadlocked.last {
                outcomes.insert(.deadlock(id))
                claims.removeAll { $0.id == id }
            } else {
                return
            }
        }
    }

    /// Whether a claim whose presenters have answered waits for another that is held. Of two that are
    /// prepared the later one goes first.
    private func isBehindHolders(_ claim: Claim, _ reached: [UInt64: UInt64]) -> Bool {
        firmHolders(inTheWayOf: claim, reached).contains {
            $0.phase != .preparing || !$0.awaiting.isEmpty || $0.id > claim.id
        }
    }

    private mutating func admit(
        _ index: Int, _ reached: [UInt64: UInt64], at now: UInt64
    ) {
        let claim = claims[index]
        let passes = passes(claim)
        for other in claims
        where other.phase == .waiting && other.id < claim.id && other.rivals & 1 << claim.id != 0
            && (reached[other.id] ?? 0) & passes == 0
        {
            unfair = "\(claim.id) passed \(other.id)"
        }
        var awaiting: Set<UInt64> = []
        let own = presenters(behind: claim)
        for target in claim.places
        where claim.request.origin == .coordinated && target.access.preparation != nil {
            for (id, path) in presenters where !own.contains(id) {
                let shown = ClaimTarget(path, .read)
                let isAbove =
                    path.names.count < target.path.names.count
                    && target.path.names.starts(with: path.names)
                if path == target.path || Self.covers(target, shown)
                    || isAbove && target.access.preparation?.accommodatesDeletion == true
                {
                    awaiting.insert(id)
                }
            }
        }
        awaiting.subtract(silent)
        // Those for whom claims wait that this one passes.
        for other in claims
        where claim.rivals & 1 << other.id != 0
            && (other.phase == .waiting && other.id < claim.id
                || other.phase == .preparing && (reached[other.id] ?? 0) & passes != 0)
        {
            awaiting = awaiting.filter { presented(by: other) & 1 << (8 + $0) == 0 }
        }
        // And those who wait for this one's presenter, directly or through others.
        var stuck = presented(by: claim)
        while let other = claims.first(where: {
            $0.phase == .preparing && $0.waitsFor & stuck != 0 && presented(by: $0) & ~stuck != 0
        }) {
            stuck |= presented(by: other)
        }
        stuck &= ~presented(by: claim)
        awaiting = awaiting.filter { stuck & 1 << (8 + $0) == 0 }
        if awaiting.isEmpty {
            claims[index].phase = .granted
            outcomes.insert(.granted(claim.id))
        } else {
            claims[index].phase = .preparing
            claims[index].awaiting = awaiting
            claims[index].leaseEnd = now + lease
        }
    }

    /// Presenters that a claim does not ask: its own, and if it is nested those of the claims at its
    /// targets and above that it works under.
    private func presenters(behind claim: Claim) -> Set<UInt64> {
        var found = Set([claim.request.presenter].compactMap { $0?.rawValue })
        guard claim.request.isNested else { return found }
        for other in claims
        where other.phase == .granted && other.request.origin == .coordinated
            && claim.request.family.contains(other.request.holder.process)
        {
            let isNear = claim.request.targets.contains { target in
                other.places.contains { target.path.names.starts(with: $0.path.names) }
            }
            if isNear, let presenter = other.request.presenter { found.insert(presenter.rawValue) }
        }
        return found
    }
}

/// All claims and presenters of a container, and who waits for whom: the rules of the Coordination
/// page. Pure: no I/O, no clock, no threads; whoever owns it guards it and passes on the events.
///
/// The same calls give the same events. Every call that can let others in returns them.
package struct ClaimTable: Sendable {
    /// A claim from its request to its end.
    struct Claim: Sendable {
        let id: ClaimID
        var request: ClaimRequest
        var phase = ClaimListing.Phase.waiting
        var since: UInt64
        /// What it covers: the request's targets, then where they were moved to.
        var places: [ClaimTarget]
        /// Where what was asked for is now, for each target of the request; it may be inside of a package.
        var current: [ClaimPath]
        /// Presenters that have not answered yet.
        var awaiting: Set<PresenterID> = []
        /// Presenters that are told when it ends.
        var asked: [PresenterID] = []
        var leaseEnd = UInt64.max
    }

    /// How long a presenter has to answer, in nanoseconds.
    let lease: UInt64
    var claims: [ClaimID: Claim] = [:]
    /// Where claims by name are, held and waiting.
    var named = ClaimTree<ClaimMark>()
    /// Where those of programs are that know nothing of claims. They are apart because they never block
    /// one another: however many programs wait for a document, each looks at the claims by name alone.
    var unnamed = ClaimTree<ClaimMark>()
    /// Requests that wait, in the order they came.
    var waiting: [ClaimID] = []
    /// Claims that wait for presenters.
    var preparing: Set<ClaimID> = []
    /// How many claims of a purpose, or line, are granted or preparing.
    private var holding: [ClaimTie: Int] = [:]
    /// Requests and preparing claims, by purpose and by line.
    private var pending: [ClaimTie: [ClaimID]] = [:]
    /// How many claims by name of each purpose a process has.
    private var purposes: [Int32: [ClaimPurpose: Int]] = [:]
    var presenters: [PresenterID: Presenter] = [:]
    var presenterTree = ClaimTree<PresenterID>()
    private var serial: UInt64 = 0

    package init(lease: UInt64) { self.lease = lease }

    /// Whether there is neither a claim nor a presenter.
    package var isIdle: Bool { claims.isEmpty && presenters.isEmpty }
    /// Registered presenters.
    package var presenterCount: Int { presenters.count }
    /// What presenters show.
    package var presentedPaths: Set<ClaimPath> { Set(presenters.values.lazy.map { $0.path }) }

    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    // MARK: Requests

    /// Asks for a claim. The events tell what became of it, unless it waits.
    package mutating func request(
        _ request: ClaimRequest, at now: UInt64
    ) -> (id: ClaimID, events: [ClaimEvent]) {
        let id = ClaimID(rawValue: nextSerial())
        put(request, id, now)
        var events: [ClaimEvent] = []
        waiting.append(id)
        pend(id, request)
        if holds(request) {
            refuseDeadlock(id, &events)
            // One more that waits for what others have can let these pass, too.
            settle(now, &events, mayCloseCircles: false)
        } else if !isBlocked(id) {
            waiting.removeLast()
            unpend(id, request)
            admit(id, now, &events)
            // A file operation that is the only one of its purpose changes nothing for others.
            if request.origin == .coordinated || !pending(with: request).isEmpty {
                settle(now, &events)
            }
        }
        return (id, events)
    }

    /// Notes a claim that is a fact: a file is being written. It may conflict with held ones.
    package mutating func note(
        _ request: ClaimRequest, at now: UInt64
    ) -> (id: ClaimID, events: [ClaimEvent]) {
        let id = ClaimID(rawValue: nextSerial())
        put(request, id, now)
        claims[id]?.phase = .granted
        hold(request, 1)
        var events: [ClaimEvent] = []
        // Its purpose may pass those that wait for it, and close a circle.
        settle(now, &events)
        return (id, events)
    }

    /// Whether a request like this would be granted at once, and without asking a presenter.
    package func isFree(_ request: ClaimRequest) -> Bool {
        let probe = probe(request)
        return !others(inTheWayOf: probe).contains { blocks($0, probe) }
    }

    /// Whether a claim that is held, or about to be, is in the way of a request like this.
    package func isHeldUp(_ request: ClaimRequest) -> Bool {
        let probe = probe(request)
        return others(inTheWayOf: probe).contains { $0.phase != .waiting && blocks($0, probe) }
    }

    /// Who would be in the way of a request like this, in the order they came.
    package func obstacles(to request: ClaimRequest) -> [ClaimListing] {
        let probe = probe(request)
        return others(inTheWayOf: probe).filter { blocks($0, probe) }.map(\.id).sorted()
            .compactMap(listing)
    }

    /// A claim as it would come last.
    private func probe(_ request: ClaimRequest) -> Claim {
        Claim(
            id: ClaimID(rawValue: .max), request: withHeldPurposes(request), since: 0,
            places: request.targets, current: request.asked)
    }

    /// Ends a claim, whatever phase it is in. Not an error if it has ended.
    package mutating func release(_ id: ClaimID, at now: UInt64) -> [ClaimEvent] {
        release(CollectionOfOne(id), at: now)
    }

    /// Ends several at once, so that nobody is let in between.
    package mutating func release(_ ids: some Collection<ClaimID>, at now: UInt64) -> [ClaimEvent] {
        var events: [ClaimEvent] = []
        let isMissed = ids.contains(where: isWaitedFor)
        for id in ids where claims[id] != nil {
            if claims[id]?.phase != .granted { events.append(.refused(id, .cancelled)) }
            remove(id, &events)
        }
        if isMissed { settle(now, &events, mayCloseCircles: false) }
        return events
    }

    /// What is being written, or locked, has other names than before: its claims cover those, nothing if
    /// there are none. Of all at once, so that nobody is let in between.
    package mutating func retarget(
        _ moved: [(id: ClaimID, targets: [ClaimTarget])], at now: UInt64
    ) -> [ClaimEvent] {
        for (id, targets) in moved {
            guard var claim = claims[id] else { continue }
            unmark(claim)
            claim.request.targets = targets
            (claim.places, claim.current) = (targets, targets.map(\.path))
            mark(claim)
            claims[id] = claim
        }
        var events: [ClaimEvent] = []
        settle(now, &events)
        return events
    }

    // MARK: Time

    /// When ``advance(to:)`` has something to do, if nothing else happens; `nil`: never.
    package var nextMoment: UInt64? {
        let ends = waiting.lazy.compactMap { claims[$0]?.request.deadline }
        let leases = preparing.lazy.compactMap {
            claims[$0].map {
                min($0.awaiting.isEmpty ? .max : $0.leaseEnd, $0.request.deadline)
            }
        }
        return [ends.min(), leases.min()].compactMap { $0 }.min()
    }

    /// Ends what has waited long enough.
    package mutating func advance(to now: UInt64) -> [ClaimEvent] {
        var events: [ClaimEvent] = []
        // All are asked who is in their way before the first of them goes.
        let late = (waiting + preparing.sorted()).filter {
            claims[$0].map { $0.request.deadline <= now } ?? false
        }
        // Programs that know nothing of claims are not told by whom.
        for id in late {
            let isNamed = claims[id]?.request.origin == .coordinated
            events.append(.refused(id, .timedOut(isNamed ? obstacles(id) : [])))
        }
        let isMissed = late.contains(where: isWaitedFor)
        for id in late { remove(id, &events) }
        let silent = preparing.filter {
            claims[$0].map { $0.leaseEnd <= now && !$0.awaiting.isEmpty } ?? false
        }
        for id in silent {
            // A program that was stopped would cost everybody this time at each claim.
            for presenter in claims[id]?.awaiting ?? [] { presenters[presenter]?.isSilent = true }
            claims[id]?.awaiting = []
        }
        if isMissed || !silent.isEmpty {
            settle(now, &events, mayCloseCircles: !silent.isEmpty)
        }
        return events
    }

    // MARK: Listing

    /// All claims in the order they came, but those of files that have no name any more.
    package var listings: [ClaimListing] {
        claims.keys.sorted().compactMap(listing).filter { !$0.targets.isEmpty }
    }

    func listing(_ id: ClaimID) -> ClaimListing? {
        claims[id].map {
            ClaimListing(
                id: id, holder: $0.request.holder, origin: $0.request.origin,
                targets: zip($0.current, $0.request.targets).map {
                    ClaimTarget($0.document, $1.access)
                },
                phase: $0.phase, since: $0.since)
        }
    }

    // MARK: Changes of phase

    private mutating func put(_ request: ClaimRequest, _ id: ClaimID, _ now: UInt64) {
        let claim = Claim(
            id: id, request: withHeldPurposes(request), since: request.since ?? now,
            places: request.targets, current: request.asked)
        claims[id] = claim
        mark(claim)
    }

    /// From now on a claim is found where it is.
    mutating func mark(_ claim: Claim) {
        let tree = Self.tree(of: claim)
        for place in claim.places {
            self[keyPath: tree].insert(ClaimMark(claim.id, place), at: place.path)
        }
    }

    /// A claim is not found any more.
    mutating func unmark(_ claim: Claim) {
        let tree = Self.tree(of: claim)
        for place in claim.places {
            self[keyPath: tree].remove(ClaimMark(claim.id, place), at: place.path)
        }
    }

    private static func tree(of claim: Claim) -> WritableKeyPath<Self, ClaimTree<ClaimMark>> {
        claim.request.origin == .coordinated ? \.named : \.unnamed
    }

    /// The claim holds from now on, and is granted when all presenters have prepared.
    private mutating func admit(_ id: ClaimID, _ now: UInt64, _ events: inout [ClaimEvent]) {
        guard let claim = claims[id] else { return }
        hold(claim.request, 1)
        claims[id]?.since = now
        let messages = preparations(for: claim)
        claims[id]?.asked = messages.map(\.0)
        events += messages.map { .message($0, $1) }
        var awaiting = Set(messages.map(\.0).filter { presenters[$0]?.isSilent == false })
        // Who cannot answer before this claim has ended is told, and not waited for.
        if !awaiting.isEmpty { awaiting.subtract(presentersHeldUp(by: claim)) }
        if awaiting.isEmpty {
            claims[id]?.phase = .granted
            events.append(.granted(id, claim.current))
            return
        }
        claims[id]?.phase = .preparing
        claims[id]?.awaiting = awaiting
        claims[id]?.leaseEnd = now &+ lease < now ? .max : now + lease
        preparing.insert(id)
        pend(id, claim.request)
    }

    /// Lets in whoever is not blocked any more, in the order of coming; again from the start after
    /// each, because a grant can let others pass. Refuses who waits in a circle.
    ///
    /// - Parameter mayCloseCircles: what happened before can have made somebody wait for what was not
    ///   waited for. The end of a claim does not, and a new request is in all circles that it closes.
    mutating func settle(
        _ now: UInt64, _ events: inout [ClaimEvent], mayCloseCircles: Bool = true
    ) {
        var mayCloseCircles = mayCloseCircles
        while !waiting.isEmpty || !preparing.isEmpty {
            if let id = preparing.filter(isPrepared).min(), let claim = claims[id] {
                preparing.remove(id)
                unpend(id, claim.request)
                claims[id]?.phase = .granted
                claims[id]?.since = now
                events.append(.granted(id, claim.current))
                mayCloseCircles = true
            } else if let index = waiting.firstIndex(where: { !isBlocked($0) }) {
                let id = waiting.remove(at: index)
                if let claim = claims[id] { unpend(id, claim.request) }
                admit(id, now, &events)
                mayCloseCircles = true
            } else if !mayCloseCircles
                || !waiting.reversed().contains(where: { refuseDeadlock($0, &events) })
            {
                return
            }
        }
    }

    /// All presenters have answered, and what they claimed meanwhile has ended.
    private func isPrepared(_ id: ClaimID) -> Bool {
        guard let claim = claims[id], claim.awaiting.isEmpty else { return false }
        return !others(inTheWayOf: claim).contains { other in
            // Of two that are prepared the later one got past the other: it goes first.
            let isPassed =
                other.phase == .preparing && other.awaiting.isEmpty && other.id < claim.id
            return other.phase != .waiting && !isPassed && blocks(other, claim)
        }
    }

    /// Forgets a claim; those that prepared for it are told.
    mutating func remove(_ id: ClaimID, _ events: inout [ClaimEvent]) {
        guard let claim = claims.removeValue(forKey: id) else { return }
        unmark(claim)
        if claim.phase == .waiting {
            waiting.removeAll { $0 == id }
        } else {
            hold(claim.request, -1)
        }
        if claim.phase != .granted { unpend(id, claim.request) }
        preparing.remove(id)
        for presenter in claim.asked where presenters[presenter] != nil {
            events.append(.message(presenter, .resume(id)))
        }
    }

    // MARK: Ties

    /// Whether who asks holds something already.
    func holds(_ request: ClaimRequest) -> Bool { request.ties.contains { holding[$0] != nil } }

    /// Requests and preparing claims that keep a claim from ending.
    func pending(with request: ClaimRequest) -> [ClaimID] {
        request.ties.flatMap { pending[$0] ?? [] }
    }

    /// - Parameter count: how many more claims are held; -1 when one ends.
    private mutating func hold(_ request: ClaimRequest, _ count: Int) {
        for tie in request.ties {
            let left = (holding[tie] ?? 0) + count
            holding[tie] = left > 0 ? left : nil
        }
        if request.origin != .coordinated { return }
        var own = purposes[request.holder.process] ?? [:]
        let left = (own[request.purpose] ?? 0) + count
        own[request.purpose] = left > 0 ? left : nil
        purposes[request.holder.process] = own.isEmpty ? nil : own
    }

    /// A request with the purposes that it is part of by the claims of its family.
    private func withHeldPurposes(_ request: ClaimRequest) -> ClaimRequest {
        guard request.worksUnderFamily, !purposes.isEmpty else { return request }
        var request = request
        request.heldPurposes = request.family.reduce(into: []) { found, process in
            if let own = purposes[process] { found.formUnion(own.keys) }
        }
        return request
    }

    private mutating func pend(_ id: ClaimID, _ request: ClaimRequest) {
        for tie in request.ties { pending[tie, default: []].append(id) }
    }

    private mutating func unpend(_ id: ClaimID, _ request: ClaimRequest) {
        for tie in request.ties {
            pending[tie]?.removeAll { $0 == id }
            if pending[tie]?.isEmpty == true { pending[tie] = nil }
        }
    }
}

import Coordination
import Probing
import Testing

/// Random schedules of claims against ``ReferenceClaims``.
@Suite struct ClaimTableModelTests {
    private static let schedules = 10_000
    private static let steps = 16

    @Test func `random schedules agree with claims kept in a list, and nobody is forgotten`() throws
    {
        let seed = UInt64.random(in: .min ... .max)
        print("claim table model test, seed \(seed)")
        var random = SplitMix(seed: seed)
        var seen = Run.Counts()
        for schedule in 0..<Self.schedules {
            var run = Run()
            for step in 0..<Self.steps {
                let problem = run.step(&random)
                try #require(
                    problem == nil,
                    "seed \(seed), schedule \(schedule), step \(step): \(problem ?? "")")
            }
            let problem = run.finish()
            try #require(problem == nil, "seed \(seed), schedule \(schedule): \(problem ?? "")")
            seen.add(run.counts)
        }
        print("claim table model test: \(seen)")
        // The schedules reach what they are there for.
        #expect(seen.waited > 10_000 && seen.deadlocks > 100 && seen.timeouts > 100, "\(seen)")
        #expect(seen.prepared > 1_000 && seen.moves > 1_000 && seen.nested > 1_000, "\(seen)")
    }
}

/// A table and its reference, driven alike.
private struct Run {
    struct Counts: CustomStringConvertible {
        var waited = 0
        var deadlocks = 0
        var timeouts = 0
        var prepared = 0
        var moves = 0
        var nested = 0

        mutating func add(_ other: Counts) {
            waited += other.waited
            deadlocks += other.deadlocks
            timeouts += other.timeouts
            prepared += other.prepared
            moves += other.moves
            nested += other.nested
        }

        var description: String {
            "\(waited) waited, \(deadlocks) deadlocks, \(timeouts) timeouts, "
                + "\(prepared) prepared, \(moves) moves, \(nested) nested"
        }
    }

    private var table = ClaimTable(lease: 10)
    private var reference = ReferenceClaims(lease: 10)
    private var now: UInt64 = 0
    /// Of claims that are asked for as such: only those are told who was in their way.
    private var coordinated: Set<UInt64> = []
    private(set) var counts = Counts()

    /// Does one random thing to both; what they disagree on, if anything.
    mutating func step(_ random: inout SplitMix) -> String? {
        now += UInt64(random.below(4))
        var events: [ClaimEvent] = []
        switch random.below(20) {
        case 0..<9:
            var request = random.request(at: now)
            if random.below(3) == 0 {
                request.presenter = reference.presenters.keys.sorted().randomElement(using: &random)
                    .map(PresenterID.init)
            }
            let asked = table.request(request, at: now)
            events = asked.events
            if request.origin == .coordinated { coordinated.insert(asked.id.rawValue) }
            if request.isNested { counts.nested += 1 }
            reference.add(request, id: asked.id.rawValue, at: now, isFact: false)
        case 9:
            var request = random.request(at: now)
            (request.origin, request.isNested) = (.session, false)
            request.targets = [ClaimTarget(request.targets[0].path, .write)]
            let noted = table.note(request, at: now)
            events = noted.events
            reference.add(request, id: noted.id.rawValue, at: now, isFact: true)
        case 10..<14:
            guard let claim = reference.claims.randomElement(using: &random) else { return nil }
            let also = reference.claims.filter { _ in random.below(8) == 0 }.map(\.id)
            let ids = [claim.id] + also.filter { $0 != claim.id }
            events = table.release(ids.map(ClaimID.init), at: now)
            reference.end(ids, at: now)
        case 14:
            guard reference.presenters.count < 3 else { return nil }
            let path = random.path()
            let process = Int32(1 + random.below(4))
            let id = table.present(path, ClaimHolder(process: process, command: "shows"))
            reference.presenters[id.rawValue] = path
            reference.processes[id.rawValue] = process
        case 15:
            guard let id = reference.presenters.keys.sorted().randomElement(using: &random) else {
                return nil
            }
            events = table.dismiss(PresenterID(rawValue: id), at: now)
            reference.dismiss(id, at: now)
        case 16, 17:
            if random.below(4) == 0, let late = reference.silent.sorted().first {
                // The claim that it was asked for is held already, or over.
                events = table.answer(
                    PresenterID(rawValue: late), ClaimID(rawValue: 0), at: now)
                reference.answer(late, 0, at: now)
                break
            }
            let asking = reference.claims.filter { !$0.awaiting.isEmpty }
            guard let claim = asking.randomElement(using: &random),
                let presenter = claim.awaiting.sorted().randomElement(using: &random)
            else { return nil }
            events = table.answer(
                PresenterID(rawValue: presenter), ClaimID(rawValue: claim.id), at: now)
            reference.answer(presenter, claim.id, at: now)
        case 18:
            let (source, target) = (random.path(), random.path())
            if source.isAtOrBelow(target) || target.isAtOrBelow(source) { return nil }
            counts.moves += 1
            let process = Int32(1 + random.below(3))
            events = table.note(
                ItemChange(.moved(from: source, replacing: false), target, by: process), at: now)
            for id in reference.presenters.keys {
                reference.presenters[id] = table.path(of: PresenterID(rawValue: id))
            }
            reference.move(source, target, by: process, at: now)
        default:
            now += UInt64(random.below(12))
            events = table.advance(to: now)
            reference.advance(to: now)
        }
        return disagreement(events)
    }

    /// Ends everything that is held until nobody is left.
    mutating func finish() -> String? {
        while !reference.claims.isEmpty {
            let held = reference.claims.filter { $0.phase != .waiting }.map(\.id)
            if held.isEmpty { return "everybody waits and nobody holds" }
            let events = table.release(held.map(ClaimID.init), at: now)
            reference.end(held, at: now)
            if let problem = disagreement(events) { return problem }
        }
        for id in reference.presenters.keys {
            _ = table.dismiss(PresenterID(rawValue: id), at: now)
        }
        return table.isIdle ? nil : "the table is not empty"
    }

    private mutating func disagreement(_ events: [ClaimEvent]) -> String? {
        var outcomes: Set<ReferenceClaims.Outcome> = []
        for event in events {
            let outcome: ReferenceClaims.Outcome
            switch event {
            case .message: continue
            case .granted(let id, _): outcome = .granted(id.rawValue)
            case .refused(let id, .deadlock(let others)):
                if others.isEmpty { return "a deadlock of nobody" }
                counts.deadlocks += 1
                outcome = .deadlock(id.rawValue)
            case .refused(let id, .timedOut(let others)):
                if others.isEmpty, coordinated.contains(id.rawValue) {
                    return "timed out behind nobody"
                }
                counts.timeouts += 1
                outcome = .timedOut(id.rawValue)
            case .refused(let id, .cancelled): outcome = .cancelled(id.rawValue)
            }
            if !outcomes.insert(outcome).inserted { return "\(outcome) twice" }
        }
        let expected = reference.takeOutcomes()
        if outcomes != expected { return "\(outcomes) instead of \(expected)" }
        let found = table.listings
        let wanted = reference.claims.sorted { $0.id < $1.id }
        counts.waited += wanted.count { $0.phase == .waiting }
        counts.prepared += wanted.count { $0.phase == .preparing }
        guard found.map(\.id.rawValue) == wanted.map(\.id) else { return "other claims" }
        for (listing, claim) in zip(found, wanted) {
            if listing.phase != claim.phase {
                return "\(claim.id) is \(listing.phase), not \(claim.phase)"
            }
            if listing.targets.map(\.path) != claim.current { return "\(claim.id) is elsewhere" }
        }
        return reference.violation
    }
}

extension SplitMix {
    private static let paths = ["a", "a/b", "a/b/c", "a/d", "e", "e/f"].compactMap {
        ClaimPath($0)
    }

    fileprivate mutating func path() -> ClaimPath {
        Self.paths[below(Self.paths.count)]
    }

    fileprivate mutating func request(at now: UInt64) -> ClaimRequest {
        let targets = (0..<(1 + below(2))).map { _ in
            ClaimTarget(path(), ClaimAccess.allCases[below(ClaimAccess.allCases.count)])
        }
        let process = Int32(1 + below(4))
        let origins: [ClaimRequest.Origin] = [.coordinated, .coordinated, .opening, .naming]
        let origin = origins[below(4)]
        return ClaimRequest(
            targets, purpose: ClaimPurpose(rawValue: UInt64(1 + below(5))),
            holder: ClaimHolder(process: process, command: "test"), origin: origin,
            family: below(2) == 0 ? [process] : [process, Int32(1 + below(4))],
            isNested: origin == .coordinated && below(3) == 0,
            deadline: now + UInt64(5 + below(40)))
    }
}

extension ReferenceClaims {
    /// Purposes of the claims by name that the family of an operation, or of a nested claim, has.
    func heldPurposes(of claim: Claim) -> Set<ClaimPurpose> {
        if !claim.isUnderFamily { return [] }
        return Set(
            claims.filter {
                $0.phase != .waiting && $0.request.origin == .coordinated
                    && claim.request.family.contains($0.request.holder.process)
            }.map(\.request.purpose))
    }
}

extension ReferenceClaims.Claim {
    /// Whether its family has another claim, or one of that one's purpose.
    func works(under other: Self) -> Bool {
        request.family.contains(other.request.holder.process)
            || request.heldPurposes.contains(other.request.purpose)
    }
}

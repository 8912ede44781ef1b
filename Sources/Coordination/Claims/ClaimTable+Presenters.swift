internal import Catalog

extension ClaimTable {
    /// Somebody who shows an item.
    struct Presenter: Sendable {
        let id: PresenterID
        let holder: ClaimHolder
        /// Where what it shows is, which may be inside of a package.
        var place: ClaimPath
        /// The item that it presents: that, or the package.
        var path: ClaimPath { place.document }
        /// Where it was when the item was renamed away: that may come back as another item.
        var former: (place: ClaimPath, process: Int32, until: UInt64)?
    }

    /// How long after a document was renamed away a file of its name, made by the same process, is
    /// that document, in nanoseconds.
    private static var returnPatience: UInt64 { UInt64(IdentityTunnel.lifetime * 1e9) }

    /// Registers somebody who shows what is at the path.
    package mutating func present(_ path: ClaimPath, _ holder: ClaimHolder) -> PresenterID {
        let id = PresenterID(rawValue: nextSerial())
        presenters[id] = Presenter(id: id, holder: holder, place: path)
        presenterTree.insert(id, at: path.document)
        return id
    }

    /// Nobody waits for the presenter any more.
    package mutating func dismiss(_ id: PresenterID, at now: UInt64) -> [ClaimEvent] {
        guard let presenter = presenters.removeValue(forKey: id) else { return [] }
        presenterTree.remove(id, at: presenter.path)
        var events: [ClaimEvent] = []
        for claim in preparing { claims[claim]?.awaiting.remove(id) }
        settle(now, &events)
        return events
    }

    /// A presenter has prepared for a claim. Not an error if nobody waits for it.
    package mutating func answer(_ id: PresenterID, _ claim: ClaimID, at now: UInt64)
        -> [ClaimEvent]
    {
        guard claims[claim]?.awaiting.remove(id) != nil else { return [] }
        var events: [ClaimEvent] = []
        settle(now, &events)
        return events
    }

    /// Where what a presenter shows is; `nil` if it is not registered.
    package func path(of presenter: PresenterID) -> ClaimPath? { presenters[presenter]?.place }

    // MARK: Before a claim

    /// What presenters are asked for before the claim is granted, in the order of registration.
    func preparations(for claim: Claim) -> [(PresenterID, PresenterMessage)] {
        guard claim.request.origin == .coordinated, !presenterTree.isEmpty else { return [] }
        var asked: [PresenterID: ClaimPreparation] = [:]
        var warned: [PresenterID: ClaimPath] = [:]
        for (path, target) in zip(claim.current, claim.request.targets) {
            guard let preparation = target.access.preparation else { continue }
            var concerned = presenterTree.at(path)
            if target.access.coversBelow { concerned += presenterTree.below(path) }
            for id in concerned {
                asked[id] = asked[id].map { $0.joined(preparation) } ?? preparation
            }
            if preparation.accommodatesDeletion {
                for id in presenterTree.above(path) where warned[id] == nil { warned[id] = path }
            }
        }
        var messages = asked.map { ($0, PresenterMessage.prepare(claim.id, $1)) }
        for (id, path) in warned where asked[id] == nil {
            messages.append((id, .prepareDeletion(claim.id, path)))
        }
        let own = presenters(behind: claim.request)
        return messages.filter { !own.contains($0.0) }.sorted { $0.0 < $1.0 }
    }

    /// The presenter on whose behalf a claim is, and for one that is nested those of the claims that it
    /// works under: they wait for its end themselves.
    private func presenters(behind request: ClaimRequest) -> Set<PresenterID> {
        var found = Set([request.presenter].compactMap { $0 })
        guard request.isNested else { return found }
        for path in request.targets.map(\.path) {
            for mark in named.at(path) + named.above(path) {
                guard let other = claims[mark.id], other.phase == .granted,
                    request.family.contains(other.request.holder.process),
                    let presenter = other.request.presenter
                else { continue }
                found.insert(presenter)
            }
        }
        return found
    }

    // MARK: After a change

    /// Tells presenters of a change, and lets claims follow what was renamed.
    package mutating func note(_ change: ItemChange, at now: UInt64) -> [ClaimEvent] {
        var events: [ClaimEvent] = []
        let (clients, isOnBehalf) = self.clients(of: change)
        // What was done on behalf of one, or by a part of a program that claims for itself and shows
        // nothing, is news to the others, also to those of the same program: two documents of one file, or
        // a window that lists the folder.
        let silent = isOnBehalf ? clients : agents(of: change)
        func tell(_ presenters: [PresenterID], _ message: PresenterMessage) {
            for id in presenters where !silent.contains(id) { events.append(.message(id, message)) }
        }
        // Where its item is, a presenter has to know whatever part of its program moved it.
        func locate(_ id: PresenterID, at place: ClaimPath) {
            if !clients.contains(id) { events.append(.message(id, .moved(place))) }
        }
        let path = change.path
        switch change.kind {
        case .changed:
            tell(presenterTree.at(path), .changed)
            tell(presenterTree.above(path), .subitemChanged(path))
        case .exchanged:
            tell(presenterTree.at(path) + presenterTree.below(path), .changed)
            tell(presenterTree.above(path), .subitemChanged(path))
        case .published:
            tell(presenterTree.at(path), .changed)
            tell(presenterTree.at(path), .versionGained)
            tell(presenterTree.above(path), .subitemChanged(path))
        case .versionLost: tell(presenterTree.at(path), .versionLost)
        case .versionConflict: tell(presenterTree.at(path), .versionConflict)
        case .deleted:
            tell(presenterTree.at(path), .deleted)
            tell(presenterTree.above(path), .subitemDeleted(path))
        case .appeared:
            // Shown before it was there, or made anew.
            tell(presenterTree.at(path), .changed)
            tell(presenterTree.above(path), .subitemAppeared(path))
            for (id, place) in takeBack(to: path, change.process, now) { locate(id, at: place) }
        case .moved(let source, let replacing):
            // Saved by renaming: what was there is an earlier version now. Or it was shown before it
            // was there, as what is in a folder that comes can be.
            tell(presenterTree.at(path), .changed)
            if replacing { tell(presenterTree.at(path), .versionGained) }
            tell(presenterTree.below(path), .changed)
            tellOfMove(source, path, replacing, tell)
            for (id, place) in followers(source, path, change.process, now) {
                locate(id, at: place)
            }
            for (id, place) in takeBack(to: path, change.process, now) { locate(id, at: place) }
            moveClaims(source, path, change.family)
            settle(now, &events)
        }
        return events
    }

    /// Presenters of the process that made a change.
    private func agents(of change: ItemChange) -> Set<PresenterID> {
        if change.process == 0 || presenters.isEmpty { return [] }
        let path = change.path
        var told = presenterTree.at(path) + presenterTree.above(path)
        switch change.kind {
        case .moved(let source, _):
            told += presenterTree.at(source) + presenterTree.above(source)
            told += presenterTree.below(source) + presenterTree.below(path)
        case .exchanged: told += presenterTree.below(path)
        default: break
        }
        return Set(told.filter { presenters[$0]?.holder.process == change.process })
    }

    /// Presenters on whose behalf a change was made: those that the claims name under which it was. Also
    /// whether there are such claims: one to write of the very process may name nobody.
    private func clients(of change: ItemChange) -> (Set<PresenterID>, isOnBehalf: Bool) {
        if change.process == 0 || presenters.isEmpty { return ([], false) }
        var found: Set<PresenterID> = []
        var isClaimed = false
        var paths = [change.path]
        if case .moved(let source, _) = change.kind { paths.append(source) }
        for path in paths {
            // Only claims by name are on behalf of a presenter.
            for mark in named.at(path) + named.above(path) {
                // One that waits has changed nothing, and one to read says nothing of who writes: what comes
                // after the presenter has read is news to it.
                guard let claim = claims[mark.id], claim.phase != .waiting, mark.access.writes,
                    change.family.contains(claim.request.holder.process)
                else { continue }
                if let presenter = claim.request.presenter {
                    found.insert(presenter)
                } else if claim.phase == .granted, claim.request.holder.process == change.process {
                    isClaimed = true
                }
            }
        }
        return (found, isClaimed || !found.isEmpty)
    }

    /// Folders above the old and the new place.
    private func tellOfMove(
        _ source: ClaimPath, _ target: ClaimPath, _ replacing: Bool,
        _ tell: ([PresenterID], PresenterMessage) -> Void
    ) {
        let (old, new) = (presenterTree.above(source), presenterTree.above(target))
        let both = Set(old).intersection(new)
        if replacing {
            tell(old, .subitemDeleted(source))
            tell(new, .subitemChanged(target))
        } else {
            tell(old, .subitemMoved(source, target))
            tell(new.filter { !both.contains($0) }, .subitemAppeared(target))
        }
    }

    /// Moves presenters of what was renamed; each with its new path.
    private mutating func followers(
        _ source: ClaimPath, _ target: ClaimPath, _ process: Int32, _ now: UInt64
    ) -> [(PresenterID, ClaimPath)] {
        let moved = presenterTree.at(source) + presenterTree.below(source)
        return moved.sorted().compactMap { id in
            guard let old = presenters[id], let new = old.place.moved(from: source, to: target)
            else { return nil }
            place(id, at: new)
            let isItself = old.path == source
            presenters[id]?.former =
                isItself ? (old.place, process, now &+ Self.returnPatience) : nil
            return (id, new)
        }
    }

    /// Presenters whose document was renamed away from the path by the same process a moment ago; each with
    /// its path there.
    private mutating func takeBack(
        to path: ClaimPath, _ process: Int32, _ now: UInt64
    ) -> [(PresenterID, ClaimPath)] {
        let back = presenters.values.compactMap { presenter -> (PresenterID, ClaimPath)? in
            guard let former = presenter.former, former.place.document == path,
                former.process == process, now <= former.until, presenter.path != path
            else { return nil }
            return (presenter.id, former.place)
        }.sorted { $0.0 < $1.0 }
        for (id, former) in back {
            place(id, at: former)
            presenters[id]?.former = nil
        }
        return back
    }

    private mutating func place(_ id: PresenterID, at place: ClaimPath) {
        guard let old = presenters[id]?.path else { return }
        presenterTree.remove(id, at: old)
        presenterTree.insert(id, at: place.document)
        presenters[id]?.place = place
    }

    // MARK: Claims on what was renamed

    /// Held claims cover the new place too; requests that wait follow only an announced move, and
    /// sessions are where their file is. A move is announced by a claim that the mover, a process with
    /// those above it, has or works under.
    private mutating func moveClaims(_ source: ClaimPath, _ target: ClaimPath, _ mover: [Int32]) {
        let marks = [named, unnamed].flatMap { $0.at(source) + $0.below(source) }
        let concerned = Set(marks.map(\.id)).sorted()
        if concerned.isEmpty { return }
        let isAnnounced = (named.at(source) + unnamed.at(source)).contains { mark in
            guard mark.access == .writeMoving, let claim = claims[mark.id] else { return false }
            return claim.phase == .granted && mover.contains(claim.request.holder.process)
        }
        for id in concerned {
            guard var claim = claims[id] else { continue }
            if claim.phase == .waiting, !isAnnounced { continue }
            unmark(claim)
            // The folder may be a package by its new name.
            claim.current = claim.current.map {
                $0.moved(from: source, to: target)?.document ?? $0
            }
            let now = zip(claim.current, claim.request.targets).map {
                ClaimTarget($0, $1.access)
            }
            if claim.phase == .waiting || claim.request.origin == .session {
                claim.request.targets = now
            }
            let asked = claim.request.targets
            let known = Set(asked)
            claim.places = asked + now.filter { !known.contains($0) }
            mark(claim)
            claims[id] = claim
        }
    }
}

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
        /// It was passed over, and has not answered since: it is told, and not waited for.
        var isSilent = false
        /// Where it was when `item`, which it is or is in, was renamed away: that may come back as another.
        var former: (place: ClaimPath, item: ClaimPath, process: Int32, until: UInt64)?
    }

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
        presenters[id]?.isSilent = false
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
        for (path, target) in zip(claim.current.map(\.document), claim.request.targets) {
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
        func locate(_ moved: [(PresenterID, ClaimPath)]) {
            for (id, place) in moved where !clients.contains(id) {
                events.append(.message(id, .moved(place)))
            }
        }
        let path = change.path.document
        switch change.kind {
        case .appeared where path != change.path, .deleted where path != change.path:
            // What is inside of a package is no item of its own.
            tell(presenterTree.at(path), .changed)
            tell(presenterTree.above(path), .subitemChanged(path))
            if change.kind == .appeared { locate(takeBack(to: change.path, change.process, now)) }
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
            locate(takeBack(to: path, change.process, now))
        case .moved(let source, let replacing)
        where source != source.document || path != change.path:
            movePackaged(source, change.path, replacing, tell) {
                locate($0.followers(source, change.path, change.process, now))
            }
            locate(takeBack(to: change.path, change.process, now))
            moveClaims(source, change.path, change.family)
            settle(now, &events)
        case .moved(let source, let replacing):
            // Saved by renaming: what was there is an earlier version now. Or it was shown before it
            // was there, as what is in a folder that comes can be.
            tell(presenterTree.at(path), .changed)
            if replacing { tell(presenterTree.at(path), .versionGained) }
            tell(presenterTree.below(path), .changed)
            tellOfMove(source, path, replacing, tell)
            locate(followers(source, path, change.process, now))
            locate(takeBack(to: path, change.process, now))
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
}

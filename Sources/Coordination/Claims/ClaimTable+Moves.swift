internal import Catalog

/// How presenters and claims follow what is renamed.
extension ClaimTable {
    /// How long after a document was renamed away a file of its name, made by the same process, is
    /// that document, in nanoseconds.
    private static var returnPatience: UInt64 { UInt64(IdentityTunnel.lifetime * 1e9) }

    // MARK: Presenters

    /// Something was renamed inside of a package, into one or out of one. That is no item of its own there: the
    /// package, which is where it was, has changed, and elsewhere an item came or went. Who shows what was
    /// renamed stays with it.
    ///
    /// - Parameter follow: moves those presenters and tells them where they are.
    mutating func movePackaged(
        _ source: ClaimPath, _ target: ClaimPath, _ replacing: Bool,
        _ tell: ([PresenterID], PresenterMessage) -> Void, _ follow: (inout ClaimTable) -> Void
    ) {
        let (old, new) = (source.document, target.document)
        let moved = Set(following(source))
        let there = presenterTree.at(new).filter { !moved.contains($0) }
        let below = presenterTree.below(new)
        let left = old == source ? [] : presenterTree.at(old).filter { !moved.contains($0) }
        follow(&self)
        if old == source {
            tell(presenterTree.above(old), .subitemDeleted(old))
        } else if old != new {
            tell(left, .changed)
            tell(presenterTree.above(old), .subitemChanged(old))
        }
        tell(there, .changed)
        if new != target {
            tell(presenterTree.above(new), .subitemChanged(new))
            return
        }
        if replacing { tell(there, .versionGained) }
        tell(below, .changed)
        tell(presenterTree.above(new), replacing ? .subitemChanged(new) : .subitemAppeared(new))
    }

    /// Presenters of what is at a place or below it, which may be inside of a package.
    private func following(_ source: ClaimPath) -> [PresenterID] {
        let document = source.document
        if document == source { return presenterTree.at(source) + presenterTree.below(source) }
        return presenterTree.at(document).filter {
            presenters[$0]?.place.isAtOrBelow(source) == true
        }
    }

    /// Moves presenters of what was renamed; each with its new path.
    mutating func followers(
        _ source: ClaimPath, _ target: ClaimPath, _ process: Int32, _ now: UInt64
    ) -> [(PresenterID, ClaimPath)] {
        following(source).sorted().compactMap { id in
            guard let old = presenters[id], let new = old.place.moved(from: source, to: target)
            else { return nil }
            place(id, at: new)
            let isItself = old.path == source || old.place == source
            presenters[id]?.former =
                isItself ? (old.place, source, process, now &+ Self.returnPatience) : nil
            return (id, new)
        }
    }

    /// Presenters whose document was renamed away from the path by the same process a moment ago; each with
    /// its path there.
    mutating func takeBack(
        to path: ClaimPath, _ process: Int32, _ now: UInt64
    ) -> [(PresenterID, ClaimPath)] {
        let back = presenters.values.compactMap { presenter -> (PresenterID, ClaimPath)? in
            guard let former = presenter.former, former.item == path,
                former.process == process, now <= former.until, presenter.place != former.place
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

    // MARK: Claims

    /// Held claims cover the new place too; requests that wait follow only an announced move, and
    /// sessions are where their file is. A move is announced by a claim that the mover, a process with
    /// those above it, has or works under; not by the renaming itself, which is one to move as long as it lasts.
    mutating func moveClaims(_ source: ClaimPath, _ target: ClaimPath, _ mover: [Int32]) {
        let document = source.document
        let here = [named, unnamed].flatMap { $0.at(document) }
        // Those on a package stay with it when something in it moves.
        let concerned = Set((here + [named, unnamed].flatMap { $0.below(source) }).map(\.id))
            .filter { claims[$0]?.current.contains { $0.isAtOrBelow(source) } == true }.sorted()
        if concerned.isEmpty { return }
        let isAnnounced = here.contains { mark in
            guard mark.access == .writeMoving, let claim = claims[mark.id],
                claim.request.origin == .coordinated
            else { return false }
            let isMeant =
                document == source
                || zip(claim.current, claim.request.targets).contains {
                    $0 == source && $1.access == .writeMoving
                }
            return isMeant && claim.phase == .granted
                && mover.contains(claim.request.holder.process)
        }
        for id in concerned {
            guard var claim = claims[id] else { continue }
            if claim.phase == .waiting, !isAnnounced { continue }
            unmark(claim)
            claim.current = claim.current.map { $0.moved(from: source, to: target) ?? $0 }
            // What was asked for may be in a package now, or in none any more.
            let now = zip(claim.current, claim.request.targets).map {
                ClaimTarget($0.document, $1.access)
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

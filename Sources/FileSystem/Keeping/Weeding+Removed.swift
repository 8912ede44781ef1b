internal import Catalog
internal import Coordination
internal import Model
internal import SystemCalls

/// Items that were removed. Asking the catalog waits for all that was recorded before, and removing bytes for
/// the disk, however few they are: so both are done for many items together, as long as those have nothing to
/// do with each other.
extension Weeding {
    /// How long one round goes on with them, in nanoseconds: the keeper has more to do.
    private static let patience: UInt64 = 1_000_000_000
    /// How many are removed together at first, and how long as many may take that twice as many are next.
    private static let first = 8
    private static let quick: UInt64 = 100_000_000

    /// Removes items that have no name and that nobody knows any more.
    ///
    /// - Parameters:
    ///   - now: without waiting for a file of the same name to take over their identity.
    ///   - ending: all of them, however long that takes.
    /// - Returns: whether any were removed, and whether there are more that could be.
    func purge(now: Bool, ending: Bool) -> (gained: Bool, isMore: Bool) {
        let lifetime = UInt64(IdentityTunnel.lifetime * 1e9)
        let moment = MonotonicClock.now
        var ripe = volume.state.withLock { state in
            state.dying.filter { now || moment >= $0.value + lifetime }.map {
                ItemNumber(rawValue: $0.key)
            }
        }
        var gained = false
        var together = Self.first
        while !ripe.isEmpty {
            let begin = MonotonicClock.now
            if !ending, begin > moment + Self.patience { return (gained, true) }
            let part = ripe.suffix(together)
            ripe.removeLast(part.count)
            var (removed, adoptions) = volume.state.withLock { state in
                (part.compactMap { state.take($0) }, state.adoptions)
            }
            guard let histories = histories(of: removed) else {
                // Not now: without its versions its bytes would stay for ever.
                volume.state.withLock { state in
                    for item in removed { state.dying[item.item.rawValue] = moment }
                }
                // The catalog is waited for long each time, and nobody ends a mount for ever.
                return (gained, false)
            }
            var gone: [VersionRow] = []
            var later: [ItemNumber] = []
            var changed = Changed()
            for (item, history) in zip(removed, histories) {
                let isApart = volume.state.withLock { state -> Bool in
                    // What was asked for must still be so: versions may have joined another document since.
                    guard changed.isApart(item, history), state.adoptions == adoptions else {
                        state.dying[item.item.rawValue] = moment
                        return false
                    }
                    if let outcome = state.purge(item, history, now: now, at: moment) {
                        changed.note(item, outcome)
                        adoptions = state.adoptions
                        gone += outcome.versions
                        gained = true
                    }
                    return true
                }
                if !isApart { later.append(item.item) }
            }
            remove(contentsOf: gone)
            if MonotonicClock.now < begin + Self.quick {
                together = min(together * 2, Self.together)
            }
            // While somebody makes versions join documents all the time there is no end to it.
            if later.count == removed.count, !later.isEmpty { return (gained, true) }
            // Among others the next time.
            ripe = later + ripe
        }
        return (gained, false)
    }

    /// What the catalog has of the items; `nil` if it cannot be asked.
    private func histories(of removed: [RemovedItem]) -> [RemovedHistory]? {
        if !removed.contains(where: \.mayHaveVersions) {
            return removed.map { _ in RemovedHistory() }
        }
        return try? volume.container.query { (database) throws(Failure) in
            var histories: [RemovedHistory] = []
            for item in removed {
                var history = RemovedHistory()
                if item.mayHaveVersions {
                    history.versions = try database.versions(of: item.document, andOf: item.item)
                    for other in Set(history.versions.map(\.document)) where other != item.document
                    {
                        history.writers[other] = try database.writers(of: other)
                    }
                }
                histories.append(history)
            }
            return histories
        }
    }
}

/// An item without a name that nobody knows.
private struct RemovedItem {
    var item: ItemNumber
    var document: DocumentID
    var mayHaveVersions: Bool
}

/// What the catalog had of it when it was asked.
private struct RemovedHistory {
    /// Those of its document, and those that it wrote as another one.
    var versions: [VersionRow] = []
    /// Of the other documents among them.
    var writers: [DocumentID: [ItemNumber]] = [:]
}

/// What goes with an item.
private struct Purged {
    var versions: [VersionRow]
    /// What makes versions of its document that somebody has still another one's.
    var heirs: [Effect]
}

/// Whose versions are not what they were when the catalog was asked.
private struct Changed {
    private var items: Set<ItemNumber> = []
    private var documents: Set<DocumentID> = []

    func isApart(_ item: RemovedItem, _ history: RemovedHistory) -> Bool {
        !items.contains(item.item) && !documents.contains(item.document)
            && history.versions.allSatisfy {
                !items.contains($0.item) && !documents.contains($0.document)
            }
    }

    mutating func note(_ item: RemovedItem, _ purged: Purged) {
        items.formUnion([item.item] + purged.versions.map(\.item))
        documents.formUnion([item.document] + purged.versions.map(\.document))
        for case .adoptVersions(let item, let document) in purged.heirs {
            items.insert(item)
            documents.insert(document)
        }
    }
}

extension VolumeState {
    /// Takes an item from those that are dying; `nil` if it is not to be removed.
    fileprivate func take(_ item: ItemNumber) -> RemovedItem? {
        dying[item.rawValue] = nil
        let position = index.find(item)
        guard position != 0 else { return nil }
        let record = index[item: position]
        guard record.pointee.links == 0, !isKnown(position) else { return nil }
        // A document that began with this item and was never published has no version. Asking for those of
        // each of 100,000 empty files takes half a minute.
        return RemovedItem(
            item: item, document: DocumentID(rawValue: record.pointee.document),
            mayHaveVersions: record.pointee.isRegular
                && (record.pointee.ordinal != 0
                    || record.pointee.document != record.pointee.number)
        )
    }

    /// Records that an item is gone; the versions that go with it, `nil` if it has to stay.
    fileprivate func purge(
        _ removed: RemovedItem, _ history: RemovedHistory, now: Bool, at moment: UInt64
    ) -> Purged? {
        let (item, document) = (removed.item, removed.document)
        var versions = history.versions
        let position = index.find(item)
        guard position != 0, index[item: position].pointee.links == 0, !isKnown(position),
            index[item: position].pointee.document == document.rawValue
        else {
            // It may be another document by now.
            if position != 0 { _ = noteIfDead(position) }
            return nil
        }
        if !now, versions.contains(where: { held.contains($0.node) || drawn.contains($0.node) }) {
            // It would stay, and nothing would lead to it any more.
            dying[item.rawValue] = moment
            return nil
        }
        var heirs: [Effect] = []
        for version in versions where version.document == document && version.item != item {
            heirs += inherit(version) ?? []
        }
        let rows = versions.count
        versions.removeAll { version in
            // A backup made by renaming the document away has its bytes from the same history; what the backup
            // was stays there as long as there is the document, which may be without a name until a program
            // that has removed it makes it again.
            version.document == document
                ? version.item != item && needs(version)
                : index.isHeld(version.document, by: history.writers[version.document] ?? [])
        }
        if rows > versions.count { abandoned[document] = moment }
        accessed.remove(position)
        index.removeItem(position)
        makers.remove(item)
        marks.remove(versions.map(\.node))
        log.append(
            Mutation(
                time: Self.now(), kind: .purged, item: item,
                effects: [.removeItem(item)]
                    + versions.map { .removeVersion($0.item, $0.ordinal) }
                    + forgetWays(to: document) + heirs))
        return Purged(versions: versions, heirs: heirs)
    }
}

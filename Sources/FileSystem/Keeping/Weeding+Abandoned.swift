internal import Catalog
internal import Coordination
internal import Model
internal import SystemCalls

/// Documents that no file is any more, without one having been removed: a file with a history was renamed to
/// where another document was, and became that. Of what it was only the versions that it wrote itself came
/// along.
extension Weeding {
    /// Documents that are looked at together: for each time all items are gone through.
    private static let abandonedTogether = 64

    /// Removes the earlier versions of such documents, and the ways to them.
    ///
    /// - Parameter now: without waiting for a file that makes a name anew to become the document again.
    func purgeAbandoned(now: Bool) -> Bool {
        let patience = UInt64(IdentityTunnel.lifetime * 1e9)
        let moment = MonotonicClock.now
        let ripe = volume.state.withLock { state -> [DocumentID] in
            let ripe = state.abandoned.filter { now || moment >= $0.value + patience }.map(\.key)
            for document in ripe { state.abandoned[document] = nil }
            return Array(state.unheld(ripe))
        }
        var gained = false
        for start in stride(from: 0, to: ripe.count, by: Self.abandonedTogether) {
            let part = ripe[start..<min(start + Self.abandonedTogether, ripe.count)]
            let found: [DocumentID: [VersionRow]]? = try? volume.container.query {
                (database) throws(Failure) in
                var found: [DocumentID: [VersionRow]] = [:]
                for document in part { found[document] = try database.versions(of: document) }
                return found
            }
            guard let found else {
                volume.state.withLock { state in
                    for document in part { state.abandoned[document] = moment }
                }
                continue
            }
            let versions = volume.state.withLock { state in
                state.unheld(part).flatMap { document in
                    state.abandon(document, found[document] ?? [], at: moment)
                }
            }
            if versions.isEmpty { continue }
            remove(contentsOf: versions)
            gained = true
        }
        return gained
    }
}

extension VolumeState {
    /// Those of the documents that no item is.
    fileprivate func unheld(_ documents: some Collection<DocumentID>) -> Set<DocumentID> {
        var gone = Set(documents)
        if gone.isEmpty { return gone }
        index.forEach { gone.remove(DocumentID(rawValue: $0.document)) }
        return gone
    }

    /// Records that a document is gone that no item is; the versions that go with it. Those that somebody
    /// may still ask for stay, and are looked at again.
    fileprivate func abandon(
        _ document: DocumentID, _ versions: [VersionRow], at moment: UInt64
    ) -> [VersionRow] {
        // An item that has been the document since these were read has taken some of them along.
        if abandoned[document] != nil { return [] }
        var heirs: [Effect] = []
        var going: [VersionRow] = []
        for version in versions {
            if let inherited = inherit(version) {
                heirs += inherited
            } else if needs(version) {
                abandoned[document] = moment
            } else {
                going.append(version)
            }
        }
        marks.remove(going.map(\.node))
        let effects =
            going.map { .removeVersion($0.item, $0.ordinal) } + forgetWays(to: document) + heirs
        if effects.isEmpty { return [] }
        log.append(
            Mutation(
                time: Self.now(), kind: .pruned,
                item: going.first?.item ?? ItemNumber(rawValue: document.rawValue),
                effects: effects))
        return going
    }

    /// What is current in a file that lives on, as a backup, is that file's history from now on; `nil` if it
    /// is current in none.
    func inherit(_ version: VersionRow) -> [Effect]? {
        let heir = index.holder(of: version.node)
        if heir == 0 { return nil }
        return adoptVersions(
            of: version.item, DocumentID(rawValue: index[item: heir].pointee.document))
    }

    /// Nothing leads to a document any more that is gone: bookmarks, grants, recents.
    func forgetWays(to document: DocumentID) -> [Effect] {
        let recents: [Effect] =
            self.recents.remove(document) ? [.removeRecent(document)] : []
        return dropBookmarks(of: document) + grants.dropAll(of: document) + recents
    }
}

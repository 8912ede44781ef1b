internal import Catalog
internal import Coordination
internal import Model

extension VolumeState {
    /// Lets claims and presenters follow a change that was just recorded.
    @inline(__always)
    func followClaims(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, parent: MemoryIndex.Position,
        name: [UInt8]?, process: Int32, _ effects: [Effect]
    ) {
        if coordinator.isFollowed {
            tellClaims(kind, position, parent: parent, name: name, process: process, effects)
        }
    }

    @inline(never)
    private func tellClaims(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, parent: MemoryIndex.Position,
        name: [UInt8]?, process: Int32, _ effects: [Effect]
    ) {
        let place = name.map { self.place(parent, $0) }
        let family = operators[process]?.family
        func tell(_ what: ItemChange.Kind, _ path: ClaimPath?) {
            guard let path else { return }
            coordinator.note(
                ItemChange(what, path, by: process, family: family),
                in: name == nil ? nil : number(parent))
        }
        switch kind {
        case .created: tell(.appeared, place)
        case .linked:
            tell(.appeared, place)
            followNames(position)
        case .removed:
            tell(.deleted, place)
            followNames(position)
        case .renamed:
            let isFolder = index[item: position].pointee.isDirectory
            tellOfMove(place, parent, name, process, effects, isFolder: isFolder)
            let isExchange = !effects.contains {
                if case .removeName = $0 { true } else { false }
            }
            if isExchange {
                followExchange()
            } else if isFolder {
                for below in sessions.keys { followNames(below) }
            } else {
                followNames(position)
            }
        case .published:
            for path in paths(of: position) { tell(.published, path) }
        case .attributes, .extendedAttributes:
            for path in paths(of: position) { tell(.changed, path) }
        case .conflicted:
            for path in paths(of: position) { tell(.versionConflict, path) }
        // Versions are let go by ``followLosses(of:)``.
        case .staged, .sealed, .pruned, .purged, .discarded, .repaired, .accessed, .uploaded,
            .evicted, .materialized, .versionPinned, .bookmarked, .opened, .imported, .granted,
            .keptApart:
            break
        }
    }

    /// The names of an item are others: who writes it keeps claims away from those that it has now, and
    /// not from one that is another's since it was removed or replaced.
    func followNames(_ position: MemoryIndex.Position) {
        if coordinator.isFollowed { coordinator.retarget(writers(at: position)) }
    }

    /// Names have changed places. Whoever writes or has locked a file, by whichever of them, keeps claims away
    /// from where that is now, and not from where the other one is.
    private func followExchange() {
        coordinator.retarget(sessions.keys.flatMap(writers) + lockers())
    }

    /// The claims of those who write an item, with its names.
    private func writers(
        at position: MemoryIndex.Position
    ) -> [(id: ClaimID, targets: [ClaimTarget])] {
        guard let session = sessions[position], !session.claims.isEmpty else { return [] }
        let targets = paths(of: position).map { ClaimTarget($0, .write) }
        return session.claims.values.map { ($0, targets) }
    }

    /// Tells presenters of the documents that they have fewer versions now; of however many at once
    /// that were let go.
    ///
    /// A version may be of an item that is gone, where the document was saved by renaming: presenters
    /// are looked up, of which there are few.
    func followLosses(of documents: Set<DocumentID>) {
        if documents.isEmpty || !coordinator.isFollowed { return }
        for path in coordinator.presentedPaths {
            let names = Array(path.names.joined(separator: [UInt8(ascii: "/")]))
            let position = index.item(at: names)
            guard position != 0 else { continue }
            let document = DocumentID(rawValue: index[item: position].pointee.document)
            if documents.contains(document) {
                coordinator.note(ItemChange(.versionLost, path, by: 0))
            }
        }
    }

    /// A name moved, or two changed places. A folder that takes the name of an empty one has moved: no
    /// document was saved so, and who shows a folder above has to know where its contents are.
    private func tellOfMove(
        _ place: ClaimPath?, _ parent: MemoryIndex.Position, _ name: [UInt8]?, _ process: Int32,
        _ effects: [Effect], isFolder: Bool
    ) {
        guard let place, let name else { return }
        let family = operators[process]?.family
        func tell(_ what: ItemChange.Kind, _ path: ClaimPath) {
            coordinator.note(
                ItemChange(what, path, by: process, family: family), in: number(parent))
        }
        var source: ClaimPath?
        var isReplacing = false
        for case .removeName(let directory, let old) in effects {
            if directory == number(parent), old == name {
                isReplacing = !isFolder
            } else {
                source = self.place(index.find(directory), old)
            }
        }
        guard let source, source != place else {
            let isSave = effects.contains {
                if case .adoptVersions = $0 { true } else { false }
            }
            return tell(isSave && place == place.document ? .published : .exchanged, place)
        }
        tell(.moved(from: source, replacing: isReplacing), place)
    }
}

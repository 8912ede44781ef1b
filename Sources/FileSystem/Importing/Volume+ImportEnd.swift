internal import Catalog
internal import Coordination
internal import Model
internal import Promises
internal import SystemCalls

/// What is not at the source any more when all of it has been shown.
extension Volume {
    /// Whether something would be removed if nothing was shown: a source that is empty now is more likely
    /// a disk that is not mounted, and what goes takes its identity, tags and bookmarks along.
    func wouldRemove(_ pass: ImportPass, _ shown: ImportPass.State) throws(Errno) -> Bool {
        var files: [OriginRow] = []
        try ask { (database) throws(Failure) in
            try database.forEachOrigin(of: pass.root) { row in
                if !row.path.isEmpty, !row.tag.isEmpty, !shown.hidden.contains(row.path) {
                    files.append(row)
                }
            }
        }
        return state.withLock { state in
            files.contains { !state.removableNames($0).isEmpty }
        }
    }

    /// Removes what was not shown, and would have been if it was there: documents that were never fetched
    /// or changed here, and folders without anything else in them. All others stay. Those that have not been
    /// changed here are what the source shows at their path next (``OriginRow/isGone``), if it ever does; if
    /// their content is on its way and does not come, the next run removes them. All else is the container's
    /// own from now on.
    func removeUnseen(
        _ pass: ImportPass, _ state: inout ImportPass.State, _ caller: Caller, _ stale: inout Stale
    ) throws(Errno) {
        var gone: [OriginRow] = []
        let seen = state.seen
        try ask { (database) throws(Failure) in
            try database.forEachOrigin(of: pass.root) { row in
                if !row.path.isEmpty, !seen.contains(row.item) { gone.append(row) }
            }
        }
        let known = gone
        followFolders(&gone, state)
        // As long as nobody can look it stays what it was, also by its path of now. With each whether that is
        // another one.
        var unseen: [ItemNumber: Bool] = [:]
        if !state.hidden.isEmpty {
            let paths = FolderPaths(state, known)
            for (before, row) in zip(known, gone)
            where state.hidden.contains(row.path) || state.hidden.contains(before.path)
                || paths.hasLost(before.path)
            {
                unseen[row.item] = row != before
            }
        }
        var step = ImportStep(pass: pass, caller: caller, state: state, isLast: true)
        for row in foldersLast(gone) {
            // Asked first: what has come by then is not away any more.
            let isComing = row.content.map { pass.downloads.received($0) != nil } ?? false
            let isUnseen = unseen[row.item] != nil
            let names =
                isComing || isUnseen ? [] : self.state.withLock { $0.removableNames(row) }
            var isRemoved = !names.isEmpty
            for (parent, name) in names {
                let node = NodeNumber(rawValue: parent)
                let removal = self.state.withLock { state in
                    state.replayStep(
                        .removed, state.index.find(row.item), state.index.find(node.item), name)
                }
                do throws(Errno) {
                    try remove(name, in: node, row, caller)
                    stale.steps.append(removal)
                } catch {
                    isRemoved = false
                }
                self.state.withLock { stale.forget(node, name, $0) }
            }
            let isHere = self.state.withLock { state in
                let isRenamed = step.settle(row, state)
                let position = state.index.find(row.item)
                if unseen[row.item] == true
                    || isRenamed && (isComing || isUnseen) && state.isAsListed(position, row)
                {
                    // Its origin stays: what comes to its path takes it back to that name.
                    var origin = row
                    if isRenamed { origin.waitsAt = state.firstPlace(position) }
                    let mutation = Mutation(
                        time: VolumeState.now(), kind: .imported, item: row.item,
                        effects: [.putOrigin(origin)])
                    state.log.append(mutation)
                }
                return position != 0 && state.index[item: position].pointee.firstName != 0
            }
            // Somebody has it open to write it. If nothing comes of that the next run removes it.
            let isStillAway = isHere && self.state.withLock { $0.isOnlyAtSource(row) }
            if isRemoved { state.counts.removed += 1 }
            if isHere, !isUnseen, !row.tag.isEmpty, !row.isGone { state.counts.kept += 1 }
            if isComing || isUnseen || isStillAway { continue }
            _ = self.state.withLock { state in
                let effect: Effect =
                    state.isAtItsName(row) ? .putOrigin(row.gone) : .removeOrigin(row.item)
                return log.append(
                    Mutation(
                        time: VolumeState.now(), kind: .imported, item: row.item, effects: [effect])
                )
            }
        }
        stale.add(step.stale)
        try log.flush(upTo: log.head)
    }
}

/// All paths of folders that a run knows: those that were shown, by their paths of now and before, and those
/// that were not.
///
/// Of a run that was cut off some things are known by a path that their folder has no more: nothing tells where
/// they are at the source, and it may be in what cannot be looked at.
private struct FolderPaths {
    private let known: Set<[UInt8]>

    init(_ shown: ImportPass.State, _ unshown: [OriginRow]) {
        known = Set(unshown.lazy.filter(\.tag.isEmpty).map(\.path))
            .union(shown.folders.keys).union(shown.formerly.values)
    }

    /// Whether no folder has the path of one above this.
    func hasLost(_ path: [UInt8]) -> Bool {
        !ImportMessage.Entry.upwards(path).dropFirst().allSatisfy(known.contains)
    }
}

extension Volume {
    private func remove(
        _ name: [UInt8], in folder: NodeNumber, _ row: OriginRow, _ caller: Caller
    ) throws(Errno) {
        var problem: Errno?
        name.withUnsafeBytes { bytes in
            do throws(Errno) {
                if row.tag.isEmpty {
                    try removeDirectory(folder, bytes, caller)
                } else {
                    // Since it was looked at somebody may have begun to write it, or given its name to
                    // another.
                    _ = try unlink(folder, bytes, caller) { state, position in
                        state.number(position) == row.item && !state.removableNames(row).isEmpty
                    }
                }
            } catch {
                problem = error
            }
        }
        if let problem { throw problem }
    }
}

extension VolumeState {
    /// Whether the item's content is still the source's, as it was listed last.
    func isAsListed(_ position: MemoryIndex.Position, _ origin: OriginRow) -> Bool {
        let record = index[item: position]
        if record.pointee.flags.contains(.inSession) { return false }
        return record.pointee.isRegular
            ? record.pointee.hash == origin.content
                && (origin.content != nil || record.pointee.place == .none)
            : true
    }

    /// Whether the item's content is the one listed last, and the source has another now whatever it is called:
    /// a time tells versions apart that are a second apart, and there are servers whose etags do not more.
    func isOfOtherSize(
        _ position: MemoryIndex.Position, _ origin: OriginRow, _ entry: ImportMessage.Entry
    ) -> Bool {
        let record = index[item: position]
        guard case .file = entry.kind, record.pointee.isRegular else { return false }
        return record.pointee.size != entry.size && isAsListed(position, origin)
    }

    /// Whether the item's content is the source's, and nothing of it is here.
    fileprivate func isOnlyAtSource(_ origin: OriginRow) -> Bool {
        let position = index.find(origin.item)
        guard position != 0, origin.content != nil else { return false }
        let record = index[item: position]
        return record.pointee.isRegular && record.pointee.hash == origin.content
            && isAway(record.pointee.node, record.pointee.place)
    }

    /// Whether the item is unchanged, and called as the source called it.
    fileprivate func isAtItsName(_ origin: OriginRow) -> Bool {
        let position = index.find(origin.item)
        guard position != 0 else { return false }
        let name = index[item: position].pointee.firstName
        return name != 0 && index[name: name].pointee.nextOfItem == 0
            && index.nameBytes(name).elementsEqual(origin.name) && isAsListed(position, origin)
    }

    /// All names of an item that vanished at its source and has nothing here that is worth keeping;
    /// empty for all others.
    fileprivate func removableNames(_ origin: OriginRow) -> [(parent: UInt64, name: [UInt8])] {
        let position = index.find(origin.item)
        guard position != 0 else { return [] }
        let record = index[item: position]
        if record.pointee.isDirectory {
            guard origin.tag.isEmpty, !origin.isGone, record.pointee.childCount == 0 else {
                return []
            }
        } else if record.pointee.isRegular {
            guard !origin.isGone, isAsListed(position, origin),
                isAway(record.pointee.node, record.pointee.place) || origin.content == nil
            else { return [] }
        }
        return names(of: position)
    }
}

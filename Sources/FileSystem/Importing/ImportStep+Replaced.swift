internal import Catalog
internal import Model

/// Folders that were taken for others, in whose places they are, before these were shown.
extension ImportStep {
    /// A folder that is here what another was, which has another identity.
    struct Replacement {
        /// What was shown in the place of the other.
        let entry: ImportMessage.Entry
        /// Where the item came from before.
        let before: OriginRow
    }

    /// Notes that the entry, a folder, was taken for another one with another identity: that is right if the other
    /// is gone, and not if it is shown somewhere else later.
    mutating func noteReplacement(_ entry: ImportMessage.Entry, of row: OriginRow) {
        guard entry.isFolder, !entry.identity.isEmpty, !row.identity.isEmpty,
            entry.identity != row.identity, state.replaced[row.identity] == nil
        else { return }
        state.replaced[row.identity] = Replacement(entry: entry, before: row)
    }

    /// If the folder that the entry tells of was replaced by one that was shown before it: takes that back. The
    /// item makes way, with its pin and all that is its own, for one that is made for the other, and what of
    /// that was shown goes there.
    mutating func takeReplacementBack(
        by entry: ImportMessage.Entry, _ volume: VolumeState
    ) throws(Question) {
        guard entry.isFolder, let replacement = state.replaced[entry.identity] else { return }
        let (other, before) = (replacement.entry, replacement.before)
        guard let rows = contents.removeValue(forKey: before.item) else {
            throw .contents(before.item)
        }
        state.replaced[entry.identity] = nil
        let position = volume.index.find(before.item)
        var directory = state.folders[other.parent].map { volume.index.find($0) } ?? 0
        if directory != 0, volume.index[item: directory].pointee.links == 0 { directory = 0 }
        state.seen.remove(before.item)
        state.folders[other.path] = nil
        state.formerly[before.item] = nil
        // It is at its place still, or else where somebody has moved it here.
        if position != 0, directory != 0,
            volume.firstPlace(position)
                == NamePlace(parent: volume.number(directory), name: Array(other.name))
        {
            var occupant = before
            occupant.path = other.path
            _ = setAside(occupant, directory, volume)
        }
        let time = VolumeState.now()
        volume.log.append(
            Mutation(
                time: time, kind: .imported, item: before.item, effects: [.putOrigin(before)]))
        for question: Question in [
            .item(before.item), .path(before.path), .identity(before.identity),
        ] { answers.updateValue(before, forKey: question) }
        if answers[.identity(other.identity)]??.item == before.item {
            answers.updateValue(nil, forKey: .identity(other.identity))
        }
        guard directory != 0 else { return }
        try make(other, directory, nil, volume)
        guard let made = state.folders[other.path].map({ volume.index.find($0) }), made != 0
        else { return }
        for row in rows
        where row.source == pass.root && state.seen.contains(row.item)
            && ImportMessage.Entry.parent(row.path) == other.path
        {
            let child = volume.index.find(row.item)
            let name = Array(ImportMessage.Entry.name(row.path))
            guard volume.firstPlace(child) == NamePlace(parent: before.item, name: name),
                volume.name(name, in: made) == 0
            else { continue }
            _ = rename(child, to: made, name, volume)
        }
    }
}

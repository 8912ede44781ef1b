internal import Catalog
internal import Coordination
internal import Model
internal import SystemCalls

/// Things at the source that take each other's names: what is in the way of one makes way for it until
/// it is shown itself.
extension ImportStep {
    /// The item that has the entry's name and has to make way: one of the import, unchanged, that is
    /// where it was listed before and was not shown yet, so that it is elsewhere at the source or gone.
    func occupant(
        of entry: ImportMessage.Entry, _ directory: MemoryIndex.Position, _ volume: VolumeState
    ) throws(Question) -> OriginRow? {
        guard pass.follows else { return nil }
        let there = volume.name(Array(entry.name), in: directory)
        guard there != 0 else { return nil }
        let position = volume.index[name: there].pointee.item
        let item = volume.number(position)
        guard !state.seen.contains(item), let row = try answer(.item(item)), !row.path.isEmpty,
            try isAtItsPlace(position, row, or: 0, volume), volume.isAsListed(position, row)
        else { return nil }
        return row
    }

    /// Whether the item is where the source had it (or else in `folder`), or where it waits for its
    /// name, and not where somebody moved it here.
    func isAtItsPlace(
        _ position: MemoryIndex.Position, _ row: OriginRow, or folder: MemoryIndex.Position,
        _ volume: VolumeState
    ) throws(Question) -> Bool {
        let index = volume.index
        let found = index[item: position].pointee.firstName
        guard found != 0, index[name: found].pointee.nextOfItem == 0,
            index.nameBytes(found).elementsEqual(row.name) || volume.isAside(row.item, position)
        else { return false }
        let parent = index[name: found].pointee.parent
        if parent == folder { return true }
        let item = volume.number(parent)
        if let place = row.waitsAt { return place.parent == item }
        let path = ImportMessage.Entry.parent(row.path)
        if state.formerly[item] == path || state.folders[path] == item { return true }
        return try answer(.item(item))?.path == path
    }

    /// Before a folder has another path: notes of what is in it, and known by the path before, that it is
    /// where it belongs. A run that is cut off would leave these paths behind, and the next one could not
    /// tell what is in this folder since then from what somebody has moved here.
    mutating func keepPlaces(in folder: OriginRow, _ volume: VolumeState) throws(Question) {
        guard let rows = contents.removeValue(forKey: folder.item) else {
            throw .contents(folder.item)
        }
        var effects: [Effect] = []
        for var row in rows where row.source == pass.root && row.waitsAt == nil && !row.isGone {
            let position = volume.index.find(row.item)
            let place = NamePlace(parent: folder.item, name: row.name)
            guard ImportMessage.Entry.parent(row.path) == folder.path,
                let found = volume.firstPlace(position), found.parent == folder.item,
                found == place || volume.isAside(row.item, position)
            else { continue }
            row.waitsAt = place
            effects.append(.putOrigin(row))
            for question: Question in [.item(row.item), .path(row.path), .identity(row.identity)] {
                guard answers[question]??.item == row.item else { continue }
                answers.updateValue(row, forKey: question)
            }
        }
        let time = VolumeState.now()
        for start in stride(from: 0, to: effects.count, by: 500) {
            let part = Array(effects[start..<min(start + 500, effects.count)])
            volume.log.append(
                Mutation(time: time, kind: .imported, item: folder.item, effects: part))
        }
    }

    /// Moves the item to where the entry is; says whether that was possible.
    mutating func move(
        _ position: MemoryIndex.Position, _ entry: ImportMessage.Entry,
        _ target: MemoryIndex.Position, _ occupant: OriginRow?, _ volume: VolumeState
    ) -> Bool {
        let index = volume.index
        let found = index[item: position].pointee.firstName
        let name = Array(entry.name)
        if index[name: found].pointee.parent == target, index.nameBytes(found).elementsEqual(name) {
            return true
        }
        if VirtualTree.isTop(name, in: volume.number(target).rawValue) { return false }
        if volume.isIn(target, position) { return false }
        if volume.name(name, in: target) != 0, !setAside(occupant, target, volume) { return false }
        guard rename(position, to: target, name, volume) else { return false }
        state.counts.changed += 1
        return true
    }

    /// Gives what is in the way a name that it has until it is shown, or is removed with all that was
    /// not; says whether that was possible.
    mutating func setAside(
        _ occupant: OriginRow?, _ directory: MemoryIndex.Position, _ volume: VolumeState
    ) -> Bool {
        guard let occupant else { return false }
        let position = volume.index.find(occupant.item)
        let name = AsideName.of(occupant.item, occupant.name[...])
        guard position != 0, volume.name(name, in: directory) == 0 else { return false }
        return rename(position, to: directory, name, volume)
    }

    /// Gives an item that made way and stays a name again: the one that it had, or one like it. Says
    /// whether it is one like it.
    @discardableResult
    mutating func settle(_ row: OriginRow, _ volume: VolumeState) -> Bool {
        let position = volume.index.find(row.item)
        guard position != 0, volume.isAside(row.item, position) else { return false }
        let directory = volume.index.parent(of: position)
        for number in 0..<1_000 {
            let name = AsideName.kept(row.name[...], number)
            if volume.name(name, in: directory) == 0 {
                return rename(position, to: directory, name, volume) && number > 0
            }
        }
        return false
    }

    /// Gives an item that has one name another one, which is free; says whether there was room for it.
    mutating func rename(
        _ position: MemoryIndex.Position, to target: MemoryIndex.Position, _ name: [UInt8],
        _ volume: VolumeState
    ) -> Bool {
        let index = volume.index
        guard index.canHold(name: name.count) else {
            isFull = true
            return false
        }
        let found = index[item: position].pointee.firstName
        let source = index[name: found].pointee.parent
        let oldName = Array(index.nameBytes(found))
        let time = VolumeState.now()
        index.removeName(found)
        name.withUnsafeBytes { _ = index.insertName(target, $0, item: position) }
        if index[item: position].pointee.isDirectory, source != target {
            index[item: source].pointee.links -= 1
            index[item: target].pointee.links += 1
        }
        volume.stamp(position, time)
        volume.record(
            .renamed, position, parent: target, name: name, process: caller.thread, at: time,
            [
                .removeName(parent: volume.number(source), name: oldName),
                .putName(
                    parent: volume.number(target), name: name, item: volume.number(position)),
                volume.touch(source, time), volume.touch(target, time),
            ])
        let place = ReplayStep.Place(parent: volume.number(target), name: name)
        stale.steps.append(volume.replayStep(.moved(to: place), position, source, oldName))
        forget(source, oldName, volume)
        forget(target, name, volume)
        stale.nodes.insert(index[item: position].pointee.node)
        return true
    }
}

extension OriginRow {
    /// What the import calls the item here.
    var name: [UInt8] { waitsAt?.name ?? Array(ImportMessage.Entry.name(path)) }
}

extension VolumeState {
    /// Where the item has its first name; `nil` without one, or without an item.
    func firstPlace(_ position: MemoryIndex.Position) -> NamePlace? {
        let name = position == 0 ? 0 : index[item: position].pointee.firstName
        guard name != 0 else { return nil }
        return NamePlace(
            parent: number(index[name: name].pointee.parent), name: Array(index.nameBytes(name)))
    }

    /// The name in the directory; 0 if there is none.
    func name(_ name: [UInt8], in directory: MemoryIndex.Position) -> MemoryIndex.Position {
        name.withUnsafeBytes { index.lookup(directory, $0) }
    }

    /// Whether the item has made way for another, in this run of an import or one that was cut off.
    func isAside(_ item: ItemNumber, _ position: MemoryIndex.Position) -> Bool {
        let name = index[item: position].pointee.firstName
        return name != 0 && index.nameBytes(name).starts(with: AsideName.prefix(item))
    }
}

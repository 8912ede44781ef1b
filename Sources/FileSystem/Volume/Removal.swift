internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

extension Volume {
    /// Removes a name that is not a directory's. Returns nodes whose attributes the kernel has to
    /// ask for again.
    ///
    /// - Parameter isToGo: looks at what has the name in the step that removes it; EBUSY if it stays.
    func unlink(
        _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ caller: Caller,
        if isToGo: (VolumeState, MemoryIndex.Position) -> Bool = { _, _ in true }
    ) throws(Errno) -> [NodeNumber] {
        let (nodes, dying) = try change { (state) throws(Errno) in
            let directory = try state.directory(parent)
            let found = state.index.lookup(directory, name)
            if found == 0 { throw Errno(ENOENT) }
            let position = state.index[name: found].pointee.item
            if state.index[item: position].pointee.isDirectory { throw Errno(EISDIR) }
            if !isToGo(state, position) { throw Errno(EBUSY) }
            let time = VolumeState.now()
            let process = CallerProcess.process(of: caller.thread)
            let nameBytes = Array(name)
            // With other names left, the document lives on under the oldest of those, until a save
            // makes its own name anew.
            let isLast = state.index[item: position].pointee.links == 1
            let isFirst = state.index.isFirst(found)
            let isSaved =
                isFirst && !isLast
                && (!state.isJustMade(position, process, time)
                    || state.hasBackup(position, of: nameBytes, process, time))
            if isLast, state.handOnToSuccessor(position, process, time) {
                // It is no document that could be made anew.
            } else if isLast || isSaved {
                state.rememberDocument(position, directory, nameBytes, process, time)
            }
            let effects = state.removeName(found, time)
            let saved = isFirst ? state.noteLinkLeft(position, process, time) : nil
            var sequence = state.record(
                .removed, position, parent: directory, name: nameBytes, process: process, at: time,
                effects + (saved?.effects ?? []))
            if let saved {
                sequence = state.tellLinkLeft(position, unseen: saved.unseen, process, time)
            }
            let nodes = state.nodes(position)
            state.noteLostName(position, in: directory, process, caller.thread)
            return ((nodes, state.noteIfDead(position)), sequence)
        }
        if dying { keeper.wake() }
        return nodes
    }

    /// Removes an empty directory.
    func removeDirectory(_ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ caller: Caller)
        throws(Errno)
    {
        let dying = try change { (state) throws(Errno) in
            let directory = try state.directory(parent)
            let found = state.index.lookup(directory, name)
            if found == 0 { throw Errno(ENOENT) }
            let position = state.index[name: found].pointee.item
            let record = state.index[item: position]
            if !record.pointee.isDirectory { throw Errno(ENOTDIR) }
            if record.pointee.childCount > 0 { throw Errno(ENOTEMPTY) }
            let time = VolumeState.now()
            let nameBytes = Array(name)
            let effects = state.removeName(found, time)
            let sequence = state.record(
                .removed, position, parent: directory, name: nameBytes,
                process: CallerProcess.process(of: caller.thread), at: time, effects)
            return (state.noteIfDead(position), sequence)
        }
        if dying { keeper.wake() }
    }
}

extension VolumeState {
    /// Takes a name away and counts links; the effects besides the item's row.
    func removeName(_ name: MemoryIndex.Position, _ time: Timestamp) -> [Effect] {
        let directory = index[name: name].pointee.parent
        let position = index[name: name].pointee.item
        let record = index[item: position]
        let bytes = Array(index.nameBytes(name))
        index.removeName(name)
        if record.pointee.isDirectory {
            record.pointee.links = 0
            index[item: directory].pointee.links -= 1
        } else {
            record.pointee.links -= 1
            if record.pointee.links == 0, record.pointee.isRegular, pictures != nil {
                lastTypes[number(position)] = PictureType(fileName: bytes)
            }
        }
        stamp(position, time)
        return [.removeName(parent: number(directory), name: bytes), touch(directory, time)]
    }

    /// Whether another name that an item has is a backup's of its first one.
    fileprivate func hasBackup(
        _ position: MemoryIndex.Position, of name: [UInt8], _ process: Int32, _ time: Timestamp
    ) -> Bool {
        let first = index[item: position].pointee.firstName
        var other = first
        while other != 0 {
            let isBackup =
                other != first
                && self.isBackup(
                    position, name, Array(index.nameBytes(other)), process, time)
            if isBackup { return true }
            other = index[name: other].pointee.nextOfItem
        }
        return false
    }

    /// Notes an item without names that nobody has open; says whether it is one.
    func noteIfDead(_ position: MemoryIndex.Position) -> Bool {
        let record = index[item: position]
        guard record.pointee.links == 0 else { return false }
        grantedNames.release(number(position))
        if isKnown(position) { return false }
        // One that never had a name is nobody's document that could be made again.
        dying[record.pointee.number] =
            record.pointee.flags.contains(.isLinkable) ? 0 : MonotonicClock.now
        lastTypes[number(position)] = nil
        lent.remove(record.pointee.number)
        return true
    }
}

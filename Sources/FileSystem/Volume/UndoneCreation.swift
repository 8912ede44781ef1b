internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Files that were made and cannot be opened, as where no further file can be staged.
extension Volume {
    /// Takes such a file away, and leaves the document that it became to whose it was.
    ///
    /// - Parameter inherited: what it got with its name.
    func undoCreation(
        of item: ItemNumber, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer,
        _ inherited: VolumeState.Inheritance?, _ caller: Caller
    ) {
        let dying = try? change { (state) throws(Errno) in
            let directory = try state.directory(parent)
            let found = state.index.lookup(directory, name)
            // Others may have given the name to another file since.
            guard found != 0, case let position = state.index[name: found].pointee.item,
                state.number(position) == item
            else { throw Errno(ENOENT) }
            let time = VolumeState.now()
            let process = CallerProcess.process(of: caller.thread)
            let nameBytes = Array(name)
            var effects = state.removeName(found, time)
            if state.index[item: position].pointee.links == 0 {
                let returned = inherited.flatMap {
                    state.giveBack($0, directory, nameBytes, from: position, process)
                }
                if let returned {
                    effects += returned
                } else {
                    state.rememberDocument(position, directory, nameBytes, process, time)
                }
            }
            let sequence = state.record(
                .removed, position, parent: directory, name: nameBytes, process: process, at: time,
                effects)
            state.noteLostName(position, in: directory, process, caller.thread)
            return (state.noteIfDead(position), sequence)
        }
        if dying == true { keeper.wake() }
    }
}

extension VolumeState {
    /// Undoes ``inheritDocument(_:_:_:_:isNew:)``: whoever was the document before, as the backup that a save
    /// has made, is it again, and the name stands for it as long as it would have.
    ///
    /// - Returns: `nil` if that is gone. It was removed before, and the document goes with the item.
    fileprivate func giveBack(
        _ inherited: Inheritance, _ directory: MemoryIndex.Position, _ name: [UInt8],
        from position: MemoryIndex.Position, _ process: Int32
    ) -> [Effect]? {
        let document = inherited.document
        let released = inherited.released.filter {
            let found = index.find($0.item)
            return found != 0 && index[item: found].pointee.document == $0.document
        }
        if released.isEmpty || index[item: position].pointee.document != document.rawValue {
            return nil
        }
        renumber(position, takeNumber())
        followTexts(.renamed, position)
        var effects: [Effect] = []
        for (item, _) in released {
            let holder = index.find(item)
            index[item: holder].pointee.document = document.rawValue
            index.noteHolder(holder)
            followTexts(.renamed, holder)
            effects.append(.putItem(index.row(holder)))
        }
        let former = inherited.former
        let backup = index.find(former.node.item)
        if former.replacesBackup, backup != 0 {
            effects += adoptVersions(
                of: former.node.item,
                DocumentID(rawValue: index[item: backup].pointee.document))
        }
        if let unseen = inherited.unseen {
            marks.set(.conflict, unseen, of: document, false)
            effects.append(.markConflict(unseen.item, unseen.ordinal, false))
        }
        tunnel.note(
            parent: number(directory), name: name, document: document, process: process,
            at: former.time)
        tunnelled[document] = former
        return effects
    }
}

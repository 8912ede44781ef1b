internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

extension Volume {
    /// rename(2) and renameat2(2): moves a name, replaces what it covers, or exchanges two.
    ///
    /// - Parameter waited: whether the caller has waited for a closing session already.
    /// - Returns: nodes whose attributes the kernel has to ask for again, or the item to wait for: a
    ///   program that closes a temporary file and renames it at once must not show the old content.
    func rename(
        _ from: NodeNumber, _ name: UnsafeRawBufferPointer, _ to: NodeNumber,
        _ newName: UnsafeRawBufferPointer, flags: UInt32, _ caller: Caller, waited: Bool
    ) throws(Errno) -> Answer<[NodeNumber]> {
        let noReplace = flags & 1 != 0
        let exchange = flags & 2 != 0
        if flags & ~3 != 0 || (noReplace && exchange) { throw Errno(EINVAL) }
        meet(CallerProcess.process(of: caller.thread))
        if !waited {
            let closing = try read { (state) throws(Errno) -> ItemNumber? in
                let found = state.index.lookup(try state.directory(from), name)
                guard found != 0 else { return nil }
                // What its writer goes on with can be renamed again.
                let item = state.index[name: found].pointee.item
                guard let session = state.sessions[item], session.isClosing || session.isPutOff
                else { return nil }
                return state.number(item)
            }
            if let closing { return .wait(closing) }
        }
        try keepPlaced { (state) throws(Errno) in
            let (source, target) = (try state.directory(from), try state.directory(to))
            let found = state.index.lookup(source, name)
            let covered = state.index.lookup(target, newName)
            if found == 0 || covered != 0 && noReplace { return 0 }
            let item = state.index[name: found].pointee.item
            if covered == 0 { return isTemporaryName(Array(name)) ? item : 0 }
            return exchange && state.sessions[item] == nil
                ? state.index[name: covered].pointee.item : item
        }
        var moved: [ItemNumber] = []
        var stale: [(parent: UInt64, name: [UInt8])] = []
        let (nodes, dying) = try change { (state) throws(Errno) in
            let source = try state.directory(from)
            let target = try state.directory(to)
            let found = state.index.lookup(source, name)
            if found == 0 { throw Errno(ENOENT) }
            moved = [state.number(state.index[name: found].pointee.item)]
            if !state.untoldNames.isEmpty {
                stale = state.namesTakenAlong(
                    from: ReplayStep.Place(parent: from.item, name: Array(name)),
                    to: ReplayStep.Place(parent: to.item, name: Array(newName)),
                    exchange: exchange)
            }
            let covered = state.index.lookup(target, newName)
            if covered != 0, noReplace { throw Errno(EEXIST) }
            if exchange {
                if covered == 0 { throw Errno(ENOENT) }
                // A version was published while the kernel looked the one name up twice. It would keep both
                // that it found, and forget one only; as it is it begins anew.
                if covered == found { throw Errno(ESTALE) }
                moved.append(state.number(state.index[name: covered].pointee.item))
                let nodes = [found, covered].flatMap {
                    state.nodes(state.index[name: $0].pointee.item)
                }
                return ((nodes, false), try state.exchange(found, covered, caller))
            }
            return try state.move(found, to: target, newName, covering: covered, caller)
        }
        if dying { keeper.wake() }
        // Told when the kernel has renamed what it had, whose directories it has locked until then.
        if !stale.isEmpty { forget(names: stale) {} }
        notePins(of: moved, movedBetween: (from, to))
        return .done(nodes)
    }
}

extension VolumeState {
    fileprivate func move(
        _ name: MemoryIndex.Position, to target: MemoryIndex.Position,
        _ newName: UnsafeRawBufferPointer, covering covered: MemoryIndex.Position,
        _ caller: Caller
    ) throws(Errno) -> ((nodes: [NodeNumber], dying: Bool), ChangeSequence) {
        try checkRoom(for: newName, of: .renamed, in: target)
        let position = index[name: name].pointee.item
        let source = index[name: name].pointee.parent
        let record = index[item: position]
        let old = covered == 0 ? 0 : index[name: covered].pointee.item
        if old == position { return (([], false), log.head) }
        if old != 0 {
            let other = index[item: old]
            if record.pointee.isDirectory {
                if !other.pointee.isDirectory { throw Errno(ENOTDIR) }
                if other.pointee.childCount > 0 { throw Errno(ENOTEMPTY) }
            } else if other.pointee.isDirectory {
                throw Errno(EISDIR)
            }
        }
        if record.pointee.isDirectory, target != source, old == 0,
            index[item: target].pointee.links >= Limits.links
        {
            throw Errno(EMLINK)
        }
        try checkApart(position, target)
        let time = Self.now()
        let process = CallerProcess.process(of: caller.thread)
        let oldName = Array(index.nameBytes(name))
        let bytes = Array(newName)
        let rank = index[name: name].pointee.rank
        // A later hard link is not what its document is called.
        let isOwnName = index.isFirst(name)
        var effects: [Effect] = []
        var unseen: NodeNumber?
        var left: (effects: [Effect], unseen: NodeNumber?)?
        if old != 0 {
            let isSave =
                isOwnName && index.isFirst(covered) && record.pointee.isRegular
                && index[item: old].pointee.isRegular
            // A backup in a folder of its own can have the document's name.
            let isBackup = bytes == oldName || isBackupName(bytes, of: oldName)
            if isOwnName, isBackup, !isTemporaryFile(position, process, time) {
                rememberDocument(
                    position, source, oldName, process, time,
                    replacesBackup: isSave)
            }
            if isSave { unseen = unseenVersion(of: old, process) }
            let wasFirst = index.isFirst(covered)
            effects += removeName(covered, time)
            left = wasFirst ? noteLinkLeft(old, process, time) : nil
            if let left {
                // What is saved by its other name leaves no document to the one that takes this.
                effects += left.effects
            } else if isSave {
                // What has another name, as a backup that is a hard link, lives on as a new document.
                effects += handOn(
                    from: old, to: position, inExchange: index[item: old].pointee.links == 0)
            }
            effects.append(.putItem(index.row(old)))
        }
        if old == 0, isOwnName, isBackup(position, oldName, bytes, process, time) {
            rememberDocument(
                position, source, oldName, process, time,
                madeWay: isBackupName(bytes, of: oldName))
        }
        renames += 1
        index.removeName(name)
        effects.append(.removeName(parent: number(source), name: oldName))
        index.insertName(target, newName, item: position, rank: rank)
        effects.append(
            .putName(parent: number(target), name: bytes, item: number(position), rank: rank))
        if old == 0, isOwnName, record.pointee.isRegular {
            let former = DocumentID(rawValue: record.pointee.document)
            let inherited = inherit(
                position, in: target, bytes, process, time,
                isNew: isTemporaryName(oldName) || isJustMade(position, process, time))
            if record.pointee.document != former.rawValue {
                // As one that is renamed over a backup: that was removed right before.
                noteBackupReplaced(former, by: position)
            }
            unseen = inherited.unseen
            effects += inherited.effects
        }
        if record.pointee.isDirectory, source != target {
            index[item: source].pointee.links -= 1
            index[item: target].pointee.links += 1
        }
        stamp(position, time)
        effects.append(touch(source, time))
        if source != target { effects.append(touch(target, time)) }
        var sequence = self.record(
            .renamed, position, parent: target, name: bytes, process: process, at: time, effects)
        if old != 0 { noteSeen(record.pointee.node, at: position, by: process) }
        if let unseen { markConflict(unseen, at: position, by: process) }
        if let left { sequence = tellLinkLeft(old, unseen: left.unseen, process, time) }
        // Else whoever reads before the close would find a document without content.
        if old != 0 || isTemporaryName(oldName), let session = sessions[position],
            session.maker != 0
        {
            session.replaces = true
        }
        var nodes = self.nodes(position)
        noteOtherNodes(.name, position, butThatOf: process)
        var dying = false
        if old != 0 {
            nodes += self.nodes(old)
            // One that lives on under another name may be another document now.
            followTexts(.renamed, old, effects)
            followNames(old)
            noteLostName(old, in: target, process, caller.thread)
            dying = noteIfDead(old)
        }
        return ((nodes, dying), sequence)
    }

    /// Throws ESTALE if the directory would come to be inside itself. The kernel has looked by the tree that it
    /// knows: an import may have moved one of the two, and it looks again.
    func checkApart(
        _ position: MemoryIndex.Position, _ target: MemoryIndex.Position
    ) throws(Errno) {
        if index[item: position].pointee.isDirectory, isIn(target, position) {
            throw Errno(ESTALE)
        }
    }

    /// Whether one directory is another or somewhere in it.
    func isIn(_ directory: MemoryIndex.Position, _ other: MemoryIndex.Position) -> Bool {
        var above = directory
        while above != 0 {
            if above == other { return true }
            above = index.parent(of: above)
        }
        return false
    }

    /// The version of a document that another file is renamed over, if whoever does that has only seen
    /// earlier ones.
    func unseenVersion(of old: MemoryIndex.Position, _ process: Int32) -> NodeNumber? {
        let other = index[item: old].pointee
        guard other.size > 0,
            isUnseen(other.node, of: DocumentID(rawValue: other.document), by: process)
        else { return nil }
        return other.node
    }

    /// A document gets another file.
    ///
    /// - Parameter inExchange: whether the file that it was becomes what the other one was; else that is a
    ///   document of its own from now on.
    func handOn(
        from old: MemoryIndex.Position, to position: MemoryIndex.Position, inExchange: Bool
    ) -> [Effect] {
        let document = DocumentID(rawValue: index[item: old].pointee.document)
        let former = index[item: position].pointee.document
        renumber(old, inExchange ? former : takeNumber())
        if inExchange { tunnelled[DocumentID(rawValue: former)]?.heir = number(old) }
        thinning.insert(document)
        return adopt(position, document)
    }

    /// The item is another document from now on. Its entries in the desktop's cache are the same.
    func renumber(_ position: MemoryIndex.Position, _ number: UInt64) {
        let former = DocumentID(rawValue: index[item: position].pointee.document)
        index[item: position].pointee.document = number
        pictures?.desktop?.renumbered(former, DocumentID(rawValue: number))
    }

    /// The item becomes the document: its versions join the document's history.
    func adopt(_ position: MemoryIndex.Position, _ document: DocumentID) -> [Effect] {
        let former = DocumentID(rawValue: index[item: position].pointee.document)
        index[item: position].pointee.document = document.rawValue
        index.noteHolder(position)
        // A document that began with this file, and was no other, has no versions but those that come along.
        if former != document,
            former.rawValue != number(position).rawValue || index.hasMoved(former)
        {
            abandoned[former] = MonotonicClock.now
        }
        return adoptVersions(of: number(position), document)
    }
}

extension Volume {
    /// link(2): another name for an item, counted as looked up; and the item's other nodes.
    func link(
        _ node: NodeNumber, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ caller: Caller
    ) throws(Errno) -> (Entry, others: [NodeNumber]) {
        try keepPlaced { (state) throws(Errno) in
            let position = try state.position(node)
            return state.index[item: position].pointee.links == 0 ? position : 0
        }
        let others = try change(growing: true) { (state) throws(Errno) in
            let position = try state.position(node)
            let directory = try state.directory(parent)
            try state.checkRoom(for: name, of: .linked, in: directory)
            let record = state.index[item: position]
            if record.pointee.isDirectory { throw Errno(EPERM) }
            if record.pointee.links >= Limits.links { throw Errno(EMLINK) }
            let isFirst = record.pointee.links == 0
            if isFirst, !record.pointee.flags.contains(.isLinkable) { throw Errno(ENOENT) }
            if state.index.lookup(directory, name) != 0 { throw Errno(EEXIST) }
            let time = VolumeState.now()
            let process = CallerProcess.process(of: caller.thread)
            let bytes = Array(name)
            let rank = state.index.nextRank(of: position)
            let named =
                isFirst ? state.noteNamed(position, in: directory, bytes, process, time) : nil
            state.index.insertName(directory, name, item: position, rank: rank)
            record.pointee.links += 1
            state.stamp(position, time)
            let effects: [Effect] = [
                .putName(
                    parent: state.number(directory), name: bytes, item: node.item, rank: rank),
                state.touch(directory, time),
            ]
            let sequence = state.record(
                isFirst ? .created : .linked, position, parent: directory, name: bytes,
                process: process, at: time, effects + (named?.effects ?? []))
            if isFirst {
                // A version may have been published when there was no name to tell its type.
                state.followPictures(.linked, position, effects)
                state.followTexts(.linked, position, effects)
            }
            if let unseen = named?.unseen { state.markConflict(unseen, at: position, by: process) }
            // The kernel links the inode it has: answer with the same node, not a newer one.
            state.countLookup(node, at: position)
            state.noteOtherNodes(.attributes, position, but: node)
            return (state.otherNodes(position, than: node), sequence)
        }
        // A writer's node has the size of what is staged: told another one the kernel would cut off
        // the pages beyond it.
        do throws(Errno) { return (try attributes(node), others) } catch {
            forget(node, 1)
            // What fails has done nothing.
            _ = try? unlink(parent, name, caller)
            throw error
        }
    }
}

internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// renameat2(2) with RENAME_EXCHANGE: two names change places.
extension VolumeState {
    /// A file that was made a moment before it changed places with a document, and has that one's name
    /// since. If what it changed places with is removed, it was a save.
    struct Successor {
        var item: ItemNumber
        var parent: ItemNumber
        var name: [UInt8]
        var at: Timestamp
    }

    func exchange(
        _ one: MemoryIndex.Position, _ other: MemoryIndex.Position, _ caller: Caller
    ) throws(Errno) -> ChangeSequence {
        if index[name: one].pointee.item == index[name: other].pointee.item { return log.head }
        try checkApart(index[name: one].pointee.item, index[name: other].pointee.parent)
        try checkApart(index[name: other].pointee.item, index[name: one].pointee.parent)
        let time = Self.now()
        let process = CallerProcess.process(of: caller.thread)
        let saved = savedDocument(one, other, process, time)
        // What becomes a document is recorded first, with all that changes: a crash leaves all or nothing.
        let isSecond = saved.map { $0.to == index[name: other].pointee.item } ?? false
        let (first, second) = isSecond ? (other, one) : (one, other)
        let items = (index[name: first].pointee.item, index[name: second].pointee.item)
        let parents = (index[name: first].pointee.parent, index[name: second].pointee.parent)
        let names = (Array(index.nameBytes(first)), Array(index.nameBytes(second)))
        // Each item's new name is as old as the one that it had.
        let ranks = (index[name: first].pointee.rank, index[name: second].pointee.rank)
        renames += 1
        index.removeName(first)
        index.removeName(second)
        names.0.withUnsafeBytes {
            _ = index.insertName(parents.0, $0, item: items.1, rank: ranks.1)
        }
        names.1.withUnsafeBytes {
            _ = index.insertName(parents.1, $0, item: items.0, rank: ranks.0)
        }
        if parents.0 != parents.1 {
            let difference =
                (index[item: items.1].pointee.isDirectory ? 1 : 0)
                - (index[item: items.0].pointee.isDirectory ? 1 : 0)
            for (parent, change) in [(parents.0, difference), (parents.1, -difference)] {
                let links = index[item: parent].pointee.links
                index[item: parent].pointee.links = UInt32(Int(links) + change)
            }
        }
        var unseen: NodeNumber?
        var identity: [Effect] = []
        if let saved {
            unseen = unseenVersion(of: saved.from, process)
            identity = handOn(from: saved.from, to: saved.to, inExchange: true)
            index.noteHolder(saved.from)
        }
        for item in [items.0, items.1] { stamp(item, time) }
        let effects: [Effect] = [
            .putItem(index.row(items.1)),
            .putName(
                parent: number(parents.0), name: names.0, item: number(items.1), rank: ranks.1),
            .putName(
                parent: number(parents.1), name: names.1, item: number(items.0), rank: ranks.0),
            touch(parents.0, time), touch(parents.1, time),
        ]
        for item in [items.0, items.1] { noteOtherNodes(.name, item, butThatOf: process) }
        // One change for each item, so that whoever follows the log sees both move. The second one says
        // again who has the name that its item had: so it is known where that was.
        record(
            .renamed, items.0, parent: parents.1, name: names.1, process: process, at: time,
            effects + identity)
        let sequence = record(
            .renamed, items.1, parent: parents.0, name: names.0, process: process, at: time,
            [
                .putName(
                    parent: number(parents.1), name: names.1, item: number(items.0), rank: ranks.0)
            ])
        if let saved { noteSeen(index[item: saved.to].pointee.node, at: saved.to, by: process) }
        if let saved, let unseen { markConflict(unseen, at: saved.to, by: process) }
        return sequence
    }

    /// Whether two files change places because a program saves one of them: what document gets which file.
    /// It is one that was made to take the name: it has a temporary file's, the process that exchanges has
    /// just made it, or it is what the document was before such an exchange, which is taken back.
    ///
    /// Where another process has just made it, as in scripts, that shows if what it replaces is removed.
    private func savedDocument(
        _ first: MemoryIndex.Position, _ second: MemoryIndex.Position, _ process: Int32,
        _ time: Timestamp
    ) -> (from: MemoryIndex.Position, to: MemoryIndex.Position)? {
        let (one, other) = (index[name: first].pointee.item, index[name: second].pointee.item)
        successors.remove(number(one))
        successors.remove(number(other))
        guard index.isFirst(first), index.isFirst(second), index[item: one].pointee.isRegular,
            index[item: other].pointee.isRegular
        else { return nil }
        let isTemporary = (
            isTemporaryName(index.nameBytes(first)), isTemporaryName(index.nameBytes(second))
        )
        if isTemporary.0 != isTemporary.1 {
            return isTemporary.0 ? (other, one) : (one, other)
        }
        if isFormerFile(one, of: other) { return (other, one) }
        if isFormerFile(other, of: one) { return (one, other) }
        if isNew(one, besides: other, time) {
            if isJustMade(one, process, time) { return (other, one) }
            noteSuccessor(one, of: other, at: second, time)
        } else if isNew(other, besides: one, time) {
            if isJustMade(other, process, time) { return (one, other) }
            noteSuccessor(other, of: one, at: first, time)
        }
        return nil
    }

    /// Whether an item has changed places with what is its document now: it became what that was.
    private func isFormerFile(
        _ position: MemoryIndex.Position, of other: MemoryIndex.Position
    ) -> Bool {
        let (former, present) = (index[item: position].pointee, index[item: other].pointee)
        return former.document == present.number && present.document != present.number
    }

    /// Whether an item is what a document was before the process saved that by an exchange a moment ago. Its name
    /// is that of the file which was made to save: the next file of that name is made for the next save.
    func hasMadeWay(
        _ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp
    ) -> Bool {
        let present = index.find(ItemNumber(rawValue: index[item: position].pointee.document))
        // The other way round it is the same, but for which was made to save.
        return present != 0 && isFormerFile(position, of: present)
            && isJustMade(present, process, time)
            && number(position).rawValue < number(present).rawValue
    }

    /// Whether an item was made a moment ago, after the other one, and is no earlier document. Their numbers tell
    /// which came first: the clock is the same for all that is made in one of its ticks.
    private func isNew(
        _ position: MemoryIndex.Position, besides other: MemoryIndex.Position, _ time: Timestamp
    ) -> Bool {
        guard index[item: position].pointee.document == index[item: position].pointee.number,
            let maker = makers[number(position)],
            isJustMade(position, maker.process, time)
        else { return false }
        return number(other).rawValue < number(position).rawValue
    }

    private func noteSuccessor(
        _ position: MemoryIndex.Position, of other: MemoryIndex.Position,
        at name: MemoryIndex.Position, _ time: Timestamp
    ) {
        let successor = Successor(
            item: number(position), parent: number(index[name: name].pointee.parent),
            name: Array(index.nameBytes(name)), at: time)
        successors.note(successor, of: number(other), at: time)
    }

    /// Hands a document on whose last name goes to the file that was put in its place a moment ago, if there
    /// is one.
    func handOnToSuccessor(
        _ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp
    ) -> Bool {
        guard let successor = successors.remove(number(position)),
            abs(time.secondsSince(successor.at)) <= IdentityTunnel.lifetime
        else { return false }
        let (item, parent) = (index.find(successor.item), index.find(successor.parent))
        guard item != 0, parent != 0, index[item: item].pointee.document == successor.item.rawValue
        else { return false }
        let name = successor.name.withUnsafeBytes { index.lookup(parent, $0) }
        guard name != 0, index[name: name].pointee.item == item, index.isFirst(name) else {
            return false
        }
        let effects = handOn(from: position, to: item, inExchange: true)
        record(
            .attributes, item, process: process, at: time,
            [.putItem(index.row(position))] + effects)
        return true
    }
}

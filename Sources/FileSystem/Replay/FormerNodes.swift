internal import Catalog
internal import Model
internal import SystemCalls

/// Has those told who watch a file itself with inotify: such a watch is set on the kernel's inode, which is
/// the node of one version, and what becomes the next one is another node. Other attributes and names the kernel
/// tells by the node alone that they came by: that of the current version, or that of a session.
///
/// Who watches is not known to the daemon. But the kernel lets go of the node of a former version as soon as
/// nobody has it open or watches it, so a little later only few items are left to tell about, mostly none.
/// Any thread.
final class FormerNodes: Sendable {
    /// How long the kernel gets to let go of a node by itself, in nanoseconds, and once more after it
    /// has forgotten the names.
    private static let delay: UInt64 = 50_000_000
    /// Nodes of one item that are told about; further ones are of programs that keep files open.
    private static let most = 64

    /// How much later it looks for each node that it told about last, in nanoseconds, and at most for so
    /// many: who saves without pause beside many that have earlier versions open does not keep the process
    /// that tells busy.
    private static let pause: UInt64 = 2_000_000
    private static let mostPauses = 450

    /// Changes that wait to be looked at; further ones are not told.
    private static let mostChanges = 4_096

    /// How often it looks whether who has set attributes has closed the file before these are told by
    /// themselves.
    private static let mostWaits = 10

    private struct Note: Hashable {
        /// Of another content no more is noted than the item.
        var change: NodeChange
        /// What was current then.
        var version: NodeNumber
    }

    private struct State {
        /// What is to be told, in its order.
        var notes: [Note] = []
        var known: Set<Note> = []
        /// How often they have waited for a writer.
        var waits = 0
        /// Nodes that were told about last.
        var told = 0

        mutating func add(_ note: Note) {
            // Nearly no other contents are left when they are looked at.
            guard notes.count < FormerNodes.mostChanges || note.change.kind == .content,
                known.insert(note).inserted
            else { return }
            notes.append(note)
        }
    }
    private let state = Lock(State())
    private unowned let volume: Volume
    private let replayer: Replayer

    init(_ volume: Volume, _ replayer: Replayer) {
        self.volume = volume
        self.replayer = replayer
    }

    /// The item has another version, or has lost its last name, and the kernel knew a former node.
    /// Also with the volume's lock held.
    func note(_ item: ItemNumber) {
        let node = NodeNumber(item, 0)
        note([NodeChange(node: node, kind: .content)], version: node)
    }

    /// Something else is to be told about nodes of an item, with what is its version now. Also with the volume's
    /// lock held.
    func note(_ changes: [NodeChange], version: NodeNumber) {
        let pauses = state.withLock { state -> Int? in
            let isFirst = state.notes.isEmpty
            for change in changes { state.add(Note(change: change, version: version)) }
            // Once for all that come until then: who looked again in vain would forget what was told.
            return isFirst && !state.notes.isEmpty ? min(state.told, Self.mostPauses) : nil
        }
        guard let pauses else { return }
        later(than: UInt64(pauses) * Self.pause) { $0.look() }
    }

    private func later(
        than pause: UInt64 = 0, _ work: @escaping @Sendable (FormerNodes) -> Void
    ) {
        volume.scheduler.at(MonotonicClock.now + Self.delay + pause) { [weak self] in
            if let self { work(self) }
        }
    }

    private func look() {
        let found = volume.state.withLock {
            volume -> (changes: [NodeChange], names: [(parent: UInt64, name: [UInt8])])? in
            let notes = state.withLock { state -> [Note]? in
                if state.waits < Self.mostWaits,
                    state.notes.contains(where: { volume.awaitsWriter($0.change, $0.version) })
                {
                    // All of them, or they would be told in another order.
                    state.waits += 1
                    return nil
                }
                defer { state = State() }
                return state.notes
            }
            guard let notes else { return nil }
            let changes = notes.compactMap { volume.settled($0.change, $0.version) }
            let contents = changes.filter { $0.kind == .content }
            return (
                changes, contents.flatMap { volume.names(of: volume.index.find($0.node.item)) }
            )
        }
        guard let (changes, names) = found else { return later { $0.look() } }
        if changes.isEmpty { return }
        // A name that nobody has used since leads to the former node still, and keeps it.
        volume.forget(names: names) { [weak self] in
            self?.later { $0.tell(changes) }
        }
    }

    private func tell(_ changes: [NodeChange]) {
        let told = volume.state.withLock { state in
            changes.flatMap { change -> [NodeChange] in
                if change.kind == .content {
                    return state.oldNodes(of: change.node.item).prefix(Self.most).map {
                        NodeChange(node: $0, kind: .content)
                    }
                }
                let position = state.index.find(change.node.item)
                return position != 0 && state.isKnown(change.node, at: position) ? [change] : []
            }
        }
        state.withLock { $0.told = told.count }
        replayer.add(told)
    }
}

extension VolumeState {
    /// Whether it shows only when a writer closes the file how a change is to be told.
    fileprivate func awaitsWriter(_ change: NodeChange, _ version: NodeNumber) -> Bool {
        guard change.kind == .attributesByWriter else { return false }
        let position = index.find(change.node.item)
        guard position != 0 else { return false }
        let record = index[item: position].pointee
        return record.node == version && record.flags.contains(.inSession)
    }

    /// A change that was noted when that version was current, as it is to be told now; `nil` for nothing.
    fileprivate func settled(_ change: NodeChange, _ version: NodeNumber) -> NodeChange? {
        let position = index.find(change.node.item)
        guard position != 0 else { return nil }
        let record = index[item: position].pointee
        switch change.kind {
        case .content: return record.flags.contains(.hasOldNodes) ? change : nil
        case .attributesByWriter where record.node != version || record.flags.contains(.inSession):
            // What a writer has written, or may yet write, is told when it is published.
            return NodeChange(node: change.node, kind: .attributes)
        default: return change
        }
    }

    /// Notes a regular file that has a new version or lost a name, if the kernel knows former nodes.
    func noteFormerNodes(_ position: MemoryIndex.Position) {
        let record = index[item: position]
        guard record.pointee.isRegular, record.pointee.flags.contains(.hasOldNodes) else { return }
        formerNodes?.note(number(position))
    }

    /// Notes a regular file that has lost a name: its last one, or one by which a process went.
    func noteLostName(
        _ position: MemoryIndex.Position, in directory: MemoryIndex.Position, _ process: Int32,
        _ thread: Int32
    ) {
        if index[item: position].pointee.links == 0 {
            noteFormerNodes(position)
        } else {
            changingNames.noteLoss(of: number(position), in: number(directory), thread)
            noteOtherNodes(.attributes, position, butThatOf: process)
        }
    }

    /// Notes that a name or the attributes of a regular file were changed by `node`, for those who watch
    /// another one.
    func noteOtherNodes(
        _ kind: NodeChange.Kind, _ position: MemoryIndex.Position, but node: NodeNumber
    ) {
        let record = index[item: position].pointee
        guard let formerNodes, record.isRegular,
            !record.flags.isDisjoint(with: [.inSession, .hasOldNodes])
        else { return }
        let others = otherNodes(position, than: node).filter {
            session(of: $0, at: position) == nil && isKnown($0, at: position)
        }
        if others.isEmpty { return }
        formerNodes.note(others.map { NodeChange(node: $0, kind: kind) }, version: record.node)
    }

    /// The same where the kernel knows the node, and the daemon only who went by a name that led there.
    func noteOtherNodes(
        _ kind: NodeChange.Kind, _ position: MemoryIndex.Position, butThatOf process: Int32
    ) {
        let session = sessions[position]
        let isWriter = session?.concerns(process, now: MonotonicClock.now) == true
        let current = index[item: position].pointee.node
        noteOtherNodes(kind, position, but: isWriter ? session?.node ?? current : current)
    }

    /// A node as the process that repeats changes finds it by its number, counted as looked up; `nil` if the
    /// kernel does not know it any more.
    func replayedEntry(former node: NodeNumber) -> Entry? {
        let position = index.find(node.item)
        guard position != 0, session(of: node, at: position) == nil, isKnown(node, at: position)
        else { return nil }
        countLookup(node, at: position)
        var entry = self.entry(of: node, at: position)
        (entry.timeout, entry.attributeTimeout) = (0, 0)
        // The one that the process came by.
        entry.status.st_nlink = max(entry.status.st_nlink, 1)
        return entry
    }
}

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

    private struct State {
        /// Items whose former nodes are to be told of another version, or of none.
        var items: Set<ItemNumber> = []
        /// What else is to be told, in its order.
        var changes: [NodeChange] = []
        /// Nodes that were told about last.
        var told = 0

        var isEmpty: Bool { items.isEmpty && changes.isEmpty }
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
    func note(_ item: ItemNumber) { note { $0.items.insert(item) } }

    /// Something else is to be told about nodes. Also with the volume's lock held.
    func note(_ changes: [NodeChange]) {
        note { $0.changes += changes.prefix(Self.mostChanges - $0.changes.count) }
    }

    private func note(_ add: (inout State) -> Void) {
        let pauses = state.withLock { state -> Int? in
            let isFirst = state.isEmpty
            add(&state)
            // Once for all that come until then: who looked again in vain would forget what was told.
            return isFirst && !state.isEmpty ? min(state.told, Self.mostPauses) : nil
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
        let noted = state.withLock { state in
            defer { state = State() }
            return state
        }
        let (left, names) = volume.state.withLock { state in
            let left = noted.items.filter { state.oldNodes[$0.rawValue] != nil }
            return (left, left.flatMap { state.names(of: state.index.find($0)) })
        }
        if left.isEmpty, noted.changes.isEmpty { return }
        // A name that nobody has used since leads to the former node still, and keeps it.
        volume.forget(names: names) { [weak self] in
            self?.later { $0.tell(left, noted.changes) }
        }
    }

    private func tell(_ items: Set<ItemNumber>, _ changes: [NodeChange]) {
        let told = volume.state.withLock { state in
            items.flatMap { item in
                (state.oldNodes[item.rawValue] ?? [:]).keys.prefix(Self.most).map {
                    NodeChange(node: NodeNumber(rawValue: $0), kind: .content)
                }
            }
                + changes.filter { change in
                    let position = state.index.find(change.node.item)
                    return position != 0 && state.isKnown(change.node, at: position)
                }
        }
        state.withLock { $0.told = told.count }
        replayer.add(told)
    }
}

extension VolumeState {
    /// Notes a regular file that has a new version or lost a name, if the kernel knows former nodes.
    func noteFormerNodes(_ position: MemoryIndex.Position) {
        let record = index[item: position]
        guard record.pointee.isRegular, record.pointee.flags.contains(.hasOldNodes) else { return }
        formerNodes?.note(number(position))
    }

    /// Notes a regular file that has lost a name: its last one, or one by which a process went.
    func noteLostName(_ position: MemoryIndex.Position, _ process: Int32) {
        if index[item: position].pointee.links == 0 {
            noteFormerNodes(position)
        } else {
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
        if !others.isEmpty { formerNodes.note(others.map { NodeChange(node: $0, kind: kind) }) }
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

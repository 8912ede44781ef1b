internal import Catalog
internal import Model
internal import SystemCalls

/// Has those told who watch a file itself with inotify: such a watch is set on the kernel's inode, which is
/// the node of one version, and what becomes the next one is another node.
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

    private struct State {
        var items: Set<ItemNumber> = []
        /// Nodes that were told about last.
        var told = 0
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
        let pauses = state.withLock { state -> Int? in
            // Once for all that come until then: who looked again in vain would forget what was told.
            guard state.items.insert(item).inserted else { return nil }
            return state.items.count == 1 ? min(state.told, Self.mostPauses) : nil
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
            return state.items
        }
        let (left, names) = volume.state.withLock { state in
            let left = noted.filter { state.oldNodes[$0.rawValue] != nil }
            return (left, left.flatMap { state.names(of: state.index.find($0)) })
        }
        if left.isEmpty { return }
        // A name that nobody has used since leads to the former node still, and keeps it.
        volume.forget(names: names) { [weak self] in
            self?.later { $0.tell(left) }
        }
    }

    private func tell(_ items: Set<ItemNumber>) {
        let nodes = volume.state.withLock { state in
            items.flatMap { (state.oldNodes[$0.rawValue] ?? [:]).keys.prefix(Self.most) }
        }
        state.withLock { $0.told = nodes.count }
        replayer.add(former: nodes.map { NodeNumber(rawValue: $0) })
    }
}

extension VolumeState {
    /// Notes a regular file that has a new version or lost a name, if the kernel knows former nodes.
    func noteFormerNodes(_ position: MemoryIndex.Position) {
        let record = index[item: position]
        guard record.pointee.isRegular, record.pointee.flags.contains(.hasOldNodes) else { return }
        formerNodes?.note(number(position))
    }

    /// A former node as the process that repeats changes finds it, counted as looked up; `nil` if the
    /// kernel does not know it any more.
    func replayedEntry(former node: NodeNumber) -> Entry? {
        let position = index.find(node.item)
        guard position != 0, oldNode(node) != nil else { return nil }
        countLookup(node, at: position)
        var entry = self.entry(of: node, at: position)
        (entry.timeout, entry.attributeTimeout) = (0, 0)
        // The one that the process came by.
        entry.status.st_nlink = max(entry.status.st_nlink, 1)
        return entry
    }
}

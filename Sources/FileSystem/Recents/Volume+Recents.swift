internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Opens that have not been looked at yet. Any thread; noting one costs a system call, a lock and a few words.
final class OpenNotes: Sendable {
    struct Note: Sendable {
        var item: ItemNumber
        /// As the request told it.
        var thread: Int32
        var time: Timestamp
    }

    /// Notes that wait; what comes to more is lost.
    private static let limit = 4_096
    private let notes = Lock<[Note]>([])

    func add(_ item: ItemNumber, _ thread: Int32) {
        let time = VolumeState.now()
        notes.withLock { notes in
            if notes.count < Self.limit {
                notes.append(Note(item: item, thread: thread, time: time))
            }
        }
    }

    func take() -> [Note] {
        notes.withLock { notes in
            defer { notes.removeAll(keepingCapacity: true) }
            return notes
        }
    }
}

/// The documents that people opened lately.
extension Volume {
    /// A document was opened. What indexers and backups open does not count: with O_NOATIME, or in the
    /// background of everything else, however slowly they go.
    func noteOpened(_ node: NodeNumber, _ flags: Int32, _ caller: Caller) {
        if flags & OwnedDescriptor.noAccessTime != 0 { return }
        // Asked now: many a process is gone when the notes are looked at.
        if CallerProcess.isBackground(caller.thread) { return }
        openNotes.add(node.item, caller.thread)
    }

    /// The documents with their paths, the last opened first.
    func recentDocuments() -> [(document: DocumentID, path: [UInt8], opened: Timestamp)] {
        takeOpenNotes()
        return state.withLock { state in
            state.recents.list.compactMap { entry in
                let position = state.index.holder(of: entry.document)
                guard position != 0, let path = state.index.path(of: position) else { return nil }
                return (entry.document, path, entry.opened)
            }
        }
    }

    /// Records what counts. The keeper calls it now and then, and when the mount goes away.
    func settleRecents(ending: Bool) {
        takeOpenNotes()
        state.withLock { state in
            if state.recents.isSettled { return }
            let time = VolumeState.now()
            let (kept, dropped) =
                ending ? state.recents.settleAll() : state.recents.settle(now: time)
            if kept.isEmpty, dropped.isEmpty { return }
            let effects: [Effect] =
                kept.map { .putRecent($0.key, $0.value) } + dropped.map { .removeRecent($0) }
            state.log.append(
                Mutation(time: time, kind: .opened, item: .root, effects: effects))
        }
    }

    /// Forgets a document until it is opened again.
    func forgetRecent(_ document: DocumentID) throws(Errno) {
        takeOpenNotes()
        try change { (state) throws(Errno) in
            state.recents.remove(document)
            if recentFiles != nil { state.forgottenRecents.append((document, VolumeState.now())) }
            let mutation = Mutation(
                time: VolumeState.now(), kind: .opened, item: .root,
                effects: [.removeRecent(document)])
            return ((), state.log.append(mutation))
        }
    }

    private func takeOpenNotes() {
        let notes = openNotes.take()
        if notes.isEmpty { return }
        // Before the lock: this asks the kernel.
        var processes: [Int32: Int32] = [:]
        for note in notes where processes[note.thread] == nil {
            processes[note.thread] = CallerProcess.process(of: note.thread)
        }
        state.withLock { state in
            for note in notes {
                let position = state.index.find(note.item)
                guard position != 0, state.isMemorable(position) else { continue }
                state.recents.note(
                    DocumentID(rawValue: state.index[item: position].pointee.document),
                    by: processes[note.thread] ?? note.thread, at: note.time)
            }
        }
    }
}

extension VolumeState {
    /// Whether people would want to find it among the last: a file with a name that is neither
    /// hidden, nor in a hidden folder, nor temporary.
    func isMemorable(_ position: MemoryIndex.Position) -> Bool {
        guard index[item: position].pointee.isRegular else { return false }
        let first = index[item: position].pointee.firstName
        if first == 0 || isTemporaryName(Array(index.nameBytes(first))) { return false }
        var name = first
        while name != 0 {
            if index.nameBytes(name).first == UInt8(ascii: ".") { return false }
            name = index[item: index[name: name].pointee.parent].pointee.firstName
        }
        return true
    }
}

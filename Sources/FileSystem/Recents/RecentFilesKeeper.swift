internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import RecentFiles
internal import SystemCalls
internal import Thumbnailing

/// How the user's list of recently used files is kept.
package struct RecentFilesOptions: Sendable {
    /// This program.
    package var program: String
    /// The list.
    package var file: String
    /// Where the mount is, as the list names it.
    package var mountPoint: String

    package init(program: String, file: String, mountPoint: String) {
        self.program = program
        self.file = file
        self.mountPoint = mountPoint
    }
}

/// Keeps the user's list of recently used files (`recently-used.xbel`) and the recent documents of a
/// mount in step. See the page Presentation.
///
/// One thread looks every other second whether anything changed here or there, and has a process of
/// its own read and write the list, which others wrote. Nobody waits for it but the end of the mount.
final class RecentFilesKeeper: Sendable {
    /// How often it looks, in milliseconds.
    private static let pace: UInt64 = 2_000
    /// What reading and writing the list may take, in milliseconds.
    private static let patience: UInt64 = 10_000
    /// After a failure it is tried again so much later, in milliseconds.
    private static let rest: UInt64 = 60_000
    /// A deleted document may come back with a save by renaming; after so long it does not, in
    /// seconds.
    private static let mourning: Double = 60

    private struct Phase {
        var ended = false
        var done = true
    }
    /// What the list was told and what it said. Only on the thread.
    private struct Told {
        var documents: [DocumentID: RecentFilesOrder.Document] = [:]
        /// Documents without a name, and since when.
        var gone: [DocumentID: Timestamp] = [:]
        /// Documents that were forgotten on demand, and that the list may still have.
        var forgotten: [RecentFilesOrder.Document] = []
        /// What the list had of the mount at its beginning and there is not: it may not have been told the
        /// last changes of a daemon that died. Looked for once more, since it may be being saved by renaming.
        var strays: [RecentFilesOrder.Document] = []
        /// Documents that it was told last, until a look finds that nobody wrote it since: a program that keeps
        /// the list in memory, as those of GTK do, may write it as it was before.
        var fresh: Set<DocumentID> = []
        /// Some of those were lost that way, and are to be told again.
        var isBehind = false
        var head: ChangeSequence?
        var stamp = ListStamp.missing
        var notBefore: UInt64 = 0
    }

    private let phase = Monitor(Phase())
    private unowned let volume: Volume
    private let options: RecentFilesOptions

    init(_ volume: Volume, _ options: RecentFilesOptions) {
        self.volume = volume
        self.options = options
    }

    func start() {
        phase.withLock { $0.done = false }
        Threads.start("recent files", yielding: true, keeping: volume) { [self] in
            var told = Told()
            var ended = false
            while !ended {
                look(&told)
                ended =
                    phase.wait(until: MonotonicClock.after(milliseconds: Self.pace)) {
                        $0.ended ? true : nil
                    } ?? false
            }
            told.notBefore = 0
            look(&told)
            if told.isBehind { look(&told) }
            phase.signal { $0.done = true }
        }
    }

    /// Ends the thread when the list has what was opened last.
    func stop() {
        phase.signal { $0.ended = true }
        let _: Bool? = phase.wait(until: MonotonicClock.after(milliseconds: Self.patience + 5_000))
        {
            $0.done ? true : nil
        }
    }

    private func look(_ told: inout Told) {
        let head = volume.log.head
        let stamp = ListStamp(ofFile: options.file)
        guard
            head != told.head || stamp != told.stamp || !told.strays.isEmpty || told.isBehind,
            MonotonicClock.now >= told.notBefore
        else {
            if stamp == told.stamp { told.fresh = [] }
            return
        }
        let (order, documents) = order(&told)
        if order.isEmpty, stamp == told.stamp {
            told.head = head
            told.isBehind = false
            return
        }
        guard let answer = ask(order) else {
            told.notBefore = MonotonicClock.after(milliseconds: Self.rest)
            return
        }
        let isFirst = told.head == nil
        let listed = Set(answer.documents.map(\.path))
        let lost = told.fresh.filter { documents[$0].map { !listed.contains($0.path) } ?? false }
        told.fresh = Set(documents.keys.filter { told.documents[$0] != documents[$0] })
        told.documents = documents.filter { !lost.contains($0.key) }
        told.isBehind = !lost.isEmpty
        (told.forgotten, told.strays) = ([], [])
        if isFirst { told.strays = volume.state.withLock { missing(answer.documents, $0) } }
        told.head = head
        told.stamp = answer.stamp
        adopt(answer.documents, &told)
    }

    // MARK: What the list is told

    /// What changed since the list was told, and all that it has been told then.
    private func order(
        _ told: inout Told
    ) -> (RecentFilesOrder, [DocumentID: RecentFilesOrder.Document]) {
        var order = RecentFilesOrder(file: options.file, folder: options.mountPoint)
        let now = VolumeState.now()
        var gone = told.gone
        let (found, strays, forgotten) = volume.state.withLock { state in
            defer { state.forgottenRecents = [] }
            return (
                documents(state, &gone, now), missing(told.strays, state),
                state.forgottenRecents.flatMap { document, time in
                    // The list has the path before of what was moved or removed since.
                    let paths = [path(of: document, state), told.documents[document]?.path]
                    return Set(paths.compactMap(\.self)).map {
                        RecentFilesOrder.Document(path: $0, opened: time.seconds)
                    }
                }
            )
        }
        order.strays = strays
        told.strays = strays
        told.gone = gone
        told.forgotten += forgotten
        for (document, entry) in found {
            let before = told.documents[document]
            if before != entry { order.documents.append(entry) }
            if let before, before.path != entry.path {
                order.moved.append(RecentFilesOrder.Move(from: before.path, to: entry.path))
            }
        }
        order.documents.sort { $0.opened < $1.opened }
        // Something else may have the path of a deleted document by now.
        let taken = Set(found.values.map(\.path))
        let deleted = told.documents.filter { gone[$0.key] != nil }.map {
            RecentFilesOrder.Document(path: $0.value.path, opened: .max)
        }
        order.removed = (deleted + told.forgotten).filter { !taken.contains($0.path) }
        return (order, found)
    }

    /// The documents whose opens are settled, as the list has them.
    private func documents(
        _ state: VolumeState, _ gone: inout [DocumentID: Timestamp], _ now: Timestamp
    ) -> [DocumentID: RecentFilesOrder.Document] {
        var found: [DocumentID: RecentFilesOrder.Document] = [:]
        for (document, opened) in state.recents.settledOpens {
            // Looking for one that is gone is long.
            if let since = gone[document], now.secondsSince(since) < Self.mourning { continue }
            if let path = path(of: document, state) {
                gone[document] = nil
                found[document] = RecentFilesOrder.Document(path: path, opened: opened.seconds)
            } else if gone.updateValue(now, forKey: document) != nil {
                state.recents.remove(document)
                gone[document] = nil
                state.log.append(
                    Mutation(
                        time: now, kind: .opened, item: .root, effects: [.removeRecent(document)]))
            }
        }
        return found
    }

    /// Those entries that lead to nothing.
    private func missing(
        _ entries: [RecentFilesOrder.Document], _ state: VolumeState
    ) -> [RecentFilesOrder.Document] {
        let prefix = options.mountPoint.pathBytes.count + 1
        return entries.filter { state.index.item(at: $0.path.dropFirst(prefix)) == 0 }
    }

    /// The absolute path of a document; nil if it has no name.
    private func path(of document: DocumentID, _ state: VolumeState) -> [UInt8]? {
        let position = state.index.holder(of: document)
        guard position != 0, let path = state.index.path(of: position) else { return nil }
        return (options.mountPoint + "/").pathBytes + path
    }

    /// Has the list changed and read; nil if that was not possible.
    private func ask(_ order: RecentFilesOrder) -> RecentFilesAnswer? {
        guard let worker = try? WorkerProcess([options.program, "--helper", "recent-files"]) else {
            return nil
        }
        let patience = WorkerChannel.Patience(milliseconds: Self.patience)
        guard (try? worker.channel.send(order.message, patience)) != nil,
            let received = try? worker.channel.receive(
                limit: RecentFilesWorker.messageBytes, patience)
        else { return nil }
        return RecentFilesAnswer(message: received.message)
    }

    // MARK: What the list says

    /// Documents that other programs say were opened are recent ones here.
    private func adopt(_ documents: [RecentFilesOrder.Document], _ told: inout Told) {
        let now = VolumeState.now()
        let prefix = options.mountPoint.pathBytes.count + 1
        volume.state.withLock { state in
            var effects: [Effect] = []
            for entry in documents {
                let position = state.index.item(at: entry.path.dropFirst(prefix))
                guard position != 0, state.isMemorable(position), entry.opened <= now.seconds else {
                    continue
                }
                let document = DocumentID(rawValue: state.index[item: position].pointee.document)
                // The list has it there: when it moves, its entry does.
                if told.documents[document] == nil { told.documents[document] = entry }
                let time = Timestamp(seconds: entry.opened, nanoseconds: 0)
                if state.recents.adopt(document, at: time) {
                    effects.append(.putRecent(document, time))
                }
            }
            if effects.isEmpty { return }
            state.log.append(Mutation(time: now, kind: .opened, item: .root, effects: effects))
        }
    }
}

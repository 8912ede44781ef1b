internal import Glibc
internal import Model
internal import PathText
internal import Synchronization
internal import SystemCalls

/// Has those told who watch what other containers grant, in the mount of an app, with inotify: the kernel
/// knows nothing of what the owners do.
///
/// Any thread. Compares what an owner says with what it said before (``GrantedResults``) and has the
/// difference repeated on the mount (``Replayer``). What the app does itself the kernel tells of.
final class GrantedReplay: Sendable {
    /// What an owner granted when it last said so.
    private struct Known {
        struct Document {
            /// From the root.
            var path: String
            var mark: Mark
            /// With the same version only its times are others.
            var version: NodeNumber?
        }
        /// The owner's folder, from the root; `nil` if it grants nothing.
        var folder: String?
        var documents: [DocumentID: Document] = [:]
    }
    /// Tells the content of a document from others that it had or will have, as far as owners tell.
    private struct Mark: Equatable {
        /// Bytes.
        var size: Int64
        var modified: Timestamp
    }
    private struct Own: Hashable {
        var owner: String
        var document: DocumentID
    }
    private struct State {
        /// All owners have been asked once: what comes now was not there before.
        var isBegun = false
        var known: [String: Known] = [:]
        var serials: [String: UInt64] = [:]
        /// What the app itself made of documents, the last few of each.
        var own: [Own: [Mark]] = [:]
    }
    private let state = Lock(State())
    private let granted: GrantedTree
    private let replayer: Replayer
    private unowned let volume: Volume

    /// How long the kernel gets to let go of the nodes of former versions by itself, in nanoseconds.
    private static let delay: UInt64 = 50_000_000
    private static let mostMarks = 16
    /// Nodes of one document that are told about; further ones are of programs that keep files open.
    private static let most = 64

    init(_ volume: Volume, _ granted: GrantedTree, _ replayer: Replayer) {
        self.volume = volume
        self.granted = granted
        self.replayer = replayer
    }

    /// All owners have been asked.
    func begin() { state.withLock { $0.isBegun = true } }

    // MARK: What the app does itself

    /// A document is about to have what the app made of it, and be like this: the kernel has told of that.
    func noteOwn(_ document: DocumentID, in owner: String, _ status: stat) {
        let mark = Mark(size: Int64(status.st_size), modified: Timestamp(status.st_mtim))
        state.withLock { state in
            var marks = state.own[Own(owner: owner, document: document)] ?? []
            if marks.contains(mark) { return }
            marks.append(mark)
            state.own[Own(owner: owner, document: document)] = marks.suffix(Self.mostMarks)
        }
    }

    // MARK: What owners do

    /// An owner has said what it grants.
    ///
    /// - Parameters:
    ///   - versions: those of the documents.
    ///   - folder: the owner's, from the root; `nil` if it grants nothing.
    ///   - serial: grows; what was said earlier does not count any more.
    func note(
        _ found: [Found], _ versions: [DocumentID: NodeNumber], in folder: String?,
        of owner: String, _ serial: UInt64
    ) {
        var now = Known(folder: folder)
        for one in found where !one.isFolder {
            now.documents[one.document] = Known.Document(
                path: one.path, mark: Mark(size: one.size, modified: one.modified),
                version: versions[one.document])
        }
        let (steps, own) = state.withLock { [now] state -> ([GrantedStep], [DocumentID]) in
            guard state.serials[owner] ?? 0 < serial else { return ([], []) }
            state.serials[owner] = serial
            guard
                var before = state.known.updateValue(now, forKey: owner)
                    ?? (state.isBegun ? Known() : nil)
            else { return ([], []) }
            var own: [DocumentID] = []
            for (id, found) in now.documents {
                guard let known = before.documents[id], known.mark != found.mark,
                    state.own[Own(owner: owner, document: id)]?.contains(found.mark) == true
                else { continue }
                before.documents[id]?.mark = found.mark
                own.append(id)
            }
            for id in before.documents.keys where now.documents[id] == nil {
                state.own[Own(owner: owner, document: id)] = nil
            }
            return (Self.steps(from: before, to: now, owner), own)
        }
        // By their names the kernel has told of them.
        for id in own { tellFormer(of: id, in: owner, isThere: true) }
        if steps.isEmpty { return }
        replayer.add(granted: steps, isWatchable: granted.knowsFolder(of: owner))
    }

    /// An owner does not answer. Its folder is there, and empty; it is compared with what it grants when
    /// it says so again.
    func noteSilence(of owner: String, folder: String) {
        state.withLock { state in
            if state.known[owner] == nil { state.known[owner] = Known(folder: folder) }
        }
    }

    /// In an order in which each name is free when something comes to it. That a folder goes is not told: the
    /// kernel would not let those use it who stand in it when it comes again.
    private static func steps(
        from before: Known, to now: Known, _ owner: String
    ) -> [GrantedStep] {
        var (away, here): ([GrantedStep], [GrantedStep]) = ([], [])
        if before.folder == nil, let path = now.folder {
            away.append(GrantedStep(kind: .made, owner: owner, path: path))
        }
        let taken = Set(before.documents.values.map { PathKey($0.path) })
        for id in Set(before.documents.keys).union(now.documents.keys) {
            func step(_ kind: GrantedStep.Kind, _ place: Known.Document) -> GrantedStep {
                GrantedStep(
                    kind: kind, owner: owner, document: id, path: place.path,
                    size: place.mark.size)
            }
            switch (before.documents[id], now.documents[id]) {
            case (let known?, nil): away.append(step(.removed, known))
            case (let known?, let found?):
                let (old, new) = (PathKey(known.path), PathKey(found.path))
                if old != new, !taken.contains(new) {
                    away.append(step(.moved(to: found.path), known))
                } else if old != new {
                    away.append(step(.removed, known))
                    here.append(step(.made, found))
                }
                if known.mark == found.mark { break }
                let isSame = known.version == found.version
                here.append(step(isSame ? .touched : .written, found))
            case (nil, let found?): here.append(step(.made, found))
            case (nil, nil): break
            }
        }
        return away + here
    }

    // MARK: Former versions

    /// The change has been told by the document's name. Who watches the document itself has a watch on the
    /// kernel's inode, which is the node of one version: those are told, too, a little later.
    func tellFormer(_ step: GrantedStep) {
        guard let document = step.document else { return }
        switch step.kind {
        // Who looked at once what is granted may know an earlier version than was there when it was told.
        case .written, .made: tellFormer(of: document, in: step.owner, isThere: true)
        case .removed: tellFormer(of: document, in: step.owner, isThere: false)
        case .moved, .touched: break
        }
    }

    private func tellFormer(of document: DocumentID, in owner: String, isThere: Bool) {
        volume.scheduler.at(MonotonicClock.now + Self.delay) { [self] in
            let current = isThere ? granted.latest(document, of: owner) : nil
            let nodes = granted.numbers(of: document, in: owner, but: current)
            replayer.add(
                nodes.prefix(Self.most).map {
                    NodeChange(node: NodeNumber(rawValue: $0), kind: .content)
                })
        }
    }

    /// The size of a document's node, and whether the document is not granted any more; `nil` for a node
    /// that the kernel does not know.
    func former(_ number: UInt64) -> (size: Int64, isGone: Bool)? {
        guard let node = try? granted.node(number), let document = node.document else { return nil }
        let isGone = state.withLock { $0.known[node.owner]?.documents[document] == nil }
        return (Int64(granted.lastShown(node)?.st_size ?? 0), isGone)
    }
}

internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Noticing that a version is replaced by a process that has not seen it: page Presentation.
extension VolumeState {
    /// Conflict versions that a document may get; further ones are not marked.
    private static let most = 16

    /// A process has seen a version of an item, or made it.
    @inline(__always)
    func noteSeen(
        _ node: NodeNumber, at position: MemoryIndex.Position, by process: Int32,
        isReading: Bool = false
    ) {
        let record = index[item: position]
        guard node.ordinal != 0, record.pointee.isRegular else { return }
        seen.note(
            DocumentID(rawValue: record.pointee.document), node, by: process,
            isReading: isReading)
    }

    /// Whether a process that replaces a document's version as a whole knows only earlier ones.
    func isUnseen(_ version: NodeNumber, of document: DocumentID, by process: Int32) -> Bool {
        guard version.ordinal != 0, let last = seen.last(of: document, by: process),
            last != version, marks.conflicts[version] == nil,
            marks.conflicts(of: document).count < Self.most
        else { return false }
        // Who has read the document may have it in memory. A shell has not: it goes on with what the
        // programs have left that it ran.
        return seen.hasRead(document, process)
            || !seen.processes(of: document, version).contains {
                descent.hasStarted(process, $0)
            }
    }

    /// Marks a version as one of a conflict; the item at `position` is the document now.
    func markConflict(_ version: NodeNumber, at position: MemoryIndex.Position, by process: Int32) {
        let document = DocumentID(rawValue: index[item: position].pointee.document)
        marks.set(.conflict, version, of: document, true)
        record(
            .conflicted, position, process: process, at: Self.now(),
            VersionMark.conflict.effects(version, true))
    }

    /// What a session wrote becomes the item's version: says which version that replaces unseen.
    func unseenVersion(before session: WriteSession, at position: MemoryIndex.Position)
        -> NodeNumber?
    {
        defer { session.rewriter = 0 }
        let record = index[item: position].pointee
        guard session.rewriter != 0, record.size > 0,
            isUnseen(
                record.node, of: DocumentID(rawValue: record.document), by: session.rewriter)
        else { return nil }
        return record.node
    }
}

extension Volume {
    /// A process uses documents.
    func meet(_ process: Int32) {
        let met = descent.note(process)
        if met.isEmpty { return }
        state.withLock { state in
            for (process, start) in met { state.seen.meet(process, startedAt: start) }
        }
    }

    /// The conflict versions of the document under a node, by name; ENODATA if there is none.
    func conflictNames(_ node: NodeNumber) throws(Errno) -> String {
        let versions = try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)].pointee
            return state.marks.conflicts(of: DocumentID(rawValue: record.document))
        }
        if versions.isEmpty { throw Errno(ENODATA) }
        return versions.map(\.versionName).joined(separator: " ")
    }
}

/// `.shapeedit/conflicts`: symlinks to the documents that have conflict versions.
extension VirtualTree {
    func conflicts() -> [(String, VirtualNode)] {
        let documents = volume.state.withLock { Set($0.marks.conflicts.values) }
        let places = documents.compactMap { document in
            path(of: document).map { (document: document, path: $0) }
        }
        return Self.distinct(
            places.sorted { $0.path.lexicographicallyPrecedes($1.path) }.map { place in
                let name = place.path.split(separator: UInt8(ascii: "/")).last ?? []
                return (String(path: name), .document(place.document, path: place.path))
            })
    }

    func conflict(named name: String) throws(Errno) -> VirtualNode {
        let name = PathKey(name)
        guard let found = conflicts().first(where: { PathKey($0.0) == name }) else {
            throw Errno(ENOENT)
        }
        return found.1
    }
}

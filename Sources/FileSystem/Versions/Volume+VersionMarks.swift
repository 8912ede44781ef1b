internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Marks of versions: what is pinned, and what belongs to a conflict.
extension Volume {
    /// What the attribute of a mark says; ENODATA if its name cannot be a version's.
    func versionMark(_ mark: VersionMark, _ name: Substring) throws(Errno) -> String {
        guard let version = NodeNumber(versionName: name) else { throw Errno(ENODATA) }
        return state.withLock { mark.word($0.marks.has(mark, version)) }
    }

    /// Marks a version of the document under `node`, or takes the mark away. Only the owner or root
    /// may; ENOENT if the document has no such version. ESTALE if the file was replaced since its path was
    /// looked up: the kernel walks the path again then.
    func setVersionMark(
        _ mark: VersionMark, _ node: NodeNumber, _ name: Substring, _ value: String,
        _ caller: Caller
    ) throws(Errno) {
        guard let version = NodeNumber(versionName: name), let isMarked = mark.isMarked(value)
        else { throw Errno(EINVAL) }
        try marking.withLock { (_) throws(Errno) in
            try set(mark, version, isMarked, node, caller)
        }
        if !isMarked { keeper.wake() }
    }

    /// One at a time: a mark that is not recorded yet is neither to be taken away nor told of.
    private func set(
        _ mark: VersionMark, _ version: NodeNumber, _ isMarked: Bool, _ node: NodeNumber,
        _ caller: Caller
    ) throws(Errno) {
        // Taken before the version is looked for: from here on the keeper leaves it.
        let (document, was, hasName) = try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            guard caller.user == 0 || caller.user == record.pointee.user else {
                throw Errno(EPERM)
            }
            let document = DocumentID(rawValue: record.pointee.document)
            let was = state.marks.has(mark, version)
            // One that has it already may be another document's, which it stays.
            if isMarked, !was { state.marks.set(mark, version, of: document, true) }
            return (document, was, record.pointee.links > 0)
        }
        do throws(Errno) {
            guard let row = try versionRow(version) else { throw Errno(ENOENT) }
            if row.document != document { throw Errno(hasName ? ENOENT : ESTALE) }
            if was == isMarked { return }
            try change { (state) throws(Errno) in
                if !isMarked { state.marks.set(mark, version, of: document, false) }
                let sequence = state.record(
                    mark.changeKind, try state.position(node),
                    process: CallerProcess.process(of: caller.thread), at: VolumeState.now(),
                    mark.effects(version, isMarked))
                if !isMarked { state.thinning.insert(document) }
                return ((), sequence)
            }
        } catch {
            if !was { state.withLock { $0.marks.set(mark, version, of: document, false) } }
            throw error
        }
    }

    /// The version's row; `nil` if it is gone. EIO if the catalog cannot be asked.
    func versionRow(_ node: NodeNumber) throws(Errno) -> VersionRow? {
        do throws(Failure) {
            return try container.query { (database) throws(Failure) in
                try database.version(node.item, node.ordinal)
            }
        } catch { throw Errno(EIO) }
    }
}

internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Pins of versions: what is pinned stays whatever its age.
extension Volume {
    /// Whether a version stays.
    enum VersionPin: String {
        case keep
        case usual = "default"
    }

    /// What stands between `pin.` and the end of an attribute's name; `nil` for another attribute.
    static func pinnedName(_ key: String) -> Substring? {
        key.hasPrefix("pin.") ? key.dropFirst(4) : nil
    }

    /// Whether a version of the document is pinned; ENODATA if its name cannot be one.
    func versionPin(_ node: NodeNumber, _ name: Substring) throws(Errno) -> VersionPin {
        guard let version = NodeNumber(versionName: name) else { throw Errno(ENODATA) }
        return state.withLock { $0.pinnedVersions.contains(version) } ? .keep : .usual
    }

    /// Pins a version of the document under `node`, or lets go of it. Only the owner or root may;
    /// ENOENT if the document has no such version.
    func setVersionPin(
        _ node: NodeNumber, _ name: Substring, _ value: String, _ caller: Caller
    ) throws(Errno) {
        guard let version = NodeNumber(versionName: name), let pin = VersionPin(rawValue: value)
        else { throw Errno(EINVAL) }
        // Taken before the version is looked for: from here on the keeper leaves it.
        let (document, wasPinned) = try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            guard caller.user == 0 || caller.user == record.pointee.user else {
                throw Errno(EPERM)
            }
            let wasPinned = state.pinnedVersions.contains(version)
            if pin == .keep { state.pinnedVersions.insert(version) }
            return (DocumentID(rawValue: record.pointee.document), wasPinned)
        }
        do throws(Errno) {
            guard let row = try versionRow(version), row.document == document else {
                throw Errno(ENOENT)
            }
            if wasPinned == (pin == .keep) { return }
            try change { (state) throws(Errno) in
                if pin == .usual { state.pinnedVersions.remove(version) }
                let sequence = state.log.append(
                    Mutation(
                        time: VolumeState.now(), kind: .versionPinned, item: node.item,
                        process: CallerProcess.process(of: caller.thread),
                        effects: [
                            .pinVersion(version.item, version.ordinal, pin == .keep)
                        ]))
                if pin == .usual { state.thinning.insert(document) }
                return ((), sequence)
            }
        } catch {
            if !wasPinned { state.withLock { _ = $0.pinnedVersions.remove(version) } }
            throw error
        }
        if pin == .usual { keeper.wake() }
    }

    /// The version's row; `nil` if it is gone. EIO if the catalog cannot be asked.
    func versionRow(_ node: NodeNumber) throws(Errno) -> VersionRow? {
        let row: VersionRow?? = try? container.query { (database) throws(Failure) in
            try database.version(node.item, node.ordinal)
        }
        guard let row else { throw Errno(EIO) }
        return row
    }
}

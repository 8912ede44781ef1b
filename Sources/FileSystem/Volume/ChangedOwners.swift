internal import Catalog
internal import Glibc
internal import Model
internal import SystemCalls

/// The kernel checks who may change attributes by the owner and the group that it has of the node. When they
/// were changed by another node of the item it was told to forget them, but chmod(2), chown(2) and utimensat(2)
/// do not make it ask for them again. So what comes by such a node is checked here, too.
extension VolumeState {
    /// The owner or the group was changed by `node`, and the kernel may go on with what it has under the others
    /// that it knows: whichever it asks for from now on it is told of with the new ones.
    func noteChangedOwner(_ position: MemoryIndex.Position, by node: NodeNumber) {
        for other in otherNodes(position, than: node) where isKnown(other, at: position) {
            changedOwners.insert(other.rawValue)
        }
    }

    /// Whether the kernel knows the node.
    func isKnown(_ node: NodeNumber, at position: MemoryIndex.Position) -> Bool {
        if let session = session(of: node, at: position) { return session.lookups > 0 }
        let record = index[item: position]
        if record.pointee.node == node { return record.pointee.lookups > 0 }
        return oldNode(node).map { $0.lookups > 0 } ?? false
    }

    /// What the caller may set of `settings` by `node`: without set-group-id for a group that is not theirs,
    /// as in the kernel. EPERM if they may not.
    ///
    /// - Parameter rights: theirs, if they were asked for before; else they are here, which takes a while.
    func admit(
        _ settings: Settings, _ node: NodeNumber, at position: MemoryIndex.Position,
        _ caller: Caller, _ rights: ThreadRights?
    ) throws(Errno) -> Settings {
        guard caller.user != 0, changedOwners.contains(node.rawValue) else { return settings }
        let record = index[item: position]
        let (owner, group) = (record.pointee.user, record.pointee.group)
        let rights = rights ?? ThreadRights(of: caller.thread)
        func isGroup(_ group: UInt32) -> Bool {
            group == caller.group || rights.isMember(of: group)
        }
        if settings.needsOwner, owner != caller.user, !rights.has(.ownFiles) {
            throw Errno(EPERM)
        }
        let gives = settings.user.map { $0 != owner || owner != caller.user } ?? false
        let regroups =
            settings.group.map { owner != caller.user || $0 != group && !isGroup($0) } ?? false
        if gives || regroups, !rights.has(.changeOwner) { throw Errno(EPERM) }
        var admitted = settings
        if let mode = settings.mode, mode & S_ISGID != 0, !isGroup(group),
            !rights.has(.keepSetGroup)
        {
            admitted.mode = mode & ~S_ISGID
        }
        return admitted
    }
}

extension Settings {
    /// Whether these are things that only the owner sets. Who may write sets the times to now.
    fileprivate var needsOwner: Bool {
        if mode != nil { return true }
        return [accessed, modified].contains {
            if case .at? = $0 { true } else { false }
        }
    }
}

internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// Requests of the process that repeats changes (``Replayer``): they are answered with what is true
/// already, and make no change. What is not true is refused.
extension FuseSession {
    /// Whether the request is one of those.
    @inline(__always)
    func isReplay(_ request: Request) -> Bool {
        guard let replayer = volume.replayer else { return false }
        return replayer.isHelper(request.caller.thread)
    }

    /// Answers a LOOKUP with what was there before the change, and the one by which the process knows that
    /// it is on this mount; false for all other names.
    func lookupReplayed(
        _ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer
    ) -> Bool {
        if parent.rawValue & VirtualTree.bit != 0 {
            return lookupReplayed(request, inVirtual: parent.rawValue, Array(name))
        }
        if parent.item == .root, name.elementsEqual(ReplayPlace.proof.utf8) {
            request.fail(Errno(ReplayPlace.answer))
            return true
        }
        let place = ReplayStep.Place(parent: parent.item, name: Array(name))
        switch volume.replayer?.look(at: place) ?? .ordinary {
        case .ordinary: return false
        case .absent:
            // Nobody else may rely on it.
            request.answer(Entry(node: 0, status: stat(), timeout: 0))
        case .present(let step):
            request.answer(volume.state.withLock { $0.replayEntry(step) })
        }
        return true
    }

    /// Answers what makes a name: it is there.
    func makeReplayed(
        _ request: Request, _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        if parent & VirtualTree.bit != 0 {
            guard let made = replayedQuery(parent, Array(name)) else { throw Errno(EROFS) }
            if made.isFolder {
                // Where rmdir(2) was faster the kernel has told that it went: it must not come after that.
                if (try? volume.savedQuery(made.name)) == nil,
                    volume.replayer?.isGoing(query: made.name) != true
                {
                    throw Errno(ENOENT)
                }
            }
            // A folder is followed when somebody looks it up, not before. A link may have gone again: that is told
            // next, and would be of a name that never came.
            return request.answer(try virtual.entry(made.node, counted: true))
        }
        request.answer(try replayedEntry(parent, name))
    }

    /// The name among the saved queries, or in the folder of one, that the helper is at, if it is
    /// this one.
    private func replayedQuery(_ parent: UInt64, _ name: [UInt8]) -> QueryEntry? {
        switch try? virtual.node(parent) {
        case .queries?: return volume.replayer?.entry(of: nil, name)
        case .query(let query)?: return volume.replayer?.entry(of: query, name)
        default: return nil
        }
    }

    private func lookupReplayed(
        _ request: Request, inVirtual parent: UInt64, _ name: [UInt8]
    ) -> Bool {
        if case .former? = try? virtual.node(parent) {
            let node = volume.replayer?.former(name, in: parent)
            let entry = node.flatMap { node in
                GrantedTree.has(node.rawValue)
                    ? replayedEntry(grantedFormer: node.rawValue)
                    : volume.state.withLock { $0.replayedEntry(former: node) }
            }
            request.answer(entry ?? Entry(node: 0, status: stat(), timeout: 0))
            return true
        }
        guard let replayed = replayedQuery(parent, name) else { return false }
        if replayed.isGone, let entry = try? virtual.entry(replayed.node, counted: true) {
            request.answer(entry)
        } else {
            request.answer(Entry(node: 0, status: stat(), timeout: 0))
        }
        return true
    }

    /// Answers what makes a file and opens it for writing.
    func createReplayed(
        _ request: Request, _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        let entry = try replayedEntry(parent, name)
        let node = NodeNumber(rawValue: entry.node)
        do throws(Errno) { try checkOpenable(node) } catch {
            volume.forget(node, 1)
            throw error
        }
        var parameter = fuse_entry_param(entry)
        let sent = shim_reply_create(
            request.pointer, &parameter, Handle.replayed.rawValue, UInt32(SHIM_FOPEN_DIRECT_IO), 0)
        if sent == -ENOENT { volume.forget(node, 1) }
    }

    /// Answers an OPEN for writing.
    func openReplayed(_ request: Request, _ node: NodeNumber) throws(Errno) {
        try checkOpenable(node)
        // The node's bytes are what they were: who has mapped them keeps the pages.
        let flags = UInt32(SHIM_FOPEN_DIRECT_IO | SHIM_FOPEN_KEEP_CACHE)
        _ = shim_reply_open(request.pointer, Handle.replayed.rawValue, flags, 0)
    }

    /// Answers UNLINK and RMDIR: the name is gone.
    func removeReplayed(
        _ request: Request, _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        if parent & VirtualTree.bit != 0 {
            guard replayedQuery(parent, Array(name))?.isGone == true else { throw Errno(EROFS) }
        } else {
            try checkTaken(parent, name)
        }
        request.succeed()
    }

    /// Answers a RENAME, which finds nothing at the other name (RENAME_NOREPLACE).
    func renameReplayed(
        _ request: Request, _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        // A node that is told to have moved: its name is there for the helper alone.
        if case .former? = try? virtual.node(parent) { return request.succeed() }
        try checkTaken(parent, name)
        request.succeed()
    }

    /// Throws EEXIST if the kernel would take away what has come to the name since: it forgets that, and is
    /// asked again.
    private func checkTaken(
        _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        let place = ReplayStep.Place(
            parent: NodeNumber(rawValue: parent).item, name: Array(name))
        if volume.replayer?.isTaking(from: place) == true { return }
        if volume.state.withLock({ $0.item(at: place) }) != 0 { throw Errno(EEXIST) }
    }

    /// The entry of a name, counted as looked up.
    private func replayedEntry(_ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer) throws(Errno)
        -> Entry
    {
        let place = ReplayStep.Place(
            parent: NodeNumber(rawValue: parent).item, name: Array(name))
        return try volume.read { (state) throws(Errno) in
            let position = state.item(at: place)
            if position == 0 { throw Errno(ENOENT) }
            let node = state.index[item: position].pointee.node
            state.countLookup(node, at: position)
            return state.entry(of: node, at: position)
        }
    }

    /// A node whose file the kernel has must be opened with that file, or not at all.
    private func checkOpenable(_ node: NodeNumber) throws(Errno) {
        if volume.state.withLock({ $0.modes[node.rawValue]?.passthrough ?? 0 }) > 0 {
            throw Errno(EBUSY)
        }
    }
}

extension VolumeState {
    /// The item of a step as it was before, counted as looked up if it is still known here.
    fileprivate func replayEntry(_ step: ReplayStep) -> Entry {
        let position = index.find(step.node.item)
        var entry = Entry(node: step.node.rawValue, status: stat(), timeout: 0)
        if position != 0 {
            let node = index[item: position].pointee.node
            countLookup(node, at: position)
            entry = self.entry(of: node, at: position)
            entry.timeout = 0
        } else {
            entry.status.st_ino = UInt(step.node.item.rawValue)
            entry.status.st_mode = step.mode
        }
        // It has the name that is about to go.
        let least: UInt = step.mode & S_IFMT == S_IFDIR ? 2 : 1
        entry.status.st_nlink = max(entry.status.st_nlink, least)
        return entry
    }
}

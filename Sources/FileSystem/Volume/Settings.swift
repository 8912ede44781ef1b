internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// What chmod, chown, truncate and utimensat ask for.
struct Settings: Sendable {
    enum Moment: Sendable {
        case now
        case at(Timestamp)
    }
    var mode: UInt32?
    var user: UInt32?
    var group: UInt32?
    var size: Int64?
    var accessed: Moment?
    var modified: Moment?

    /// Whether nothing is asked for, but perhaps a size.
    var isBare: Bool {
        mode == nil && user == nil && group == nil && accessed == nil && modified == nil
    }
}

extension Volume {
    /// Changes attributes. `reply` is called once, perhaps on another thread.
    ///
    /// A size can only be set on the session's node: truncate(2) on a version's is redirected by
    /// ESTALE as a writing open is, and published at once when nobody else writes.
    func set(
        _ node: NodeNumber, _ handle: Handle?, _ settings: Settings, _ caller: Caller,
        reply: @escaping @Sendable (Result<Entry, Errno>) -> Void
    ) {
        do throws(Errno) {
            var target = node
            var stale: [(parent: UInt64, name: [UInt8])] = []
            if let size = settings.size {
                switch try resize(node, handle, to: size, caller) {
                case .done(let resized, let names): (target, stale) = (resized, names)
                case .redirected(let names):
                    // Not after it: the kernel has the file locked for this request, and whoever
                    // removes or renames the file waits for that lock with the directory locked. It
                    // looks the name that it came by up again anyway.
                    forget(names: names, of: node.item) {}
                    reply(.failure(Errno(ESTALE)))
                    return
                }
            }
            var others = try setRecorded(target, settings, caller)
            if target != node {
                // The kernel cuts off the pages of the node that it named only.
                notifier.post { [channel, target] in
                    channel?.invalidate(node: target.rawValue, pages: true)
                }
                others.append(target)
            }
            refresh(others) { [self, stale] in
                forgetSoon(names: stale, of: node.item) { [self] in
                    do throws(Errno) {
                        reply(.success(try attributes(node)))
                    } catch {
                        reply(.failure(error))
                    }
                }
            }
        } catch {
            reply(.failure(error))
        }
    }

    private enum Resized {
        /// With the names by which the kernel may still lead others to the version before.
        case done(NodeNumber, stale: [(parent: UInt64, name: [UInt8])])
        case redirected([(parent: UInt64, name: [UInt8])])
    }

    private func resize(_ node: NodeNumber, _ handle: Handle?, to size: Int64, _ caller: Caller)
        throws(Errno) -> Resized
    {
        let process = CallerProcess.process(of: caller.thread)
        if let handle, handle.writes {
            let session = try session(node, handle)
            try truncate(session, to: size, by: process)
            return .done(session.node, stale: [])
        }
        let now = MonotonicClock.now
        let (session, names) = try read {
            (state) throws(Errno) -> (WriteSession?, [(parent: UInt64, name: [UInt8])]) in
            let position = try state.position(node)
            if !state.index[item: position].pointee.isRegular { throw Errno(EINVAL) }
            if let session = state.session(of: node, at: position) {
                state.redirections[caller.thread] = nil
                session.count(process, user: caller.user, thread: caller.thread)
                return (
                    session,
                    session.mayBeMissed
                        ? state.leadingNames(of: position) : state.otherNames(of: position)
                )
            }
            if let session = join(state, node, at: position, process, caller, now, size: size) {
                // No path was walked again: the kernel has the version under every name.
                return (session, state.leadingNames(of: position))
            }
            return (nil, state.staleNames(of: position, now).names)
        }
        guard let session else { return .redirected(names) }
        // A handle for the time of the call was counted, so that the end of it is a last close.
        defer { end(session, node.item, process) }
        try truncate(session, to: size, by: process)
        do throws(Errno) {
            let status = try content.stagingStatus(session.node)
            try content.record(session.node)
            try log.admit()
            let sequence = try state.withLock { (state) throws(Errno) in
                try state.acknowledge(session, status, synced: false)
            }
            try log.flush(upTo: sequence)
        } catch {
            // What fails has done nothing: what it has cut off is no version.
            failed(session, error)
            throw error
        }
        return .done(session.node, stale: names)
    }

    /// Everything but the size. Returns the item's other nodes, whose attributes are stale now.
    private func setRecorded(_ node: NodeNumber, _ settings: Settings, _ caller: Caller)
        throws(Errno) -> [NodeNumber]
    {
        if settings.isBare, settings.size != nil {
            if caller.user != 0 { try dropPrivileges(node) }
            return []
        }
        // Nothing at all is what a chown(2) sets that names neither owner nor group. The kernel does not
        // ask who may, and asks the same before a write: that one takes the bits away by itself, but where
        // the kernel writes alone.
        if settings.isBare, try !mayTakePrivileges(node, caller) { return [] }
        // Not with the lock held: that is several looks at files of /proc.
        var rights: ThreadRights?
        if caller.user != 0, state.withLock({ $0.changedOwners.contains(node.rawValue) }) {
            rights = ThreadRights(of: caller.thread)
        }
        _ = try read { (state) throws(Errno) in
            try state.admit(settings, node, at: try state.position(node), caller, rights)
        }
        let modified = try setStagedTime(node, settings)
        let staged = try settings.mode.map { (_) throws(Errno) in try stagedStatus(node) }
        return try change { (state) throws(Errno) in
            let position = try state.position(node)
            let record = state.index[item: position]
            let settings = try state.admit(settings, node, at: position, caller, rights)
            let time = VolumeState.now()
            if let mode = settings.mode {
                record.pointee.mode = record.pointee.mode & S_IFMT | mode & 0o7777
                state.sessions[position]?.modeSet = staged ?? nil
                // The file's own time of its last write is hidden now.
                if let session = state.sessions[position], session.recorded != nil,
                    let status = staged ?? nil
                {
                    _ = try state.acknowledge(session, status, synced: false)
                }
            }
            if settings.user != nil || settings.group != nil || settings.isBare {
                // As Linux does for everybody, root too.
                if !record.pointee.isDirectory {
                    // Files of every kind lose them, not only regular ones.
                    record.pointee.mode &= ~VolumeState.privileges(
                        record.pointee.mode & 0o7777 | S_IFREG)
                }
                if let user = settings.user { record.pointee.user = user }
                if let group = settings.group { record.pointee.group = group }
                if settings.user != nil || settings.group != nil {
                    state.noteChangedOwner(position, by: node)
                }
            }
            state.stamp(position, time)
            // What is set to now is set to the time of this change, also within a tick of the clock.
            let now = Timestamp(rawValue: record.pointee.changed)
            if let accessed = settings.accessed {
                record.pointee.accessed = accessed.timestamp(now).rawValue
            }
            if let moment = settings.modified, !modified {
                record.pointee.modified = moment.timestamp(now).rawValue
                record.pointee.flags.insert(.hasSetTime)
                if var old = state.oldNode(node) {
                    old.modified = moment.timestamp(now).rawValue
                    state.keepOldNode(node, old, at: position)
                }
            }
            let isWriter = state.session(of: node, at: position) != nil
            state.noteOtherNodes(
                isWriter ? .attributesByWriter : .attributes, position, but: node)
            let sequence = state.record(
                .attributes, position, process: CallerProcess.process(of: caller.thread), at: time)
            return (state.otherNodes(position, than: node), sequence)
        }
    }

    private func mayTakePrivileges(_ node: NodeNumber, _ caller: Caller) throws(Errno) -> Bool {
        if caller.user == 0 { return true }
        return try read { (state) throws(Errno) in
            let position = try state.position(node)
            return state.index[item: position].pointee.user == caller.user
                || state.sessions[position]?.isWrittenUnseen == true
        }
    }

    /// Sets the modification time of staged bytes on their file, whose own time is the session's: also
    /// for those who see the version before it, or its publish would take their time back. Says
    /// whether it is done with that.
    private func setStagedTime(_ node: NodeNumber, _ settings: Settings) throws(Errno) -> Bool {
        guard let moment = settings.modified else { return false }
        let (session, isOwn) = try read { (state) throws(Errno) -> (WriteSession?, Bool) in
            let position = try state.position(node)
            if let own = state.session(of: node, at: position) { return (own, true) }
            let isCurrent = state.index[item: position].pointee.node == node
            return (isCurrent ? state.sessions[position] : nil, false)
        }
        guard let session, state.withLock({ _ in session.isStaged }) else { return false }
        let (before, after): (FileStatus, FileStatus)
        do throws(Errno) {
            before = try content.stagingStatus(session.node)
            // Still nothing written: the time is the document's own, not a new version's.
            guard state.withLock({ _ in session.isChanged(before) }) else { return false }
            try content.setModified(session.node, moment.timestamp(VolumeState.now()))
            after = try content.stagingStatus(session.node)
        } catch {
            if state.withLock({ $0.lasts(session) }) { throw Self.lost(error) }
            // Ended meanwhile, and its file with it.
            return false
        }
        return state.withLock { state in
            guard state.lasts(session) else { return false }
            if session.modeSet == before { session.modeSet = after }
            return isOwn
        }
    }

    /// The staging file of the item's session, whoever has it open; `nil` if nothing is staged.
    private func stagedStatus(_ node: NodeNumber) throws(Errno) -> FileStatus? {
        let session = try read { (state) throws(Errno) -> WriteSession? in
            state.sessions[try state.position(node)].flatMap { $0.isStaged ? $0 : nil }
        }
        // Ended meanwhile: then there is no session that it would matter to.
        return session.flatMap { try? distinctStatus($0) }
    }

    private func dropPrivileges(_ node: NodeNumber) throws(Errno) {
        let needed = try read { (state) throws(Errno) in
            VolumeState.privileges(state.index[item: try state.position(node)].pointee.mode) != 0
        }
        if !needed { return }
        try change { (state) throws(Errno) in
            let position = try state.position(node)
            let record = state.index[item: position]
            record.pointee.mode &= ~VolumeState.privileges(record.pointee.mode)
            return ((), state.record(.attributes, position, at: VolumeState.now()))
        }
    }

    /// Takes note of a listing of a folder as of a read.
    func noteListing(_ node: NodeNumber, _ flags: Int32) {
        if !noFolderAccessTimes { noteAccess(node, flags) }
    }

    /// Takes note of a read as relatime does: at most once a day, or after a change.
    ///
    /// - Returns: whether the kernel may not see that there is another time of access now. It asks for it
    ///   after a read that it has not served from its pages, as is the first one of a version that is small:
    ///   then nothing but writing it has made the time old.
    @discardableResult
    func noteAccess(_ node: NodeNumber, _ flags: Int32) -> Bool {
        if flags & OwnedDescriptor.noAccessTime != 0 || noAccessTimes { return false }
        return state.withLock { state in
            let position = state.index.find(node.item)
            if position == 0 { return false }
            let record = state.index[item: position]
            let accessed = record.pointee.accessed
            let now = VolumeState.now()
            let day = 86_400.0
            guard
                accessed <= record.pointee.modified || accessed <= record.pointee.changed
                    || now.secondsSince(Timestamp(rawValue: accessed)) >= day
            else { return false }
            if now.rawValue == accessed { return false }
            // Later than what made it old, or the next read in the same tick would count again. But nobody
            // reads in the future, where a time of modification may have been set.
            let latest = Timestamp(
                rawValue: max(record.pointee.changed, record.pointee.modified))
            let isOfThisTick = latest.secondsSince(now) < 1
            record.pointee.accessed = (isOfThisTick ? max(now, latest.successor) : now).rawValue
            state.accessed.insert(position)
            record.pointee.flags.insert(.accessPending)
            let isTold = record.pointee.flags.remove(.hasSetTime) == nil
            return !isTold || accessed > record.pointee.modified
                || record.pointee.changed > record.pointee.modified
                || record.pointee.size > Self.smallRead
        }
    }
}

extension Settings.Moment {
    func timestamp(_ now: Timestamp) -> Timestamp {
        switch self {
        case .now: now
        case .at(let time): time
        }
    }
}

internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

extension Volume {
    /// How long a session must be quiet after an fsync to be shown to readers while it goes on, in
    /// milliseconds: for databases, which never close.
    static let quiet: UInt64 = 2_000
    /// So many are copied at once, and how long further ones wait before they try again, in milliseconds.
    private static let mostQuietPublishes = 4
    private static let quietPause: UInt64 = 20

    /// fsync(2): the bytes, and all that was done before, survive power loss when this returns.
    func synchronize(_ node: NodeNumber, _ handle: Handle?) throws(Errno) {
        let session = try read { (state) throws(Errno) -> WriteSession? in
            let position = try state.position(node)
            let session =
                handle?.isDirect == true
                ? state.sessions[position] : state.session(of: node, at: position)
            return session?.isStaged == true ? session : nil
        }
        guard let session else {
            if try keeper.seal(node) { return }
            try log.synchronize()
            return
        }
        // Cut off as it is it must not take the place of the version before.
        let (failure, writes) = state.withLock { _ in
            (session.writes == session.writesAtFailure ? session.failure : nil, session.writes)
        }
        if let failure { throw failure }
        try checkRoom(session)
        let file: SharedDescriptor
        let status: FileStatus
        do throws(Errno) {
            file = try openStaged(session)
            // Asked before: what others write from here on may not be on the disk, and shows as a difference.
            status = try distinctStatus(session)
        } catch {
            if state.withLock({ $0.lasts(session) }) { throw Self.lost(error) }
            // Ended meanwhile, without this handle having written: it is a version's now.
            return try synchronize(node, handle)
        }
        try content.synchronize(session.node, file)
        try log.admit()
        let now = MonotonicClock.now
        try state.withLock { (state) throws(Errno) in
            session.failure = nil
            // What is durable of a draft is no version yet.
            guard session.isChanged(status), !session.isDraft else { return }
            session.synced = StagedMoment(status: status, writes: writes)
            session.syncedAt = now
            _ = try state.acknowledge(session, status, synced: true)
        }
        try log.synchronize()
        planQuietPublish(session)
    }

    /// Makes a write durable before it is answered, if it is to be. Where it goes through the page cache
    /// the kernel asks for an fsync afterwards, else it leaves that to us.
    func synchronizeWrite(
        _ node: NodeNumber, _ handle: Handle, _ session: WriteSession, _ place: WritePlace
    ) throws(Errno) {
        guard place.lasts, handle.bypassesCache else { return }
        state.withLock { _ in
            session.touched = true
            session.writes += 1
        }
        try synchronize(node, handle)
        // Whoever answers counts it once more.
        state.withLock { _ in session.synced?.writes += 1 }
    }

    /// fsync(2) of a directory.
    func synchronizeDirectory() throws(Errno) { try log.synchronize() }

    /// Plans one look at the session for the moment when it may have become quiet.
    private func planQuietPublish(_ session: WriteSession) {
        let moment = state.withLock { _ -> UInt64? in
            if session.isQuietPlanned || session.syncedAt == 0 { return nil }
            session.isQuietPlanned = true
            return session.syncedAt + Self.quiet * 1_000_000
        }
        guard let moment else { return }
        scheduler.at(moment) { [weak self] in
            guard let volume = self else { return }
            let isQuiet = volume.state.withLock { _ in
                session.isQuietPlanned = false
                return volume.isQuiet(session)
            }
            if isQuiet {
                volume.publishSoon(session)
            } else {
                volume.planQuietPublish(session)
            }
        }
    }

    /// Whether nothing has been synced for two seconds. Under the volume's lock.
    private func isQuiet(_ session: WriteSession) -> Bool {
        MonotonicClock.now >= session.syncedAt + Self.quiet * 1_000_000
    }

    /// Copying takes time; the scheduler has none.
    private func publishSoon(_ session: WriteSession) {
        let starts = quietPublishes.withLock { count -> Bool in
            if count >= Self.mostQuietPublishes { return false }
            count += 1
            return true
        }
        guard starts else {
            return scheduler.at(MonotonicClock.after(milliseconds: Self.quietPause)) {
                [weak self] in
                self?.publishSoon(session)
            }
        }
        Threads.start("quiet publish") { [self] in
            publishQuiet(session)
            quietPublishes.withLock { $0 -= 1 }
        }
    }

    /// Publishes a copy of a session that has been quiet since its fsync and goes on.
    func publishQuiet(_ session: WriteSession) {
        let (synced, isBusy) = state.withLock { state -> (StagedMoment?, Bool) in
            guard state.lasts(session), session.syncedAt != 0 else { return (nil, false) }
            // Others may have been copied first, and it may have gone on meanwhile.
            if !isQuiet(session) { return (nil, true) }
            session.syncedAt = 0
            return (session.synced, false)
        }
        if isBusy { return planQuietPublish(session) }
        guard let synced, publishCopy(of: session, ifStill: synced) else { return }
        let now = MonotonicClock.now
        state.withLock { _ in if session.syncedAt == 0 { session.syncedAt = now } }
        planQuietPublish(session)
    }

    /// Publishes a durable copy of what a session has staged, which goes on.
    ///
    /// - Parameter expected: what is to be copied.
    /// - Returns: whether nothing was published because something else is staged now, or was meanwhile.
    func publishCopy(of session: WriteSession, ifStill expected: StagedMoment) -> Bool {
        let item = session.node.item
        let (node, writes, hidden) = state.withLock { state -> (NodeNumber?, UInt64, FileStatus?) in
            let position = state.index.find(item)
            guard position != 0, state.sessions[position] === session else { return (nil, 0, nil) }
            return (
                NodeNumber(item, state.index[item: position].pointee.takeOrdinal()), session.writes,
                session.hidden
            )
        }
        guard let node, let now = try? content.stagingStatus(session.node) else { return false }
        if StagedMoment(status: now, writes: writes) != expected { return true }
        // One that had no file of its own has one now, with other times.
        guard let file = try? content.openStaging(session.node) else { return false }
        // What a mapping writes into pages that it wrote before shows in no time until those are on the disk.
        if state.withLock({ _ in session.mayBeMapped }),
            (try? content.synchronize(session.node, file)) == nil
        {
            return false
        }
        guard let status = try? file.status() else { return false }
        let staged = ContentReference(
            node: session.node, place: .staged, hash: nil, size: status.size)
        // It may grow meanwhile, which the comparison finds.
        guard
            let copy = try? content.createStaging(
                node, copyOf: staged, size: status.size, anyLength: true),
            let after = try? content.openStaging(session.node).status()
        else { return false }
        if after != status {
            content.removeStaging(node)
            return true
        }
        try? content.setModified(node, state.withLock { _ in session.shown(status).modified })
        // The session may end without a version of its own: then only this one has what the fsync or the
        // rename promised.
        let isDurable: Void? = try? copy.with { (file) throws(Errno) in
            try check { fsync(file.number) }
        }
        if isDurable == nil {
            content.removeStaging(node)
            return false
        }
        let published = state.withLock { state -> Bool in
            let position = state.index.find(item)
            guard position != 0, state.sessions[position] === session,
                let copied = try? copy.status()
            else { return false }
            let unseen = state.unseenVersion(before: session, at: position)
            state.setCurrent(
                position, node, copied, durable: true, author: session.author,
                keepsPrivileges: session.keepsPrivileges(status), removing: nil)
            for process in session.writers.keys {
                state.noteSeen(node, at: position, by: process)
            }
            if let unseen { state.markConflict(unseen, at: position, by: session.lastWriter) }
            session.base = state.content(position)
            session.baseline = status
            // What was written since the copy was begun may be in it or not.
            session.touched = session.writes != writes || session.hidden != hidden
            return true
        }
        if !published { content.removeStaging(node) }
        try? log.flush(upTo: log.head)
        keeper.needsSync()
        return false
    }
}

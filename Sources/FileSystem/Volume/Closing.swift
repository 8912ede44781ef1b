internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The publish rule: FLUSH makes what was written survive the daemon, the RELEASE of the last
/// writing handle makes it the current version.
extension Volume {
    /// close(2) of one descriptor. What was written survives the daemon when this returns; `reply`
    /// runs when the close may return, which is later if the document has a picture to be drawn
    /// first. If this throws, `reply` does not run.
    ///
    /// - Parameters:
    ///   - owner: whose fcntl locks on the file end.
    ///   - thread: who closes.
    func flush(
        _ node: NodeNumber, _ handle: Handle, owner: UInt64, by thread: Int32,
        _ reply: @escaping @Sendable () -> Void
    ) throws(Errno) {
        dropRecordLocks(node.item, handle, owner)
        guard handle.writes else { return reply() }
        let session = try session(node, handle)
        let isByOpener = Self.isLeft(handle, by: thread)
        forgetKilled(session)
        let (isStaged, isWrittenDirectly) = state.withLock { _ in
            session.closing.noteFlushed(
                handle.rawValue, of: handle.process, byOpener: isByOpener,
                at: MonotonicClock.now)
            return (session.isStaged && !session.isDraft, session.isWrittenDirectly)
        }
        // A draft is not kept: its writer has not said yet that it is whole.
        guard isStaged else { return reply() }
        // Pages that the kernel was told to drop are gone before others see the version.
        let answer = isWrittenDirectly ? notifier.last(reply) : reply
        let status = try closing(session) { () throws(Errno) in
            try content.stagingStatus(session.node)
        }
        guard state.withLock({ _ in session.isChanged(status) }) else {
            // Nothing was written, but the file may have been made by this open.
            try log.flush(upTo: log.head)
            return answer()
        }
        let drawing = try closing(session) { () throws(Errno) in try keep(session, status) }
        guard let drawing, let pictures else { return answer() }
        pictures.draw(drawing) { [self] in
            // From here on it is the RELEASE that others wait for.
            state.withLock { _ in session.closing.noteDrawing(until: 0) }
            answer()
        }
    }

    /// A part of a close. Where the disk is full, who saved is told that it failed: the version before
    /// stays then.
    private func closing<Result>(
        _ session: WriteSession, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let recorded = state.withLock { _ in session.recorded }
        do throws(Errno) { return try body() } catch {
            if error.isNoRoom {
                state.withLock { _ in
                    session.isSuspect = true
                    // What the log has got meanwhile counts for nothing, but is to be taken out of it again.
                    session.recorded = recorded ?? session.recorded?.ofNoClose
                }
            }
            throw error
        }
    }

    /// Has what was written survive the daemon; what is to be drawn before others see it.
    private func keep(_ session: WriteSession, _ found: FileStatus) throws(Errno)
        -> PictureDrawing?
    {
        try checkWhole(session)
        try makeRoom { () throws(Errno) in try content.record(session.node) }
        let status = try keepSynchronized(session, found)
        try log.admit()
        let (sequence, drawing) = try state.withLock {
            (state) throws(Errno) -> (ChangeSequence, PictureDrawing?) in
            session.isSuspect = false
            session.closing.noteKept(at: MonotonicClock.now)
            let drawing = session.isClosing ? state.drawing(of: session, status) : nil
            if let drawing {
                session.closing.noteDrawing(
                    until: MonotonicClock.after(milliseconds: drawing.patience))
            }
            return (try state.acknowledge(session, status, synced: false), drawing)
        }
        try log.flush(upTo: sequence, marksLater: true)
        return drawing
    }

    /// What an fsync returned for is not lost with what was written after it: a version that is not
    /// on the disk as a whole is given up after a power loss.
    ///
    /// - Returns: the staging file's status now.
    private func keepSynchronized(_ session: WriteSession, _ status: FileStatus) throws(Errno)
        -> FileStatus
    {
        let (isOwed, writes) = state.withLock { _ in
            (
                session.isLeft && session.recorded?.synced == true
                    && !session.isSynchronized(status), session.writes
            )
        }
        if !isOwed { return status }
        let synced = StagedMoment(status: try distinctStatus(session), writes: writes)
        try content.synchronize(session.node, try content.openStaging(session.node))
        state.withLock { _ in session.synced = synced }
        return synced.status
    }

    /// Whether it is the process that opened the handle which closes a descriptor of it, or that
    /// process is gone.
    private static func isLeft(_ handle: Handle, by thread: Int32) -> Bool {
        let process = CallerProcess.process(of: thread)
        if process == 0 || process == handle.process { return true }
        return kill(handle.process, 0) != 0 && errno == ESRCH
    }

    /// Refuses to close a document that was not written whole.
    ///
    /// Writes that go through the daemon are seen to fail. Those that the kernel passes through are
    /// not: there a full disk says that some of them may have.
    func checkWhole(_ session: WriteSession) throws(Errno) {
        if let failure = state.withLock({ _ in session.failure }) { throw failure }
        try checkRoom(session)
    }

    /// The last use of an open file description is over.
    func release(_ node: NodeNumber, _ handle: Handle) {
        let (thaw, reading) = state.withLock { state -> (ContentReference?, BlockReading?) in
            let reading =
                handle.isInBlocks
                ? state.blockReadings.removeValue(forKey: handle.rawValue) : nil
            if !state.programs.isEmpty { state.programs[handle.rawValue] = nil }
            if link != nil { state.openers.remove(node, handle.process) }
            guard var mode = state.modes[node.rawValue] else { return (nil, reading) }
            if handle.isPassthrough { mode.passthrough -= 1 }
            if handle.isCached { mode.cached -= 1 }
            if handle.isDirect { mode.direct.remove(handle.process) }
            if handle.dropsPages { state.noteFreshPages(node) }
            var thaw: ContentReference?
            if handle.isDirect, handle.isPassthrough {
                let position = state.index.find(node.item)
                if position != 0 { thaw = (try? state.content(of: node, at: position)) ?? nil }
            }
            if mode.passthrough == 0, mode.backing != 0 {
                channel?.releaseBacking(mode.backing)
                mode.backing = 0
            }
            state.modes[node.rawValue] = mode.isUsed || !mode.direct.isEmpty ? mode : nil
            if state.modes[node.rawValue] == nil { noteLastClose(node, state) }
            return (thaw, reading)
        }
        if let thaw { self.thaw(thaw) }
        if handle.isDirect, handle.isCached {
            // What a mapping wrote is in the pages of the version, which has its own bytes.
            notifier.post { [self] in channel?.invalidate(node: node.rawValue, pages: true) }
        }
        if let reading {
            reading.end()
            // What came of it may be too much.
            if quota.isLimited { state.withLock { $0.quota.isDue = true } }
        }
        guard handle.writes, let session = try? session(node, handle) else { return }
        end(session, node.item, handle.process, handle)
    }

    /// Counts a writing handle out; the last one ends the session.
    ///
    /// - Parameter handle: `nil` if the kernel never had it.
    func end(
        _ session: WriteSession, _ item: ItemNumber, _ process: Int32, _ handle: Handle? = nil
    ) {
        state.withLock { state in
            session.countOut(handle?.rawValue, process)
            state.noteClosed(session, process)
            if session.lastWriter != 0, session.lastWriter != process {
                session.coauthors.insert(session.lastWriter)
            }
            session.lastWriter = process
        }
        finish(session, item)
    }

    /// Ends the session if nobody writes any more: publishes what changed, else discards it.
    func finish(_ session: WriteSession, _ item: ItemNumber) {
        var isPublished = false
        var isStagedForNothing = false
        forgetKilled(session)
        let parked = state.withLock { state -> [@Sendable () -> Void] in
            let position = state.index.find(item)
            guard position != 0, state.sessions[position] === session else { return [] }
            // Somebody who opened before the last close was over is on the way, or there already: to
            // them this is still the document that is being written. Nobody waits for the end.
            if session.handles > 0 || !session.expected.isEmpty {
                session.delays = 0
                // Who waits for what has no version yet is shown a copy of it in time.
                let isAwaited = session.isClosing || session.replaces || session.isShowing
                return isAwaited ? [] : session.closing.takeParked()
            }
            if session.mayBeMapped, session.isStaged, content.isWritten(session.node) {
                putOff(session, item)
                return []
            }
            var status: FileStatus?
            if session.isStaged {
                // Should the file not answer now, what was acknowledged is known all the same.
                status =
                    (try? content.stagingStatus(session.node))
                    ?? session.recorded.map(FileStatus.init)
                // Written by a mapping after the last close.
                do throws(Errno) { try content.record(session.node) } catch {
                    session.failure = error
                }
            }
            if let status, session.maker != 0 {
                state.noteMade(status.size, at: position, by: session.maker)
            }
            // Bytes that an earlier close or fsync acknowledged are published whatever failed later.
            let isOwed = session.recorded.map { $0.wrote || $0.synced } ?? false
            let isWhole = session.failure == nil && !session.isSuspect && !session.isDraft
            let changed =
                (isWhole || isOwed) && (status.map(session.isChanged) ?? false)
            if let status, changed {
                content.settle(session.node)
                state.publish(session, at: position, status)
                isPublished = true
            } else {
                state.discard(session, at: position)
                if session.isStaged, session.recorded != nil {
                    state.leftStaged.append(session.node)
                } else {
                    isStagedForNothing = session.isStaged
                }
            }
            return session.closing.takeParked()
        }
        if isStagedForNothing { content.removeStaging(session.node) }
        keeper.needsSync()
        // What a close must keep is in the journal already, so nobody waits for this record: who
        // follows what happens would not hear of it before the keeper flushes the log.
        if isPublished { log.announce() }
        for retry in parked { retry() }
        pictures?.writeStaged(session.node)
    }

    /// Ends what all have closed: the kernel does not tell of the last use of a file when the mount is taken
    /// away at that moment. Nobody is on the way any more either.
    func endLeftSessions() {
        let left = state.withLock { state in
            state.sessions.compactMap { (position, session) -> (WriteSession, ItemNumber)? in
                session.expected = [:]
                guard session.isLeft else { return nil }
                session.handles = 0
                return (session, state.number(position))
            }
        }
        for (session, item) in left { finish(session, item) }
    }

    /// Looks again later whether the session can end: a mapping lives on, or the kernel is still
    /// letting go of the file that was closed. Others wait no longer than after any other close.
    ///
    /// Whoever looks the document up meanwhile looks at once (``afterClosing(_:_:)``).
    private func putOff(_ session: WriteSession, _ item: ItemNumber) {
        let delay = min(Self.mappingPace, 200_000 << UInt64(min(2 * session.delays, 20)))
        session.delays += 1
        if session.isLookPlanned { return }
        session.isLookPlanned = true
        scheduler.at(MonotonicClock.now + delay) { [weak self] in
            guard let volume = self else { return }
            volume.state.withLock { _ in session.isLookPlanned = false }
            volume.finish(session, item)
        }
    }
}

extension VolumeState {
    /// Records that a close or fsync acknowledged the staged bytes.
    func acknowledge(
        _ session: WriteSession, _ status: FileStatus, synced: Bool
    ) throws(Errno) -> ChangeSequence {
        let position = index.find(session.node.item)
        // Ended meanwhile: what it staged is published.
        if position == 0 || sessions[position] !== session { return log.head }
        let status = session.shown(status)
        let row = SessionRow(
            item: session.node.item, ordinal: session.node.ordinal, author: session.author,
            size: status.size, modified: status.modified, changed: status.changed,
            wrote: status.size > 0 || session.recorded?.wrote == true,
            synced: synced || session.recorded?.synced == true)
        if session.recorded == row { return log.head }
        session.recorded = row
        return record(.staged, position, at: Self.now(), [.putSession(row)])
    }

    /// What the session staged becomes the current version.
    func publish(_ session: WriteSession, at position: MemoryIndex.Position, _ status: FileStatus) {
        let lookups = session.lookups
        publishPicture(session, position, status)
        let unseen = unseenVersion(before: session, at: position)
        var current = session.shown(status)
        // Some disks change what a file has and leave its time.
        if current.modified == WriteSession.unwritten { current.modified = Self.now() }
        setCurrent(
            position, session.node, current,
            durable: session.isSynchronized(status), author: session.author,
            keepsPrivileges: session.keepsPrivileges(status),
            removing: session.recorded == nil ? nil : session.node, process: session.lastWriter)
        noteSeen(session.node, at: position, by: session.lastWriter)
        for process in session.coauthors { noteSeen(session.node, at: position, by: process) }
        if let unseen { markConflict(unseen, at: position, by: session.lastWriter) }
        let record = index[item: position]
        record.pointee.lookups = lookups
        record.pointee.flags.remove([.inSession, .mayHaveStalePages])
        if session.isWrittenUnseen { record.pointee.flags.insert(.mayHaveStalePages) }
        sessions[position] = nil
        unclaim(session)
        _ = noteIfDead(position)
    }

    /// Makes `node`'s content, described by its file's status, the item's current version.
    ///
    /// - Parameter keepsPrivileges: no ordinary user wrote since set-user-id and set-group-id were set.
    func setCurrent(
        _ position: MemoryIndex.Position, _ node: NodeNumber, _ status: FileStatus,
        durable: Bool, author: UInt32, keepsPrivileges: Bool, removing: NodeNumber?,
        process: Int32 = 0
    ) {
        retireCurrent(position)
        let time = publishTime()
        let record = index[item: position]
        let document = DocumentID(rawValue: record.pointee.document)
        // A document that began with this item and had no content has no earlier version.
        if record.pointee.ordinal != 0 || record.pointee.document != record.pointee.number {
            thinning.insert(document)
        }
        record.pointee.setContent(
            status, ordinal: node.ordinal, place: durable ? .durable : .staged)
        if !keepsPrivileges { record.pointee.mode &= ~Self.privileges(record.pointee.mode) }
        let capability = Array("security.capability".utf8)
        let hadCapability = index.attributes[position]?.removeValue(forKey: capability) != nil
        var effects: [Effect] = [
            .putVersion(
                VersionRow(
                    document: document, item: node.item, ordinal: node.ordinal, size: status.size,
                    blocks: status.blocks, modified: status.modified, published: time,
                    author: author, place: record.pointee.place, hash: nil))
        ]
        if hadCapability { effects.append(.removeAttribute(node.item, name: capability)) }
        if let removing { effects.append(.removeSession(removing.item, removing.ordinal)) }
        let name = record.pointee.firstName
        self.record(
            .published, position, parent: name == 0 ? 0 : index[name: name].pointee.parent,
            name: name == 0 ? nil : Array(index.nameBytes(name)), process: process, at: time,
            effects)
        unsealed.publish(node, at: MonotonicClock.now)
    }

    /// The session ends without a publish; its node goes on showing what the document is.
    func discard(_ session: WriteSession, at position: MemoryIndex.Position) {
        let record = index[item: position]
        record.pointee.flags.remove(.inSession)
        sessions[position] = nil
        pictures?.staged.discard(session.node)
        unclaim(session)
        if session.lookups > 0 {
            keepOldNode(
                session.node,
                OldNode(
                    content: session.base, modified: record.pointee.modified,
                    blocks: Int64(record.pointee.blocks) * 8, lookups: session.lookups),
                at: position)
        }
        if let row = session.recorded {
            self.record(
                .discarded, position, at: Self.now(), [.removeSession(row.item, row.ordinal)])
        }
        _ = noteIfDead(position)
    }

    /// The kernel has forgotten a session's node and nobody has it open.
    func drop(_ session: WriteSession, at position: MemoryIndex.Position) {
        guard !session.isStaged, session.expected.isEmpty else { return }
        discard(session, at: position)
    }
}

internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Opening files: readers are bound to a version, writers are brought to the session's node.
///
/// The kernel keeps pages, size and passthrough file per node, so a version and what is being written
/// must be different nodes. A writing open that meets a version's node is answered ESTALE; the VFS
/// walks the path again, the LOOKUP of that process is answered with the session's node, and the
/// open that follows lands there. Where no path is walked (re-open through /proc/self/fd, file
/// handles) a second open of the same thread comes to the version's node again: it gets a direct
/// handle, whose writes go to the session without the page cache.
extension Volume {
    /// Among the flags of an open: the kernel opens a program to run it.
    private static let execution: Int32 = 0x20

    /// What to do with an open, decided under the lock.
    private enum Decision {
        /// Serve it on this node; with the session if it is the session's, and not before the kernel has
        /// forgotten these names.
        case serve(WriteSession?, stale: [(parent: UInt64, name: [UInt8])])
        /// Serve it directly, into the session.
        case direct(WriteSession)
        /// Send it round by ESTALE, after the kernel has forgotten these names; if they were only listed,
        /// it need not have by then.
        case redirect([(parent: UInt64, name: [UInt8])], isListed: Bool)
        /// Decide again when the session that was closed has ended.
        case wait
    }

    /// open(2) of a regular file. `reply` is called once, perhaps on another thread.
    ///
    /// - Parameters:
    ///   - waited: whether the caller has waited for a closing session already.
    ///   - asksAgain: the answer is ERESTART if there are claims now.
    func open(
        _ node: NodeNumber, flags: Int32, _ caller: Caller, waited: Bool = false,
        asksAgain: Bool = false,
        reply: @escaping @Sendable (Result<Opened, Errno>) -> Void
    ) {
        do throws(Errno) {
            let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
            let process = CallerProcess.process(of: caller.thread)
            meet(process)
            let decision = try read { (state) throws(Errno) in
                try state.askAgain(asksAgain)
                return try writes
                    ? decide(state, node, flags, process, caller, waited: waited)
                    : decideReading(state, node, process, caller)
            }
            switch decision {
            case .wait:
                afterClosing(node.item) { [self] in
                    open(
                        node, flags: flags, caller, waited: true, asksAgain: asksAgain, reply: reply
                    )
                }
            case .redirect(let names, let isListed):
                let answer: @Sendable () -> Void = { reply(.failure(Errno(ESTALE))) }
                if !isListed { return forget(names: names, of: node.item, then: answer) }
                forgetSoon(names: names, of: node.item, then: answer)
            case .serve(let session, let names):
                noteOpened(node, flags, caller)
                let opened = try serve(node, session, flags, process, caller)
                if !writes {
                    let isUnseen = noteAccess(node, flags) && opened.handle.isCached
                    if !isUnseen { return reply(.success(opened)) }
                    return timeNotifier.post { [self] in
                        channel?.invalidate(node: node.rawValue, pages: false)
                        reply(.success(opened))
                    }
                }
                // A LOOKUP may have begun the session, of somebody who was sent round and whose name
                // leads to another item by now; it cannot wait for this.
                forget(names: names, of: node.item) { [self] in
                    if !names.isEmpty { state.withLock { _ in session?.mayBeMissed = false } }
                    reply(.success(opened))
                }
            case .direct(let session):
                noteOpened(node, flags, caller)
                try openDirectly(node, session, flags, process, by: caller.user, reply: reply)
            }
        } catch {
            reply(.failure(error))
        }
    }

    /// Makes the kernel look names up again, then runs `then`, which may answer an OPEN and nothing
    /// else: for most requests the kernel holds the lock of a directory, or of a file for which others
    /// wait with a directory locked, and this waits for the lock of the directory. Who does not wait
    /// for `then` at any length may use it as well.
    ///
    /// - Parameter item: what has these names; its others are forgotten too if it is renamed meanwhile. A
    ///   rename that is on its way takes what the kernel keeps of the one name along to the other. Since it
    ///   is waited for, the item has that other name when the first are forgotten.
    func forget(
        names: [(parent: UInt64, name: [UInt8])], of item: ItemNumber? = nil,
        then: @escaping @Sendable () -> Void
    ) {
        if names.isEmpty { return settlePictures(then: then) }
        nameNotifier.post { [self] in
            var known = item.map { named($0) } ?? (names: names, renames: 0)
            for _ in 0..<Self.mostRenames {
                for (parent, name) in known.names {
                    movedFolders.locking([NodeNumber(rawValue: parent).item]) {
                        channel?.invalidateEntry(parent: parent, name: name)
                    }
                    tellings.add(1, ordering: .relaxed)
                }
                guard let now = item.map({ named($0) }), now.renames != known.renames else { break }
                known = now
            }
            settlePictures(then: then)
        }
    }

    /// The names of an item after so many renames of anything.
    private func named(
        _ item: ItemNumber
    ) -> (names: [(parent: UInt64, name: [UInt8])], renames: UInt64) {
        state.withLock { state in
            let position = state.index.find(item)
            return (position == 0 ? [] : state.leadingNames(of: position), state.renames)
        }
    }

    /// Makes the kernel look names up again, then runs `then`, which waits for it as a rule, but not for
    /// as long as the kernel keeps a directory locked.
    ///
    /// For an answer to a request for which the kernel has the file locked: whoever removes or renames
    /// the file waits for that lock with the directory locked, which the forgetting needs. And for one
    /// that is not to wait for programs which keep a directory locked, any directory: a listing is
    /// copied to memory that may be slow to come.
    func forgetSoon(
        names: [(parent: UInt64, name: [UInt8])], of item: ItemNumber,
        then: @escaping @Sendable () -> Void
    ) {
        if names.isEmpty { return then() }
        let call = SingleCall(then)
        let end = MonotonicClock.after(milliseconds: Self.forgettingPatience)
        impatiently(call, until: end)
        forget(names: names, of: item) { call.make() }
    }

    /// Makes a call that waits for the name notifier as soon as that was found waiting for a lock each time it
    /// was looked at for a while: where it only has not got its turn, on a busy machine, others would still be
    /// led to the version before.
    private func impatiently(_ call: SingleCall, until end: UInt64, heldUp: Int = 0) {
        scheduler.at(MonotonicClock.after(milliseconds: Self.forgettingPace)) { [weak self] in
            guard let self, !call.isMade else { return call.make() }
            let heldUp = nameNotifier.isHeldUp ? heldUp + 1 : 0
            if heldUp == Self.mostHeldUp || MonotonicClock.now >= end { return call.make() }
            impatiently(call, until: end, heldUp: heldUp)
        }
    }

    private func decideReading(
        _ state: VolumeState, _ node: NodeNumber, _ process: Int32, _ caller: Caller
    ) throws(Errno) -> Decision {
        let position = try state.position(node)
        giveUp(state, caller.thread)
        let session = state.session(of: node, at: position)
        if session == nil {
            // A node that stands in for another shows that one's content.
            let seen =
                state.index[item: position].pointee.node == node
                ? node : state.oldNode(node)?.content.node ?? node
            state.noteSeen(seen, at: position, by: process, isReading: true)
        }
        return .serve(session, stale: [])
    }

    private func decide(
        _ state: VolumeState, _ node: NodeNumber, _ flags: Int32, _ process: Int32,
        _ caller: Caller, waited: Bool
    ) throws(Errno) -> Decision {
        let position = try state.position(node)
        let now = MonotonicClock.now
        if flags & O_ACCMODE == O_RDWR, flags & O_TRUNC == 0 {
            state.noteSeen(
                state.content(position).node, at: position, by: process, isReading: true)
        }
        if let session = state.session(of: node, at: position) {
            state.redirections[caller.thread] = nil
            // Counted here, so that the session cannot end before the handle is made.
            session.count(process, user: caller.user, thread: caller.thread)
            state.noteWriter(session, at: position, process)
            // All of them: the one that the caller came by may be another item's again.
            return .serve(
                session, stale: session.mayBeMissed ? state.leadingNames(of: position) : [])
        }
        // Who opens it to write is refused by the kernel, which does not know that this is done here.
        if flags & O_ACCMODE == O_RDONLY, state.programs.values.contains(node.rawValue) {
            throw Errno(ETXTBSY)
        }
        if !waited, state.sessions[position]?.isEnding == true { return .wait }
        if let session = join(state, node, at: position, process, caller, now) {
            return .direct(session)
        }
        let (names, isListed) = state.staleNames(of: position, now)
        return .redirect(names, isListed: isListed)
    }

    /// Serves an open on the node's own content or on the session.
    private func serve(
        _ node: NodeNumber, _ session: WriteSession?, _ flags: Int32, _ process: Int32,
        _ caller: Caller
    ) throws(Errno) -> Opened {
        let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        if let session, writes {
            var isEmptied = false
            do throws(Errno) {
                if flags & O_TRUNC != 0 {
                    // What was small is likely to be so again.
                    if session.base.size > 0, session.base.size <= PackedContents.largest {
                        state.withLock { _ in session.isLikelySmall = true }
                    }
                    try truncate(session, to: 0, by: process)
                    isEmptied = true
                    state.withLock { clearPrivileges($0, session, by: caller.user) }
                } else if session.base.size <= Self.eagerCopy, missing(session.base) == nil {
                    try stageAhead(session)
                }
                return try grant(node, session, flags, process)
            } catch {
                // What fails has done nothing: what it has emptied is no version.
                if isEmptied { failed(session, error) }
                end(session, node.item, process)
                throw error
            }
        }
        return try grant(node, session, flags, process)
    }

    func grant(
        _ node: NodeNumber, _ session: WriteSession?, _ flags: Int32, _ process: Int32
    ) throws(Errno) -> Opened {
        try followingMoves { () throws(Errno) in try grantNow(node, session, flags, process) }
    }

    /// Chooses how the kernel may use the node and counts it.
    private func grantNow(
        _ node: NodeNumber, _ session: WriteSession?, _ flags: Int32, _ process: Int32
    ) throws(Errno) -> Opened {
        let reference = try read { (state) throws(Errno) -> (ContentReference?, Bool) in
            let position = try state.position(node)
            let mode = state.modes[node.rawValue]
            // The writes of ordinary users to a set-user-id file have to be seen, and root may hand a
            // descriptor on to one.
            let isWatched =
                session != nil
                && VolumeState.privileges(state.index[item: position].pointee.mode) != 0
            return (
                try state.content(of: node, at: position),
                channel?.passesThrough == true && (mode?.cached ?? 0) == 0 && !isWatched
            )
        }
        let reading = try reference.0.flatMap { (content) throws(Errno) in
            try readInBlocks(content)
        }
        // What the kernel writes alone is not seen to fail, so it does not where it may.
        let mayPass = reference.1 && reading == nil && (session == nil || !isNearlyFull)
        var file: SharedDescriptor?
        if mayPass {
            if reference.0 == nil, !self.content.isPacked(node) {
                file = SharedDescriptor(try self.content.openForLending(node))
            } else if let content = reference.0, session == nil, content.size > Self.smallRead {
                // A session without staged bytes gets no file: its base's is not to be written.
                file = try self.content.open(content)
            }
        }
        return try state.withLock { (state) throws(Errno) in
            var mode = state.modes[node.rawValue] ?? OpenMode()
            var way = Handle.Way.cached
            if let file, mode.cached == 0 {
                if mode.passthrough == 0 {
                    mode.backing = channel?.registerBacking(file.number) ?? 0
                }
                if mode.backing != 0 { way = .passthrough }
            } else if mode.passthrough > 0 {
                way = .passthrough
            }
            if way == .passthrough { mode.passthrough += 1 } else { mode.cached += 1 }
            if way == .passthrough, flags & O_ACCMODE == O_RDWR { session?.mayBeMapped = true }
            if way == .passthrough { session?.isWrittenUnseen = true }
            state.modes[node.rawValue] = mode
            noteOpener(node, process, state)
            state.serial &+= 1
            // With passthrough the backing file would stay without cache, and refuse what is no whole
            // block, when the program takes O_DIRECT back (dd does, for the last bytes). What is to be
            // durable at once has to be known, or it would go with the session if the daemon dies.
            let isToBeSeen =
                way == .passthrough && flags & O_ACCMODE != O_RDONLY
                && flags & (OwnedDescriptor.uncached | O_DSYNC) != 0
            // Who waits for a page of the kernel's that another one reads, or that it reads ahead,
            // hears no signal; who reads past them waits for an answer of their own.
            let isAwaited = reading != nil && session == nil && channel?.mapsDirectly == true
            let handle = Handle(
                reads: flags & O_ACCMODE != O_WRONLY,
                writes: flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0,
                way: way, bypassesCache: isToBeSeen || isAwaited,
                inBlocks: reading != nil,
                dropsPages: way == .cached && state.mayHaveStalePages(node),
                process: process, serial: state.serial)
            state.blockReadings[handle.rawValue] = reading
            if flags & Self.execution != 0 { state.programs[handle.rawValue] = node.rawValue }
            return Opened(handle: handle, backing: way == .passthrough ? mode.backing : 0)
        }
    }
}

extension VolumeState {
    /// The item's session, begun if there is none.
    func joinSession(_ position: MemoryIndex.Position, author: UInt32) -> WriteSession {
        if let session = sessions[position] { return session }
        let record = index[item: position]
        let session = WriteSession(
            node: NodeNumber(number(position), record.pointee.takeOrdinal()),
            base: content(position))
        session.author = author
        sessions[position] = session
        record.pointee.flags.insert(.inSession)
        // From here on the kernel keeps no name of its pictures either.
        forgetPictures(position)
        if let pictures, isDrawnAtPublish(position) { pictures.queue.warmUp() }
        return session
    }

    /// Names under which the kernel may have the version's node cached when a path to the item is
    /// walked again: all, unless it is sure that this path ends with the only one.
    func otherNames(of position: MemoryIndex.Position) -> [(parent: UInt64, name: [UInt8])] {
        let record = index[item: position]
        let isAlone = record.pointee.links == 1 && !lent.contains(record.pointee.number)
        let lost = lostNames(of: position)
        return isAlone && lost.isEmpty ? [] : names(of: position) + lost
    }

    /// Every name by which the kernel may lead to an item: those that it has, and those that it has lost, as
    /// long as the kernel may not have made that change itself.
    func leadingNames(of position: MemoryIndex.Position) -> [(parent: UInt64, name: [UInt8])] {
        names(of: position) + lostNames(of: position)
    }

    private func lostNames(of position: MemoryIndex.Position) -> [(parent: UInt64, name: [UInt8])] {
        changingNames.names(of: number(position), at: MonotonicClock.now).lazy
            .filter { self.item(at: $0) != position }.map { ($0.parent.rawValue, $0.name) }
    }

    /// Names that the kernel has to forget when somebody is sent round: the other ones; where there are
    /// none, those that a listing may be about to bring into its cache with the version's node.
    func staleNames(of position: MemoryIndex.Position, _ now: UInt64)
        -> (names: [(parent: UInt64, name: [UInt8])], isListed: Bool)
    {
        let others = otherNames(of: position)
        if !others.isEmpty { return (others, false) }
        let listed = names(of: position).filter { listings.contains($0.parent, now) }
        return (listed, !listed.isEmpty)
    }

    /// Every name of an item with the node of its directory.
    func names(of position: MemoryIndex.Position) -> [(parent: UInt64, name: [UInt8])] {
        var list: [(parent: UInt64, name: [UInt8])] = []
        var name = index[item: position].pointee.firstName
        while name != 0 {
            list.append(
                (
                    index[item: index[name: name].pointee.parent].pointee.number,
                    Array(index.nameBytes(name))
                ))
            name = index[name: name].pointee.nextOfItem
        }
        return list
    }
}

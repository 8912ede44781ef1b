internal import Catalog
internal import Coordination
internal import Model
internal import SystemCalls

/// Sending who comes to write a version's node round by ESTALE, to the session's node: see `Opening.swift`.
extension Volume {
    /// Has somebody who comes to a version's node to write join the item's session.
    ///
    /// - Parameter size: what truncate(2) is about to set.
    /// - Returns: the session, with a handle counted, for who cannot be sent round (again); `nil` if
    ///   they are to be sent round by ESTALE, and are expected.
    func join(
        _ state: VolumeState, _ node: NodeNumber, at position: MemoryIndex.Position,
        _ process: Int32, _ caller: Caller, _ now: UInt64, size: Int64? = nil
    ) -> WriteSession? {
        let session = state.joinSession(position, author: caller.user)
        state.noteWriter(session, at: position, process)
        if state.wasRedirected(caller.thread, node, now) || caller.thread == 0 {
            state.redirections[caller.thread] = nil
            session.count(process, user: caller.user, thread: caller.thread)
            session.isWrittenDirectly = true
            return session
        }
        send(caller.thread, process, to: session, size: size, state, now)
        return nil
    }

    /// Sends somebody round who came to make a file, to write it, by a name that another one has: for them there
    /// is no second ESTALE when they come to open that one.
    func sendRound(
        _ caller: Caller, _ process: Int32, to position: MemoryIndex.Position, _ state: VolumeState
    ) {
        guard state.index[item: position].pointee.isRegular, caller.thread != 0 else { return }
        let session = state.joinSession(position, author: caller.user)
        state.noteWriter(session, at: position, process)
        send(caller.thread, process, to: session, size: nil, state, MonotonicClock.now)
    }

    /// Follows a thread that was sent round: has it join the session of another item, if the name that it
    /// comes by leads to that by now. It is not expected any more where it was.
    ///
    /// A direct handle on the version's node would do for the thread, but not for those who read the
    /// version: the kernel takes its file for as long as what is written.
    ///
    /// Which name it comes by is told by its first LOOKUP of a file, or of a name that leads nowhere. Later
    /// ones of other names are of a thread that does not come to open any more, because it may not, and
    /// looks up what nobody is about to write.
    ///
    /// - Parameters:
    ///   - position: where the name leads to; 0 for nowhere.
    ///   - place: the name.
    ///   - waited: whether the thread has waited for a closing session already. If not, it does not
    ///     join one that is ending: what is opened now begins another version.
    func follow(
        _ state: VolumeState, _ caller: Caller, to position: MemoryIndex.Position,
        by place: @autoclosure () -> Redirection.Place, waited: Bool
    ) {
        let thread = caller.thread
        guard var known = state.redirections[thread] else { return }
        let now = MonotonicClock.now
        guard now < known.at + Self.redirectPatience * 1_000_000, known.turns < Self.mostTurns
        else { return }
        let place = place()
        if position != 0, !state.index[item: position].pointee.isRegular {
            // A folder on the way, if the name was taken for the one that the thread comes by: it led
            // nowhere for a moment, and the kernel has asked once more.
            if known.place == place {
                (known.place, known.inVainSince) = (nil, 0)
                state.redirections[thread] = known
            }
            return
        }
        if known.place == nil {
            known.place = place
            state.redirections[thread] = known
        }
        guard known.place == place else { return }
        if known.inVainSince != 0,
            now >= known.inVainSince + Self.vainPatience * 1_000_000
        {
            state.redirections[thread] = nil
            return
        }
        if position == 0 {
            unexpect(thread, at: known.item, state)
            (known.item, known.answered) = (0, 0)
            if known.inVainSince == 0 { known.inVainSince = now }
            state.redirections[thread] = known
            return
        }
        guard known.item != state.index[item: position].pointee.number,
            waited || state.sessions[position]?.isEnding != true
        else { return }
        unexpect(thread, at: known.item, state)
        let process = CallerProcess.process(of: thread)
        let session = state.joinSession(position, author: caller.user)
        session.mayBeMissed = true
        state.noteWriter(session, at: position, process)
        send(thread, process, to: session, size: known.size, state, now)
        state.redirections[thread]?.turns = known.turns + 1
        state.redirections[thread]?.place = place
    }

    /// The thread, which may have been sent round, opens something to read instead: it found nothing where it
    /// was sent, or may not write there, and is neither expected nor followed any more.
    ///
    /// It is remembered that it was sent: a second ESTALE would be the program's.
    func giveUp(_ state: VolumeState, _ thread: Int32) {
        guard let known = state.redirections[thread], known.turns < Self.mostTurns else { return }
        state.redirections[thread]?.turns = Self.mostTurns
        unexpect(thread, at: known.item, state)
    }

    /// The thread does not come to an item any more that it was sent round to: what others write there is
    /// published without waiting for it.
    private func unexpect(_ thread: Int32, at item: UInt64, _ state: VolumeState) {
        let number = ItemNumber(rawValue: item)
        guard let session = state.sessions[state.index.find(number)],
            session.expected.removeValue(forKey: thread) != nil, session.expected.isEmpty
        else { return }
        scheduler.at(MonotonicClock.now) { [weak self] in self?.finish(session, number) }
    }

    /// The thread is sent round, and is expected to come to the session.
    private func send(
        _ thread: Int32, _ process: Int32, to session: WriteSession, size: Int64?,
        _ state: VolumeState, _ now: UInt64
    ) {
        session.expected[thread] = WriteSession.Expectation(
            process: process, until: now + Self.redirectPatience * 1_000_000)
        state.redirect(thread, session.node.item, now, size: size)
        expect(session.node.item, state, now)
    }

    /// Somebody was redirected to the item's session: looks later whether they came, or were killed.
    func expect(_ item: ItemNumber, _ state: VolumeState, _ now: UInt64) {
        state.expecting.insert(item)
        if state.isSweepPlanned { return }
        state.isSweepPlanned = true
        scheduler.at(now + Self.expectationPace * 1_000_000) { [weak self] in
            self?.sweepExpectations()
        }
    }

    /// Threads that were killed on their way to a session do not come any more: nobody who looks for what others
    /// have written is to be told of the version before because of them.
    ///
    /// Not under the volume's lock: to look at a thread that ends may be to end its mappings, and to wait until
    /// what they wrote is here.
    func forgetKilled(_ session: WriteSession) {
        let expected = state.withLock { _ in session.expected }
        // With each close, mostly for nothing.
        if expected.isEmpty { return }
        let killed = expected.filter { Processes.isEnding($0.key) }
        if killed.isEmpty { return }
        state.withLock { _ in
            for (thread, wait) in killed where session.expected[thread]?.until == wait.until {
                session.expected[thread] = nil
            }
        }
    }

    /// Ends the waiting of sessions for processes that did not come back in time, or never will.
    private func sweepExpectations() {
        let expecting = state.withLock { state in
            state.expecting.compactMap { state.sessions[state.index.find($0)] }
        }
        for session in expecting { forgetKilled(session) }
        let now = MonotonicClock.now
        let late = state.withLock { state -> [(WriteSession, ItemNumber)] in
            state.isSweepPlanned = false
            var late: [(WriteSession, ItemNumber)] = []
            for item in state.expecting {
                guard let session = state.sessions[state.index.find(item)] else {
                    state.expecting.remove(item)
                    continue
                }
                session.expected = session.expected.filter { $0.value.until > now }
                if session.expected.isEmpty {
                    state.expecting.remove(item)
                    late.append((session, item))
                }
            }
            if let item = state.expecting.first { expect(item, state, now) }
            return late
        }
        for (session, item) in late { finish(session, item) }
    }
}

extension VolumeState {
    /// The thread is sent round to the item, perhaps to set its size.
    func redirect(_ thread: Int32, _ item: ItemNumber, _ now: UInt64, size: Int64? = nil) {
        if redirections.count > 1024 {
            redirections = redirections.filter {
                now < $0.value.at + Volume.redirectMemory * 1_000_000
            }
        }
        redirections[thread] = Redirection(item: item.rawValue, at: now, size: size)
    }

    /// The size that the thread was sent round to set by truncate(2), if nobody writes to the
    /// session.
    ///
    /// The kernel has to know it under the session's node from the beginning: others may open the
    /// version that it becomes before the kernel has taken the answer in, and would read as many
    /// bytes as there were, zeros behind the new end.
    func announcedSize(of node: NodeNumber, to thread: Int32) -> Int64? {
        guard let known = redirections[thread], known.answered == node.rawValue else { return nil }
        let position = index.find(node.item)
        guard position != 0, let session = session(of: node, at: position),
            session.handles == 0, !session.isStaged
        else { return nil }
        return known.size
    }

    /// Whether the thread was just sent round and comes back without having walked the path, or to a
    /// session's node that has become a version meanwhile: the kernel walks a path again once only, and
    /// the program would be told of a second ESTALE.
    func wasRedirected(_ thread: Int32, _ node: NodeNumber, _ now: UInt64) -> Bool {
        guard let known = redirections[thread],
            now < known.at + Volume.redirectMemory * 1_000_000
        else { return false }
        return known.answered == node.rawValue
            || known.answered == 0 && known.item == node.item.rawValue
    }
}

internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Opening a version's node for the session: the writes come to the daemon without the page cache.
extension Volume {
    /// Opens the node for a writer whose session has another one. `reply` is called, perhaps on another
    /// thread, when the kernel has let go of the item's names and of the session's pages; never if this
    /// throws.
    func openDirectly(
        _ node: NodeNumber, _ session: WriteSession, _ flags: Int32, _ process: Int32,
        by user: UInt32, reply: @escaping @Sendable (Result<Opened, Errno>) -> Void
    ) throws(Errno) {
        let names: [(parent: UInt64, name: [UInt8])]
        let opened: Opened
        let isStaged: Bool
        var isEmptied = false
        do throws(Errno) {
            if flags & O_TRUNC != 0 {
                try truncate(session, to: 0, by: process)
                isEmptied = true
                state.withLock { clearPrivileges($0, session, by: user) }
            } else if missing(session.base) == nil {
                try stageAhead(session)
            }
            names = try read { (state) throws(Errno) in
                state.leadingNames(of: try state.position(node))
            }
            (opened, isStaged) = try state.withLock { (state) throws(Errno) in
                (try grantDirectly(node, flags, process, state), session.isStaged)
            }
        } catch {
            if isEmptied { failed(session, error) }
            end(session, node.item, process)
            throw error
        }
        forget(names: names, of: node.item) { [self] in
            notifier.post { [self] in
                // Otherwise they are the version's, and of a promise they may be waited for.
                if isStaged { channel?.invalidate(node: session.node.rawValue, pages: true) }
                // From now on its writer is told others than those that the kernel has.
                channel?.invalidate(node: node.rawValue, pages: false)
                settlePictures { reply(.success(opened)) }
            }
        }
    }

    /// Counts the handle, which has to have the way of those that have the node open already.
    private func grantDirectly(
        _ node: NodeNumber, _ flags: Int32, _ process: Int32, _ state: VolumeState
    ) throws(Errno) -> Opened {
        let position = try state.position(node)
        let backing =
            state.modes[node.rawValue].flatMap { $0.passthrough > 0 ? $0.backing : nil } ?? 0
        if backing != 0 {
            // The kernel would map the version's own file for writing: make that fail with SIGBUS
            // rather than change a published content.
            guard let content = try state.content(of: node, at: position),
                try self.content.freeze(content)
            else { throw Errno(ETXTBSY) }
            state.frozen.add(content.node)
            state.modes[node.rawValue]?.passthrough += 1
        }
        // A mapping of it has the kernel cache the node until the handle is closed.
        let mayCache = backing == 0 && channel?.mapsDirectly == true
        if mayCache { state.modes[node.rawValue, default: OpenMode()].cached += 1 }
        state.modes[node.rawValue, default: OpenMode()].direct.add(process)
        state.replaceInLookups(node, at: position)
        noteOpener(node, process, state)
        state.serial &+= 1
        var raw = Handle(
            reads: flags & O_ACCMODE != O_WRONLY, writes: true,
            way: .direct, process: process, serial: state.serial
        ).rawValue
        if backing != 0 { raw |= Handle.Way.passthrough.rawValue }
        if mayCache { raw |= Handle.Way.cached.rawValue }
        return Opened(handle: Handle(rawValue: raw), backing: backing)
    }

    /// What a process that writes by a version's node is told of it: how its session's file is. `nil` for all
    /// others, who are told how the version is.
    ///
    /// The kernel must not keep that: the size that it has of the node is that of the version, which others read
    /// and have mapped. So the answer goes by ``answerUnkept(_:_:)``.
    func directAttributes(_ node: NodeNumber, for caller: Caller) throws(Errno) -> Entry? {
        let process = CallerProcess.process(of: caller.thread)
        if process == 0 { return nil }
        let written = state.withLock { state -> NodeNumber? in
            guard state.modes[node.rawValue]?.direct.contains(process) == true else { return nil }
            return state.sessions[state.index.find(node.item)]?.node
        }
        guard let written else { return nil }
        var entry = try attributes(written, isAsked: true)
        entry.attributeTimeout = Entry.byCaller
        return entry
    }

    /// Runs `reply`, which answers a GETATTR of the node, so that the program has the answer and the kernel does
    /// not take it for how the node is: an answer to what it asked before it was told to forget the attributes
    /// counts as out of date.
    func answerUnkept(_ node: NodeNumber, _ reply: @escaping @Sendable () -> Void) {
        timeNotifier.post { [channel] in
            channel?.invalidate(node: node.rawValue, pages: false)
            reply()
        }
    }

    /// A direct handle on a version is closed whose file was made immutable for it. That lasts as long as a
    /// mapping of it, which is not told of: it is looked at again.
    func thaw(_ content: ContentReference) {
        guard self.content.thaw(content) else {
            return scheduler.at(MonotonicClock.now + Self.mappingPace) { [weak self] in
                self?.thaw(content)
            }
        }
        // It may have waited to be sealed: that is tried again.
        state.withLock { $0.frozen.remove(content.node) }
    }
}

extension VolumeState {
    /// Whether somebody writes by this node, which is a version's.
    func isWrittenDirectly(_ node: NodeNumber) -> Bool {
        modes[node.rawValue].map { !$0.direct.isEmpty } ?? false
    }
}

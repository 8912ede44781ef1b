internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// What a LOOKUP or GETATTR is answered with.
struct Entry {
    var node: UInt64
    var status: stat
    /// Seconds that the kernel may keep what the name leads to.
    var timeout: Double
    /// Seconds that it may keep the attributes.
    var attributeTimeout: Double = 0

    /// Kept until it is invalidated: a day, since every change goes through this mount.
    static let forever = 86_400.0
    /// For what is being written: the kernel updates or drops the attributes as it writes, but for
    /// the times of a mapping.
    static let brief = 1.0
    /// While a write may take set-user-id away. Not 0, which is no session's; a nanosecond would be some
    /// milliseconds to the kernel.
    static let never = 1e-10
    /// While a name is being removed: the number of links holds until the kernel has done so. Not 0 either.
    static let meanwhile = 2e-10
    /// Of a version's node by which somebody writes: they are told of the session (``Volume/directAttributes``).
    static let byCaller = 0.0
}

extension VolumeState {
    /// The attributes of the item as seen under `node`.
    ///
    /// - Parameters:
    ///   - staged: the staging file's status if `node` is a session's with staged bytes.
    ///   - losses: names that the kernel still counts.
    private func status(
        of node: NodeNumber, at position: MemoryIndex.Position, staged: FileStatus?, losses: Int
    ) -> stat {
        let record = index[item: position]
        var status = stat()
        status.st_ino = UInt(record.pointee.number)
        status.st_mode = record.pointee.mode
        status.st_nlink = UInt(record.pointee.links) + UInt(losses)
        status.st_uid = record.pointee.user
        status.st_gid = record.pointee.group
        status.st_blksize = 4096
        status.st_size = off_t(record.pointee.size)
        status.st_blocks = blkcnt_t(record.pointee.blocks) * 8
        if isAway(record.pointee.node, record.pointee.place) {
            // Little, because there is nothing here; not 0, which archivers take for no data at all.
            status.st_blocks = 1
        }
        var modified = record.pointee.modified
        var changed = record.pointee.changed
        if let staged {
            status.st_size = off_t(staged.size)
            status.st_blocks = blkcnt_t(staged.blocks)
            modified = staged.modified.rawValue
            changed = max(changed, staged.changed.rawValue)
        } else if node != record.pointee.node, let old = oldNode(node) {
            status.st_size = off_t(old.content.size)
            status.st_blocks = blkcnt_t(old.blocks)
            modified = old.modified
        }
        if record.pointee.isDirectory {
            status.st_size = 4096
            status.st_blocks = 8
        } else if !record.pointee.isRegular && !record.pointee.isSymlink {
            status.st_rdev = UInt(record.pointee.word0)
        }
        status.st_mtim = timespec(Timestamp(rawValue: modified))
        status.st_ctim = timespec(Timestamp(rawValue: changed))
        status.st_atim = timespec(Timestamp(rawValue: record.pointee.accessed))
        return status
    }

    /// The entry of the item under `node`. A name may lead elsewhere for another caller, or after
    /// the next publish, while a session lasts: then it is not kept. The attributes are, under every
    /// node; who changes them tells the kernel for the other nodes.
    ///
    /// - Parameter isAsked: whoever asks is told the attributes.
    @inline(__always)
    func entry(
        of node: NodeNumber, at position: MemoryIndex.Position, staged: FileStatus? = nil,
        isAsked: Bool = false
    ) -> Entry {
        let record = index[item: position]
        let inSession = record.pointee.flags.contains(.inSession)
        let losses = changingNames.losses(of: number(position), isCertain: isAsked)
        var entry = Entry(
            node: node.rawValue,
            status: status(of: node, at: position, staged: staged, losses: losses),
            timeout: inSession || record.pointee.node != node ? 0 : Entry.forever,
            attributeTimeout: inSession
                ? attributeTimeout(of: node, at: position, mode: record.pointee.mode)
                : Entry.forever)
        if losses > 0 {
            if entry.attributeTimeout == Entry.forever { entry.attributeTimeout = Entry.meanwhile }
            if entry.attributeTimeout == Entry.brief { entry.attributeTimeout = Entry.never }
        }
        return entry
    }

    /// How long the kernel may keep the attributes of a node of an item that is being written.
    private func attributeTimeout(
        of node: NodeNumber, at position: MemoryIndex.Position, mode: UInt32
    ) -> Double {
        if sessions[position]?.node == node {
            return Self.privileges(mode) == 0 ? Entry.brief : Entry.never
        }
        return isWrittenDirectly(node) ? Entry.byCaller : Entry.forever
    }
}

extension timespec {
    init(_ moment: Timestamp) {
        self.init(tv_sec: Int(moment.seconds), tv_nsec: Int(moment.nanoseconds))
    }
}

extension Volume {
    /// The attributes under `node`; for a session's node those of the staging file.
    ///
    /// - Parameters:
    ///   - isAsked: whoever asks is told them.
    ///   - thread: who asks; 0: one that is not known.
    func attributes(
        _ node: NodeNumber, isAsked: Bool = false, by thread: Int32 = 0
    ) throws(Errno) -> Entry {
        let session = try read { (state) throws(Errno) -> WriteSession? in
            let position = try state.position(node)
            return state.session(of: node, at: position).flatMap { $0.isStaged ? $0 : nil }
        }
        var staged: FileStatus?
        if let session {
            do throws(Errno) { staged = try content.stagingStatus(node) } catch {
                // Ended meanwhile, and its file with it: no reason to say that there is nothing.
                let lasts = try read { (state) throws(Errno) in
                    state.session(of: node, at: try state.position(node)) === session
                }
                if lasts { throw Self.lost(error) }
            }
        }
        return try read { (state) throws(Errno) in
            let position = try state.position(node)
            // Ended meanwhile, or not written yet: the record has the truth.
            var current = state.session(of: node, at: position) === session ? staged : nil
            if let staged, let session {
                current = current.map(session.shown)
                if !session.isChanged(staged) { current = nil }
            }
            state.noteTold(position, to: thread)
            return state.entry(of: node, at: position, staged: current, isAsked: isAsked)
        }
    }

    /// The attributes as the caller is told them: with the size that it is about to set by truncate(2).
    func attributes(
        _ node: NodeNumber, for caller: Caller, isAsked: Bool = false
    ) throws(Errno) -> Entry {
        var entry = try attributes(node, isAsked: isAsked, by: caller.thread)
        guard entry.attributeTimeout == Entry.brief || entry.attributeTimeout == Entry.never,
            let size = state.withLock({ $0.announcedSize(of: node, to: caller.thread) })
        else { return entry }
        entry.status.st_size = off_t(size)
        return entry
    }

    /// Tells the kernel that the item's attributes changed, under every node but the one the change
    /// came by, and what became stale of pictures, then runs `reply`. At once where there is
    /// nothing to tell.
    func refresh(_ nodes: [NodeNumber], then reply: @escaping @Sendable () -> Void) {
        if nodes.isEmpty { return settlePictures(then: reply) }
        notifier.post { [self] in
            for node in nodes { channel?.invalidate(node: node.rawValue, pages: false) }
            settlePictures(then: reply)
        }
    }

    /// Runs `reply` when the kernel has forgotten what became stale of pictures.
    func settlePictures(then reply: @escaping @Sendable () -> Void) {
        guard let pictures else { return reply() }
        pictures.settle(then: reply)
    }
}

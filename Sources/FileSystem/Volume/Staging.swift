internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Write sessions while they are open.
extension Volume {
    /// Makes the staging file, with the base's bytes, if it is not there yet.
    ///
    /// - Parameter makesRoom: on a full disk earlier versions go for it.
    func stage(_ session: WriteSession, makesRoom: Bool = true) throws(Errno) {
        try session.staging.withLock { (staging) throws(Errno) in
            if staging.made { return }
            if !beginPacked(session, size: session.base.size) {
                let copy = { () throws(Errno) in _ = try self.copyBase(session, size: .max) }
                try makesRoom ? makeRoom(copy) : copy()
                markUnwritten(session)
            }
            try begun(session, touched: false)
            staging.made = true
        }
    }

    /// The same before anything is written. On a full disk the first write makes room or fails, not the open:
    /// who only reads needs none.
    func stageAhead(_ session: WriteSession) throws(Errno) {
        do throws(Errno) { try stage(session, makesRoom: false) } catch {
            guard error.isNoRoom else { throw error }
        }
    }

    /// Gives a copy that the kernel may write by itself a time that no write gives it. The first write may
    /// come at what the disk takes for the same moment, a second on some, and change no size.
    private func markUnwritten(_ session: WriteSession) {
        guard channel?.passesThrough == true else { return }
        try? content.setModified(session.node, WriteSession.unwritten)
    }

    /// The staging file's status, from which every later write will differ: if the kernel writes by itself, the
    /// file gets the time that no write gives it, and keeps its own in ``WriteSession/hidden``.
    ///
    /// What is written meanwhile differs, or is among what is staged now.
    func distinctStatus(_ session: WriteSession) throws(Errno) -> FileStatus {
        if !state.withLock({ _ in session.isWrittenUnseen }) {
            return try content.stagingStatus(session.node)
        }
        return try session.staging.withLock { (_) throws(Errno) in
            let before = try content.stagingStatus(session.node)
            if before.modified == WriteSession.unwritten { return before }
            let isChanged = state.withLock { _ -> Bool in
                guard session.isChanged(before) else { return false }
                // From now on its times do not say so any more.
                session.touched = true
                session.hidden = session.shown(before)
                return true
            }
            if !isChanged { return before }
            try content.setModified(session.node, WriteSession.unwritten)
            let after = try content.stagingStatus(session.node)
            state.withLock { _ in session.noteHidden(before, as: after) }
            return after
        }
    }

    /// The session's file, which is made if there is none yet: then it has been changed later than its content.
    func openStaged(_ session: WriteSession) throws(Errno) -> SharedDescriptor {
        let before = try? content.stagingStatus(session.node)
        let file = try content.openStaging(session.node)
        let status = try file.status()
        if let before, before != status, before.modified == status.modified,
            before.size == status.size
        {
            state.withLock { _ in session.spilled = (status, before) }
        }
        return file
    }

    /// Begins to stage nothing without a file, if that is likely to do.
    private func beginPacked(_ session: WriteSession, size: Int64) -> Bool {
        size == 0 && state.withLock { _ in session.isLikelySmall }
            && content.beginPacked(session.node)
    }

    /// Makes the staging file with the first bytes of the base.
    private func copyBase(_ session: WriteSession, size: Int64) throws(Errno) -> SharedDescriptor {
        try followingMoves { () throws(Errno) in
            let base = state.withLock { _ in session.base }
            let kept = min(size, base.size)
            if base.place == .none || kept == 0 { return try content.createStaging(session.node) }
            return try content.createStaging(session.node, copyOf: base, size: kept)
        }
    }

    /// Sets the size of what is staged. Copies no more of the base than stays.
    func truncate(_ session: WriteSession, to size: Int64, by process: Int32) throws(Errno) {
        if size == 0 { state.withLock { _ in session.rewriter = process } }
        try session.staging.withLock { (staging) throws(Errno) in
            if staging.made {
                let file = try content.openStaging(session.node)
                _ = try file.with { (file) throws(Errno) in
                    try check { ftruncate(file.number, off_t(size)) }
                }
                return try staged(session, touched: true)
            }
            if !beginPacked(session, size: size) {
                let kept = min(size, session.base.size)
                let file = try makeRoom { () throws(Errno) in
                    try copyBase(session, size: kept)
                }
                if size > kept {
                    do throws(Errno) {
                        _ = try file.with { (file) throws(Errno) in
                            try check { ftruncate(file.number, off_t(size)) }
                        }
                    } catch {
                        content.removeStaging(session.node)
                        throw error
                    }
                }
            }
            try begun(session, touched: true)
            staging.made = true
        }
    }

    /// The same for what was just made. If it fails there is nothing: what is written by whoever comes next would
    /// not count as staged, and be lost.
    private func begun(_ session: WriteSession, touched: Bool) throws(Errno) {
        do throws(Errno) { try staged(session, touched: touched) } catch {
            content.removeStaging(session.node)
            throw error
        }
    }

    private func staged(_ session: WriteSession, touched: Bool) throws(Errno) {
        let status = try content.stagingStatus(session.node)
        state.withLock { _ in
            session.isStaged = true
            if session.baseline == nil { session.baseline = status }
            if touched {
                session.touched = true
                session.writes += 1
                session.failure = nil
            }
        }
    }

    /// Runs `body`; if the disk is full, lets what was removed and earlier versions go and runs it again.
    func makeRoom<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        let end = MonotonicClock.after(milliseconds: Keeper.patience)
        // The first room that there is may be enough, and the rest take long.
        for room in [Keeper.Room.some, .all] {
            do throws(Errno) { return try body() } catch {
                guard error.isNoRoom else { throw error }
                if !keeper.makeRoom(room, until: end) { break }
            }
        }
        // The room may have come in a round that had begun before it was wanted.
        return try body()
    }

    /// The session a handle writes to.
    func session(_ node: NodeNumber, _ handle: Handle) throws(Errno) -> WriteSession {
        try read { (state) throws(Errno) in
            let position = try state.position(node)
            if handle.isDirect, let session = state.sessions[position] { return session }
            guard let session = state.session(of: node, at: position) else { throw Errno(EBADF) }
            return session
        }
    }

    /// The file to write to; staged now if it was not.
    func writable(_ node: NodeNumber, _ handle: Handle) throws(Errno)
        -> (file: SharedDescriptor, session: WriteSession)
    {
        let session = try session(node, handle)
        do throws(Errno) {
            try stage(session)
            return (try content.openStaging(session.node), session)
        } catch {
            // What was to be written is missing, whatever is staged.
            failed(session, error)
            throw error
        }
    }

    /// Has an append go to the end of what is staged, where that is not where the kernel has it.
    func correct(_ place: inout WritePlace, _ session: WriteSession, _ handle: Handle) {
        guard place.appends else { return }
        // On a version's node the kernel does not know where the session's file ends, nor on the
        // session's once somebody appends by a version's.
        if handle.isDirect || state.withLock({ _ in session.isWrittenDirectly }) {
            place.offset = nil
        }
    }

    /// Notes that bytes were written through the daemon; `reply` runs when the kernel has dropped
    /// pages that are no longer right, but for those that this write itself holds.
    ///
    /// - Parameters:
    ///   - place: of bytes that came by a WRITE.
    ///   - user: who wrote; 0 for the kernel's pages.
    func wrote(
        _ session: WriteSession, _ handle: Handle, _ place: WritePlace? = nil, by user: UInt32,
        _ reply: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            session.touched = true
            session.writes += 1
            if place?.isPage != true { session.closing.noteWritten(handle.rawValue) }
            clearPrivileges(state, session, by: user)
        }
        let isMisplaced = place.map { $0.offset == nil } ?? false
        guard handle.isDirect || isMisplaced else { return reply() }
        notifier.post { [self] in
            channel?.invalidate(node: session.node.rawValue, pages: true)
            if handle.isDirect { reply() }
        }
        // The kernel holds the pages that it writes until it has the answer: the notifier waits.
        if !handle.isDirect { reply() }
    }

    /// Notes that bytes could not be written. Not those for a place that no file reaches: the document
    /// is as whole without them.
    func failed(_ session: WriteSession, _ error: Errno) {
        if error.code == EFBIG { return }
        state.withLock { _ in
            session.failure = error
            session.writesAtFailure = session.writes
        }
    }

    /// As write(2) does for those who may not keep them: takes set-user-id and set-group-id away.
    func clearPrivileges(_ state: VolumeState, _ session: WriteSession, by user: UInt32) {
        let position = state.index.find(session.node.item)
        guard position != 0, user != 0 else { return }
        let record = state.index[item: position]
        let mode = record.pointee.mode & ~VolumeState.privileges(record.pointee.mode)
        guard mode != record.pointee.mode else { return }
        record.pointee.mode = mode
        state.record(.attributes, position, at: VolumeState.now())
    }

    /// Writes bytes that are in memory, behind room for a header; the number that was written.
    func write(_ bytes: [UInt8], _ place: WritePlace, _ session: WriteSession) throws(Errno) -> Int
    {
        if content.writePacked(bytes, at: place.offset, to: session.node) {
            return bytes.count - PackedContents.header
        }
        let file = try content.openStaging(session.node)
        return try makeRoom { () throws(Errno) in
            try file.with { (file) throws(Errno) in
                let content = bytes.dropFirst(PackedContents.header)
                guard let offset = place.offset else { return try file.append(content) }
                try file.write(Array(content), at: offset)
                return content.count
            }
        }
    }

    /// Runs `body`, which writes, with how many of the `size` bytes are to be written; the number to
    /// answer.
    ///
    /// A mapping makes no file longer, but the kernel writes its pages by the size it knows: until it has
    /// the answer to an open with O_TRUNC that is the one before. So of pages only what the file reaches
    /// to is written, and nobody truncates it meanwhile. `nil` if that is nothing.
    func reaching(
        _ place: WritePlace, _ size: Int, _ session: WriteSession,
        _ body: (Int) throws(Errno) -> Int
    ) throws(Errno) -> Int? {
        guard place.isPage, let offset = place.offset else { return try body(size) }
        return try session.staging.withLock { (_) throws(Errno) in
            let end = try content.stagingStatus(session.node).size
            guard offset < end else { return nil }
            let reached = Int(min(Int64(size), end - offset))
            let count = try body(reached)
            return count == reached ? size : count
        }
    }

    /// The file a handle reads from; `nil` if there are no bytes.
    func readable(_ node: NodeNumber, _ handle: Handle) throws(Errno) -> SharedDescriptor? {
        let part = try followingMoves { () throws(Errno) in
            try openReadable(node, handle, asFile: true)
        }
        if case .range(let file, _, _) = part { return file }
        return nil
    }

    /// Where a handle reads, which need not be a file of its own; `nil` if there are no bytes.
    func part(_ node: NodeNumber, _ handle: Handle) throws(Errno) -> ContentPart? {
        try followingMoves { () throws(Errno) in
            try openReadable(node, handle, asFile: false)
        }
    }

    /// Runs `body`, which looks up where a content is and opens it there; runs it again if the
    /// content moved in between, because it was published or sealed. Throws EIO if it is nowhere.
    func followingMoves<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        // Published and sealed: it moves twice at most.
        for _ in 0..<2 {
            do throws(Errno) { return try body() } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
        do throws(Errno) { return try body() } catch { throw Self.lost(error) }
    }

    /// A content that is missing is damage, not a missing file.
    static func lost(_ error: Errno) -> Errno { error.code == ENOENT ? Errno(EIO) : error }

    /// Whether writes may soon fail for want of room.
    var isNearlyFull: Bool {
        if content.hasAmpleRoom { return false }
        guard let space = try? content.space() else { return false }
        return space.free < min(Self.nearlyFullDisk, space.total / 16)
    }

    private func openReadable(_ node: NodeNumber, _ handle: Handle, asFile: Bool) throws(Errno)
        -> ContentPart?
    {
        let (reference, staged) = try read {
            (state) throws(Errno) -> (ContentReference?, NodeNumber) in
            let position = try state.position(node)
            if handle.isDirect, let session = state.sessions[position] {
                return (session.isStaged ? nil : session.base, session.node)
            }
            return (try state.content(of: node, at: position), node)
        }
        if !asFile, let part = content.part(reference?.node ?? staged) { return part }
        let file: SharedDescriptor?
        if let reference {
            file = try content.open(reference)
        } else {
            file = try content.openStaging(staged)
        }
        return file.map { .range($0, offset: 0, size: .max) }
    }
}

/// Where in a file a write goes.
struct WritePlace {
    /// `nil`: the end, wherever that is by the time.
    var offset: Int64?
    /// The descriptor appends as of now.
    var appends: Bool
    /// It is to be on the disk when it is answered (O_SYNC, O_DSYNC, pwritev2).
    var lasts: Bool
    /// The kernel's pages of a mapping: the handle is any that may write, not the one that wrote.
    var isPage: Bool
}

extension VolumeState {
    /// Whether the session has not ended.
    func lasts(_ session: WriteSession) -> Bool {
        sessions[index.find(session.node.item)] === session
    }

    /// The bits that a write by an ordinary user takes from a file of this mode.
    static func privileges(_ mode: UInt32) -> UInt32 {
        guard mode & S_IFMT == S_IFREG else { return 0 }
        var bits = mode & S_ISUID
        if mode & S_ISGID != 0, mode & S_IXGRP != 0 { bits |= S_ISGID }
        return bits
    }
}

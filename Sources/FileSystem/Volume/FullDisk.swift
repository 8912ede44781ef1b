internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// What the kernel writes by itself is not seen to fail: only a full disk says that it may have.
extension Volume {
    /// What was written this long before the disk was found full may be what filled it, in seconds.
    private static let filling: Int64 = 2

    private var isDiskFull: Bool {
        !content.hasAmpleRoom && (try? content.space()).map { $0.free < Self.fullDisk } ?? false
    }

    /// How long who makes a name waits until what was removed has made room, and until the catalog has that, in
    /// milliseconds: the kernel keeps the directory locked meanwhile.
    private static let patience: (removing: UInt64, noting: UInt64) = (2_000, 1_000)

    /// To be called before anything is made that takes room in the catalog.
    ///
    /// - Throws: ENOSPC if the disk is full and nothing that was removed makes room, and as `ChangeLog.admit`.
    func admitGrowth() throws(Errno) {
        do throws(Errno) { try log.admitGrowth() } catch {
            let mayGain = error.isNoRoom && state.withLock { !$0.dying.isEmpty }
            guard mayGain else { throw error }
            keeper.makeRoom(
                .ofRemoved, until: MonotonicClock.after(milliseconds: Self.patience.removing))
            try log.admitGrowth(patience: Self.patience.noting)
        }
    }

    /// ENOSPC if what the kernel wrote by itself may not be whole, because the disk is full, or was when this
    /// was asked before and nothing was written since.
    func checkRoom(_ session: WriteSession) throws(Errno) {
        guard channel?.passesThrough == true else { return }
        let isFull = isDiskFull
        let hasRoom = !isFull || keeper.makeRoom(.some)
        let status = try? content.stagingStatus(session.node)
        let isSuspect = state.withLock { _ -> Bool in
            // Room that was made just now came too late for what the kernel wrote by itself.
            let mayLack = isFull && (session.isWrittenUnseen || !hasRoom)
            session.isSuspect = mayLack || (session.isSuspect && session.suspectStatus == status)
            session.suspectStatus = status
            return session.isSuspect
        }
        if isSuspect { throw Errno(ENOSPC) }
    }

    /// To be called before room is made: who is writing may have had a write fail by then, and closes when
    /// there is room again.
    func noteFullDisk() {
        guard channel?.passesThrough == true, isDiskFull else { return }
        let writing = state.withLock { state in
            state.sessions.values.filter { $0.isStaged && $0.isWrittenUnseen && !$0.isSuspect }
        }
        let now = WallClock.now
        for session in writing {
            guard let status = try? content.stagingStatus(session.node) else { continue }
            let written = state.withLock { _ in session.shown(status).modified }
            if abs(now.seconds - written.seconds) > Self.filling { continue }
            state.withLock { _ in
                session.isSuspect = true
                session.suspectStatus = status
            }
        }
    }
}

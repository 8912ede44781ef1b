internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Files that are put in their place before they are closed: renamed over a document, given the first name
/// that they have, or a name after a temporary one. Whatever was in that place is no longer found there, so
/// what was written until then has to be.
extension Volume {
    /// Has what was written of a new file survive the daemon before it is put in its place, as a close
    /// does. Nothing to do for one that has a version, or of which nothing was written.
    ///
    /// Throws what its close would throw if it was not written whole: what is in the place stays then.
    ///
    /// - Parameter find: the item that is placed, by the volume's state; 0: none.
    func keepPlaced(_ find: (VolumeState) throws(Errno) -> MemoryIndex.Position) throws(Errno) {
        let found = try read { (state) throws(Errno) -> WriteSession? in
            let position = try find(state)
            guard position != 0, state.index[item: position].pointee.size == 0,
                let session = state.sessions[position], session.isStaged, !session.isDraft
            else { return nil }
            return session
        }
        // One that ends meanwhile has a version.
        guard let session = found, let status = try? content.stagingStatus(session.node),
            state.withLock({ $0.lasts(session) && session.isChanged(status) })
        else { return }
        try checkWhole(session)
        try makeRoom { () throws(Errno) in try content.record(session.node) }
        let writes = state.withLock { _ in session.writes }
        // One that ends meanwhile has a version, too.
        guard let status = try? distinctStatus(session) else { return }
        try log.admit()
        try state.withLock { (state) throws(Errno) in
            session.placed = StagedMoment(status: status, writes: writes)
            // In the journal before the change of the name, and with it.
            _ = try state.acknowledge(session, status, synced: false)
        }
    }

    /// Publishes a copy of a file that was put in its place and not closed in the time that whoever looks for
    /// it waits, then answers all who do. If more was written since there is no copy: it is not whole before
    /// the close.
    func showPlaced(_ session: WriteSession) {
        if let placed = state.withLock({ _ in session.placed }) {
            _ = publishCopy(of: session, ifStill: placed)
        }
        let parked = state.withLock { _ in
            session.isShowing = false
            session.replaces = false
            return session.closing.takeParked()
        }
        for retry in parked { retry() }
    }
}

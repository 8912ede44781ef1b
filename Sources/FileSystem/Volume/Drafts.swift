internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The attribute `user.shapeedit.draft`: for programs that write a document in several steps, and would
/// rather leave it as it was than half-written if they do not come to the end.
extension Volume {
    /// Begins or ends a draft: what its writer's session has in it is published only if the draft ends
    /// before the last close.
    ///
    /// Throws EINVAL for another value than `begin` and `end`; EBADF if the caller does not have the document
    /// open for writing; EBUSY to begin if others have too, or something was written already, which is theirs.
    func setDraft(_ node: NodeNumber, _ value: String, _ caller: Caller) throws(Errno) {
        guard value == "begin" || value == "end" else { throw Errno(EINVAL) }
        let process = CallerProcess.process(of: caller.thread)
        let session = try read { (state) throws(Errno) -> WriteSession in
            guard let session = state.sessions[try state.position(node)],
                session.writers[process] != nil
            else { throw Errno(EBADF) }
            return session
        }
        let status = try isStaged(session) ? content.stagingStatus(session.node) : nil
        try state.withLock { (_) throws(Errno) in
            if value == "end" {
                session.isDraft = false
                return
            }
            let isAlone = session.handles == session.writers[process] && session.expected.isEmpty
            guard isAlone, session.recorded == nil, status.map(session.isChanged) != true else {
                throw Errno(EBUSY)
            }
            session.isDraft = true
        }
    }

    private func isStaged(_ session: WriteSession) -> Bool {
        state.withLock { _ in session.isStaged }
    }
}

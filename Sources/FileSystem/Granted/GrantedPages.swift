internal import SystemCalls

/// What the kernel keeps of files in an app's mount although their handles go past the page cache:
/// sendfile(2), splice(2) and private mappings read through it all the same. It is dropped soon
/// after it was read, so that who reads on asks the owner, who may have revoked the grant or
/// written something else.
///
/// Any thread; waits for nothing. The dropping waits: a page goes when the read that fills it is
/// answered. So it has threads of its own, one for each owner, and one that hangs is in nobody's
/// way.
final class GrantedPages: Sendable {
    /// How long pages are kept, in milliseconds: a mapping that is read on and on asks the owner
    /// no more often.
    private static let age: UInt64 = 50

    private struct State {
        /// Nodes whose pages are about to be dropped.
        var awaited: Set<UInt64> = []
        var threads: [String: Notifier] = [:]
        var hasEnded = false
    }
    private let state = Lock(State())

    /// A read of a node for the page cache is about to be answered.
    ///
    /// - Parameter drop: has the kernel drop the node's pages; on a thread that may wait.
    func note(
        _ node: UInt64, of owner: String, _ scheduler: Scheduler,
        _ drop: @escaping @Sendable () -> Void
    ) {
        let isFirst = state.withLock { state -> Bool in
            if state.hasEnded { return false }
            return state.awaited.insert(node).inserted
        }
        guard isFirst else { return }
        scheduler.at(MonotonicClock.after(milliseconds: Self.age)) { [self] in
            thread(of: owner)?.post { [self] in
                // First, so that what is read from here on has a turn of its own.
                state.withLock { state in _ = state.awaited.remove(node) }
                drop()
            }
        }
    }

    /// Only on the scheduler's thread; `nil` at the end.
    private func thread(of owner: String) -> Notifier? {
        let (thread, isNew) = state.withLock { state -> (Notifier?, Bool) in
            if state.hasEnded { return (nil, false) }
            if let known = state.threads[owner] { return (known, false) }
            let made = Notifier()
            state.threads[owner] = made
            return (made, true)
        }
        if isNew { thread?.start("granted pages") }
        return thread
    }

    /// Ends the threads, when the kernel has let go of the mount and the scheduler has ended.
    func stop() {
        let threads = state.withLock { state -> [Notifier] in
            state.hasEnded = true
            return Array(state.threads.values)
        }
        for thread in threads { thread.stop() }
    }
}

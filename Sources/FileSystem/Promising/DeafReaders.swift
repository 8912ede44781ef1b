internal import Coordination
internal import Promises
internal import Synchronization
internal import SystemCalls

/// An answer that several may give: the first of them does.
final class Turn: Sendable {
    private let isTaken = Atomic(false)

    var isOver: Bool { isTaken.load(ordering: .acquiring) }

    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}

/// Threads that wait for pages.
///
/// The kernel reads ahead for who reads, and until those pages are there the thread waits in state D, where it hears
/// no signal but fatal ones. Told that they do not come, the kernel asks again for the one page that is
/// needed, and for that the thread waits so that any signal ends the wait. So a thread is told that soon.
/// But not in a page fault: what is interrupted there is SIGBUS.
extension Volume {
    /// A content that comes sooner is worth one request, in milliseconds ...
    private static let firstLook: UInt64 = 20
    /// ... and who reads on may come later to what was read ahead.
    private static let pace: UInt64 = 100
    /// By then the kernel has asked again, or who was interrupted has: nobody is to find meanwhile that nobody
    /// waits, and to give up what is on its way.
    private static let grace: UInt64 = 500

    /// Calls `refuse` when the thread waits deaf for what it reads, with the turn taken, and a moment later
    /// `leave`; until somebody else has taken the turn.
    func end(
        deafnessOf thread: Int32, _ turn: Turn, refuse: @escaping @Sendable () -> Void,
        leave: @escaping @Sendable () -> Void
    ) {
        look(after: Self.firstLook, thread, turn, refuse, leave)
    }

    private func look(
        after milliseconds: UInt64, _ thread: Int32, _ turn: Turn,
        _ refuse: @escaping @Sendable () -> Void, _ leave: @escaping @Sendable () -> Void
    ) {
        after(milliseconds: milliseconds) { [weak self] in
            guard let self, !turn.isOver else { return }
            guard CallerProcess.isDeafReader(thread) else {
                return look(after: Self.pace, thread, turn, refuse, leave)
            }
            guard turn.take() else { return }
            refuse()
            after(milliseconds: Self.grace, leave)
        }
    }

    /// Somebody who waits for a content got a signal; how they are to be told, if they are.
    func interrupt(_ ticket: UInt64, of downloads: Downloads?) -> (@Sendable (Errno) -> Void)? {
        guard let downloads, let answer = downloads.interrupt(ticket) else { return nil }
        after(milliseconds: Self.grace) { downloads.leave(ticket: ticket) }
        return answer
    }
}

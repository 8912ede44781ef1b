internal import CSystemShim
internal import Glibc
internal import SystemCalls

/// A query from its start to its end, as often as it is started.
final class QueryRun: Sendable {
    private struct State {
        var hasEnded = false
        /// Something is being told, or about to be.
        var isTelling = false
        /// There is a source that is followed.
        var isFollowing = false
    }
    /// Changes gather until nothing has happened for so long, in milliseconds ...
    private static let quiet: Int32 = 100
    /// ... but no longer than this.
    private static let patience: UInt64 = 1_000
    /// How long ``end()`` waits for the source to be let go, in milliseconds.
    private static let parting: UInt64 = 1_000

    private let notify: @Sendable (MetadataUpdate) -> Void
    private let state = Monitor(State())
    private let bell: OwnedDescriptor

    /// A source on its way from the thread that made it to the one that uses it.
    final class Handover: @unchecked Sendable {
        // Unchecked because the first thread does not touch it afterwards.
        private var value: (any QuerySource)?
        init(_ value: any QuerySource) { self.value = value }
        func take() -> (any QuerySource)? { value.take() }
    }

    /// - Parameter notify: told on the thread that follows.
    init(_ notify: @escaping @Sendable (MetadataUpdate) -> Void) throws(Errno) {
        self.notify = notify
        bell = OwnedDescriptor(adopting: try check { shim_signal_descriptor() })
    }

    /// There is a source to follow from now on; false if it has ended already.
    func begin() -> Bool {
        state.withLock { state in
            state.isFollowing = !state.hasEnded
            return state.isFollowing
        }
    }

    /// Tells nothing from now on, and waits until the source is let go. Any thread.
    func end() {
        state.withLock { $0.hasEnded = true }
        ring()
        // A user has few queues of inotify. What is told may be what ends it, or wait for who does.
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: Self.parting)) {
            !$0.isFollowing || $0.isTelling ? true : nil
        }
    }

    /// Has the thread that follows look whether it should go on, and whether changes may be told. Any thread.
    func ring() {
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }

    // MARK: The thread that follows

    /// Tells unless it has ended.
    func tell(_ update: MetadataUpdate) {
        let isWanted = state.withLock { state in
            state.isTelling = !state.hasEnded
            return state.isTelling
        }
        if isWanted { notify(update) }
        state.signal { $0.isTelling = false }
    }

    /// Returns when it has ended, or why nothing more comes. The source is gone then.
    ///
    /// - Parameter update: told that something has changed; false if that is to wait for the bell.
    func follow(_ handover: Handover, _ update: (any QuerySource) -> Bool) -> Failure? {
        defer { state.signal { $0.isFollowing = false } }
        do throws(Failure) { try follow(handover.take(), update) } catch { return error }
        return nil
    }

    private func follow(
        _ source: (any QuerySource)?, _ update: (any QuerySource) -> Bool
    ) throws(Failure) {
        guard let source else { return }
        // What came with the first results is here already: nothing would wake this for it.
        var isBehind = try source.take()
        while !state.withLock({ $0.hasEnded }) {
            if isBehind, update(source) { isBehind = false }
            if try wait(source) { isBehind = true }
        }
    }

    /// Returns when the bell rang, or something has happened, which is true, and then nothing.
    private func wait(_ source: any QuerySource) throws(Failure) -> Bool {
        var entries = [
            pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 2, -1)
        if entries[1].revents != 0 {
            var count: UInt64 = 0
            _ = read(bell.number, &count, 8)
            return false
        }
        let deadline = MonotonicClock.after(milliseconds: Self.patience)
        var isNews = false
        repeat {
            if try source.take() { isNews = true }
            entries[0].revents = 0
        } while !source.isBatched && poll(&entries, 1, Self.quiet) > 0
            && MonotonicClock.now < deadline
        return isNews
    }
}

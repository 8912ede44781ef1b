package import Model
internal import SystemCalls

/// Hands changes on to those who follow them, in order and each once, as soon as they are in the
/// journal.
///
/// Any thread. Keeps the last changes in memory while anybody subscribes. It never waits for a
/// subscriber, and a subscriber's `wake` runs with the journal's lock held: it may only note that
/// there is something, under a lock of the last level.
package final class ChangeFeed: Sendable {
    /// Changes kept in memory.
    static let capacity = 8_192

    /// What there is for a subscriber.
    package enum Portion: Sendable {
        /// The next changes; none if there are none yet.
        case changes([ChangeRow])
        /// It is further behind than the memory reaches: changes after the first sequence, to the
        /// second, have to be read from the catalog.
        case behind(after: ChangeSequence, upTo: ChangeSequence)
    }

    /// One who follows.
    package struct Subscription: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Subscriber {
        /// The last change it was given.
        var cursor: ChangeSequence
        let wake: @Sendable () -> Void
    }
    private struct State {
        /// The last change that is in the journal.
        var head: ChangeSequence
        /// Changes up to ``head`` without a gap; those before `first` have been given up.
        var rows: [ChangeRow] = []
        var first = 0
        var subscribers: [UInt64: Subscriber] = [:]
        var next: UInt64 = 1

        var kept: Int { rows.count - first }
    }
    private let state: Lock<State>

    /// - Parameter head: the last change there is.
    init(head: ChangeSequence) { state = Lock(State(head: head)) }

    /// The journal has these, which follow on those before.
    func publish(_ mutations: ArraySlice<Mutation>) {
        guard let last = mutations.last else { return }
        let wakes = state.withLock { state -> [@Sendable () -> Void] in
            state.head = last.sequence
            if state.subscribers.isEmpty { return [] }
            for mutation in mutations { state.rows.append(ChangeRow(mutation)) }
            state.first += max(state.kept - Self.capacity, 0)
            // Given up in large parts, not one by one.
            if state.first >= Self.capacity {
                state.rows.removeFirst(state.first)
                state.first = 0
            }
            return state.subscribers.values.map(\.wake)
        }
        for wake in wakes { wake() }
    }

    /// Wakes those who follow: there are changes that nobody brings to the journal yet.
    func announce() {
        for wake in state.withLock({ $0.subscribers.values.map(\.wake) }) { wake() }
    }

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - sequence: the last change that is known; `nil`: the last there is.
    ///   - wake: called when there is something, or will be once the log is flushed
    ///     (``ChangeLog/announce()``); see ``ChangeFeed``.
    package func subscribe(
        after sequence: ChangeSequence?, wake: @escaping @Sendable () -> Void
    ) -> Subscription {
        state.withLock { state in
            defer { state.next += 1 }
            state.subscribers[state.next] = Subscriber(
                cursor: min(sequence ?? state.head, state.head), wake: wake)
            return Subscription(number: state.next)
        }
    }

    /// The next changes, at most `limit`. They count as given.
    package func take(_ subscription: Subscription, atMost limit: Int) -> Portion {
        state.withLock { state in
            guard let cursor = state.subscribers[subscription.number]?.cursor,
                cursor < state.head
            else { return .changes([]) }
            let missing = state.head - cursor
            guard missing <= UInt64(state.kept) else {
                return .behind(after: cursor, upTo: state.head)
            }
            let start = state.rows.count - Int(missing)
            let rows = Array(state.rows[start...].prefix(limit))
            state.subscribers[subscription.number]?.cursor = rows.last?.sequence ?? cursor
            return .changes(rows)
        }
    }

    /// The subscriber has what it needs up to `sequence`, from elsewhere.
    package func skip(_ subscription: Subscription, to sequence: ChangeSequence) {
        state.withLock { state in
            guard let cursor = state.subscribers[subscription.number]?.cursor else { return }
            state.subscribers[subscription.number]?.cursor = max(cursor, sequence)
        }
    }

    /// Ends the following; its `wake` may be running still, and is not called again afterwards.
    package func cancel(_ subscription: Subscription) {
        state.withLock { state in
            state.subscribers[subscription.number] = nil
            if state.subscribers.isEmpty {
                state.rows = []
                state.first = 0
            }
        }
    }
}

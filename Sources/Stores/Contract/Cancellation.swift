internal import SystemCalls

/// Tells a call in progress to stop, and until when it may run. Any thread.
///
/// Every blocking step of a store looks at it at least every 50 ms.
package final class Cancellation: Sendable {
    /// How often waits look, in milliseconds.
    package static let interval: UInt64 = 50

    private let isOver = Monitor(false)
    /// The moment of ``MonotonicClock`` when the call has to end with `timedOut`.
    package let deadline: UInt64

    package init(deadline: UInt64 = .max) { self.deadline = deadline }

    /// Makes the calls that carry this end with `cancelled`, soon. There is no way back.
    package func cancel() { isOver.signal { $0 = true } }

    package var isCancelled: Bool { isOver.withLock { $0 } }

    /// Throws `cancelled` or `timedOut` if it is time to stop.
    package func check(at address: String) throws(StoreError) {
        if isCancelled { throw StoreError(.cancelled, at: address, "cancelled") }
        if deadline != .max, MonotonicClock.now >= deadline {
            throw StoreError(.timedOut, at: address, "the time given for it is over")
        }
    }

    /// Waits `nanoseconds`; throws at once when it is time to stop.
    package func sleep(nanoseconds: UInt64, at address: String) throws(StoreError) {
        let end = MonotonicClock.now &+ nanoseconds
        _ = isOver.wait(until: min(end, deadline)) { $0 ? true : nil }
        try check(at: address)
    }
}

internal import Model
internal import Pictures
internal import Stores
internal import SystemCalls

/// Fetches from a store or a source for the sake of pictures: for which versions it is worth while to
/// ask, and which are in progress. Nobody waits for them, so they give up early. Any thread.
final class PictureFetches: Sendable {
    /// What a fetch may take, in milliseconds.
    private static let patience: UInt64 = 15_000
    /// How long a version is not asked for again, in nanoseconds.
    private static let absence: UInt64 = 300_000_000_000
    /// How long nothing is asked for after no answer came, in nanoseconds.
    private static let pause: UInt64 = 10_000_000_000
    private static let rememberedLimit = 16_384

    private struct State {
        /// Until when versions are not asked for.
        var absent = Recent<NodeNumber, UInt64>(limit: rememberedLimit)
        var pausedUntil: UInt64 = 0
        /// Ends the fetches in progress.
        var fetches: [NodeNumber: Cancellation] = [:]
        var ended = false
    }
    private let state = Lock(State())

    /// Whether a version may be asked for now.
    func mayAsk(_ node: NodeNumber) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            !state.ended && now >= state.pausedUntil && now >= state.absent[node] ?? 0
        }
    }

    /// Until when nothing is asked for, as `MonotonicClock` has it.
    var pausedUntil: UInt64 { state.withLock { $0.pausedUntil } }

    /// When a fetch that begins now gives up, as `MonotonicClock` has it.
    static var deadline: UInt64 { MonotonicClock.after(milliseconds: patience) }

    /// Asks for something of a version; nil if it cannot be had now. Waits for the store.
    ///
    /// - Parameter deadline: of all that is asked for together; nil if that is all.
    func fetch<Result>(
        _ node: NodeNumber, until deadline: UInt64? = nil,
        _ body: (StoreCall) throws(StoreError) -> Result?
    ) -> Result? {
        let end = Cancellation(deadline: deadline ?? Self.deadline)
        let isOver = state.withLock { state in
            state.fetches[node] = end
            return state.ended
        }
        defer { state.withLock { $0.fetches[node] = nil } }
        if isOver { return nil }
        do throws(StoreError) {
            return try body(StoreCall(cancellation: end, urgency: Urgency(awaited: false)))
        } catch {
            if error.isTransient { rest() } else { skip(node) }
            return nil
        }
    }

    /// Nothing is asked for during the next seconds.
    func rest() {
        state.withLock { $0.pausedUntil = MonotonicClock.now + Self.pause }
    }

    /// The version is not asked for again for some minutes, or ever.
    func skip(_ node: NodeNumber, forEver: Bool = false) {
        let end = forEver ? UInt64.max : MonotonicClock.now + Self.absence
        state.withLock { $0.absent.insert(end, for: node, weight: 1) }
    }

    /// Ends what is in progress.
    func stop() {
        let fetches = state.withLock { state in
            state.ended = true
            return state.fetches
        }
        for fetch in fetches.values { fetch.cancel() }
    }
}

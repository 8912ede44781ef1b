internal import Model
internal import Pictures
internal import Promises
internal import Stores
internal import SystemCalls

/// Brings the first bytes of contents that are not here, for the previews in them. Any thread.
///
/// A version is asked for once; again only after a while if that came to nothing, and never if it has
/// no preview.
final class ContentBeginnings: Sendable {
    /// Bytes of a content that are brought at most: the segment with the preview is 64 KiB at most, and
    /// may follow others.
    private static let bytes: Int64 = 128 << 10
    /// What a fetch may take, in milliseconds.
    private static let patience: UInt64 = 15_000
    /// How long a version is not asked for again, in nanoseconds.
    private static let absence: UInt64 = 300_000_000_000
    /// How long nothing is asked for after a store or source did not answer, in nanoseconds.
    private static let pause: UInt64 = 10_000_000_000
    private static let rememberedLimit = 16_384

    private struct State {
        /// Until when versions are not asked for.
        var absent = Recent<NodeNumber, UInt64>(limit: rememberedLimit)
        /// Until when none is: a store or a source did not answer.
        var pausedUntil: UInt64 = 0
        /// Ends the fetches in progress.
        var fetches: [NodeNumber: Cancellation] = [:]
        var ended = false
    }
    private let state = Lock(State())

    /// Whether the beginning of a version may be asked for now.
    func mayHave(_ node: NodeNumber) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            !state.ended && now >= state.pausedUntil && now >= state.absent[node] ?? 0
        }
    }

    /// The first bytes of a version's content; nil if they cannot be had now. Waits for the store.
    func fetch(_ node: NodeNumber, _ blob: Blob, from downloads: Downloads) -> [UInt8]? {
        let end = Cancellation(deadline: MonotonicClock.after(milliseconds: Self.patience))
        let isOver = state.withLock { state in
            state.absent.insert(MonotonicClock.now + Self.absence, for: node, weight: 1)
            state.fetches[node] = end
            return state.ended
        }
        defer { state.withLock { $0.fetches[node] = nil } }
        if isOver { return nil }
        let call = StoreCall(cancellation: end, urgency: Urgency(awaited: false))
        do throws(StoreError) {
            return try downloads.beginning(of: blob, count: Self.bytes, call)
        } catch {
            if error.isTransient {
                state.withLock { $0.pausedUntil = MonotonicClock.now + Self.pause }
            }
            return nil
        }
    }

    /// The version has no preview, and will have none.
    func noteNothing(_ node: NodeNumber) {
        state.withLock { $0.absent.insert(.max, for: node, weight: 1) }
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

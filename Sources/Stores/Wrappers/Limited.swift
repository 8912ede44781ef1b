package import Model
internal import SystemCalls

/// Lets only so many calls at a time through. Those somebody waits for go first, and some places are
/// kept for them.
package struct Limited: ContentStore {
    private let store: any ContentStore
    private let gate: Gate

    /// - Parameters:
    ///   - calls: at once, at least 1.
    ///   - reserved: of these, only for calls somebody waits for; less than `calls`.
    package init(_ store: any ContentStore, calls: Int = 8, reserved: Int = 2) {
        precondition(calls >= 1 && (0..<calls).contains(reserved))
        self.store = store
        gate = Gate(calls: calls, reserved: reserved)
    }

    package var address: String { store.address }

    private func inTurn<Result>(
        _ call: StoreCall, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let leave = try gate.enter(call, address)
        defer { leave() }
        return try body()
    }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        try inTurn(call) { () throws(StoreError) in try store.prepare(call) }
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        try inTurn(call) { () throws(StoreError) in try store.put(blob, from: source, call) }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        try inTurn(call) { () throws(StoreError) in
            try store.get(blob, range, into: sink, call)
        }
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try inTurn(call) { () throws(StoreError) in try store.stat(hash, call) }
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        try inTurn(call) { () throws(StoreError) in try store.delete(hash, call) }
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        try inTurn(call) { () throws(StoreError) in try store.sweep(isAbandoned, call) }
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try inTurn(call) { () throws(StoreError) in try store.put(companion, bytes, call) }
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try inTurn(call) { () throws(StoreError) in try store.get(companion, call) }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try inTurn(call) { () throws(StoreError) in
            try store.list(after: hash, limit: limit, call)
        }
    }

    /// Who is inside and who waits, in the order of arrival.
    private final class Gate: Sendable {
        private struct State {
            var inside = 0
            /// Of those inside, how many came as background work.
            var background = 0
            var waiting: [(ticket: UInt64, urgency: Urgency)] = []
            var tickets: UInt64 = 0
        }

        private let calls: Int
        private let reserved: Int
        private let state = Monitor(State())

        init(calls: Int, reserved: Int) {
            self.calls = calls
            self.reserved = reserved
        }

        /// Waits for a place; what is returned gives it back.
        func enter(_ call: StoreCall, _ address: String) throws(StoreError) -> () -> Void {
            let ticket = state.withLock { state in
                state.tickets += 1
                state.waiting.append((state.tickets, call.urgency))
                return state.tickets
            }
            while true {
                // Woken by those who leave; a raised urgency is seen at the next look.
                let end = MonotonicClock.after(milliseconds: Cancellation.interval)
                let entered = state.wait(until: end) { admit(ticket, &$0) }
                if let wasBackground = entered {
                    return { [state] in
                        state.signal { state in
                            state.inside -= 1
                            if wasBackground { state.background -= 1 }
                        }
                    }
                }
                do throws(StoreError) { try call.cancellation.check(at: address) } catch {
                    state.signal { $0.waiting.removeAll { $0.ticket == ticket } }
                    throw error
                }
            }
        }

        /// Whether it came as background work, if it is its turn.
        private func admit(_ ticket: UInt64, _ state: inout State) -> Bool? {
            let first = state.waiting.first { $0.urgency.isAwaited } ?? state.waiting.first
            guard let first, first.ticket == ticket, state.inside < calls else { return nil }
            let isBackground = !first.urgency.isAwaited
            if isBackground, state.background >= calls - reserved { return nil }
            state.waiting.removeAll { $0.ticket == ticket }
            state.inside += 1
            if isBackground { state.background += 1 }
            return isBackground
        }
    }
}

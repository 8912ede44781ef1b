package import Model
internal import PathText
internal import SystemCalls

/// Tries again what failed for a reason that may pass: after waits that grow and are not the same for
/// all, or as long as the server asks, within a bounded time. A get goes on where it was cut off. A removal
/// is tried again only after an answer that nothing was done: else it may still be carried out, when the
/// blob has been put anew.
package struct Retrying: ContentStore {
    /// When to try again, in seconds.
    package struct Policy: Sendable {
        /// The first wait; each following one is twice as long, and each is shortened at random by
        /// up to a half.
        package var firstWait = 0.25
        /// No wait is longer, unless the server asks.
        package var longestWait = 15.0
        /// Nothing is tried again when this has passed since the call began; not counted is the time in
        /// which bytes came as fast as ``slowest``.
        package var total = 60.0
        /// Bytes a second. A server that gives less, and breaks off again and again, gets nowhere.
        package var slowest = 256.0

        package init() {}
    }

    private let store: any ContentStore
    private let policy: Policy

    package init(_ store: any ContentStore, _ policy: Policy = Policy()) {
        self.store = store
        self.policy = policy
    }

    package var address: String { store.address }

    private func retrying<Result>(
        _ call: StoreCall, gained: () -> Int64 = { 0 },
        _ attempt: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try policy.retrying(call, at: address, gained: gained, attempt)
    }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        try retrying(call) { () throws(StoreError) in try store.prepare(call) }
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        try retrying(call) { () throws(StoreError) in
            try store.put(blob, from: source, call)
        }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        let position = Position(sink, range.lowerBound)
        var before = range.lowerBound
        try retrying(
            call,
            gained: {
                defer { before = position.next }
                return position.next - before
            }
        ) { () throws(StoreError) in
            let start = position.next
            if start == range.upperBound, start > range.lowerBound { return }
            var call = call
            if let progress = call.progress {
                call.progress = { progress($0 + start - range.lowerBound) }
            }
            try store.get(blob, start..<range.upperBound, into: position, call)
        }
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try retrying(call) { () throws(StoreError) in try store.stat(hash, call) }
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        var unclear: StoreError?
        try retrying(call) { () throws(StoreError) in
            do throws(StoreError) { try store.delete(hash, call) } catch {
                switch error.kind {
                case .refused(status: 423), .refused(status: 429), .refused(status: 503):
                    throw error
                default: unclear = error
                }
            }
        }
        if let unclear { throw unclear }
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        try retrying(call) { () throws(StoreError) in try store.sweep(isAbandoned, call) }
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try retrying(call) { () throws(StoreError) in try store.put(companion, bytes, call) }
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try retrying(call) { () throws(StoreError) in try store.get(companion, call) }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try retrying(call) { () throws(StoreError) in
            try store.list(after: hash, limit: limit, call)
        }
    }

    /// Remembers how far the sink has got.
    private final class Position: BlobSink {
        private(set) var next: Int64
        private let sink: any BlobSink

        init(_ sink: any BlobSink, _ start: Int64) {
            self.sink = sink
            next = start
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            try sink.write(bytes, at: offset)
            next = offset + Int64(bytes.count)
        }
    }
}

extension Retrying.Policy {
    /// - Parameter gained: asked after each failure: the bytes that have come since it was asked last, so
    ///   that waits and time begin anew.
    func retrying<Result>(
        _ call: StoreCall, at address: String, gained: () -> Int64 = { 0 },
        _ attempt: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var start = MonotonicClock.now
        var wait = firstWait
        while true {
            do throws(StoreError) { return try attempt() } catch {
                guard error.isTransient else { throw error }
                try call.cancellation.check(at: address)
                // However it drips: what comes too slowly does not keep a call alive for ever.
                let now = MonotonicClock.now
                let credit = Double(max(gained(), 0)) / slowest
                if credit >= Double(now - start) / 1e9 {
                    start = now
                    wait = firstWait
                } else {
                    start += UInt64(credit * 1e9)
                }
                let jittered = wait * Double.random(in: 0.5...1)
                let pause = max(jittered, error.retryAfter ?? 0)
                let spent = Double(now - start) / 1e9
                guard spent + pause <= total else { throw error.namingPause }
                call.fails?(error.namingPause)
                try call.cancellation.sleep(nanoseconds: UInt64(pause * 1e9), at: address)
                wait = min(wait * 2, longestWait)
            }
        }
    }
}

extension StoreError {
    /// The same, with how long the store asks to be left alone: longer than it is waited for.
    fileprivate var namingPause: StoreError {
        guard let retryAfter, retryAfter >= 1 else { return self }
        let time = Count.words(Int(retryAfter.rounded(.up)), "second")
        return StoreError(
            kind, at: address, "\(reason); it asks to be left alone for \(time)",
            retryAfter: retryAfter)
    }
}

package import Model
internal import SystemCalls

/// Keeps all transfers of a store together below so many bytes a second in each direction.
package struct Throttled: ContentStore {
    private let store: any ContentStore
    private let upward: Pace?
    private let downward: Pace?

    /// - Parameters: bytes a second; `nil` for no bound.
    package init(_ store: any ContentStore, putting: Double?, getting: Double?) {
        self.store = store
        upward = putting.map(Pace.init)
        downward = getting.map(Pace.init)
    }

    package var address: String { store.address }

    package func prepare(_ call: StoreCall) throws(StoreError) { try store.prepare(call) }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        guard let upward else { return try store.put(blob, from: source, call) }
        try store.put(blob, from: PacedSource(source, upward, call, address), call)
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        guard let downward else { return try store.get(blob, range, into: sink, call) }
        try store.get(blob, range, into: PacedSink(sink, downward, call, address), call)
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try store.stat(hash, call)
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        try store.delete(hash, call)
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        try store.sweep(isAbandoned, call)
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try upward?.take(bytes.count, call, address)
        try store.put(companion, bytes, call)
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        let bytes = try store.get(companion, call)
        try downward?.take(bytes?.count ?? 0, call, address)
        return bytes
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try store.list(after: hash, limit: limit, call)
    }

    /// When the next bytes may go.
    private final class Pace: Sendable {
        private let rate: Double
        private let free = Lock(UInt64(0))

        init(_ rate: Double) {
            precondition(rate > 0)
            self.rate = rate
        }

        /// Waits until `count` more bytes keep the rate.
        func take(_ count: Int, _ call: StoreCall, _ address: String) throws(StoreError) {
            let now = MonotonicClock.now
            let until = free.withLock { free in
                free = max(free, now) + UInt64(Double(count) / rate * 1e9)
                return free
            }
            try call.cancellation.sleep(nanoseconds: until - now, at: address)
        }
    }

    private final class PacedSource: BlobSource {
        private let source: any BlobSource
        private let pace: Pace
        private let call: StoreCall
        private let address: String

        init(_ source: any BlobSource, _ pace: Pace, _ call: StoreCall, _ address: String) {
            self.source = source
            self.pace = pace
            self.call = call
            self.address = address
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
            throws(StoreError) -> Int
        {
            let count = try source.read(into: buffer, at: offset)
            try pace.take(count, call, address)
            return count
        }
    }

    private final class PacedSink: BlobSink {
        private let sink: any BlobSink
        private let pace: Pace
        private let call: StoreCall
        private let address: String

        init(_ sink: any BlobSink, _ pace: Pace, _ call: StoreCall, _ address: String) {
            self.sink = sink
            self.pace = pace
            self.call = call
            self.address = address
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            try pace.take(bytes.count, call, address)
            try sink.write(bytes, at: offset)
        }
    }
}

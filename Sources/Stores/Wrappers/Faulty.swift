package import Model
internal import SystemCalls

/// Fails as planned or at random, for tests of what is built on a store.
package struct Faulty: ContentStore {
    /// What goes wrong with one call.
    package enum Fault: Hashable, Sendable {
        /// Nothing.
        case none
        /// The call fails before it reaches the store.
        case fail(StoreError.Kind)
        /// The call is carried out, but its answer is lost.
        case lost(StoreError.Kind)
        /// A transfer fails after so many bytes; other calls at once.
        case cut(after: Int64, StoreError.Kind)
        /// One bit of a get is wrong, that of the byte at this offset.
        case flip(at: Int64)
        /// The call begins so many milliseconds later.
        case late(milliseconds: UInt64)
    }

    /// Which call has which fault.
    package enum Plan: Sendable {
        /// The first call has the first fault and so on; later calls none.
        case listed([Fault])
        /// Each call has one of these with this probability, from this seed on.
        case random([Fault], percent: Int, seed: UInt64)
    }

    private let store: any ContentStore
    private let plan: Plan
    private let state: Lock<(calls: Int, random: UInt64)>

    package init(_ store: any ContentStore, _ plan: Plan) {
        self.store = store
        self.plan = plan
        if case .random(_, _, let seed) = plan {
            state = Lock((0, seed))
        } else {
            state = Lock((0, 0))
        }
    }

    package var address: String { store.address }
    /// Calls so far.
    package var calls: Int { state.withLock { $0.calls } }

    private func next() -> Fault {
        state.withLock { state in
            state.calls += 1
            switch plan {
            case .listed(let faults):
                return state.calls <= faults.count ? faults[state.calls - 1] : .none
            case .random(let faults, let percent, _):
                guard !faults.isEmpty, draw(&state.random) % 100 < UInt64(percent) else {
                    return .none
                }
                return faults[Int(draw(&state.random) % UInt64(faults.count))]
            }
        }
    }

    /// A step of SplitMix64.
    private func draw(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    private func error(_ kind: StoreError.Kind) -> StoreError {
        StoreError(kind, at: address, "a planned fault")
    }

    private func faulting<Result>(
        _ call: StoreCall, _ body: (Fault) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let fault = next()
        switch fault {
        case .fail(let kind): throw error(kind)
        case .late(let milliseconds):
            try call.cancellation.sleep(nanoseconds: milliseconds * 1_000_000, at: address)
        case .none, .lost, .cut, .flip: break
        }
        let result = try body(fault)
        if case .lost(let kind) = fault { throw error(kind) }
        return result
    }

    /// For calls that transfer nothing.
    private func simple<Result>(
        _ call: StoreCall, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try faulting(call) { (fault) throws(StoreError) in
            if case .cut(_, let kind) = fault { throw error(kind) }
            return try body()
        }
    }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        try simple(call) { () throws(StoreError) in try store.prepare(call) }
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        try faulting(call) { (fault) throws(StoreError) in
            try store.put(blob, from: Source(source, fault, error), call)
        }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        try faulting(call) { (fault) throws(StoreError) in
            try store.get(blob, range, into: Sink(sink, fault, error), call)
        }
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try simple(call) { () throws(StoreError) in try store.stat(hash, call) }
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        try simple(call) { () throws(StoreError) in try store.delete(hash, call) }
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        try simple(call) { () throws(StoreError) in try store.sweep(isAbandoned, call) }
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try simple(call) { () throws(StoreError) in try store.put(companion, bytes, call) }
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try simple(call) { () throws(StoreError) in try store.get(companion, call) }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try simple(call) { () throws(StoreError) in
            try store.list(after: hash, limit: limit, call)
        }
    }

    private final class Source: BlobSource {
        private let source: any BlobSource
        private let fault: Fault
        private let error: (StoreError.Kind) -> StoreError
        private var passed: Int64 = 0

        init(
            _ source: any BlobSource, _ fault: Fault,
            _ error: @escaping (StoreError.Kind) -> StoreError
        ) {
            self.source = source
            self.fault = fault
            self.error = error
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
            throws(StoreError) -> Int
        {
            let count = try source.read(into: buffer, at: offset)
            passed += Int64(count)
            if case .cut(let limit, let kind) = fault, passed > limit { throw error(kind) }
            return count
        }
    }

    private final class Sink: BlobSink {
        private let sink: any BlobSink
        private let fault: Fault
        private let error: (StoreError.Kind) -> StoreError
        private var passed: Int64 = 0

        init(
            _ sink: any BlobSink, _ fault: Fault,
            _ error: @escaping (StoreError.Kind) -> StoreError
        ) {
            self.sink = sink
            self.fault = fault
            self.error = error
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            switch fault {
            case .cut(let limit, let kind) where passed + Int64(bytes.count) > limit:
                let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(limit - passed)))
                if !part.isEmpty { try sink.write(part, at: offset) }
                throw error(kind)
            case .flip(let place) where (offset..<offset + Int64(bytes.count)).contains(place):
                var copy = Array(bytes)
                copy[Int(place - offset)] ^= 1
                var problem: StoreError?
                copy.withUnsafeBytes { bytes in
                    do throws(StoreError) { try sink.write(bytes, at: offset) } catch {
                        problem = error
                    }
                }
                if let problem { throw problem }
            default: try sink.write(bytes, at: offset)
            }
            passed += Int64(bytes.count)
        }
    }
}

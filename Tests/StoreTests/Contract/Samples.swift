import Model
import Probing
import SystemCalls
import Testing

@testable import Stores

/// Bytes to put, with their hash.
struct Sample: Sendable {
    let bytes: [UInt8]
    let blob: Blob

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard let hash = ContentHash(bytes: RunningDigest.of(bytes)) else {
            preconditionFailure("a digest has 32 bytes")
        }
        blob = Blob(hash: hash, size: Int64(bytes.count))
    }

    /// Random bytes.
    init(size: Int, seed: UInt64) {
        var random = SplitMix(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 8)
        while bytes.count < size {
            withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
        }
        self.init(Array(bytes.prefix(size)))
    }

    var source: MemorySource { MemorySource(bytes) }
}

extension ContentStore {
    func put(_ sample: Sample, _ call: StoreCall = StoreCall()) throws(StoreError) {
        try put(sample.blob, from: sample.source, call)
    }

    /// The bytes of a blob, or of a part.
    func bytes(_ blob: Blob, _ range: Range<Int64>? = nil) throws(StoreError) -> [UInt8] {
        let range = range ?? blob.range
        let sink = MemorySink(from: range.lowerBound)
        try get(blob, range, into: sink, StoreCall())
        return sink.bytes
    }
}

/// The kind of the error that `body` throws; `nil` if it throws none.
func kind(_ body: () throws(StoreError) -> Void) -> StoreError.Kind? {
    do throws(StoreError) {
        try body()
        return nil
    } catch {
        return error.kind
    }
}

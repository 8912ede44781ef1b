package import Model
internal import SystemCalls

/// Compares what comes with the blob's hash and size: a call that returns has given the right bytes.
///
/// Whole blobs are compared with their hash; of a part only the length and the blob's size can be
/// known. A wrong blob is got once more, because the fault may lie on the way.
package struct Verifying: ContentStore {
    private let store: any ContentStore

    package init(_ store: any ContentStore) { self.store = store }

    package var address: String { store.address }

    package func prepare(_ call: StoreCall) throws(StoreError) { try store.prepare(call) }

    /// Also asks the store for the size afterwards.
    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        try store.put(blob, from: source, call)
        let size = try store.stat(blob.hash, call)
        guard size == blob.size else {
            throw StoreError(
                .corrupt, at: address,
                "\(blob.hash) has been put, but the store has "
                    + (size.map { "\($0) instead of \(blob.size) bytes" } ?? "nothing"))
        }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        do throws(StoreError) { try getOnce(blob, range, into: sink, call) } catch {
            guard error.kind == .corrupt else { throw error }
            try getOnce(blob, range, into: sink, call)
        }
    }

    private func getOnce(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        let watch = Watch(sink, range, address, hashes: range == blob.range)
        try store.get(blob, range, into: watch, call)
        guard watch.next == range.upperBound else {
            throw StoreError(
                .corrupt, at: address, "\(blob.hash) came only up to byte \(watch.next)")
        }
        guard let digest = watch.digest else { return }
        guard digest.finish() == blob.hash.bytes else {
            throw StoreError(.corrupt, at: address, "\(blob.hash) came with other bytes")
        }
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
        try store.put(companion, bytes, call)
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try store.get(companion, call)
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try store.list(after: hash, limit: limit, call)
    }

    /// Hashes what passes, if that is to be compared; refuses gaps and what lies outside the range.
    private final class Watch: BlobSink {
        let digest: RunningDigest?
        private(set) var next: Int64
        private let sink: any BlobSink
        private let range: Range<Int64>
        private let address: String

        init(_ sink: any BlobSink, _ range: Range<Int64>, _ address: String, hashes: Bool) {
            digest = hashes ? RunningDigest(.sha256) : nil
            self.sink = sink
            self.range = range
            self.address = address
            next = range.lowerBound
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            guard offset == next, offset + Int64(bytes.count) <= range.upperBound else {
                throw StoreError(
                    .corrupt, at: address, "bytes came for \(offset) instead of \(next)")
            }
            digest?.update(bytes)
            next += Int64(bytes.count)
            try sink.write(bytes, at: offset)
        }
    }
}

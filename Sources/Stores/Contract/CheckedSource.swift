internal import SystemCalls

/// A source that gives the last bytes away only if all of them have the blob's hash, so that wrong
/// bytes never become a whole blob in a store.
///
/// Hashes in the first pass; later passes over the same bytes are not hashed again, and get nothing if they
/// were wrong.
final class CheckedSource: BlobSource {
    private let source: any BlobSource
    private let blob: Blob
    private let address: String
    private let digest = RunningDigest(.sha256)
    private var hashed: Int64 = 0
    /// Its bytes have another hash.
    private(set) var isWrong = false
    /// Some of its bytes were given away.
    var isBegun: Bool { hashed > 0 }

    /// Throws `corrupt` at once for an empty blob with another hash.
    init(_ source: any BlobSource, of blob: Blob, for address: String) throws(StoreError) {
        self.source = source
        self.blob = blob
        self.address = address
        if blob.size == 0 { try compare() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError)
        -> Int
    {
        if isWrong { throw wrong }
        let wanted = Int(min(Int64(buffer.count), max(0, blob.size - offset)))
        guard wanted > 0 else { return 0 }
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        let count = try source.read(into: part, at: offset)
        if count < wanted {
            throw StoreError(
                .corrupt, at: address,
                "what was to be stored ends after \(offset + Int64(count)) of \(blob.size) bytes")
        }
        if offset <= hashed, offset + Int64(count) > hashed {
            digest.update(UnsafeRawBufferPointer(rebasing: part[Int(hashed - offset)...]))
            hashed = offset + Int64(count)
            if hashed == blob.size { try compare() }
        }
        return count
    }

    private func compare() throws(StoreError) {
        isWrong = digest.finish() != blob.hash.bytes
        if isWrong { throw wrong }
    }

    private var wrong: StoreError {
        StoreError(.corrupt, at: address, "what was to be stored as \(blob.hash) has another hash")
    }
}

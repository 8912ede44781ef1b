package import Model

/// A place that keeps immutable blobs by their hash: a folder, an S3 bucket, a WebDAV collection, or a
/// wrapper of another store.
///
/// Calls block the caller's thread, end within a bound (``Timeouts``) unless sink and source go on
/// forever, and look at the call's ``Cancellation`` at least every 100 ms; only a folder on a disk
/// that hangs is out of reach. All of it may be called from any number of threads.
package protocol ContentStore: Sendable {
    /// Where the store is, for messages; never holds credentials.
    var address: String { get }

    /// Makes what is missing so that blobs can be put: the folder, the bucket, the collection.
    func prepare(_ call: StoreCall) throws(StoreError)

    /// Puts a blob. When it returns, the store has it whole and durably. Other readers see all of it
    /// or nothing. A blob that is there already is left as it is, unless its size is wrong or the call
    /// replaces it (``StoreCall/replaces``).
    ///
    /// The bytes are checked against the hash on their way; `corrupt`, and nothing in the store, if
    /// they are others. `source` is read from 0 on, perhaps several times.
    func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError)

    /// Gets a part of a blob, in ascending order and without gaps, into `sink`. When it returns, all
    /// of `range` has been written. Throws `absent`; `corrupt` if the store's blob has another size.
    ///
    /// Only ``Verifying`` compares the bytes with the hash.
    ///
    /// - Parameter range: within the blob's.
    func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError)

    /// The size of a blob; `nil` if the store has none of this hash. Throws `unreachable`, and does
    /// not answer `nil`, if the store itself is not there.
    func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64?

    /// Removes a blob. One that is not there is not an error. If it throws, the server may still do it later.
    func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError)

    /// The blobs whose names come after `hash`, from the first on if it is `nil`. What is put or
    /// removed meanwhile may or may not be among them. Files that are not blobs are passed over.
    ///
    /// - Parameter limit: at most so many, at least 1; a store may give fewer.
    func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage

    /// Removes what puts have left that were cut off, and that is no blob: only what `isAbandoned` says so
    /// of. A remnant that cannot be removed is left for the next time, without an error.
    func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError)

    /// Puts something made of a blob, in place of what there is. Other readers see all of it or what
    /// was there before. Nothing is checked but its size, and it may be lost in a power loss.
    ///
    /// - Parameter bytes: at most ``Companion/limit``.
    func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError)

    /// What was put; `nil` if there is none. `corrupt` if it is larger than ``Companion/limit``. Who
    /// asks has to see whether it is what it should be.
    func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]?
}

extension ContentStore {
    /// Gets a whole blob.
    package func get(_ blob: Blob, into sink: any BlobSink, _ call: StoreCall) throws(StoreError) {
        try get(blob, blob.range, into: sink, call)
    }

    /// Puts a blob and gets it back, so that it is known to be right there: what was there already may not
    /// be, and not every server can compare what comes. What is not is replaced, once. `corrupt` if it
    /// still comes with other bytes. For stores that are verified (``Verifying``).
    ///
    /// - Parameter comparing: for getting it back.
    package func putCompared(
        _ blob: Blob, from source: any BlobSource, _ call: StoreCall, comparing: StoreCall
    ) throws(StoreError) {
        var call = call
        while true {
            try put(blob, from: source, call)
            do throws(StoreError) { return try get(blob, into: NoSink(), comparing) } catch {
                guard error.kind == .corrupt, !call.replaces else { throw error }
                call.replaces = true
            }
        }
    }

    /// Throws `absent` unless the store has the blob, and `corrupt` if that has another size.
    func require(_ blob: Blob, _ call: StoreCall) throws(StoreError) {
        guard let size = try stat(blob.hash, call) else {
            throw StoreError(.absent, at: address, "there is no \(blob.hash)")
        }
        guard size == blob.size else {
            throw StoreError(
                .corrupt, at: address,
                "\(blob.hash) has \(size) bytes there and should have \(blob.size)")
        }
    }
}

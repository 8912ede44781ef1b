package import Model
internal import Synchronization
internal import SystemCalls

/// The contents of foreign trees by the names they have here, so that they can be brought as blobs are.
/// Nothing can be put there.
package final class ForeignContents: ContentStore {
    /// Where a content is.
    package struct Place: Sendable {
        /// Of the tree, as the user gave it.
        package var tree: String
        package var path: [UInt8]
        package var tag: [UInt8]

        package init(tree: String, path: [UInt8], tag: [UInt8]) {
            self.tree = tree
            self.path = path
            self.tag = tag
        }
    }

    package let address = "the source"
    private let settings: StoreSettings
    private let find: @Sendable (ContentHash) throws(StoreError) -> Place?
    private let sources = Lock<[String: Source]>([:])

    /// A tree, and when it gave something last, of ``MonotonicClock``.
    private final class Source: Sendable {
        let tree: any SourceTree
        let gaveAt = Atomic(UInt64(0))

        init(_ tree: any SourceTree) { self.tree = tree }
    }

    /// Notes when something comes.
    private final class NotingSink: BlobSink {
        private let sink: any BlobSink
        private let source: Source

        init(_ sink: any BlobSink, _ source: Source) {
            self.sink = sink
            self.source = source
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            source.gaveAt.store(MonotonicClock.now, ordering: .relaxed)
            try sink.write(bytes, at: offset)
        }
    }

    /// - Parameter find: where the content of this name is; `nil` if it is nowhere any more.
    package init(
        settings: StoreSettings,
        find: @escaping @Sendable (ContentHash) throws(StoreError) -> Place?
    ) {
        self.settings = settings
        self.find = find
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        guard let place = try find(blob.hash) else {
            throw StoreError(
                .absent, at: address, "it had other bytes when this content was listed there")
        }
        let source = try source(place.tree)
        try source.tree.read(
            SourceObject(path: place.path, tag: place.tag, blob: blob), range,
            into: NotingSink(sink, source), call)
    }

    /// The tree that the content of this name is in, for people, and when that gave something last, of
    /// ``MonotonicClock``; `nil` if it cannot be said.
    package func source(of name: ContentHash) -> (address: String, gaveAt: UInt64)? {
        guard let place = try? find(name), let known = try? source(place.tree) else { return nil }
        return (known.tree.address, known.gaveAt.load(ordering: .relaxed))
    }

    private func source(_ address: String) throws(StoreError) -> Source {
        if let known = sources.withLock({ $0[address] }) { return known }
        let parsed: StoreAddress
        do throws(Failure) { parsed = try StoreAddress(parsing: address) } catch {
            throw StoreError(.refused(status: 0), at: self.address, error.message)
        }
        let source = Source(parsed.openTree(settings))
        // Somebody else may have been faster.
        return sources.withLock { sources in
            let known = sources[address] ?? source
            sources[address] = known
            return known
        }
    }

    private var readOnly: StoreError {
        StoreError(.refused(status: 0), at: address, "sources are only read")
    }

    package func prepare(_ call: StoreCall) throws(StoreError) { throw readOnly }
    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    { throw readOnly }
    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        throw readOnly
    }
    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        throw readOnly
    }
    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) { throw readOnly }
    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    { throw readOnly }
    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        nil
    }
    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    { throw readOnly }
}

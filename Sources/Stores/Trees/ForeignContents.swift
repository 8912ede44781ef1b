package import Model
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
    private let trees = Lock<[String: any SourceTree]>([:])

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
        try tree(place.tree).read(
            SourceObject(path: place.path, tag: place.tag, blob: blob), range, into: sink, call)
    }

    private func tree(_ address: String) throws(StoreError) -> any SourceTree {
        if let known = trees.withLock({ $0[address] }) { return known }
        let parsed: StoreAddress
        do throws(Failure) { parsed = try StoreAddress(parsing: address) } catch {
            throw StoreError(.refused(status: 0), at: self.address, error.message)
        }
        let tree = parsed.openTree(settings)
        trees.withLock { $0[address] = tree }
        return tree
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

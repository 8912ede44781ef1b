import Model
import Stores

/// A store that has nothing and keeps nothing, for tests that look at one or two of its calls.
protocol InertStore: ContentStore {}

extension InertStore {
    func prepare(_ call: StoreCall) throws(StoreError) {}
    func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError) {}
    func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {}
    func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? { nil }
    func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {}
    func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {}
    func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        BlobPage(blobs: [], isLast: true)
    }
    func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {}
    func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? { nil }
}

extension Companion {
    /// Whether it is an owner's mark, and nothing else that is said of who uses a store.
    var isMark: Bool { kind == "owner" }
}

import Logging
import Model
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// Cleaning of stores that do not do all of what it asks for.
@Suite struct CleaningFaultTests {
    /// A store with one blob, of which nobody may ask what puts left there.
    private final class SilentStore: InertStore {
        let address = "silent"
        let blob = Sample(size: 10, seed: 1).blob
        let isDeleted = Monitor(false)
        private let mark = Lock<[UInt8]?>(nil)

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            mark.withLock { $0 = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            mark.withLock { $0 }
        }
        func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
            -> BlobPage
        {
            // Nothing yet when the container becomes the owner.
            let isOwned = mark.withLock { $0 != nil }
            return BlobPage(blobs: isOwned && hash == nil ? [blob] : [], isLast: true)
        }
        func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
            isDeleted.signal { $0 = true }
        }
        func sweep(
            _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
        ) throws(StoreError) {
            throw StoreError(.denied, at: address, "not for you")
        }
    }

    @Test func `a store that does not tell what uploads have left has its blobs removed`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SilentStore()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let ownership = StoreOwnership(store, address: store.address, path: folder + "/owner")
        try ownership.claim(StoreCall())
        let uploads = Uploads(
            store: store, logger: logger, ready: { _ in }, source: { _ in nil },
            done: { _ in }, failed: { _, _ in })
        defer { uploads.stop() }
        let cleaning = StoreCleaning(
            store, ownership, uploads, path: folder + "/unneeded", grace: 2, logger: logger
        ) { $0.map { _ in false } }
        cleaning.start()
        defer { cleaning.stop() }
        let isDeleted: Bool? = store.isDeleted.wait(
            until: MonotonicClock.after(milliseconds: 60_000)
        ) { $0 ? true : nil }
        #expect(isDeleted == true)
    }
}

import Logging
import Model
import Promises
import Stores
import SystemCalls
import Testing

/// How contents go to the store.
@Suite struct UploadTests {
    /// A store that asks to be left alone for two seconds when something is put the first time.
    private final class BusyStore: InertStore {
        let address = "busy"
        let puts = Lock<[UInt64]>([])

        func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError) {
            let count = puts.withLock { puts in
                puts.append(MonotonicClock.now)
                return puts.count
            }
            guard count == 1 else { return }
            throw StoreError(.refused(status: 429), at: address, "busy", retryAfter: 2)
        }
    }

    @Test func `a store that asks to be left alone is, however soon it would be tried again`()
        throws
    {
        let store = BusyStore()
        let sample = Sample(size: 10, seed: 1)
        let isDone = Monitor(false)
        let uploads = Uploads(
            store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            ready: { _ in }, source: { _ in MemorySource(sample.bytes) },
            done: { _ in isDone.signal { $0 = true } }, failed: { _, _ in })
        defer { uploads.stop() }
        uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: sample.blob)])
        let done: Bool? = isDone.wait(until: MonotonicClock.after(milliseconds: 60_000)) {
            $0 ? true : nil
        }
        #expect(done == true)
        let puts = store.puts.withLock { $0 }
        try #require(puts.count == 2)
        #expect(puts[1] - puts[0] >= 2_000_000_000)
    }
}

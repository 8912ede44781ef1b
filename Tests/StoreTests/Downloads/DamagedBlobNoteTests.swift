import Glibc
import Logging
import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// The note of the blobs that came from a store with other bytes.
@Suite struct DamagedBlobNoteTests {
    @Test func `which blobs are damaged in the store is not forgotten when it cannot be read once`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = DamagedStore()
        let path = folder + "/damaged"
        let sample = Sample(size: 10, seed: 1)
        #expect(
            try run(["sh", "-c", "echo \(sample.blob.hash) > \(path).kept; mkdir \(path)"]).status
                == 0)
        let damaged = DamagedBlobs(path: path)
        #expect(try run(["sh", "-c", "rmdir \(path) && mv \(path).kept \(path)"]).status == 0)
        let isStored = Monitor<Bool?>(nil)
        let uploads = Uploads(
            store: store, damaged: damaged,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, ready: { _ in },
            source: { _ in MemorySource(sample.bytes) },
            done: { _ in isStored.signal { $0 = true } },
            failed: { _, _ in isStored.signal { $0 = false } })
        defer { uploads.stop() }
        uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: sample.blob)])
        #expect(isStored.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 } == true)
        #expect(store.isCompared.withLock { $0 })
    }

    /// A store that notes whether what was put is asked for, to be compared.
    private final class DamagedStore: InertStore {
        let address = "damaged"
        let isCompared = Lock(false)

        func get(
            _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
        ) throws(StoreError) {
            isCompared.withLock { $0 = true }
        }
    }
}

import Logging
import Model
import Probing
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

    /// A store that is not there.
    private final class LostStore: InertStore {
        let address = "lost"

        func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError) {
            throw StoreError(.unreachable, at: address, "it is not there")
        }
    }

    @Test func `why nothing goes to the store is told while it is waited for`() throws {
        let sample = Sample(size: 10, seed: 1)
        let told = Monitor<StoreError?>(nil)
        let uploads = Uploads(
            // It is tried for a minute.
            store: Retrying(LostStore()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            ready: { _ in }, source: { _ in MemorySource(sample.bytes) }, done: { _ in },
            failed: { _, problem in told.signal { $0 = problem } })
        defer { uploads.stop() }
        uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: sample.blob)])
        let problem = told.wait(until: MonotonicClock.after(milliseconds: 10_000)) { $0 }
        #expect(problem?.reason == "it is not there")
        #expect(uploads.problem == "lost: it is not there")
    }

    @Test func `why something does not go is not told any more when nobody needs it`() throws {
        let sample = Sample(size: 10, seed: 1)
        let isTold = Monitor(false)
        let uploads = Uploads(
            store: Retrying(LostStore()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            ready: { _ in }, source: { _ in MemorySource(sample.bytes) }, done: { _ in },
            failed: { _, _ in isTold.signal { $0 = true } })
        defer { uploads.stop() }
        let node = NodeNumber(rawValue: 1)
        uploads.add([Uploads.Job(node: node, blob: sample.blob)])
        let end = MonotonicClock.after(milliseconds: 10_000)
        let told: Bool? = isTold.wait(until: end) { $0 ? true : nil }
        #expect(told == true && uploads.problem != nil)
        uploads.cancel([node])
        waitUntil { uploads.count == 0 }
        #expect(uploads.problem == nil)
    }

    /// A store that takes nothing of more than ten bytes.
    private final class SmallStore: InertStore {
        let address = "small"

        func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError) {
            guard blob.size > 10 else { return }
            throw StoreError(.refused(status: 413), at: address, "too large")
        }
    }

    @Test func `what is too large for the store does not keep others waiting`() throws {
        let samples = [11, 10].map { Sample(size: $0, seed: 1) }
        let seen = Monitor((failures: 0, done: [UInt64]()))
        let uploads = Uploads(
            store: SmallStore(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            ready: { _ in },
            source: { job in MemorySource(samples[job.blob.size > 10 ? 0 : 1].bytes) },
            done: { job in seen.signal { $0.done.append(job.node.rawValue) } },
            failed: { _, _ in seen.signal { $0.failures += 1 } })
        defer { uploads.stop() }
        uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: samples[0].blob)])
        func wait(seconds: UInt64, _ isSo: (Int, [UInt64]) -> Bool) -> Bool {
            seen.wait(until: MonotonicClock.after(milliseconds: seconds * 1_000)) {
                isSo($0.failures, $0.done) ? true : nil
            } ?? false
        }
        #expect(wait(seconds: 60) { failures, _ in failures == 3 })
        uploads.add([Uploads.Job(node: NodeNumber(rawValue: 2), blob: samples[1].blob)])
        #expect(wait(seconds: 60) { _, done in done == [2] })
        // The store is left alone with it for a minute, and not as long as others wait for it.
        #expect(!wait(seconds: 10) { failures, _ in failures > 3 })
    }
}

import Content
import Glibc
import Logging
import Model
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// How long those wait who wait for contents of a store that gives nothing.
@Suite(.serialized) struct DownloadPatienceTests {
    /// A store whose calls end when it is released, and not even when they are cancelled.
    private final class FrozenStore: InertStore {
        let address = "frozen"
        let calls = Lock(0)
        private let isReleased = Monitor(false)

        func release() { isReleased.signal { $0 = true } }

        func get(
            _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
        ) throws(StoreError) {
            calls.withLock { $0 += 1 }
            let _: Bool? = isReleased.wait { $0 ? true : nil }
            throw StoreError(.cancelled, at: address, "released")
        }
    }

    /// Runs `body` with 20 who wait for a content each, and what they were told so far.
    private func withWaiters(
        place: @escaping @Sendable (ContentHash) -> Downloads.Place? = { _ in nil },
        _ body: (FrozenStore, Monitor<[ContentProblem?]>) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = FrozenStore()
        let downloads = Downloads(
            .foreign, content: LocalContent(folder: ContainerFolder(path: folder)), store: store,
            patience: 1, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            place: place, adopt: { $0.map { _ in .success(()) } }, came: { _ in },
            failed: { _, _ in })
        let told = Monitor<[ContentProblem?]>([])
        for number in 1...20 {
            let sample = Sample(size: number, seed: 1)
            downloads.await(
                sample.blob, sample.blob.range, for: NodeNumber(rawValue: UInt64(number)),
                ticket: downloads.ticket { _ in }
            ) { problem in told.signal { $0.append(problem) } }
        }
        defer {
            store.release()
            downloads.stop()
        }
        try body(store, told)
    }

    private func waitForAll(_ told: Monitor<[ContentProblem?]>) -> [ContentProblem?]? {
        told.wait(until: MonotonicClock.after(milliseconds: 30_000)) { $0.count == 20 ? $0 : nil }
    }

    @Test func `who has waited long enough is told, whether it was their turn or not`() throws {
        try withWaiters { store, told in
            let problems = try #require(waitForAll(told))
            #expect(problems.allSatisfy { $0?.error.code == ETIMEDOUT })
            #expect(problems.allSatisfy { $0?.reason.hasPrefix("frozen: ") == true })
            // Twelve of them never had one.
            #expect(store.calls.withLock { $0 } <= 8)
        }
    }

    @Test func `who waits for a source that gives something goes on waiting`() throws {
        let hasStopped = Lock(false)
        let place: @Sendable (ContentHash) -> Downloads.Place? = { _ in
            Downloads.Place(
                address: "elsewhere",
                gaveAt: hasStopped.withLock { $0 } ? 0 : MonotonicClock.now)
        }
        try withWaiters(place: place) { _, told in
            try Cancellation().sleep(nanoseconds: 2_000_000_000, at: "")
            #expect(told.withLock { $0.count } == 0)
            hasStopped.withLock { $0 = true }
            let problems = try #require(waitForAll(told))
            #expect(problems.allSatisfy { $0?.reason.hasPrefix("elsewhere: ") == true })
        }
    }
}

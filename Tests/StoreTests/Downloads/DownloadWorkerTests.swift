import Content
import Logging
import Model
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// How contents come to those who wait for them.
@Suite struct DownloadWorkerTests {
    @Test func `many contents come to all who wait, at once and one after the other`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = StoreAddress.folder(path: folder + "/store").connect()
        try store.prepare(StoreCall())
        let samples = (1...60).map { Sample(size: $0 * 100, seed: UInt64($0)) }
        for sample in samples { try store.put(sample) }
        let downloads = Downloads(
            .foreign, content: LocalContent(folder: ContainerFolder(path: folder)), store: store,
            patience: 60, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            adopt: { _, _ in }, came: { _ in }, failed: { _, _ in })
        defer { downloads.stop() }
        let told = Monitor<[String?]>([])
        func ask(_ number: Int) {
            let blob = samples[number].blob
            downloads.await(
                blob, blob.range, for: NodeNumber(rawValue: UInt64(number + 1)),
                ticket: downloads.ticket { _ in }
            ) { problem in told.signal { $0.append(problem?.reason) } }
        }
        func answers(_ count: Int) -> [String?]? {
            told.wait(until: MonotonicClock.after(milliseconds: 30_000)) {
                $0.count == count ? $0 : nil
            }
        }
        for number in 0..<40 { ask(number) }
        #expect(try #require(answers(40)).allSatisfy { $0 == nil })
        // By now workers wait for something to do.
        for number in 40..<60 {
            ask(number)
            #expect(try #require(answers(number + 1)).last == .some(nil))
        }
        let size = samples.reduce(0) { $0 + $1.bytes.count }
        #expect(downloads.fetchedBytes == UInt64(size))
    }
}

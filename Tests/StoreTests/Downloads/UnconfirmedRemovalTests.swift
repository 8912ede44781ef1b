import Logging
import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// Removals that a store carries out after everybody has stopped waiting for them.
@Suite struct UnconfirmedRemovalTests {
    /// A store that is slow with the first removal, and the container that owns it.
    private final class SlowContainer {
        let slow = SlowStore()
        let sample = Sample(size: 10, seed: 1)
        let isNeeded = Lock(false)
        private let clocks = Lock(Clocks(day: 1_000_000, boot: 5_000))
        private let folder: String
        private let store: Retrying

        init() throws {
            folder = try TemporaryDirectory.make()
            store = Retrying(slow)
            try ownership().claim(StoreCall())
            slow.state.withLock { _ = $0.blobs.insert(sample.blob.hash) }
        }

        deinit { TemporaryDirectory.remove(folder) }

        private func ownership() -> StoreOwnership {
            StoreOwnership(store, address: store.address, path: folder + "/owner")
        }

        /// Lets so many seconds go by.
        func pass(_ seconds: UInt64) { clocks.withLock { Self.pass(seconds, &$0) } }

        private static func pass(_ seconds: UInt64, _ clocks: inout Clocks) {
            clocks.day += seconds
            clocks.boot += seconds
        }

        /// What a mount has of it while `body` runs.
        func whileMounted(_ body: (Uploads, _ isStored: Monitor<Bool?>) throws -> Void) rethrows {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let isStored = Monitor<Bool?>(nil)
            let bytes = sample.bytes
            let uploads = Uploads(
                store: store, logger: logger, ready: { _ in },
                source: { _ in MemorySource(bytes) },
                done: { _ in isStored.signal { $0 = true } },
                failed: { _, _ in isStored.signal { $0 = $0 ?? false } })
            defer { uploads.stop() }
            let cleaning = StoreCleaning(
                store, ownership(), uploads, path: folder + "/unneeded", grace: 2, logger: logger,
                clocks: { [clocks] in
                    clocks.withLock { clocks in
                        Self.pass(2, &clocks)
                        return clocks
                    }
                }
            ) { [isNeeded] hashes in hashes.map { _ in isNeeded.withLock { $0 } } }
            cleaning.start()
            defer { cleaning.stop() }
            try body(uploads, isStored)
        }

        var mark: [UInt8]? { slow.state.withLock { $0.mark } }

        /// How many seconds pass before another container that comes to the store now counts on what is there.
        func waitOfAnother() throws -> UInt64 {
            let place = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(place) }
            let mark = mark
            let store = SlowStore()
            store.state.withLock { $0.mark = mark }
            let now = Lock(Clocks(day: 1_000_000, boot: 5_000))
            var seconds: UInt64 = 0
            while true {
                let cancellation = Cancellation()
                let other = StoreOwnership(
                    store, address: store.address, path: place + "/owner",
                    waits: { cancellation.cancel() }, clocks: { now.withLock { $0 } })
                let call = StoreCall(cancellation: cancellation)
                let problem = kind { () throws(StoreError) in _ = try other.isOwner(call) }
                if problem == nil { return seconds }
                now.withLock { Self.pass(30, &$0) }
                seconds += 30
            }
        }

        func waitForRemoval() {
            let end = MonotonicClock.after(milliseconds: 60_000)
            let removed: ContentHash? = slow.state.wait(until: end) { $0.removals.first }
            #expect(removed == sample.blob.hash)
        }

        /// Saves the content again, and lets the store catch up when it counts as stored, or waits.
        func saveAgain(_ uploads: Uploads, _ isStored: Monitor<Bool?>) {
            isNeeded.withLock { $0 = true }
            uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: sample.blob)])
            let told = isStored.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 }
            slow.catchUp()
            let isThere = slow.state.withLock { $0.blobs.contains(sample.blob.hash) }
            #expect(told == false || isThere, "it counts as stored, and is gone")
            #expect(uploads.count == 1)
        }
    }

    @Test func `what is saved again is not lost by a removal that was given up and is not over`()
        throws
    {
        let container = try SlowContainer()
        container.whileMounted { uploads, isStored in
            container.waitForRemoval()
            container.saveAgain(uploads, isStored)
        }
    }

    @Test func `what is saved again in the next mount is not lost by a removal that is not over`()
        throws
    {
        let container = try SlowContainer()
        container.whileMounted { _, _ in container.waitForRemoval() }
        container.whileMounted(container.saveAgain)
    }

    @Test func `what is saved again is put when ten minutes are over, in however many mounts`()
        throws
    {
        let container = try SlowContainer()
        container.whileMounted { _, _ in container.waitForRemoval() }
        container.whileMounted(container.saveAgain)
        container.pass(600)
        container.whileMounted { uploads, isStored in
            uploads.add([Uploads.Job(node: NodeNumber(rawValue: 1), blob: container.sample.blob)])
            let told = isStored.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 }
            #expect(told == true)
        }
    }

    @Test func `who comes to a store waits until a removal that its owner has given up is over`()
        throws
    {
        let container = try SlowContainer()
        container.whileMounted { _, _ in container.waitForRemoval() }
        #expect(try container.waitOfAnother() >= 660)
        // Also when its owner has been mounted again.
        let mark = container.mark
        container.whileMounted { _, _ in
            waitUntil { container.mark != mark }
            #expect(container.mark != mark)
        }
        #expect(try container.waitOfAnother() >= 660)
    }

    @Test func `who comes to a store waits two minutes when what its owner removed is gone`() throws
    {
        let container = try SlowContainer()
        container.whileMounted { _, _ in container.waitForRemoval() }
        container.pass(600)
        try container.whileMounted { _, _ in
            try waitUntil { try container.waitOfAnother() == 120 }
            #expect(try container.waitOfAnother() == 120)
        }
        #expect(container.slow.state.withLock { $0.blobs.isEmpty })
    }
}

import Glibc
import Model
import Pictures
import SystemCalls
import Testing

/// Which pictures a queue has made, and when. Nothing is drawn: the client has them all.
@Suite struct PictureQueueTests {
    /// Gives pictures at once, or when it is let to, and notes for which versions it was asked.
    private final class Client: PictureClient {
        private struct State {
            var asked: [UInt64] = []
            var blocked: Set<UInt64> = []
        }
        private let state: Monitor<State>

        /// - Parameter blocked: items whose pictures come only after ``unblock(_:)``.
        init(blocking blocked: Set<UInt64>) { state = Monitor(State(blocked: blocked)) }

        func unblock(_ items: Set<UInt64>) { state.signal { $0.blocked.subtract(items) } }

        /// The first `count` items that were asked for; fewer if no more come within 10 s.
        func asked(_ count: Int) -> [UInt64] {
            let end = MonotonicClock.after(milliseconds: 10_000)
            return state.wait(until: end) { $0.asked.count >= count ? $0.asked : nil }
                ?? state.withLock { $0.asked }
        }

        func take(_ order: PictureOrder) -> PictureInput? {
            let item = order.item.rawValue
            state.signal { $0.asked.append(item) }
            _ = state.wait { $0.blocked.contains(item) ? nil : true }
            return .pictures([])
        }
        func letGo(_ node: NodeNumber) {}
        func keep(_ outcome: PictureOutcome, of order: PictureOrder) {}
        func ended(_ order: PictureOrder) {}
    }

    /// Items that keep all threads busy.
    private static let busy = Set((1...UInt64(PictureQueue.threads)).map { $0 + 1_000 })

    private func order(_ item: UInt64, version: UInt32 = 1) -> PictureOrder {
        let item = ItemNumber(rawValue: item)
        return PictureOrder(
            item: item, node: NodeNumber(item, version), type: PictureType(fileName: "a.jpg".utf8),
            fileName: "a.jpg")
    }

    /// Runs `body` with a queue all of whose threads are busy.
    private func withBusyQueue(
        patience: UInt64 = PictureQueue.usualPatience, _ body: (PictureQueue, Client) -> Void
    ) {
        let client = Client(blocking: Self.busy)
        let queue = PictureQueue(
            PictureMaker(program: "/nonexistent"), for: client, startsEarly: false,
            patience: patience)
        for item in Self.busy { queue.ask(order(item), isLasting: true) }
        #expect(Set(client.asked(Self.busy.count)) == Self.busy)
        body(queue, client)
        client.unblock(Self.busy)
        queue.stop()
    }

    /// Lets one thread work; what it is asked for next, so many.
    private func served(_ client: Client, _ count: Int) -> [UInt64] {
        client.unblock([1_001])
        return Array(client.asked(Self.busy.count + count).dropFirst(Self.busy.count))
    }

    @Test func `who asked last is served first, and asking again is asking last`() {
        withBusyQueue { queue, client in
            for item: UInt64 in [1, 2, 3, 1] { queue.ask(order(item), isLasting: false) }
            #expect(served(client, 3) == [1, 3, 2])
        }
    }

    @Test func `one drawing per version, and a newer version in place of an older one`() {
        withBusyQueue { queue, client in
            for version: UInt32 in [1, 1, 2, 2] {
                queue.ask(order(1, version: version), isLasting: true)
            }
            #expect(!queue.isPending(order(1, version: 1)))
            #expect(queue.isBehind(order(1, version: 1)) && !queue.isBehind(order(1, version: 2)))
            #expect(queue.isPending(order(1, version: 2)))
            // Under way.
            for item in Self.busy { #expect(queue.ask(order(item), isLasting: true)) }
            #expect(queue.counts.waiting == Self.busy.count + 1)
            #expect(served(client, 1) == [1])
        }
    }

    @Test func `who looks at an older version takes no place of a newer one`() {
        withBusyQueue { queue, client in
            #expect(queue.ask(order(1, version: 2), isLasting: true))
            #expect(!queue.ask(order(1, version: 1), isLasting: true))
            #expect(queue.isPending(order(1, version: 2)))
            #expect(served(client, 1) == [1])
        }
    }

    @Test func `what nobody asks for again is dropped, and what was published is not`() {
        withBusyQueue(patience: 3_000_000_000) { queue, client in
            queue.ask(order(1), isLasting: false)
            queue.ask(order(2), isLasting: true)
            queue.ask(order(3), isLasting: false)
            usleep(3_500_000)
            queue.ask(order(3), isLasting: false)
            #expect(served(client, 2) == [3, 2])
            client.unblock(Self.busy)
            // When its turn has come.
            for _ in 0..<3_000 where queue.counts.dropped == 0 { usleep(10_000) }
            queue.stop()
            #expect(queue.counts.dropped == 1)
        }
    }

    @Test func `what is cancelled is not made, and who waits for it is told`() {
        withBusyQueue { queue, client in
            queue.ask(order(1), isLasting: true)
            queue.ask(order(2), isLasting: true)
            let told = Lock<[Bool]>([])
            #expect(
                queue.wait(for: order(2).item) { ended in told.withLock { $0.append(ended) } }
                    != nil)
            queue.cancel(order(2).item)
            #expect(told.withLock { $0 } == [true])
            #expect(served(client, 1) == [1])
            #expect(!queue.isPending(order(2)))
        }
    }

    @Test func `no more than so many wait`() {
        withBusyQueue { queue, _ in
            for item in 0..<UInt64(PictureQueue.waitingLimit) {
                #expect(queue.ask(order(10_000 + item), isLasting: true))
            }
            #expect(!queue.ask(order(1), isLasting: true))
            // One that waits may be asked for again.
            #expect(queue.ask(order(10_000), isLasting: true))
            #expect(queue.counts.dropped == 1)
        }
    }
}

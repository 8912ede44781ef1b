import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Names of pictures that the kernel is to forget.
@Suite struct StaleListTests {
    private static let item = ItemNumber(rawValue: 2)
    private static let names = StaleNames(
        item: item, node: NodeNumber(item, 1), isDirectory: false, names: [])

    @Test func `who finds that others have taken what became stale comes after them`() {
        let list = StaleList()
        let (order, hasEnded) = (Lock<[Int]>([]), Monitor(false))
        list.add(Self.names)
        let isTaken = list.take { names in
            #expect(names.count == 1)
            Threads.start("second") {
                _ = list.take { _ in order.withLock { $0.append(2) } }
                hasEnded.signal { $0 = true }
            }
            // It has its time to come first.
            usleep(50_000)
            order.withLock { $0.append(1) }
        }
        #expect(isTaken)
        _ = hasEnded.wait(until: MonotonicClock.after(milliseconds: 10_000)) { $0 ? true : nil }
        #expect(order.withLock { $0 } == [1, 2])
        list.end()
        list.end()
        #expect(!list.take { _ in })
    }
}

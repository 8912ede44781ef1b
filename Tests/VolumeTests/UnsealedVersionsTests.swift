import Model
import Testing

@testable import FileSystem

/// When versions are hashed. Times are seconds.
@Suite struct UnsealedVersionsTests {
    private final class Versions {
        var list = UnsealedVersions()

        func publish(_ item: UInt64, at time: Double) { list.publish(node(item), at: moment(time)) }
        func remove(_ item: UInt64) -> Bool { list.remove(node(item)) }
        func goOn(_ item: UInt64) { list.goOn([node(item)]) }
        func areDue(at time: Double, all: Bool = false) -> Bool {
            list.ripen(at: moment(time), all: all)
        }
        func take() -> [UInt64] { list.take().map(\.item.rawValue) }
        func fail(_ item: UInt64, at time: Double) { list.fail(node(item), at: moment(time)) }
        func seal(_ count: Int, from begin: Double, to end: Double) {
            list.seal(count, from: moment(begin), to: moment(end))
        }
        func measure(_ count: Int, seconds: Double) { list.measure(count, time: moment(seconds)) }

        private func node(_ item: UInt64) -> NodeNumber {
            NodeNumber(ItemNumber(rawValue: item), 1)
        }
        private func moment(_ time: Double) -> UInt64 { UInt64(time * 1e9) }
    }

    @Test func `a version is due four seconds after its publish, whatever else is published`() {
        let versions = Versions()
        #expect(!versions.areDue(at: 0))
        for second: UInt64 in 0..<50 {
            versions.publish(second, at: Double(second))
            #expect(versions.areDue(at: Double(second) + 0.5) == (second >= 4))
            #expect(versions.take() == (second >= 4 ? [second - 4] : []))
        }
        #expect(versions.list.count == 4)
    }

    @Test func `after a minute all are due, also what was just saved`() {
        let versions = Versions()
        for second: UInt64 in 100..<160 {
            _ = versions.areDue(at: Double(second))
            _ = versions.take()
            versions.publish(second, at: Double(second))
        }
        #expect(versions.areDue(at: 160.5))
        #expect(versions.take().last == 159)
        #expect(versions.list.isEmpty)
        versions.publish(1, at: 161)
        #expect(!versions.areDue(at: 162))
        #expect(versions.areDue(at: 162, all: true))
    }

    @Test func `what was begun goes on at once, what failed waits for a minute`() {
        let versions = Versions()
        versions.publish(1, at: 1)
        versions.publish(2, at: 1)
        #expect(versions.remove(2))
        #expect(!versions.remove(2))
        #expect(versions.areDue(at: 6))
        #expect(versions.take() == [1])
        #expect(!versions.areDue(at: 6))
        versions.goOn(1)
        #expect(versions.areDue(at: 6))
        #expect(versions.take() == [1])
        versions.fail(1, at: 6)
        versions.fail(2, at: 6)
        #expect(!versions.areDue(at: 66))
        #expect(versions.remove(2))
        #expect(versions.areDue(at: 66.5))
        #expect(versions.take() == [1])
        #expect(versions.list.isEmpty)
    }

    @Test
    func `after many were sealed there is a rest while others are published, but not for ever`() {
        let versions = Versions()
        for item: UInt64 in 0..<20 { versions.publish(item, at: 0) }
        #expect(versions.areDue(at: 5))
        #expect(versions.take().count == 20)
        versions.seal(20, from: 5, to: 10)
        for second: UInt64 in 10...40 {
            versions.publish(second, at: Double(second))
            #expect(versions.areDue(at: Double(second)) == (second >= 25))
        }
        #expect(versions.take().last == 35)
        versions.seal(26, from: 40, to: 60)
        for second: UInt64 in 60...71 {
            versions.publish(second, at: Double(second))
            #expect(versions.areDue(at: Double(second)) == (second > 70))
            _ = versions.take()
        }
    }

    @Test func `a rest ends when all is quiet`() {
        let versions = Versions()
        for item: UInt64 in 0..<20 { versions.publish(item, at: 0) }
        #expect(versions.areDue(at: 5))
        _ = versions.take()
        versions.publish(20, at: 14)
        versions.seal(20, from: 5, to: 15)
        #expect(!versions.areDue(at: 18))
        #expect(versions.areDue(at: 18.5))
        #expect(versions.take() == [20])
    }

    @Test func `the rest is as long as all pieces took`() {
        let versions = Versions()
        for item: UInt64 in 0..<82 { versions.publish(item, at: 0) }
        #expect(versions.areDue(at: 5))
        #expect(versions.take().count == 32)
        versions.seal(32, from: 5, to: 10)
        versions.measure(32, seconds: 0.01)
        #expect(versions.take().count == 50)
        versions.seal(0, from: 10, to: 12)
        for second: UInt64 in 12...34 {
            versions.publish(second, at: Double(second))
            #expect(versions.areDue(at: Double(second)) == (second >= 33))
        }
    }

    @Test func `as many are sealed together as are moved in half a second, of few at first`() {
        let versions = Versions()
        for item: UInt64 in 0..<5_000 { versions.publish(item, at: 0) }
        #expect(versions.areDue(at: 5))
        for expected in [32, 64, 128, 256, 512, 512] {
            let taken = versions.take().count
            #expect(taken == expected)
            versions.measure(taken, seconds: 0.01)
        }
        versions.measure(512, seconds: 5.12)
        #expect(versions.take().count == 50)
        versions.measure(1, seconds: 1)
        #expect(versions.take().count == 50)
        // As few as one sync of the disk is made for.
        versions.measure(50, seconds: 50)
        #expect(versions.take().count == 17)
        versions.measure(17, seconds: 0.01)
        #expect(versions.take().count == 34)
    }
}

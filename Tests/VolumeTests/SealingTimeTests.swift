import Testing

@testable import FileSystem

/// When versions are hashed.
@Suite struct SealingTimeTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `versions are hashed when nothing was published for a while, but not for ever`() {
        var time = SealingTime()
        #expect(!time.isRipe(at: 100 * Self.second))
        for moment: UInt64 in 100..<160 {
            time.publish(at: moment * Self.second)
            #expect(!time.isRipe(at: (moment + 1) * Self.second))
        }
        #expect(time.isRipe(at: 160 * Self.second + 1))
        time.begin()
        #expect(!time.isRipe(at: 200 * Self.second))
        time.publish(at: 200 * Self.second)
        #expect(!time.isRipe(at: 204 * Self.second))
        #expect(time.isRipe(at: 204 * Self.second + 1))
    }

    @Test func `what is left of a hashing comes next, however short ago the machine was started`() {
        var time = SealingTime()
        time.publish(at: Self.second)
        time.begin()
        time.goOn()
        time.publish(at: 2 * Self.second)
        #expect(time.isRipe(at: 2 * Self.second))
        time.begin()
        #expect(!time.isRipe(at: 2 * Self.second))
    }
}

import Model
import SystemCalls
import Testing

@testable import FileSystem

/// What is asked for again of a store that gave nothing.
@Suite struct PinStateTests {
    @Test func `what is not to stay any more takes no turn of what is`() {
        var pins = PinState()
        let nodes = (2..<32).map { NodeNumber(ItemNumber(rawValue: $0), 1) }
        for node in nodes { pins.didNotCome(node) }
        var now = MonotonicClock.after(milliseconds: 6_000)
        #expect(pins.takeMissing(at: now) { $0 == nodes[7] } == [nodes[7]])
        // Nobody was asked: the next need not wait for longer.
        pins.didNotCome(nodes[8])
        now += 11_000_000_000
        #expect(pins.takeMissing(at: now) { _ in false } == [])
        pins.didNotCome(nodes[9])
        #expect(pins.takeMissing(at: now + 1_000_000_000) { _ in true } == [nodes[9]])
    }

    @Test func `what is refused for good is not asked for with each of the others that come`() {
        var pins = PinState()
        let refused = NodeNumber(ItemNumber(rawValue: 2), 1)
        let other = NodeNumber(ItemNumber(rawValue: 3), 1)
        let start = MonotonicClock.now
        var asked: [UInt64] = []
        pins.didNotCome(refused)
        for second in UInt64(0)..<3_600 {
            pins.hasCome([other])
            if pins.takeMissing(at: start + second * 1_000_000_000, { _ in true }).isEmpty {
                continue
            }
            asked.append(second)
            pins.didNotCome(refused)
        }
        #expect(asked.first == 0)
        #expect((5..<30).contains(asked.count), "\(asked)")
        // When one that was asked for comes, the others may.
        pins.hasCome([refused])
        #expect(
            pins.takeMissing(at: start + 3_600_000_000_000) { _ in true } == [refused])
    }
}

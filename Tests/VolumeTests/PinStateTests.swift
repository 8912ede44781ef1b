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
}

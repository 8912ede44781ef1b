import SystemCalls
import Testing

@testable import Varlink

/// Replies that clients take in parts.
@Suite struct VarlinkOutputTests {
    @Test func `what comes in parts is taken in other parts, in its order`() {
        var output = VarlinkOutput()
        var (wanted, taken): ([UInt8], [UInt8]) = ([], [])
        for turn in 0..<2_000 {
            let part = (0..<turn % 37).map { UInt8(($0 + turn) & 255) }
            output.append(part)
            wanted += part
            for _ in 0..<turn % 3 where !output.isEmpty {
                _ = output.give { bytes in
                    let count = min(bytes.count, turn % 29)
                    taken += bytes.prefix(count)
                    return count
                }
            }
            #expect(output.count == wanted.count - taken.count)
        }
        #expect(output.give { _ in -1 } == -1)
        while !output.isEmpty {
            _ = output.give { bytes in
                taken += bytes
                return bytes.count
            }
        }
        #expect(taken == wanted)
    }

    @Test func `a long reply is not moved as a whole for each part that is taken`() {
        var output = VarlinkOutput()
        output.append([UInt8](repeating: 1, count: 16 << 20))
        let start = MonotonicClock.now
        while !output.isEmpty { _ = output.give { min($0.count, 16 << 10) } }
        // It took two seconds.
        #expect(MonotonicClock.now - start < 1_000_000_000)
    }
}

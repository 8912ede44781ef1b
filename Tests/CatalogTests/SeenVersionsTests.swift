import Catalog
import Model
import Testing

/// Who has seen which version last.
@Suite struct SeenVersionsTests {
    private static func document(_ number: Int) -> DocumentID {
        DocumentID(rawValue: UInt64(number))
    }

    private static func version(_ item: Int, _ ordinal: Int) -> NodeNumber {
        NodeNumber(ItemNumber(rawValue: UInt64(item)), Ordinal(ordinal))
    }

    @Test func `the last look of a process counts, of that document`() {
        var seen = SeenVersions()
        #expect(seen.last(of: Self.document(1), by: 7) == nil)
        seen.note(Self.document(1), Self.version(1, 1), by: 7)
        seen.note(Self.document(1), Self.version(1, 2), by: 8)
        seen.note(Self.document(2), Self.version(2, 9), by: 7)
        #expect(seen.last(of: Self.document(1), by: 7) == Self.version(1, 1))
        seen.note(Self.document(1), Self.version(5, 1), by: 7)
        #expect(seen.last(of: Self.document(1), by: 7) == Self.version(5, 1))
        #expect(seen.last(of: Self.document(1), by: 8) == Self.version(1, 2))
        // Nobody in particular is not remembered.
        seen.note(Self.document(3), Self.version(3, 1), by: 0)
        #expect(seen.last(of: Self.document(3), by: 0) == nil)
    }

    @Test func `the oldest looks are forgotten, against a list that is never full`() {
        var random = SystemRandomNumberGenerator()
        let seed = random.next()
        var state = seed
        func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        var seen = SeenVersions()
        var all: [(document: Int, version: NodeNumber, process: Int32)] = []
        for step in 0..<3 * SeenVersions.capacity {
            let (document, process) = (1 + below(3_000), Int32(1 + below(4)))
            seen.note(Self.document(document), Self.version(document, 1 + step), by: process)
            all.append((document, Self.version(document, 1 + step), process))
            guard step % 97 == 0 else { continue }
            let (asked, asker) = (1 + below(3_000), Int32(1 + below(4)))
            let expected = all.suffix(SeenVersions.capacity).last {
                $0.document == asked && $0.process == asker
            }
            #expect(
                seen.last(of: Self.document(asked), by: asker) == expected?.version,
                "seed \(seed), step \(step)")
        }
    }
}

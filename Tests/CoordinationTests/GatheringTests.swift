import Catalog
import Coordination
import Glibc
import Model
import Testing

/// How much is looked at while nobody else can look or change anything.
@Suite struct GatheringTests {
    @Test func `folders in which there is nothing are not all looked at in one step`() throws {
        let index = try MemoryIndex(capacity: 1 << 16)
        let root = index.insert(row(.root))
        for number in 2...20_001 as ClosedRange<UInt64> {
            let folder = index.insert(row(ItemNumber(rawValue: number)))
            Array("folder \(number)".utf8).withUnsafeBytes {
                _ = index.insertName(root, $0, item: folder)
            }
        }
        var query = Query()
        query.kind = .all
        var gathering = Gathering(query)
        let isThere = gathering.begin(index)
        #expect(isThere)
        // From the first one on in which no name is found.
        var (known, empty) = (-1, 0)
        while gathering.step(index) {
            if gathering.found.count == known { empty += 1 }
            known = gathering.found.count
        }
        #expect(gathering.found.count == 20_000)
        #expect(empty > 30, "\(empty)")
    }

    private func row(_ number: ItemNumber) -> ItemRow {
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        return ItemRow(
            number: number, mode: S_IFDIR | 0o755, user: 0, group: 0, links: 2, modified: time,
            changed: time, accessed: time, document: DocumentID(rawValue: number.rawValue))
    }
}

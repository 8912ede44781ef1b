import Catalog
import Model
import Testing

/// Which item a document is, as saves by renaming give it one after the other.
@Suite struct DocumentHolderTests {
    private let document = DocumentID(rawValue: 5)

    private func insert(_ number: UInt64, into index: MemoryIndex) -> MemoryIndex.Position {
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        return index.insert(
            ItemRow(
                number: ItemNumber(rawValue: number), mode: 0o100644, user: 0, group: 0, links: 1,
                modified: time, changed: time, accessed: time,
                document: DocumentID(rawValue: number)))
    }

    /// The document goes from one item to another.
    private func hand(
        from one: MemoryIndex.Position, to other: MemoryIndex.Position, in index: MemoryIndex
    ) {
        index[item: one].pointee.document = index[item: other].pointee.document
        index[item: one].pointee.links = 0
        index[item: other].pointee.document = document.rawValue
    }

    @Test(arguments: [false, true])
    func `a document is found wherever it went, noted or not`(isNoted: Bool) throws {
        let index = try MemoryIndex()
        var holder = insert(5, into: index)
        #expect(index.holder(of: document) == holder)
        for number: UInt64 in 6..<40 {
            let next = insert(number, into: index)
            hand(from: holder, to: next, in: index)
            if isNoted { index.noteHolder(next) }
            for _ in 0..<2 { #expect(index.holder(of: document) == next) }
            // What was noted of an item that is gone, or has another's room, says nothing.
            if number % 2 == 0 {
                index.removeItem(holder)
                #expect(insert(number + 100, into: index) == holder)
                #expect(index.holder(of: document) == next)
            }
            holder = next
        }
        index[item: holder].pointee.links = 0
        #expect(index.holder(of: document) == 0)
        index[item: holder].pointee.links = 1
        #expect(index.holder(of: document) == holder)
    }
}

import Catalog
import Model
import Testing

/// Where listings of a directory go on.
@Suite struct ListingCursorTests {
    private func insert(
        _ number: UInt64, _ mode: UInt32, into index: MemoryIndex
    ) -> MemoryIndex.Position {
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        return index.insert(
            ItemRow(
                number: ItemNumber(rawValue: number), mode: mode, user: 0, group: 0, links: 1,
                modified: time, changed: time, accessed: time,
                document: DocumentID(rawValue: number)))
    }

    /// The positions of all names, found one after the other by their cursors.
    private func listed(_ directory: MemoryIndex.Position, in index: MemoryIndex)
        -> [MemoryIndex.Position]
    {
        var found: [MemoryIndex.Position] = []
        var cursor: UInt64 = 0
        while found.count < 100 {
            let name = index.child(of: directory, after: cursor)
            if name == 0 { break }
            found.append(name)
            cursor = index.cursor(name)
            #expect(Int64(bitPattern: cursor) > 0)
        }
        return found
    }

    @Test func `a directory is listed once and whole after two thousand million names`() throws {
        let index = try MemoryIndex()
        let directory = insert(1, 0o040755, into: index)
        let file = insert(2, 0o100644, into: index)
        var names: [MemoryIndex.Position] = []
        for number in 0..<20 {
            if number == 5 { index[item: directory].pointee.nextSequence = .max >> 1 - 5 }
            names.append(
                Array("name \(number)".utf8).withUnsafeBytes {
                    index.insertName(directory, $0, item: file)
                })
            #expect(listed(directory, in: index) == names)
        }
        index.removeName(names.remove(at: 7))
        #expect(listed(directory, in: index) == names)
    }
}

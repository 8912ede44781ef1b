import Catalog
import Model
import Testing

/// Which item is which object of an imported tree.
@Suite struct OriginTests {
    private let folder: TemporaryFolder
    private let database: CatalogDatabase

    init() throws {
        folder = try TemporaryFolder()
        database = try CatalogDatabase(
            path: folder.file("catalog.db"), create: true, busyMilliseconds: 10)
    }

    private func origin(_ item: UInt64, _ path: String, _ identity: String, _ name: UInt8? = nil)
        -> OriginRow
    {
        OriginRow(
            item: ItemNumber(rawValue: item), source: .root, path: Array(path.utf8),
            identity: Array(identity.utf8), tag: name == nil ? [] : [1], content: name.flatMap(hash)
        )
    }

    @Test func `an object is found by path, by identity and by its content's name`() throws {
        #expect(try database.sources().isEmpty)
        let rows = [
            origin(1, "", ""), origin(2, "a", "2"), origin(3, "a/b", "3", 7), origin(4, "c", "", 8),
        ]
        try database.apply([
            mutation(
                1,
                [.putSource(SourceRow(root: .root, address: "folder:/x"))]
                    + rows.map { .putOrigin($0) })
        ])
        #expect(try !database.sources().isEmpty)
        #expect(try database.source(.root) == "folder:/x")
        #expect(try database.source(ItemNumber(rawValue: 2)) == nil)
        #expect(try database.origin(.root, path: Array("a/b".utf8)) == rows[2])
        #expect(try database.origin(.root, path: Array("a/c".utf8)) == nil)
        #expect(try database.origin(ItemNumber(rawValue: 2), path: Array("a".utf8)) == nil)
        #expect(try database.origin(.root, identity: Array("2".utf8)) == rows[1])
        // Two things without an identity are not the same.
        #expect(try database.origin(.root, identity: []) == nil)
        #expect(try database.origins(content: #require(hash(7))) == [rows[2]])
        #expect(try database.origin(ItemNumber(rawValue: 4)) == rows[3])
        var order: [String] = []
        try database.forEachOrigin(of: .root) {
            order.append(String(decoding: $0.path, as: UTF8.self))
        }
        #expect(order == ["c", "a/b", "a", ""])
    }

    @Test func `where a content is, is told if its tree is known`() throws {
        let name = try #require(hash(7))
        let other = ItemNumber(rawValue: 2)
        try database.apply([
            mutation(
                1,
                [
                    .putOrigin(origin(3, "a/b", "3", 7)),
                    .putSource(SourceRow(root: other, address: "folder:/y")),
                ])
        ])
        #expect(try database.place(content: name)?.tree == nil)
        try database.apply([
            mutation(2, [.putSource(SourceRow(root: .root, address: "folder:/x"))])
        ])
        let place = try database.place(content: name)
        #expect(place?.tree == "folder:/x")
        #expect(place?.path == Array("a/b".utf8))
        #expect(place?.tag == [1])
        #expect(try database.place(content: #require(hash(8)))?.tree == nil)
    }

    @Test
    func `all that wait for one content are told, and where the source shows it`()
        throws
    {
        let name = try #require(hash(7))
        // What stayed of the first is elsewhere by now.
        let rows = [origin(3, "was", "", 7).gone, origin(2, "a", "", 7)]
        try database.apply([
            mutation(
                1,
                [.putSource(SourceRow(root: .root, address: "folder:/x"))]
                    + rows.map { .putOrigin($0) })
        ])
        #expect(try Set(database.origins(content: name)) == Set(rows))
        #expect(try database.place(content: name)?.path == Array("a".utf8))
    }

    @Test func `an item that waits for its name is known with the place where it waits`() throws {
        var row = origin(2, "a", "2")
        row.waitsAt = NamePlace(parent: ItemNumber(rawValue: 3), name: Array("b".utf8))
        try database.apply([mutation(1, [.putOrigin(row)])])
        #expect(try database.origin(.root, path: Array("a".utf8)) == row)
        row.waitsAt = nil
        try database.apply([mutation(2, [.putOrigin(row)])])
        #expect(try database.origins() == [row])
    }

    @Test func `what moves over another's path in one step stays with its item`() throws {
        try database.apply([
            mutation(1, [.putOrigin(origin(2, "a", "2")), .putOrigin(origin(3, "b", "3"))])
        ])
        try database.apply([
            mutation(2, [.putOrigin(origin(2, "b", "2")), .putOrigin(origin(3, "a", "3"))])
        ])
        #expect(try database.origin(.root, path: Array("a".utf8))?.item.rawValue == 3)
        #expect(try database.origin(.root, path: Array("b".utf8))?.item.rawValue == 2)
        try database.apply([mutation(3, [.removeOrigin(ItemNumber(rawValue: 2))])])
        #expect(try database.origin(.root, path: Array("b".utf8)) == nil)
        #expect(try database.origins().count == 1)
    }
}

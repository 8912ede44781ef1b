import Catalog
import Model
import Probing
import Testing

/// What goes into the tables comes out again.
@Suite struct CatalogDatabaseTests {
    private let folder: TemporaryFolder
    private let database: CatalogDatabase

    init() throws {
        folder = try TemporaryFolder()
        database = try CatalogDatabase(
            path: folder.file("catalog.db"), create: true, busyMilliseconds: 10)
    }

    private func item(_ value: UInt64) -> ItemNumber { ItemNumber(rawValue: value) }

    private let early = Timestamp(seconds: -2_147_483_648, nanoseconds: 0)
    private let late = Timestamp(seconds: 15_032_385_535, nanoseconds: 999_999_999)

    private func version(
        _ number: UInt64, _ ordinal: Ordinal, of document: UInt64, published: Timestamp,
        place: ContentPlace = .sealed, hash: ContentHash? = nil
    ) -> VersionRow {
        VersionRow(
            document: DocumentID(rawValue: document), item: item(number), ordinal: ordinal, size: 5,
            blocks: 8, modified: early, published: published, author: 1000, place: place,
            hash: hash)
    }

    @Test func `every kind of row survives closing and opening`() throws {
        let rows = [
            ItemRow(
                number: .root, mode: 0o40755, user: 0, group: .max, links: 3, modified: early,
                changed: late, accessed: Timestamp(seconds: -1, nanoseconds: 1),
                document: DocumentID(rawValue: 1)),
            ItemRow(
                number: item(NodeNumber.largestItem), mode: .max, user: .max, group: 0, links: .max,
                device: .max, size: .max, blocks: .max, modified: late, changed: early,
                accessed: early, document: DocumentID(rawValue: .max),
                ordinal: NodeNumber.largestOrdinal, nextOrdinal: .max, place: .sealed,
                hash: hash(200), target: []),
        ]
        let names: [[UInt8]] = [
            [0x01, 0xff], Array("Würfel".utf8), Array(repeating: 0xfe, count: 255),
        ]
        var session = SessionRow(
            item: item(9), ordinal: 4, author: .max, size: .max, modified: early, changed: late,
            wrote: true, synced: false)
        var effects: [Effect] = rows.map { .putItem($0) }
        effects += names.map { .putName(parent: .root, name: $0, item: item(9)) }
        effects += [
            .putAttribute(item(9), name: Array("user.a".utf8), value: []),
            .putAttribute(item(9), name: [0xff], value: [0, 1, 0]),
            .putVersion(version(9, 1, of: .max, published: late, place: .staged)),
            .putVersion(version(9, 2, of: 3, published: early, hash: hash(1))),
            .putSession(session),
        ]
        session.ordinal = 5
        session.synced = true
        effects.append(.putSession(session))
        var change = mutation(1, effects)
        change.parent = .root
        change.name = [0xff, 0x2f]
        change.process = .max
        try database.apply([change])
        database.close()

        let opened = try CatalogDatabase(path: folder.file("catalog.db"), create: false)
        var reference = ReferenceTables()
        reference.apply(change)
        #expect(try Tables(opened) == reference.tables)
        #expect(opened.highestNumber == .max)
        #expect(opened.appliedSequence == 1)
        #expect(try opened.integrityErrors() == [])
    }

    @Test func `applying again changes nothing`() throws {
        var random = SplitMix(seed: 1)
        let mutations = (1...20).map { random.mutation(UInt64($0)) }
        try database.apply(Array(mutations[..<12]))
        let half = try Tables(database)
        try database.apply(Array(mutations[..<12]))
        try database.apply([])
        #expect(try Tables(database) == half)
        try database.apply(mutations)
        let whole = try Tables(database)
        try database.apply(mutations)
        #expect(try Tables(database) == whole)
        #expect(database.appliedSequence == 20)
    }

    @Test(arguments: [[2], [1, 3], [1, 1], [1, 2, 1], [0], [1, 0]] as [[ChangeSequence]])
    func `a gap or a disorder is refused whole`(sequences: [ChangeSequence]) throws {
        let failure = #expect(throws: Failure.self) {
            try database.apply(
                sequences.map {
                    mutation($0, [.putName(parent: .root, name: [UInt8($0)], item: .root)])
                })
        }
        #expect(failure?.kind == .badData)
        #expect(try Tables(database) == Tables())
    }

    @Test func `the highest number stays when its item goes`() throws {
        var random = SplitMix(seed: 2)
        var row = random.item(item(40))
        row.document = DocumentID(rawValue: 90)
        try database.apply([mutation(1, [.putItem(row), .removeItem(item(40))])])
        #expect(database.highestNumber == 90)
        row.document = DocumentID(rawValue: 3)
        try database.apply([mutation(2, [.putItem(row)])])
        #expect(database.highestNumber == 90)
        database.close()
        let opened = try CatalogDatabase(path: folder.file("catalog.db"), create: false)
        #expect(opened.highestNumber == 90)
    }

    @Test func `versions of a document come oldest first`() throws {
        let soon = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        try database.apply([
            mutation(
                1,
                [
                    .putVersion(version(5, 1, of: 70, published: late)),
                    .putVersion(version(6, 2, of: 70, published: soon, hash: hash(1))),
                    .putVersion(version(6, 1, of: 70, published: early, place: .staged)),
                    .putVersion(version(7, 1, of: 71, published: soon, place: .staged)),
                ])
        ])
        let rows = try database.versions(of: DocumentID(rawValue: 70))
        #expect(rows.map(\.published) == [early, soon, late])
        #expect(try database.versions(of: DocumentID(rawValue: 72)) == [])
        #expect(try database.stagedVersions().map(\.item) == [item(6), item(7)])
        #expect(try database.version(item(6), 2)?.hash == hash(1))
        #expect(try database.version(item(6), 3) == nil)
        var documents: [DocumentID] = []
        try database.documentsWithEarlierVersions { documents.append($0) }
        #expect(documents == [DocumentID(rawValue: 70)])
    }

    @Test func `a content is referenced by versions and by items`() throws {
        let wanted = try #require(hash(3))
        var random = SplitMix(seed: 3)
        var row = random.item(item(4))
        row.hash = wanted
        #expect(try !database.isReferenced(wanted))
        try database.apply([
            mutation(1, [.putVersion(version(1, 1, of: 1, published: late, hash: wanted))])
        ])
        #expect(try database.isReferenced(wanted))
        try database.apply([mutation(2, [.removeVersion(item(1), 1)])])
        #expect(try !database.isReferenced(wanted))
        try database.apply([mutation(3, [.putItem(row)])])
        #expect(try database.isReferenced(wanted))
    }

    @Test func `settings are kept`() throws {
        #expect(try database.meta("name") == nil)
        try database.setMeta("name", "Würfel")
        #expect(try database.meta("name") == "Würfel")
        try database.setMeta("name", nil)
        #expect(try database.meta("name") == nil)
    }

    @Test func `the log is read from a cursor and pruned from its start`() throws {
        try database.apply((1...10).map { mutation($0, []) })
        #expect(try database.changes(after: 3, limit: 2).map(\.sequence) == [4, 5])
        #expect(try database.changeLogGaps() == [])
        #expect(try !database.pruneChanges(keeping: 4, atMost: 2))
        #expect(try database.changes(after: 0, limit: 1).map(\.sequence) == [3])
        #expect(try database.pruneChanges(keeping: 4))
        try database.pruneChanges(keeping: 9)
        #expect(try database.changes(after: 0, limit: 100).map(\.sequence) == [7, 8, 9, 10])
        #expect(try database.changeLogGaps() == [])
        try database.pruneChanges(keeping: 0)
        #expect(try database.changeLogGaps() == [])
        try database.apply([mutation(11, [])])
        #expect(try database.changes(after: 10, limit: 100).map(\.sequence) == [11])
    }

    @Test func `rows may be asked for while others are shown`() throws {
        var random = SplitMix(seed: 4)
        try database.apply([mutation(1, (0..<400).map { _ in random.effect() })])
        var outer = 0
        var inner = 0
        try database.forEachVersion { _ in
            outer += 1
            try? database.forEachVersion { _ in inner += 1 }
        }
        #expect(outer > 2)
        #expect(inner == outer * outer)
    }

    @Test func `a checkpoint empties the log of SQLite`() throws {
        try database.apply([mutation(1, [.putName(parent: .root, name: [65], item: .root)])])
        #expect(folder.size("catalog.db-wal") > 0)
        try database.checkpoint()
        #expect(folder.size("catalog.db-wal") == 0)
        try database.checkpoint()
    }

    @Test func `a checkpoint that another reader holds up is not a success`() throws {
        let other = try CatalogDatabase(path: folder.file("catalog.db"), create: false)
        try database.apply(
            (1...3).map { mutation($0, [.putName(parent: .root, name: [65], item: .root)]) })
        try database.checkpoint()
        try database.apply([mutation(4, [])])
        // In the middle of a table, a reader's snapshot keeps the log from being emptied.
        var failure: Failure?
        try other.loadNames { _, _, _, _ in
            do {
                try database.apply([mutation(5, [])])
                try database.checkpoint()
            } catch {
                failure = error as? Failure
            }
        }
        #expect(failure?.kind == .temporary)
        try database.checkpoint()
    }
}

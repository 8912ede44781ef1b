import Catalog
import Foundation
import Glibc
import Model
import Probing
import Testing

/// Files that are not a catalog this program can read.
@Suite struct SchemaTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("catalog.db")
    }

    private func refusal(create: Bool = false) throws -> Failure {
        try #require(
            #expect(throws: Failure.self) { try CatalogDatabase(path: path, create: create) })
    }

    /// The header of a SQLite file holds its user version at 60 and its application at 68.
    private func patch(_ offset: Int, _ value: UInt32) throws {
        try CatalogDatabase(path: path, create: true).close()
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        withUnsafeBytes(of: value.bigEndian) { data.replaceSubrange(offset..<offset + 4, with: $0) }
        try data.write(to: URL(fileURLWithPath: path))
    }

    @Test func `a catalog of a newer version is refused`() throws {
        try patch(60, 99)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for create in [false, true] {
            let failure = try refusal(create: create)
            #expect(failure.kind == .configuration)
            #expect(failure.message.contains("newer ShapeEdit"))
            #expect(failure.message.contains("update"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "sqlite3 is not installed"))
    func `a catalog of an earlier version is opened, with all that it held`() throws {
        let node = NodeNumber(ItemNumber(rawValue: 7), 1)
        var random = SplitMix(seed: 7)
        let row = random.version(node.item, node.ordinal)
        var origin = OriginRow(
            item: node.item, source: .root, path: [97], identity: [], tag: [1], content: nil)
        let old = try CatalogDatabase(path: path, create: true)
        try old.apply([
            mutation(
                1,
                [
                    .putVersion(row), .putOrigin(origin),
                    .putName(parent: .root, name: [97], item: node.item),
                ])
        ])
        old.close()
        // Takes the last steps of the migrations back.
        let aged = try run([
            "sqlite3", path,
            """
            DROP TABLE version_apart; ALTER TABLE origin DROP COLUMN waiting_parent;
            ALTER TABLE origin DROP COLUMN waiting_name; ALTER TABLE name DROP COLUMN rank;
            PRAGMA user_version = 8
            """,
        ])
        try #require(aged.status == 0, "\(aged)")
        // Who only looks at it leaves it as it is.
        let looking = try CatalogDatabase(lookingAt: path, busyMilliseconds: 5_000)
        #expect(try looking.grants() == [])
        looking.close()
        #expect(try run(["sqlite3", path, "PRAGMA user_version"]).text == "8\n")
        let database = try CatalogDatabase(path: path, create: false)
        #expect(try database.origins() == [origin])
        origin.waitsAt = NamePlace(parent: .root, name: [98])
        try database.apply([
            mutation(
                2,
                [
                    .keepApart(node.item, node.ordinal), .putOrigin(origin),
                    .putName(parent: .root, name: [98], item: node.item, rank: 1),
                ])
        ])
        var ranks: [UInt32] = []
        try database.loadNames { ranks.append($3) }
        #expect(ranks == [0, 1])
        #expect(try database.version(node.item, node.ordinal) == row)
        #expect(try database.versionsKeptApart(of: row.document) == [node])
        #expect(try database.origins() == [origin])
    }

    @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "sqlite3 is not installed"))
    func `a catalog of an earlier version that is damaged is refused before it is changed`() throws
    {
        try CatalogDatabase(path: path, create: true).close()
        let aged = try run([
            "sqlite3", path,
            """
            DROP TABLE bookmark; DROP TABLE version_apart;
            ALTER TABLE origin DROP COLUMN waiting_parent;
            ALTER TABLE origin DROP COLUMN waiting_name; ALTER TABLE name DROP COLUMN rank;
            PRAGMA user_version = 8
            """,
        ])
        try #require(aged.status == 0, "\(aged)")
        let problem = try refusal()
        #expect(problem.kind == .badData)
        #expect(problem.message.contains("the table bookmark is missing"), "\(problem.message)")
        let version = try run(["sqlite3", path, "PRAGMA user_version; PRAGMA table_info(name)"])
            .text
        #expect(version.hasPrefix("8\n"))
        #expect(!version.contains("rank"))
    }

    @Test func `a database of another application is refused`() throws {
        try patch(68, 0x1234_5678)
        let failure = try refusal(create: true)
        #expect(failure.kind == .badData)
        #expect(failure.message.contains(path))
    }

    @Test func `a file that is no database is refused`() throws {
        try Data(
            "no database, but long enough to be looked at\n".utf8
                + Array(repeating: 65, count: 4096)
        )
        .write(to: URL(fileURLWithPath: path))
        for create in [false, true] {
            let failure = try refusal(create: create)
            #expect(failure.kind == .badData)
            #expect(failure.message.contains(path))
            #expect(failure.message.contains(path))
        }
    }

    @Test func `a missing file is said to be missing, and is not made`() throws {
        let failure = try refusal()
        #expect(failure.kind == .noInput)
        #expect(failure.message.contains("No such file"))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `an empty file becomes a catalog only when one may be made`() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(try refusal().kind == .badData)
        try CatalogDatabase(path: path, create: true).close()
        try CatalogDatabase(path: path, create: false).close()
    }

    @Test func `damage in the file is found`() throws {
        var random = SplitMix(seed: 5)
        let database = try CatalogDatabase(path: path, create: true)
        try database.apply([
            mutation(1, (1...2000).map { .putItem(random.item(ItemNumber(rawValue: $0))) })
        ])
        #expect(try database.integrityErrors() == [])
        database.close()
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        // Among the rows: the first pages of the tables lie before.
        try #require(data.count > 240_000)
        data.replaceSubrange(200_000..<240_000, with: Array(repeating: 0x55, count: 40_000))
        try data.write(to: URL(fileURLWithPath: path))
        let damaged = try CatalogDatabase(path: path, create: false)
        #expect(try damaged.integrityErrors().isEmpty == false)
    }
}

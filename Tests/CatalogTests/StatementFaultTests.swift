import Catalog
import Foundation
import Model
import Probing
import Testing

/// Every statement fails once; nothing may be half done. Serialized: one fault is armed at a time.
@Suite(.serialized) struct StatementFaultTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("catalog.db")
    }

    /// Runs `body` with its first, second, ... statement failing until one run needs no more;
    /// `after` sees what each failure left.
    private func failEach(
        _ code: StatementFaults.Code, _ body: () throws -> Void, after: () throws -> Void
    ) throws -> Int {
        for count in 1... {
            StatementFaults.arm(after: count, code: code, database: path)
            defer { StatementFaults.disarm() }
            do {
                try body()
                #expect(StatementFaults.left > 0)
                return count - 1
            } catch let failure as Failure {
                #expect(failure.message.contains("SQLite error \(code.rawValue)"))
                try after()
            }
        }
        return 0
    }

    @Test(arguments: StatementFaults.Code.allCases)
    func `a failing statement of an apply leaves nothing half applied`(
        code: StatementFaults.Code
    ) throws {
        var random = SplitMix(seed: 6)
        let mutations = (1...30).map { random.mutation(UInt64($0)) }
        let database = try CatalogDatabase(path: path, create: true)
        try database.apply(Array(mutations[..<10]))
        let before = try Tables(database)
        let failures = try failEach(code) {
            try database.apply(mutations)
        } after: {
            let left = try Tables(database)
            #expect(left == before)
        }
        #expect(failures > 40)
        var reference = ReferenceTables()
        for mutation in mutations { reference.apply(mutation) }
        #expect(try Tables(database) == reference.tables)
        database.close()
        #expect(try Tables(CatalogDatabase(path: path, create: false)) == reference.tables)
    }

    @Test func `a failing statement of making a catalog leaves one that can be made`() throws {
        let failures = try failEach(.inputOutput) {
            try CatalogDatabase(path: path, create: true).close()
        } after: {
            try CatalogDatabase(path: path, create: true).close()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        #expect(failures > 20)
    }

    @Test func `a failing statement of pruning or reading is told and nothing else`() throws {
        let database = try CatalogDatabase(path: path, create: true)
        try database.apply((1...9).map { mutation($0, [.removeItem(.root)]) })
        let before = try Tables(database)
        _ = try failEach(.inputOutput) {
            _ = try Tables(database)
            _ = try database.changeLogGaps()
            _ = try database.integrityErrors()
            try database.checkpoint()
            try database.pruneChanges(keeping: 3)
        } after: {
            let left = try Tables(database)
            #expect(left == before)
        }
        #expect(try database.changes(after: 0, limit: 9).map(\.sequence) == [7, 8, 9])
    }
}

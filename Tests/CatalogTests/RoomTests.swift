import Catalog
import Foundation
import Model
import Probing
import Testing

/// A catalog that holds room for itself. Serialized: one fault is armed at a time.
@Suite(.serialized) struct RoomTests {
    private let folder: TemporaryFolder
    private let path: String
    private let database: CatalogDatabase

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("catalog.db")
        database = try CatalogDatabase(path: path, create: true)
        try database.holdRoom()
    }

    /// Blocks that a file has, in bytes.
    private func allocated(_ name: String) -> Int {
        var status = stat()
        return stat(folder.file(name), &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    @Test func `a disk that is full for a moment at any step stops nothing`() throws {
        var random = SplitMix(seed: 8)
        let mutations = (1...300).map { random.mutation(UInt64($0)) }
        var reference = ReferenceTables()
        for mutation in mutations { reference.apply(mutation) }
        for count in stride(from: 1, to: 2_000, by: 7) {
            let name = "catalog-\(count).db"
            let database = try CatalogDatabase(path: folder.file(name), create: true)
            try database.holdRoom()
            StatementFaults.arm(after: count, code: .full, database: folder.file(name))
            defer { StatementFaults.disarm() }
            try database.applyAll(mutations)
            let isReached = StatementFaults.left == 0
            StatementFaults.disarm()
            let tables = try Tables(database)
            #expect(tables == reference.tables, "step \(count)")
            database.close()
            if !isReached {
                #expect(count > 300)
                return
            }
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
    }

    /// Without its locks SQLite's shared memory is cut off under it by whoever opens the catalog then.
    @Test func `closing a catalog that holds room leaves others of the process their locks`() throws
    {
        let reader = try CatalogDatabase(path: path, create: false)
        #expect(try locks("catalog.db-shm") > 0)
        database.close()
        #expect(try locks("catalog.db-shm") > 0)
        reader.close()
        database.releaseRoom()
    }

    @Test func `a catalog that can hold no room has its locks`() throws {
        let other = folder.file("other.db")
        let database = try CatalogDatabase(path: other, create: true)
        try database.applyAll([mutation(1, [])])
        try database.checkpoint()
        #expect(try locks("other.db") > 0)
        try FileManager.default.moveItem(atPath: other + "-shm", toPath: other + "-away")
        try database.holdRoom()
        #expect(try locks("other.db") > 0)
        try FileManager.default.moveItem(atPath: other + "-away", toPath: other + "-shm")
        // What could not be opened then is now.
        try database.applyAll([mutation(2, [])])
        #expect(allocated("other.db-shm") >= 64 << 10)
        database.close()
        database.releaseRoom()
    }

    /// How many locks there are on a file.
    private func locks(_ name: String) throws -> Int {
        var status = stat()
        guard stat(folder.file(name), &status) == 0 else { return 0 }
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8)
            .split(separator: "\n").count { $0.contains(":\(status.st_ino) ") }
    }

    @Test func `the log keeps its room over a checkpoint, the catalog its pages`() throws {
        #expect(allocated("catalog.db-wal") >= 1 << 20)
        #expect(allocated("catalog.db-shm") >= 64 << 10)
        try database.applyAll([mutation(1, [.putName(parent: .root, name: [65], item: .root)])])
        try database.checkpoint()
        #expect(allocated("catalog.db-wal") >= 1 << 20)
        #expect(allocated("catalog.db") >= 1 << 20)
        // What is there is written over.
        let size = folder.size("catalog.db-wal")
        for sequence in 2...40 {
            try database.applyAll([mutation(UInt64(sequence), [])])
            try database.checkpoint()
        }
        #expect(folder.size("catalog.db-wal") < size + 64 << 10)
    }

    @Test func `all pages that a change may take have their blocks, however the file has grown`()
        throws
    {
        for first in stride(from: UInt64(1), to: 1_000, by: 100) {
            try database.applyAll(names(from: first, count: 97))
            try database.checkpoint()
            // As where a full disk had room for a part of what the file was to grow by. SQLite makes it
            // longer then, and the disk gives it no blocks for that.
            #expect(truncate(path, off_t(try pages() * 4_096)) == 0)
            try database.apply(names(from: first + 97, count: 1))
            try database.checkpoint()
            try database.applyAll(names(from: first + 98, count: 2))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(allocated("catalog.db") >= Int(status.st_size), "\(first)")
        }
    }

    /// Pages of the catalog, as its file says.
    private func pages() throws -> Int {
        let file = open(path + "-copy", O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        // In a process of its own: closing the catalog's file would take the locks of this one.
        let copied = try run(["dd", "if=\(path)", "of=\(path)-copy", "bs=1", "skip=28", "count=4"])
        #expect(copied.status == 0, "\(copied)")
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(read(file, &bytes, 4) == 4)
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private func names(from first: UInt64, count: UInt64) -> [Mutation] {
        (first..<first + count).map {
            mutation($0, [.putName(parent: .root, name: Array(String($0).utf8), item: .root)])
        }
    }

    @Test func `a log that has become long is written from its start again`() throws {
        // More than SQLite leaves of the file when it starts over.
        let limit: Int64 = 8 << 20
        var longest: Int64 = 0
        for sequence in 1...2_000 {
            try database.applyAll([
                mutation(UInt64(sequence), [.putName(parent: .root, name: [65], item: .root)])
            ])
            try database.shortenLog(from: limit)
            var status = stat()
            #expect(stat(folder.file("catalog.db-wal"), &status) == 0)
            let length = Int64(status.st_size)
            longest = max(longest, length)
        }
        #expect(longest >= limit)
        #expect(longest < limit + (1 << 20))
        #expect(database.appliedSequence == 2_000)
    }

    @Test func `a log of changes with gaps begins anew after the last`() throws {
        try database.apply((1...9).map { mutation($0, []) })
        #expect(try database.changeLogGaps().isEmpty)
        try database.pruneChanges(keeping: 7)
        try database.closeChangeLogGaps()
        #expect(try database.changes(after: 0, limit: 99).map(\.sequence) == Array(3...9))
        #expect(try database.changeLogGaps().isEmpty)
        #expect(database.appliedSequence == 9)
    }
}

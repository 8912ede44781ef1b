import Catalog
import Glibc
import Model
import SystemCalls
import Testing

/// A journal on a disk that fails.
@Suite(.serialized) struct JournalFaultTests {
    private func withLog(_ body: (ChangeLog) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let database = try CatalogDatabase(path: folder.file("catalog.db"), create: true)
        try Directories.make(folder.file("journal"))
        let log = ChangeLog(
            journal: try Journal(folder: folder.file("journal")), database: database)
        defer { log.close() }
        try body(log)
    }

    /// The kernel tells of it once: the next fdatasync of the same file succeeds, whatever is on the disk.
    @Test func `a journal that did not come to the disk once takes nothing more`() throws {
        try withLog { log in
            func change() throws {
                log.append(mutation(0, []))
                try log.flush(upTo: log.head)
            }
            try change()
            try log.synchronize()
            var isRefused = false
            // The applying thread may make the call that fails.
            for _ in 0..<100 where !isRefused {
                try change()
                FaultInjection.arm(after: 1, error: EIO)
                isRefused = (try? log.synchronize()) == nil
                FaultInjection.arm(after: 0, error: 0)
            }
            #expect(isRefused)
            #expect(throws: Errno(EIO)) { try log.synchronize() }
            #expect(throws: Errno(EIO)) { try log.admit() }
            #expect(throws: Errno(EIO)) { try change() }
        }
    }
}

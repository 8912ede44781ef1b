import Catalog
import Glibc
import Model
import SystemCalls
import Testing

/// A journal on a disk that fails.
@Suite(.serialized) struct JournalFaultTests {
    private func withLog(
        in folder: TemporaryFolder? = nil, _ body: (ChangeLog) throws -> Void
    ) throws {
        let folder = try folder ?? TemporaryFolder()
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
            #expect(log.problem?.message.contains("the disk did not take the journal") == true)
            #expect(throws: Errno(EIO)) { try log.synchronize() }
            #expect(throws: Errno(EIO)) { try log.admit() }
            #expect(throws: Errno(EIO)) { try change() }
        }
    }

    /// A disk that never writes over a block in its place, as btrfs, may have no room for one of the journal.
    @Test(arguments: [ENOSPC, EIO])
    func `a journal that could not be written for a moment takes all that waits`(error: Int32)
        throws
    {
        let folder = try TemporaryFolder()
        try withLog(in: folder) { log in
            func failing(_ body: () throws -> Void) -> Errno? {
                FaultInjection.arm(after: 1, error: error)
                defer { FaultInjection.arm(after: 0, error: 0) }
                do { try body() } catch { return error as? Errno }
                return nil
            }
            func change() throws {
                log.append(mutation(0, []))
                try log.flush(upTo: log.head)
            }
            var refusals = 0
            // The applying thread may make the call that fails.
            for _ in 0..<100 where refusals < 10 {
                try change()
                if let refusal = failing(change) {
                    #expect(refusal == Errno(error))
                    // Nothing more is taken as long as what waits cannot be written.
                    if failing(log.admit) != nil { refusals += 1 }
                }
                try log.admit()
                #expect(log.problem == nil)
                let records = try Journal(folder: folder.file("journal")).contents().records
                #expect(records.map(\.sequence) == Array(1...log.head))
            }
            #expect(refusals == 10)
        }
    }

    /// No container ever comes there: somebody wrote it, with a right sum.
    @Test(arguments: [ChangeSequence.max, CatalogDatabase.largestSequence + 1])
    func `a record after which none can come is none`(sequence: ChangeSequence) throws {
        let folder = try TemporaryFolder()
        try withLog(in: folder) { _ in }
        var payload: [UInt8] = []
        var rest = sequence
        while rest >= 0x80 {
            payload.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        payload.append(UInt8(rest))
        // Its time, kind and item; no parent, name, process or effect.
        payload += [0, 0, 0, 0, 0, 0, 0, 0, ChangeKind.created.rawValue, 7, 0, 0, 0, 0]
        let head = [UInt32(payload.count), payload.withUnsafeBytes(CRC32.of)]
        let record =
            head.flatMap { word in (0..<4).map { UInt8(word >> ($0 * 8) & 0xff) } }
            + payload
        let file = try OwnedDescriptor.open(folder.file("journal/0"), O_WRONLY)
        try file.write(record + record, at: 0)
        #expect(try Journal(folder: folder.file("journal")).contents().records.isEmpty)
    }

    /// The applying thread takes half a second of rest after it.
    @Test func `a catalog that failed once fails nobody who asks it afterwards`() throws {
        try withLog { log in
            StatementFaults.arm(after: 1, code: .inputOutput)
            defer { StatementFaults.disarm() }
            log.append(mutation(0, []))
            #expect(throws: Failure.self) { try log.drain() }
            #expect(StatementFaults.left == 0)
            for _ in 0..<3 {
                try log.drain()
                log.append(mutation(0, []))
            }
            try log.drain()
            #expect(log.problem == nil)
        }
    }
}

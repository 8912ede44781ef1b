import Catalog
import Model
import SystemCalls
import Testing

/// Following the changes of a log.
@Suite struct ChangeFeedTests {
    private let folder: TemporaryFolder
    private let log: ChangeLog
    private var feed: ChangeFeed { log.feed }

    init() throws {
        folder = try TemporaryFolder()
        let database = try CatalogDatabase(path: folder.file("catalog.db"), create: true)
        try Directories.make(folder.file("journal"))
        log = ChangeLog(journal: try Journal(folder: folder.file("journal")), database: database)
    }

    private func make(_ count: Int) throws {
        for _ in 0..<count { log.append(mutation(0, [])) }
        try log.flush(upTo: log.head)
    }

    private func sequences(
        _ subscription: ChangeFeed.Subscription, atMost limit: Int = .max
    ) throws -> [ChangeSequence] {
        guard case .changes(let rows) = feed.take(subscription, atMost: limit) else {
            Issue.record("it is behind")
            return []
        }
        return rows.map(\.sequence)
    }

    @Test func `the catalog keeps the last changes and lets go of those before`() throws {
        let path = folder.file("short.db")
        let kept = 1_000
        let short = ChangeLog(
            journal: try Journal(folder: folder.file("journal")),
            database: try CatalogDatabase(path: path, create: true), keeping: kept)
        let count: UInt64 = 60_000
        for _ in 0..<12 {
            for _ in 0..<5_000 { short.append(mutation(0, [])) }
            try short.drain()
        }
        short.close()
        let database = try CatalogDatabase(path: path, create: false)
        defer { database.close() }
        let first = try #require(try database.changes(after: 0, limit: 1).first?.sequence)
        // Not at each change, and in steps; but all that were too many went.
        #expect(first <= count - UInt64(kept) + 1 && first > count - UInt64(kept) - 10_000)
        #expect(try database.changeLogGaps() == [])
        log.close()
    }

    @Test func `each subscriber gets every later change once and in order`() throws {
        try make(3)
        let early = feed.subscribe(after: nil) {}
        try make(2)
        let late = feed.subscribe(after: nil) {}
        try make(1)
        #expect(try sequences(early, atMost: 2) == [4, 5])
        #expect(try sequences(early) == [6])
        #expect(try sequences(early) == [])
        #expect(try sequences(late) == [6])
        feed.cancel(late)
        try make(1)
        #expect(try sequences(early) == [7])
        #expect(try sequences(late) == [])
        log.close()
    }

    @Test func `a change is told when it is in the journal, not before`() throws {
        let woken = Lock(0)
        let subscription = feed.subscribe(after: nil) { woken.withLock { $0 += 1 } }
        log.append(mutation(0, []))
        #expect(try sequences(subscription) == [])
        #expect(woken.withLock { $0 } == 0)
        try log.flush(upTo: log.head)
        #expect(woken.withLock { $0 } == 1)
        #expect(try sequences(subscription) == [1])
        log.close()
    }

    @Test func `what nobody waits for wakes who follows, and is told when the journal has it`()
        throws
    {
        let woken = Lock(0)
        let subscription = feed.subscribe(after: nil) { woken.withLock { $0 += 1 } }
        log.append(mutation(0, []))
        log.announce()
        #expect(woken.withLock { $0 } == 1)
        #expect(try sequences(subscription) == [])
        try log.flush(upTo: log.head)
        #expect(try sequences(subscription) == [1])
        feed.cancel(subscription)
        log.announce()
        #expect(woken.withLock { $0 } == 2)
        log.close()
    }

    @Test func `who is further behind than the memory reaches is told so`() throws {
        try make(5)
        let past = feed.subscribe(after: 2) {}
        guard case .behind(let after, let head) = feed.take(past, atMost: 9) else {
            Issue.record("nothing is kept of the time before anybody subscribed")
            return
        }
        #expect(after == 2 && head == 5)
        feed.skip(past, to: 4)
        feed.skip(past, to: 3)
        // One that the memory does not have, and then those that it has.
        try make(1)
        if case .changes = feed.take(past, atMost: 9) { Issue.record("change 5 is not kept") }
        feed.skip(past, to: 5)
        #expect(try sequences(past) == [6])
        // A slow one falls behind; one that keeps up does not.
        let quick = feed.subscribe(after: nil) {}
        var count = 0
        for _ in 0..<20 {
            try make(1_000)
            count += try sequences(quick).count
        }
        #expect(count == 20_000)
        guard case .behind(let cursor, let last) = feed.take(past, atMost: 1) else {
            Issue.record("twenty thousand changes are kept")
            return
        }
        #expect(cursor == 6 && last == 20_006)
        feed.skip(past, to: 20_000)
        #expect(try sequences(past) == Array(20_001...20_006))
        log.close()
    }

    @Test func `of a rename it is told where the name was`() throws {
        let subscription = feed.subscribe(after: nil) {}
        let (root, item) = (ItemNumber.root, ItemNumber(rawValue: 7))
        let (old, new) = (Array("old".utf8), Array("new".utf8))
        log.append(
            Mutation(
                time: Timestamp(seconds: 1, nanoseconds: 0), kind: .renamed, item: item,
                parent: root, name: new,
                effects: [
                    .removeName(parent: root, name: new), .removeName(parent: root, name: old),
                    .putName(parent: root, name: new, item: item),
                ]))
        try log.drain()
        guard case .changes(let told) = feed.take(subscription, atMost: 9) else {
            Issue.record("no changes")
            return
        }
        #expect(told.map(\.former) == [NamePlace(parent: root, name: old)])
        log.close()
        // The catalog says the same.
        let database = try CatalogDatabase(path: folder.file("catalog.db"), create: false)
        #expect(try database.changes(after: 0, limit: 9) == told)
    }
}

import Catalog
import Model
import Probing
import Testing

/// Which earlier versions go.
@Suite struct RetentionTests {
    /// 2026-01-15 12:00 UTC.
    private static let noon: Int64 = 1_768_478_400
    private let now = Timestamp(seconds: noon, nanoseconds: 0)

    /// A document's versions, published so many seconds before noon, in this order.
    private func versions(
        _ ages: [Double], sizes: [Int64]? = nil, blocks: Int64? = nil, document: UInt64 = 1,
        current: ContentPlace = .sealed
    ) -> [VersionRow] {
        ages.enumerated().map { index, age in
            let nanoseconds = Int64(-age * 1e9)
            let seconds =
                (nanoseconds - (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000)
                / 1_000_000_000
            let published = Timestamp(
                seconds: Self.noon + seconds, nanoseconds: nanoseconds - seconds * 1_000_000_000)
            return VersionRow(
                document: DocumentID(rawValue: document), item: ItemNumber(rawValue: document),
                ordinal: UInt32(index + 1), size: sizes?[index] ?? 10,
                blocks: blocks ?? (sizes?[index] ?? 10) / 512 + 1,
                modified: published, published: published, author: 0,
                place: index == ages.count - 1 ? current : .sealed, hash: nil)
        }
    }

    private func dropped(_ ages: [Double], current: ContentPlace = .sealed) -> [Double] {
        let versions = versions(ages, current: current)
        return Retention.superfluous(versions, now: now).map { ages[Int($0.ordinal) - 1] }
    }

    private let minute = 60.0, hour = 3_600.0, day = 86_400.0

    @Test func `the current version stays however old it is`() {
        #expect(dropped([]) == [])
        #expect(dropped([400 * day]) == [])
        #expect(dropped([401 * day, 400 * day]) == [401 * day])
    }

    @Test func `what is pinned stays whatever its age and the room`() {
        let old = versions([400 * day, 300 * day, 100, 99, 0])
        #expect(Retention.superfluous(old, now: now) == [old[0], old[1], old[2]])
        let pinned: Set = [old[0].node, old[2].node]
        #expect(Retention.superfluous(old, keeping: pinned, now: now) == [old[1]])
        let left = Retention.exceeding([old], keeping: pinned, budget: 0)
        #expect(left == [old[1], old[3]])
    }

    @Test func `saves within two seconds count as one`() {
        #expect(dropped([100, 98.5, 50, 30, 28]) == [100, 30])
        #expect(dropped([100, 97.9, 95.8]) == [])
    }

    @Test func `what is kept apart is a save of its own, and ages as others do`() {
        let rows = versions([5 * hour, 5 * hour - 1, 100, 98.5, 97, 0])
        #expect(Retention.superfluous(rows, now: now) == [rows[0], rows[2], rows[3]])
        let apart: Set = [rows[0].node, rows[2].node]
        #expect(Retention.superfluous(rows, apart: apart, now: now) == [rows[0], rows[3]])
    }

    @Test func `a program that saves all the time leaves a version of every hour`() {
        let ages = stride(from: 5 * hour - 1, through: 0, by: -1).map { $0 }
        // The last of the hours from 7 to 11, and the current one.
        #expect(ages.count - dropped(ages).count == 6)
    }

    @Test func `all of the last hour stays`() {
        let ages = stride(from: 59 * minute, through: 0, by: -minute).map { $0 }
        #expect(dropped(ages) == [])
    }

    @Test func `the last of each hour stays for a day`() {
        #expect(
            dropped([3 * hour, 2.9 * hour, 2.1 * hour, 2 * hour, 1.5 * hour, 0])
                == [3 * hour, 2.9 * hour, 2 * hour])
    }

    @Test func `the last of each day stays for a month`() {
        // Noon minus 3 days and some hours: 13:00 and 23:00 of one day, 01:00 of the next.
        #expect(
            dropped([3 * day + 23 * hour, 3 * day + 13 * hour, 3 * day + 11 * hour, 0])
                == [3 * day + 23 * hour])
        #expect(dropped([31 * day, 29 * day, 0]) == [31 * day])
    }

    @Test func `nothing that a clock set back puts into the future is dropped`() {
        #expect(dropped([-1 * day, -2 * day, -3 * day]) == [])
    }

    @Test func `the last durable version stays until the current one is durable`() {
        #expect(dropped([100, 99, 98], current: .sealed) == [100, 99])
        #expect(dropped([100, 99, 98], current: .staged) == [100])
        var rows = versions([100, 99, 98], current: .staged)
        rows[1].place = .staged
        #expect(Retention.superfluous(rows, now: now).map(\.ordinal) == [2])
        #expect(Retention.exceeding([rows], budget: 0).map(\.ordinal) == [2])
    }

    @Test func `what a sync of the disk made durable stays until the current one is`() {
        // A program that saves every second, on a disk that was synchronized 3.5 s ago.
        var rows = versions([6, 5, 4, 3, 2, 1, 0.5], current: .staged)
        for index in rows.indices { rows[index].place = .staged }
        let synced = Timestamp(seconds: Self.noon - 4, nanoseconds: 500_000_000)
        #expect(
            Retention.superfluous(rows, durableUntil: synced, now: now).map(\.ordinal)
                == [1, 2, 4, 5, 6])
        #expect(
            Retention.exceeding([rows], durableUntil: synced, budget: 0).map(\.ordinal)
                == [1, 2, 4, 5, 6])
        // Once the current one is on the disk, nothing has to stay for it.
        #expect(
            Retention.superfluous(rows, durableUntil: now, now: now).map(\.ordinal)
                == [1, 2, 3, 4, 5, 6])
    }

    @Test func `thinning after every save comes to the same as thinning once`() {
        let seed = UInt64.random(in: .min ... .max)
        print("retention test, seed \(seed)")
        var random = SplitMix(seed: seed)
        for _ in 0..<200 {
            var ages: [Double] = []
            var age = 0.0
            for _ in 0..<random.below(60) {
                ages.insert(age, at: 0)
                let scale = [1, 1, 30, 2_000, 20_000][random.below(5)]
                age += Double(random.below(scale) + 1)
            }
            let all = versions(ages)
            let apart = Set(all.map(\.node).filter { _ in random.chance(20) })
            let once = Retention.superfluous(all, apart: apart, now: now)
            var kept: [VersionRow] = []
            for version in all {
                kept.append(version)
                let gone = Set(
                    Retention.superfluous(kept, apart: apart, now: version.published))
                kept.removeAll { gone.contains($0) }
            }
            let gone = Set(Retention.superfluous(kept, apart: apart, now: now))
            kept.removeAll { gone.contains($0) }
            #expect(kept == all.filter { !once.contains($0) }, "seed \(seed)")
        }
    }

    // MARK: The share of the disk

    private func exceeding(_ documents: [[VersionRow]], _ budget: Int64) -> [[UInt64]] {
        Retention.exceeding(documents, budget: budget).map {
            [$0.document.rawValue, UInt64($0.ordinal)]
        }
    }

    @Test func `nothing goes within the budget, and current versions do not count`() {
        let documents = [versions([30, 20, 10], sizes: [5, 5, 1_000])]
        #expect(exceeding(documents, 10) == [])
        #expect(exceeding(documents, 9) == [[1, 1]])
        #expect(exceeding([[], versions([1])], 0) == [])
    }

    @Test func `the document that takes most is thinned first, oldest first`() {
        let documents = [
            versions([40, 30, 20, 10], sizes: [10, 10, 10, 10], document: 1),
            versions([44, 33, 22, 11], sizes: [50, 60, 20, 20], document: 2),
        ]
        // Document 2 takes 130, 80, 20; document 1 takes 30, 20, 10.
        #expect(exceeding(documents, 120) == [[2, 1]])
        #expect(exceeding(documents, 50) == [[2, 1], [2, 2]])
        #expect(exceeding(documents, 45) == [[2, 1], [2, 2], [1, 1]])
        #expect(exceeding(documents, 30) == [[2, 1], [2, 2], [1, 1], [1, 2]])
    }

    @Test func `the newest earlier version of each goes last`() {
        let documents = [
            versions([30, 20, 10], sizes: [1, 900, 9], document: 1),
            versions([33, 22, 11], sizes: [2, 30, 9], document: 2),
            versions([33, 22, 11], sizes: [0, 0, 9], document: 3),
        ]
        #expect(exceeding(documents, 0) == [[1, 1], [2, 1], [1, 2], [2, 2]])
        #expect(exceeding(documents, 930) == [[1, 1], [2, 1]])
    }

    @Test func `holes and what is only in the store take no room`() {
        var sparse = versions([30, 20, 10], sizes: [1 << 40, 1 << 40, 1 << 40], blocks: 8)
        #expect(exceeding([sparse], 8_192) == [])
        #expect(exceeding([sparse], 8_191) == [[1, 1]])
        sparse[0].place = .promised
        #expect(exceeding([sparse], 4_096) == [])
        let impossible = versions([30, 20, 10], sizes: [.max, .max, 9])
        #expect(exceeding([impossible], 10) == [[1, 1], [1, 2]])
    }

    @Test func `what is too large takes no histories of others along`() {
        let documents = [
            versions([30, 20, 10], sizes: [900, 900, 900], document: 1),
            versions([44, 33, 22, 11], sizes: [3, 4, 5, 9], document: 2),
        ]
        #expect(exceeding(documents, 899) == [[1, 1], [1, 2]])
        #expect(exceeding(documents, 12) == [[1, 1], [1, 2]])
        #expect(exceeding(documents, 11) == [[1, 1], [1, 2], [2, 1]])
        // There is room for the newest of each, and for no more.
        #expect(exceeding(documents, 905) == [[1, 1], [2, 1], [2, 2]])
    }
}

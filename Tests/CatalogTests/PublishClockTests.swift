import Catalog
import Model
import Testing

@Suite struct PublishClockTests {
    @Test func `moments go on when the wall clock stands still or is set back`() {
        var clock = PublishClock(after: Timestamp(seconds: 1_000, nanoseconds: 999_999_999))
        let moments = [2_000, 2_000, 5, 1_999, 2_001].map {
            clock.next(Timestamp(seconds: $0, nanoseconds: 0), at: 7)
        }
        #expect(moments[0] == Timestamp(seconds: 2_000, nanoseconds: 0))
        #expect(moments == moments.sorted() && Set(moments).count == moments.count)
        #expect(moments[4] == Timestamp(seconds: 2_001, nanoseconds: 0))
    }

    @Test func `a container that was used in the future goes on from there`() {
        let future = Timestamp(seconds: 9_000, nanoseconds: 999_999_999)
        var clock = PublishClock(after: future)
        let moment = clock.next(Timestamp(seconds: 5, nanoseconds: 0), at: 7)
        // Nobody knows how long it was not mounted: what was saved before was a save of its own.
        #expect(moment == Timestamp(seconds: 9_003, nanoseconds: 999_999_999))
    }

    /// All saves of a day were one to the rule, and only the last of them stayed.
    @Test func `saves behind a wall clock that was set back are saves of their own`() {
        let wrong = Timestamp(seconds: 10_800, nanoseconds: 0)
        var clock = PublishClock(after: wrong)
        var tick: UInt64 = 5_000_000_000
        var versions: [VersionRow] = []
        for save in 0..<10 {
            tick += 2_100_000_000
            let wall = Timestamp(seconds: Int64(save) * 2, nanoseconds: 0)
            versions.append(
                VersionRow(
                    document: DocumentID(rawValue: 2), item: ItemNumber(rawValue: 2),
                    ordinal: Ordinal(save + 1), size: 1, blocks: 8, modified: wall,
                    published: clock.next(wall, at: tick), author: 0, place: .durable, hash: nil))
        }
        let now = Timestamp(seconds: 20, nanoseconds: 0)
        #expect(Retention.superfluous(versions, now: now).isEmpty)
        // Steps in quick succession stay steps of one save, and a pause counts for no more than is
        // needed: the wall clock catches up.
        let before = versions[9].published
        let soon = clock.next(now, at: tick + 1_000_000_000)
        #expect(soon.secondsSince(before) < 2)
        let late = clock.next(now, at: tick + 9_000_000_000_000)
        #expect(late.secondsSince(soon) > 2 && late.secondsSince(soon) < 4)
        let right = Timestamp(seconds: 12_000, nanoseconds: 0)
        #expect(clock.next(right, at: tick + 9_000_000_000_001) == right)
    }
}

import Catalog
import Model
import Testing

@Suite struct PublishClockTests {
    @Test func `moments go on when the wall clock stands still or is set back`() {
        var clock = PublishClock(after: Timestamp(seconds: 1_000, nanoseconds: 999_999_999))
        let moments = [2_000, 2_000, 5, 1_999, 2_001].map {
            clock.next(Timestamp(seconds: $0, nanoseconds: 0))
        }
        #expect(moments[0] == Timestamp(seconds: 2_000, nanoseconds: 0))
        #expect(moments == moments.sorted() && Set(moments).count == moments.count)
        #expect(moments[4] == Timestamp(seconds: 2_001, nanoseconds: 0))
    }

    @Test func `a container that was used in the future goes on from there`() {
        let future = Timestamp(seconds: 9_000, nanoseconds: 999_999_999)
        var clock = PublishClock(after: future)
        let moment = clock.next(Timestamp(seconds: 5, nanoseconds: 0))
        #expect(moment > future && moment == Timestamp(seconds: 9_001, nanoseconds: 0))
    }
}

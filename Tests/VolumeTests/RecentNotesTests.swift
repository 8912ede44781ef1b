import Model
import Testing

@testable import FileSystem

@Suite struct RecentNotesTests {
    private static func item(_ number: Int) -> ItemNumber { ItemNumber(rawValue: UInt64(number)) }
    private static func moment(_ seconds: Int64) -> Timestamp {
        Timestamp(seconds: seconds, nanoseconds: 0)
    }

    @Test func `all that was noted within 15 s stays, and what is older goes with what comes`() {
        var notes = RecentNotes<Int>()
        for number in 1...3_000 {
            notes.note(number, of: Self.item(number), at: Self.moment(Int64(number / 200)))
        }
        for number in 1...3_000 { #expect(notes[Self.item(number)] == number) }
        notes.note(-1, of: Self.item(7), at: Self.moment(16))
        #expect(notes[Self.item(7)] == -1 && notes[Self.item(8)] == 8)
        #expect(notes.remove(Self.item(7)) == -1 && notes[Self.item(7)] == nil)
        notes.note(1, of: Self.item(1), at: Self.moment(40))
        #expect(notes[Self.item(8)] == nil && notes.count == 1)
        // The clock was set back.
        notes.note(2, of: Self.item(2), at: Self.moment(0))
        #expect(notes[Self.item(1)] == 1 && notes[Self.item(2)] == 2)
    }

    @Test func `however fast they come, the last ones stay, and no more than twice as many`() {
        var notes = RecentNotes<Int>()
        let (count, capacity) = (100_000, RecentNotes<Int>.capacity)
        for number in 1...count { notes.note(number, of: Self.item(number), at: Self.moment(1)) }
        for number in (count - capacity + 1)...count {
            #expect(notes[Self.item(number)] == number)
        }
        #expect(notes.count <= 2 * capacity)
    }
}

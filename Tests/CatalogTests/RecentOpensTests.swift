import Catalog
import Model
import Testing

/// Which opens count as somebody's.
@Suite struct RecentOpensTests {
    private func moment(_ seconds: Double) -> Timestamp {
        let whole = seconds.rounded(.down)
        return Timestamp(
            seconds: 1_700_000_000 + Int64(whole), nanoseconds: Int64((seconds - whole) * 1e9))
    }

    private func document(_ number: UInt64) -> DocumentID { DocumentID(rawValue: number) }

    /// The documents' numbers, the last opened first.
    private func listed(_ recents: RecentOpens) -> [UInt64] {
        recents.list.map(\.document.rawValue)
    }

    @Test func `what is opened by hand counts at once, the last first`() {
        var recents = RecentOpens()
        for (second, number) in [(0, 1), (3, 2), (6, 3), (9, 1)] as [(Double, UInt64)] {
            recents.note(document(number), by: 7, at: moment(second))
        }
        #expect(listed(recents) == [1, 3, 2])
        // It is recorded when it cannot turn out as a sweep any more.
        #expect(recents.settle(now: moment(9.5)).kept.isEmpty)
        #expect(Set(recents.settle(now: moment(14)).kept.keys) == [document(2)])
        #expect(
            recents.settle(now: moment(30)).kept == [
                document(3): moment(6), document(1): moment(9),
            ])
        #expect(recents.isSettled)
        #expect(listed(recents) == [1, 3, 2])
    }

    @Test func `a process that goes through documents does not count, nor what it began with`() {
        var recents = RecentOpens([document(50): moment(-100)])
        recents.note(document(99), by: 8, at: moment(0))
        for number in 1...30 as ClosedRange<UInt64> {
            recents.note(document(number), by: 7, at: moment(Double(number) * 0.01))
        }
        recents.note(document(51), by: 8, at: moment(0.4))
        #expect(listed(recents) == [51, 99, 50])
        // Nor what it opens before it has rested.
        recents.note(document(40), by: 7, at: moment(9))
        #expect(Set(recents.settle(now: moment(25)).kept.keys) == [document(99), document(51)])
        recents.note(document(41), by: 7, at: moment(26))
        #expect(listed(recents) == [41, 51, 99, 50])
    }

    @Test func `a slow one is found too, and a fast editor is not`() {
        var recents = RecentOpens()
        for number in 1...9 as ClosedRange<UInt64> {
            recents.note(document(number), by: 7, at: moment(Double(number)))
        }
        #expect(listed(recents) == [])
        var editor = RecentOpens()
        for number in 1...20 as ClosedRange<UInt64> {
            // Three documents, again and again.
            editor.note(document(number % 3), by: 7, at: moment(Double(number) * 0.1))
        }
        #expect(Set(listed(editor)) == [0, 1, 2])
    }

    @Test func `programs that are started for each document are one sweep`() {
        var recents = RecentOpens()
        recents.note(document(99), by: 6, at: moment(-5))
        for number in 1...40 as ClosedRange<UInt64> {
            recents.note(
                document(number), by: Int32(100 + number), at: moment(Double(number) * 0.05))
        }
        #expect(listed(recents) == [99])
        _ = recents.settle(now: moment(60))
        recents.note(document(98), by: 6, at: moment(60))
        #expect(listed(recents).first == 98)
    }

    @Test func `a hundred are remembered, and what is deleted is forgotten`() {
        var recents = RecentOpens()
        var recorded: [DocumentID: Timestamp] = [:]
        for number in 1...130 as ClosedRange<UInt64> {
            recents.note(document(number), by: 7, at: moment(Double(number) * 20))
            let (kept, dropped) = recents.settle(now: moment(Double(number) * 20 + 15))
            recorded.merge(kept) { $1 }
            for document in dropped { recorded[document] = nil }
        }
        #expect(listed(recents) == (31...130).reversed())
        #expect(Set(recorded.keys.map(\.rawValue)) == Set(31...130))
        #expect(RecentOpens(recorded).list.map(\.document) == recents.list.map(\.document))
        let wasRecorded = recents.remove(document(100))
        #expect(wasRecorded)
        #expect(!listed(recents).contains(100))
    }

    @Test func `at the end all that counts is recorded`() {
        var recents = RecentOpens()
        recents.note(document(1), by: 7, at: moment(0))
        let kept = recents.settleAll().kept
        #expect(kept == [document(1): moment(0)])
    }

    @Test func `after a clock was set back what is opened by hand counts again`() {
        var recents = RecentOpens()
        // One process goes through documents, and then many, one each.
        for number in 1...30 as ClosedRange<UInt64> {
            recents.note(document(number), by: 7, at: moment(Double(number) * 0.01))
            recents.note(
                document(100 + number), by: 100 + Int32(number), at: moment(Double(number) * 0.01))
        }
        #expect(listed(recents) == [])
        _ = recents.settle(now: moment(-3_600))
        recents.note(document(50), by: 7, at: moment(-3_599))
        recents.note(document(51), by: 8, at: moment(-3_590))
        #expect(listed(recents) == [51, 50])
        #expect(recents.settle(now: moment(-3_570)).kept.count == 2)
        #expect(recents.isSettled)
    }
}

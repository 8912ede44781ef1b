import Model
import Testing

@testable import FileSystem

/// What waits for the desktop's cache.
@Suite struct DesktopNotesTests {
    private func number(_ note: DesktopNote?) -> UInt64? {
        switch note {
        case .placed(let item), .listed(let item, _), .lookedUp(let item, _): item.rawValue
        default: nil
        }
    }

    @Test func `symlinks and listings are looked at in the order in which they came`() {
        func item(_ number: UInt64) -> ItemNumber { ItemNumber(rawValue: number) }
        var notes = DesktopNotes()
        notes.awaited.append(.placed(item(1)))
        notes.awaited.append(.listed(item(2), SingleCall {}))
        notes.awaited.append(.placed(item(3)))
        #expect(number(notes.takeAwaited()) == 1)
        // Further ones keep coming.
        notes.awaited.append(.placed(item(4)))
        #expect(number(notes.takeAwaited()) == 2)
        // Who looks something up waits for none of them.
        notes.lookups.append((item(5), SingleCall {}))
        #expect(number(notes.takeAwaited()) == 5)
        #expect([3, 4].allSatisfy { number(notes.takeAwaited()) == $0 })
        #expect(notes.takeAwaited() == nil)
    }

    @Test func `listings that nobody sees to push no changes out, and are not kept without end`() {
        var notes = DesktopNotes()
        for number in 0..<DesktopNotes.limit {
            notes.awaited.append(.listed(ItemNumber(rawValue: UInt64(number)), SingleCall {}))
        }
        #expect(notes.makeRoom() && !notes.hasLostNotes)
        while !notes.isCrowded, notes.awaited.count < 1_000_000 {
            notes.awaited.append(.listed(ItemNumber(rawValue: 2), SingleCall {}))
        }
        #expect(notes.awaited.count < 1_000_000)
        notes.placed = DesktopNotes.limit
        #expect(!notes.makeRoom() && notes.hasLostNotes)
    }
}

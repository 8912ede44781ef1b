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
}

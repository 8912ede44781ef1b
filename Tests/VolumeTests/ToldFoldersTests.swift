import Model
import Testing

@testable import FileSystem

@Suite struct ToldFoldersTests {
    private static let second: UInt64 = 1_000_000_000
    private var told = ToldFolders()

    private func folder(_ number: UInt64) -> ItemNumber { ItemNumber(rawValue: number) }

    private mutating func isOnItsWay(but thread: Int32, at time: UInt64) -> Bool {
        told.isOnItsWay(folder(5), but: thread, at: time)
    }

    @Test mutating func `who has asked and then changes something has had the answer`() {
        let before = isOnItsWay(but: 1, at: 0)
        told.note(folder(5), to: 1, at: 1)
        let own = isOnItsWay(but: 1, at: 2)
        let another = isOnItsWay(but: 2, at: 3)
        // It is out of date by then.
        let again = isOnItsWay(but: 2, at: 4)
        #expect([before, own, another, again] == [false, false, true, false])
    }

    @Test mutating func `an answer to one of several is on its way, whoever asked last`() {
        told.note(folder(5), to: 2, at: 1)
        told.note(folder(5), to: 1, at: 2)
        let several = isOnItsWay(but: 1, at: 3)
        told.note(folder(5), to: 0, at: 4)
        let unknown = isOnItsWay(but: 1, at: 5)
        #expect(several && unknown)
    }

    @Test mutating func `answers are on their way for ten seconds`() {
        told.note(folder(5), to: 2, at: 1)
        let old = isOnItsWay(but: 1, at: 11 * Self.second)
        told.note(folder(5), to: 1, at: 12 * Self.second)
        let own = isOnItsWay(but: 1, at: 13 * Self.second)
        #expect(!old && !own)
    }

    @Test mutating func `of many directories none is forgotten`() {
        for number in 1...100_000 as ClosedRange<UInt64> {
            told.note(folder(number), to: 2, at: number)
        }
        let all = (1...100_000 as ClosedRange<UInt64>).allSatisfy {
            told.isOnItsWay(folder($0), but: 1, at: 200_000)
        }
        #expect(all)
    }
}

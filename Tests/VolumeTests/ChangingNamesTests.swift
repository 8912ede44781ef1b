import Model
import SystemCalls
import Testing

@testable import FileSystem

/// What names show while the kernel changes them, and when who waits for that goes on.
@Suite struct ChangingNamesTests {
    private let folder = ItemNumber(rawValue: 10)
    private let document = ItemNumber(rawValue: 11)
    private let calls = Lock(0)

    private func place(_ name: String, in folder: UInt64 = 10) -> ReplayStep.Place {
        ReplayStep.Place(parent: ItemNumber(rawValue: folder), name: Array(name.utf8))
    }

    /// A rename of `new` over `old` that was answered at a moment, and somebody who waits for it.
    private func answered(at moment: UInt64 = 1) -> (names: ChangingNames, change: UInt64?) {
        var names = ChangingNames()
        let waiting = names.begin([(place("new"), document), (place("old"), nil)])
        #expect(waiting.isEmpty)
        names.answer(in: [folder], at: moment)
        let ticket = names.wait(for: [Array("old".utf8)], in: folder) { [calls] in
            calls.withLock { $0 += 1 }
        }
        #expect(ticket?.isFirst == true)
        return (names, ticket?.change)
    }

    private func call(_ waiting: [@Sendable () -> Void]) -> Int {
        for call in waiting { call() }
        return calls.withLock { $0 }
    }

    @Test func `a name shows what it led to until the answer, and then it is uncertain`() {
        var names = ChangingNames()
        #expect(names.sight(of: place("new")) == .present)
        _ = names.begin([(place("new"), document), (place("old"), nil)])
        #expect(names.sight(of: place("new")) == .former(document))
        #expect(names.sight(of: place("old")) == .former(nil))
        #expect(names.sight(of: place("other")) == .present)
        #expect(names.sight(of: place("new", in: 12)) == .present)
        let waits = names.wait(for: [Array("new".utf8)], in: folder, then: {}) != nil
        #expect(!waits)
        names.answer(in: [folder], at: 1)
        #expect(names.sight(of: place("new")) == .uncertain)
        #expect(names.sight(of: place("old")) == .uncertain)
        #expect(names.names(in: folder).count == 2)
    }

    @Test func `who waits goes on when the kernel has made that change, and no other`() throws {
        let (before, change) = answered()
        var names = before
        let number = try #require(change)
        #expect(names.isAwaited(number, in: folder))
        #expect(!names.isAwaited(number + 1, in: folder))
        let wrong = names.settle(number + 1, in: folder)
        #expect(call(wrong) == 0)
        let right = names.settle(number, in: folder)
        #expect(call(right) == 1)
        #expect(names.sight(of: place("old")) == .present)
    }

    @Test func `the next request for the directory shows that the change is made`() {
        let (before, change) = answered()
        var names = before
        let elsewhere = names.begin([(place("old", in: 12), nil)])
        #expect(call(elsewhere) == 0)
        let waiting = names.begin([(place("other"), nil)])
        #expect(call(waiting) == 1)
        #expect(names.sight(of: place("old")) == .present)
        #expect(names.sight(of: place("other")) == .former(nil))
        // Who was to find out about the change before finds nothing.
        let late = change.map { names.settle($0, in: folder) } ?? []
        #expect(late.isEmpty)
        #expect(names.sight(of: place("other")) == .former(nil))
    }

    @Test func `who has waited too long goes on, and the name stays uncertain`() throws {
        let (before, change) = answered()
        var names = before
        let number = try #require(change)
        let waiting = names.giveUp(number, in: folder)
        #expect(call(waiting) == 1)
        #expect(names.sight(of: place("old")) == .uncertain)
        let again = names.wait(for: [Array("old".utf8)], in: folder, then: {})
        #expect(again?.isFirst == true)
    }

    @Test func `old changes are forgotten when there are many, those waited for are not`() {
        var (names, _) = answered(at: 0)
        let directories = (100..<2_000).map { UInt64($0) }
        for directory in directories {
            _ = names.begin([(place("a", in: directory), nil)])
            names.answer(in: [ItemNumber(rawValue: directory)], at: 0)
        }
        let later: UInt64 = 3_600_000_000_000
        for directory in directories.suffix(10) {
            _ = names.begin([(place("b", in: directory), nil)])
            names.answer(in: [ItemNumber(rawValue: directory)], at: later)
        }
        // Looked for at times: when there are twice as many.
        for directory in UInt64(2_000)..<6_000 {
            _ = names.begin([(place("c", in: directory), nil)])
            names.answer(in: [ItemNumber(rawValue: directory)], at: later)
        }
        #expect(names.sight(of: place("a", in: 100)) == .present)
        #expect(names.sight(of: place("b", in: 1_999)) == .uncertain)
        #expect(names.sight(of: place("old")) == .uncertain)
    }
}

import Coordination
import Model
import Testing

/// flock(2) and fcntl(2) as Linux has them, by example.
@Suite struct LockTableTests {
    private let item = ItemNumber(rawValue: 7)
    private let other = ItemNumber(rawValue: 8)
    private var table = LockTable<String>()

    private func record(
        _ owner: UInt64, _ kind: LockKind, _ range: ClosedRange<Int64>, on item: ItemNumber? = nil
    ) -> LockRequest {
        LockRequest(
            item: item ?? self.item, family: .record, kind: kind, range: range, owner: owner,
            process: Int32(owner) + 100)
    }

    private func whole(_ owner: UInt64, _ kind: LockKind) -> LockRequest {
        LockRequest(item: item, family: .whole, kind: kind, owner: owner, process: 0)
    }

    private mutating func granted(_ request: LockRequest) -> Bool {
        table.acquire(request).outcome == .granted
    }

    private mutating func wait(_ request: LockRequest, _ waiter: String) throws -> WaitID {
        let (outcome, admitted) = table.acquire(request, waiter: waiter)
        #expect(admitted == [])
        guard case .waiting(let id) = outcome else {
            Issue.record("\(outcome) instead of waiting")
            throw CancellationError()
        }
        return id
    }

    private func ranges(_ owner: UInt64) -> [ClosedRange<Int64>] {
        table.held(on: item).filter { $0.owner == owner }.map(\.range)
    }

    // MARK: Records

    @Test mutating func `shared records overlap, exclusive ones do not`() {
        #expect(granted(record(1, .shared, 0...9)))
        #expect(granted(record(2, .shared, 5...14)))
        #expect(table.acquire(record(3, .exclusive, 14...20)).outcome == .wouldBlock)
        #expect(granted(record(3, .exclusive, 15...20)))
        #expect(table.acquire(record(1, .shared, 20...20)).outcome == .wouldBlock)
    }

    @Test mutating func `a test names the first conflicting lock`() {
        #expect(granted(record(2, .exclusive, 50...Int64.max)))
        #expect(granted(record(1, .shared, 10...19)))
        #expect(
            table.test(record(3, .exclusive, 0...100))
                == LockConflict(range: 10...19, kind: .shared, process: 101))
        #expect(
            table.test(record(3, .shared, 0...100))
                == LockConflict(range: 50...Int64.max, kind: .exclusive, process: 102))
        #expect(table.test(record(2, .exclusive, 20...100)) == nil)
        #expect(table.test(record(3, .exclusive, 0...9)) == nil)
        #expect(table.test(record(3, .exclusive, 0...9, on: other)) == nil)
    }

    @Test mutating func `touching locks of one owner and kind are joined`() {
        #expect(granted(record(1, .shared, 0...4)))
        #expect(granted(record(1, .shared, 6...9)))
        #expect(ranges(1) == [0...4, 6...9])
        #expect(granted(record(1, .shared, 5...5)))
        #expect(ranges(1) == [0...9])
        #expect(granted(record(1, .exclusive, 10...Int64.max)))
        #expect(ranges(1) == [0...9, 10...Int64.max])
    }

    @Test mutating func `a change in the middle splits, an unlock leaves a hole`() {
        #expect(granted(record(1, .exclusive, 0...Int64.max)))
        #expect(granted(record(1, .shared, 10...19)))
        #expect(ranges(1) == [0...9, 10...19, 20...Int64.max])
        #expect(granted(record(2, .shared, 10...19)))
        #expect(table.acquire(record(1, .exclusive, 15...15)).outcome == .wouldBlock)
        #expect(table.release(item, .record, 5...14, owner: 1) == [])
        #expect(ranges(1) == [0...4, 15...19, 20...Int64.max])
        #expect(table.dropOwner(item, .record, 1) == [])
        #expect(table.dropOwner(item, .record, 2) == [])
        #expect(table.isEmpty)
    }

    @Test mutating func `an unlock lets waiters in, in their order`() throws {
        #expect(granted(record(1, .exclusive, 0...9)))
        _ = try wait(record(2, .exclusive, 0...0), "two")
        _ = try wait(record(3, .shared, 0...5), "three")
        _ = try wait(record(4, .exclusive, 6...9), "four")
        #expect(table.release(item, .record, 0...9, owner: 1) == ["two", "four"])
        #expect(table.release(item, .record, owner: 2) == ["three"])
    }

    @Test mutating func `a downgrade lets readers in`() throws {
        #expect(granted(record(1, .exclusive, 0...9)))
        _ = try wait(record(2, .shared, 0...9), "reader")
        _ = try wait(record(3, .exclusive, 0...9), "writer")
        let (outcome, admitted) = table.acquire(record(1, .shared, 0...9))
        #expect(outcome == .granted)
        #expect(admitted == ["reader"])
    }

    @Test mutating func `a cancelled waiter gets nothing, a granted one is not cancelled`() throws {
        #expect(granted(record(1, .exclusive, 0...9)))
        let first = try wait(record(2, .exclusive, 0...9), "first")
        let second = try wait(record(3, .exclusive, 0...9), "second")
        #expect(table.cancel(first) == "first")
        #expect(table.cancel(first) == nil)
        #expect(table.release(item, .record, owner: 1) == ["second"])
        #expect(table.cancel(second) == nil)
        #expect(ranges(3) == [0...9])
    }

    @Test mutating func `who holds or waits is known as long as they do`() throws {
        #expect(granted(record(1, .exclusive, 0...9)))
        let waits = try wait(record(2, .exclusive, 5...14), "second")
        #expect(table.processes == [101, 102])
        #expect(table.cancel(waits) == "second")
        #expect(table.processes == [101])
        #expect(table.release(item, .record, owner: 1) == [])
        #expect(table.processes.isEmpty)
    }

    @Test mutating func `two owners that wait for each other are a deadlock`() throws {
        #expect(granted(record(1, .exclusive, 0...0)))
        #expect(granted(record(2, .exclusive, 1...1)))
        let id = try wait(record(1, .exclusive, 1...1), "one")
        #expect(table.acquire(record(2, .shared, 0...0), waiter: "two").outcome == .deadlock)
        #expect(table.acquire(record(2, .shared, 0...0)).outcome == .wouldBlock)
        #expect(table.cancel(id) == "one")
        _ = try wait(record(2, .shared, 0...0), "two")
    }

    @Test mutating func `a deadlock is found over several items`() throws {
        let items = (1...30).map { ItemNumber(rawValue: $0) }
        for (index, item) in items.enumerated() {
            #expect(granted(record(UInt64(index), .exclusive, 0...9, on: item)))
        }
        for (index, item) in items.enumerated().dropFirst() {
            _ = try wait(record(UInt64(index - 1), .exclusive, 3...3, on: item), "\(index)")
        }
        let closing = record(29, .shared, 0...0, on: items[0])
        #expect(table.acquire(closing, waiter: "last").outcome == .deadlock)
        // The chain unwinds from its end.
        #expect(table.release(items[29], .record, owner: 29) == ["29"])
        #expect(table.acquire(closing, waiter: "last").outcome != .deadlock)
    }

    // MARK: Whole files

    @Test mutating func `flock knows shared, exclusive and nothing of records`() {
        #expect(granted(record(1, .exclusive, 0...Int64.max)))
        #expect(granted(whole(2, .shared)))
        #expect(granted(whole(3, .shared)))
        #expect(table.acquire(whole(4, .exclusive)).outcome == .wouldBlock)
        #expect(table.dropOwner(item, .whole, 2) == [])
        #expect(granted(whole(3, .exclusive)))
        #expect(table.acquire(whole(4, .shared)).outcome == .wouldBlock)
    }

    @Test mutating func `a conversion that cannot be had at once loses the old lock`() throws {
        for owner: UInt64 in 1...4 { #expect(granted(whole(owner, .shared))) }
        #expect(table.acquire(whole(1, .exclusive)).outcome == .wouldBlock)
        #expect(table.held(on: item).map(\.owner) == [2, 3, 4])
        _ = try wait(whole(2, .exclusive), "two")
        _ = try wait(whole(3, .exclusive), "three")
        #expect(table.held(on: item).map(\.owner) == [4])
        // The last one left has nobody to wait for.
        #expect(granted(whole(4, .exclusive)))
        #expect(table.release(item, .whole, owner: 4) == ["two"])
        #expect(table.release(item, .whole, owner: 2) == ["three"])
    }

    @Test mutating func `readers overtake a waiting writer, as on Linux`() throws {
        #expect(granted(whole(1, .shared)))
        _ = try wait(whole(2, .exclusive), "writer")
        #expect(granted(whole(3, .shared)))
        #expect(table.release(item, .whole, owner: 1) == [])
        #expect(table.release(item, .whole, owner: 3) == ["writer"])
    }
}

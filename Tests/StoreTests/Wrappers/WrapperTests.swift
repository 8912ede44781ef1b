import Logging
import Model
import Probing
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What each wrapper adds to a store.
@Suite(.serialized) struct WrapperTests {
    /// A folder store with one sample in it.
    private final class Prepared {
        let tested: StoreUnderTest
        let sample: Sample

        init(size: Int) throws {
            tested = try StoreUnderTest(.folder)
            sample = Sample(size: size, seed: 3)
            try tested.store.put(sample)
        }

        deinit { tested.remove() }
    }

    private var quick: Retrying.Policy {
        var policy = Retrying.Policy()
        policy.firstWait = 0.01
        policy.total = 1
        return policy
    }

    @Test func `a get that is cut off goes on where it was`() throws {
        let prepared = try Prepared(size: 5_000_000)
        let faulty = Faulty(
            prepared.tested.store,
            .listed([
                .cut(after: 2_000_000, .unreachable), .cut(after: 1_000_000, .timedOut),
                .fail(.refused(status: 503)),
            ]))
        let counted = Lock(Int64(0))
        let sink = CountingSink(counted)
        let progress = Lock<[Int64]>([])
        let call = StoreCall(progress: { count in progress.withLock { $0.append(count) } })
        try Verifying(Retrying(faulty, quick)).get(prepared.sample.blob, into: sink, call)
        #expect(sink.kept.bytes == prepared.sample.bytes)
        // Nothing came twice.
        #expect(counted.withLock { $0 } == 5_000_000)
        #expect(faulty.calls == 4)
        #expect(progress.withLock { $0 }.last == 5_000_000)
    }

    private final class CountingSink: BlobSink {
        let kept = MemorySink()
        private let counted: Lock<Int64>

        init(_ counted: Lock<Int64>) { self.counted = counted }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            counted.withLock { $0 += Int64(bytes.count) }
            try kept.write(bytes, at: offset)
        }
    }

    @Test func `a removal is tried again only after an answer that it was not done`() throws {
        let prepared = try Prepared(size: 10)
        defer { withExtendedLifetime(prepared) {} }
        let faulty = Faulty(
            prepared.tested.store,
            .listed([
                .fail(.refused(status: 503)), .fail(.refused(status: 429)), .fail(.timedOut),
            ]))
        let store = Retrying(faulty, quick)
        let problem = kind { () throws(StoreError) in
            try store.delete(prepared.sample.blob.hash, StoreCall())
        }
        #expect(problem == .timedOut && faulty.calls == 3)
    }

    @Test func `what cannot pass is not tried again`() throws {
        let prepared = try Prepared(size: 10)
        for kind in [.absent, .denied, .corrupt, .full, .local, .refused(status: 418)]
            as [StoreError.Kind]
        {
            let faulty = Faulty(prepared.tested.store, .listed([.fail(kind)]))
            let found = StoreTests.kind { () throws(StoreError) in
                _ = try Retrying(faulty, quick).stat(prepared.sample.blob.hash, StoreCall())
            }
            #expect(found == kind)
            #expect(faulty.calls == 1)
        }
    }

    @Test func `tries end when their time is over`() throws {
        let prepared = try Prepared(size: 10)
        let faulty = Faulty(
            prepared.tested.store, .random([.fail(.unreachable)], percent: 100, seed: 1))
        let start = MonotonicClock.now
        let found = kind { () throws(StoreError) in
            _ = try Retrying(faulty, quick).stat(prepared.sample.blob.hash, StoreCall())
        }
        #expect(found == .unreachable)
        #expect(faulty.calls >= 4)
        #expect(MonotonicClock.now - start < 10_000_000_000)
    }

    @Test func `tries that get on too slowly end as well`() throws {
        let prepared = try Prepared(size: 3_000)
        var policy = quick
        policy.firstWait = 0.001
        policy.longestWait = 0.001
        policy.total = 1
        policy.slowest = 1e6
        let faulty = Faulty(
            prepared.tested.store,
            .random([.cut(after: 1, .unreachable)], percent: 100, seed: 1))
        let sink = MemorySink()
        let found = kind { () throws(StoreError) in
            try Retrying(faulty, policy).get(prepared.sample.blob, into: sink, StoreCall())
        }
        #expect(found == .unreachable)
        #expect(faulty.calls > 1 && sink.bytes.count < 3_000)
        #expect(sink.bytes == Array(prepared.sample.bytes.prefix(sink.bytes.count)))
    }

    @Test func `a server's wish to be left alone is granted`() throws {
        let times = Lock<[UInt64]>([])
        let server = try HostileServer { connection in
            let count = times.withLock { times in
                times.append(MonotonicClock.now)
                return times.count
            }
            connection.answer(
                count == 1 ? "503 Busy" : "200 OK", count == 1 ? ["Retry-After: 1"] : [], [1, 2])
        }
        guard
            case .webDAV(let address) = try StoreAddress(parsing: "dav://127.0.0.1:\(server.port)")
        else { return }
        var policy = quick
        policy.total = 5
        let store = Retrying(
            WebDAVStore(address, CredentialSource([], address: ""), Timeouts()), policy)
        #expect(try store.bytes(Sample([1, 2]).blob) == [1, 2])
        let seen = times.withLock { $0 }
        #expect(seen.count == 2 && seen[1] - seen[0] >= 1_000_000_000)
    }

    @Test func `a wish to be left alone for longer than it is tried is told`() throws {
        let server = try HostileServer { $0.answer("503 Busy", ["Retry-After: 3600"]) }
        guard
            case .webDAV(let address) = try StoreAddress(parsing: "dav://127.0.0.1:\(server.port)")
        else { return }
        let store = Retrying(
            WebDAVStore(address, CredentialSource([], address: ""), Timeouts()), quick)
        do throws(StoreError) {
            _ = try store.bytes(Sample([1, 2]).blob)
            Issue.record("it came")
        } catch {
            #expect(
                error.reason.hasSuffix("; it asks to be left alone for 3600 seconds"), "\(error)")
            // Uploads go by it.
            #expect(error.retryAfter == 3600)
        }
        #expect(server.connections == 1)
    }

    @Test func `wrong bytes are got once more and never given as right`() throws {
        let prepared = try Prepared(size: 3_000_000)
        let once = Verifying(Faulty(prepared.tested.store, .listed([.flip(at: 2_999_999)])))
        #expect(try once.bytes(prepared.sample.blob) == prepared.sample.bytes)
        let always = Verifying(
            Faulty(prepared.tested.store, .random([.flip(at: 7)], percent: 100, seed: 1)))
        #expect(
            kind { () throws(StoreError) in _ = try always.bytes(prepared.sample.blob) }
                == .corrupt)
    }

    @Test func `at random faults no blob is lost and none is wrong`() throws {
        let seed = Seed.next("at random faults no blob is lost and none is wrong")
        let tested = try StoreUnderTest(.folder)
        defer { tested.remove() }
        let faults: [Faulty.Fault] = [
            .fail(.unreachable), .lost(.timedOut), .cut(after: 1_000, .unreachable),
            .late(milliseconds: 1), .fail(.refused(status: 500)),
        ]
        var policy = quick
        policy.total = 20
        let store = Verifying(
            Retrying(Faulty(tested.store, .random(faults, percent: 40, seed: seed)), policy))
        var random = SplitMix(seed: seed)
        for _ in 0..<60 {
            let sample = Sample(size: random.below(5_000), seed: random.next())
            try store.put(sample)
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
    }

    @Test func `those somebody waits for go first, and no more than allowed go at once`() throws {
        let gate = GateStore()
        let limited = Limited(gate, calls: 2, reserved: 1)
        let (come, left) = (Monitor(0), Monitor(6))
        let hash = Sample([]).blob.hash
        func start(_ awaited: Bool) {
            let call = StoreCall(urgency: Urgency(awaited: awaited))
            Threads.start("limited") {
                come.signal { $0 += 1 }
                _ = try? limited.stat(hash, call)
                left.signal { $0 -= 1 }
            }
        }
        for _ in 0..<4 { start(false) }
        let soon = MonotonicClock.after(milliseconds: 50_000)
        #expect(gate.state.wait(until: soon) { $0.inside == 1 ? true : nil } == true)
        for _ in 0..<2 { start(true) }
        // The first of the waited for has the place that is kept; background work has one.
        #expect(gate.state.wait(until: soon) { $0.inside == 2 ? true : nil } == true)
        // The others have come too, and are in the queue a moment later.
        #expect(come.wait(until: soon) { $0 == 6 ? true : nil } == true)
        try Cancellation().sleep(nanoseconds: 500_000_000, at: "")
        for turn in 1...6 {
            gate.state.signal { $0.allowed += 1 }
            #expect(left.wait(until: soon) { $0 <= 6 - turn ? true : nil } == true)
            // Nobody else leaves before somebody has the first one's place.
            #expect(gate.state.wait(until: soon) { $0.order.count > 2 ? true : nil } == true)
        }
        let state = gate.state.withLock { $0 }
        #expect(left.withLock { $0 } == 0)
        #expect(state.most == 2)
        #expect(state.order.count == 6)
        #expect(state.order.prefix(3).filter { $0 }.count == 2, "\(state.order)")
    }

    /// Lets calls out one by one and notes who came in.
    private final class GateStore: InertStore {
        struct State {
            var inside = 0
            var most = 0
            var allowed = 0
            var order: [Bool] = []
        }
        let state = Monitor(State())
        let address = "gate"

        func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
            state.signal { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
                state.order.append(call.urgency.isAwaited)
            }
            _ = state.wait(until: MonotonicClock.after(milliseconds: 60_000)) { (state) -> Bool? in
                guard state.allowed > 0 else { return nil }
                state.allowed -= 1
                state.inside -= 1
                return true
            }
            return nil
        }
    }

    @Test func `waiting for a place can be cancelled`() throws {
        let gate = GateStore()
        let limited = Limited(gate, calls: 1, reserved: 0)
        let hash = Sample([]).blob.hash
        Threads.start("limited") { _ = try? limited.stat(hash, StoreCall()) }
        #expect(
            gate.state.wait(until: MonotonicClock.after(milliseconds: 3_000)) {
                $0.inside == 1 ? true : nil
            } == true)
        let late = StoreCall(
            cancellation: Cancellation(deadline: MonotonicClock.after(milliseconds: 100)))
        #expect(kind { () throws(StoreError) in _ = try limited.stat(hash, late) } == .timedOut)
        gate.state.signal { $0.allowed += 2 }
        #expect(try limited.stat(hash, StoreCall()) == nil)
    }

    @Test func `transfers together keep the rate`() throws {
        let prepared = try Prepared(size: 2_000_000)
        let store = Throttled(prepared.tested.store, putting: nil, getting: 4_000_000)
        let start = MonotonicClock.now
        for _ in 0..<2 { _ = try store.bytes(prepared.sample.blob) }
        let seconds = Double(MonotonicClock.now - start) / 1e9
        #expect(seconds >= 0.95 && seconds < 10, "\(seconds) s")
        let short = StoreCall(
            cancellation: Cancellation(deadline: MonotonicClock.after(milliseconds: 100)))
        let found = kind { () throws(StoreError) in
            try store.get(prepared.sample.blob, into: MemorySink(), short)
        }
        #expect(found == .timedOut)
    }
}

import Glibc
import SystemCalls
import Testing

@testable import FileSystem

/// Calls on mounts of other containers that take too long.
@Suite struct ForwardingTests {
    /// Calls to owners that take as long as a gate is closed.
    private final class Owners: Sendable {
        private let isOpen = Monitor(false)
        private let calls = Lock(0)
        /// Calls that have begun.
        var begun: Int { calls.withLock { $0 } }

        /// Returns when the gate is open.
        func hang() {
            calls.withLock { $0 += 1 }
            let _: Bool? = isOpen.wait(until: MonotonicClock.after(milliseconds: 20_000)) {
                $0 ? true : nil
            }
        }
        func open() { isOpen.signal { $0 = true } }
    }

    /// How many milliseconds calls wait: enough for those that are to succeed.
    private static let patience: UInt64 = 2_000

    /// The error of a call, if it has one, and how many milliseconds it took.
    private static func ask(
        _ forwarding: Forwarding, _ owner: String, _ work: @escaping @Sendable () -> Void
    ) -> (error: Int32?, time: UInt64) {
        let start = MonotonicClock.now
        let answer = Monitor<Result<Bool, Errno>?>(nil)
        forwarding.ask(owner, patience: patience) { () throws(Errno) in
            work()
            return true
        } then: { result in
            answer.signal { $0 = result }
        }
        let result = answer.wait(until: MonotonicClock.after(milliseconds: 10_000)) { $0 }
        let time = (MonotonicClock.now - start) / 1_000_000
        guard case .failure(let error)? = result else { return (result == nil ? -1 : nil, time) }
        return (error.code, time)
    }

    @Test func `an owner that does not answer is waited for once, until it answers`() {
        let owners = Owners()
        let forwarding = Forwarding(patience: Self.patience) { _ in owners.hang() }
        defer { forwarding.stop() }
        let first = Self.ask(forwarding, "hung") { owners.hang() }
        #expect(first.error == ETIMEDOUT && first.time >= Self.patience, "\(first)")
        // The call behind it waits for the probe at most, later ones for nothing.
        while Self.ask(forwarding, "hung", { owners.hang() }).time > 0, owners.begun < 20 {}
        let begun = owners.begun
        for _ in 0..<20 {
            let answer = Self.ask(forwarding, "hung") { owners.hang() }
            #expect(answer.error == ETIMEDOUT)
        }
        #expect(owners.begun == begun)
        // Others are asked as ever.
        #expect(Self.ask(forwarding, "other", {}).error == nil)
        owners.open()
        for _ in 0..<1_000 {
            if Self.ask(forwarding, "hung", {}).error == nil { break }
            usleep(10_000)
        }
        #expect(Self.ask(forwarding, "hung", {}).error == nil)
    }

    @Test func `a slow call does not shut out the others`() {
        let owners = Owners()
        let forwarding = Forwarding(patience: Self.patience) { _ in }
        defer { forwarding.stop() }
        let slow = Self.ask(forwarding, "slow") { owners.hang() }
        #expect(slow.error == ETIMEDOUT)
        for _ in 0..<10 {
            #expect(Self.ask(forwarding, "slow", {}).error == nil)
            usleep(100_000)
        }
        owners.open()
    }

    @Test func `a signal ends a call that takes long, and none that is done soon`() {
        let owners = Owners()
        let forwarding = Forwarding(patience: 8_000) { _ in }
        defer { forwarding.stop() }
        // The error of a call that gets a signal before it begins; 0: it was done.
        func interrupted(_ work: @escaping @Sendable () -> Void) -> Int32? {
            let answer = Monitor<Int32?>(nil)
            forwarding.call(
                "owner", prepare: { forwarding.interrupt($0) },
                fail: { error in answer.signal { $0 = error.code } }
            ) { () throws(Errno) in
                work()
                return { isAwaited in if isAwaited { answer.signal { $0 = 0 } } }
            }
            return answer.wait(until: MonotonicClock.after(milliseconds: 20_000)) { $0 }
        }
        for _ in 0..<20 {
            let begun = MonotonicClock.now
            let error = interrupted({})
            // On a busy machine even this may take long.
            #expect(error == 0 || error == EINTR && MonotonicClock.now - begun >= 500_000_000)
        }
        #expect(interrupted({ owners.hang() }) == EINTR)
        owners.open()
    }

    @Test func `a call that gets on may take longer, and learns that nobody waits for it`() {
        let forwarding = Forwarding(patience: Self.patience) { _ in }
        defer { forwarding.stop() }
        // The error of a call; 0: it was done.
        func outcome(
            interrupted: Bool = false,
            _ work: @escaping @Sendable (_ ticket: UInt64) throws(Errno) -> Void
        ) -> Int32? {
            let (ticket, answer) = (Lock<UInt64>(0), Monitor<Int32?>(nil))
            forwarding.call(
                "owner",
                prepare: { number in
                    ticket.withLock { $0 = number }
                    if interrupted { forwarding.interrupt(number) }
                },
                fail: { error in answer.signal { $0 = error.code } }
            ) { () throws(Errno) in
                try work(ticket.withLock { $0 })
                return { isAwaited in if isAwaited { answer.signal { $0 = 0 } } }
            }
            return answer.wait(until: MonotonicClock.after(milliseconds: 20_000)) { $0 }
        }
        let long = outcome { (ticket) throws(Errno) in
            for _ in 0..<Self.patience * 3 / 200 {
                usleep(100_000)
                try forwarding.goOn(ticket, toTheEnd: false)
            }
        }
        #expect(long == 0)
        let ended = Monitor<Bool?>(nil)
        let interrupted = outcome(interrupted: true) { (ticket) throws(Errno) in
            do throws(Errno) {
                for _ in 0..<200 {
                    usleep(100_000)
                    try forwarding.goOn(ticket, toTheEnd: false)
                }
            } catch {
                ended.signal { $0 = true }
                throw error
            }
        }
        #expect(interrupted == EINTR)
        let hasEnded = ended.wait(until: MonotonicClock.after(milliseconds: 20_000)) { $0 }
        #expect(hasEnded == true)
        // What cannot be taken back is not said to have failed.
        let decided = outcome { (ticket) throws(Errno) in
            try forwarding.goOn(ticket, toTheEnd: true)
            forwarding.interrupt(ticket)
            usleep(1_000_000)
        }
        #expect(decided == 0)
    }
}

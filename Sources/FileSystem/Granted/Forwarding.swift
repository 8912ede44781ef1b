internal import Glibc
internal import SystemCalls

/// Runs system calls on other mounts, on threads of its own: two mounts may need one another, so none of
/// the threads that serve a mount may wait for another.
///
/// Any thread. Each owner has a few threads and a queue of its own, so that one that does not answer
/// stands in nobody's way. Whoever waits longer than ``patience`` gets ETIMEDOUT, and EINTR when a
/// call is not done half a second after a signal; the call itself then ends unheard. An owner that
/// somebody waited for in vain is *probed*: until it answers that, whoever waits for it, or comes to,
/// gets ETIMEDOUT at once. So a program that makes several calls waits once, and one slow call does
/// not shut out the others.
final class Forwarding: Sendable {
    /// Called when the call is done: with true if somebody still waits for the answer, with false to
    /// undo what they do not learn of.
    typealias Outcome = @Sendable (_ isAwaited: Bool) -> Void

    /// Threads for each owner, one for each call that waits there: many programs may wait for a claim or
    /// for a promise, and others go on beside them.
    private static let most = 32
    /// Calls that wait for a thread, for each owner.
    private static let longest = 512
    /// How long a call may take, in milliseconds.
    static let patience: UInt64 = 30_000
    /// How long a call may take when it was interrupted, and a probe, in milliseconds: what is about to
    /// be done is not said to have failed.
    private static let grace: UInt64 = 500
    /// How often it is looked for calls that take too long, in milliseconds.
    private static let pace: UInt64 = 100
    /// How long a thread waits for work, in milliseconds.
    private static let rest: UInt64 = 10_000

    private struct Call {
        let ticket: UInt64
        let run: @Sendable () -> Void
    }
    private struct Queue {
        var calls: [Call] = []
        var threads = 0
        var idle = 0
        var ended = false

        /// A thread waits no more: it has the next call, or ends if there is none. All in one hold of the
        /// lock, or a call would be left to a thread that has another one already.
        mutating func leave() -> Call? {
            idle -= 1
            if !calls.isEmpty { return calls.removeFirst() }
            threads -= 1
            return nil
        }
    }
    private struct Wait {
        let owner: String
        let fail: @Sendable (Errno) -> Void
        /// When it began to wait.
        let since: UInt64
        var deadline: UInt64
        var isInterrupted = false
        /// What it does cannot be taken back any more: its outcome is waited for.
        var isDecided = false
    }
    private struct State {
        var queues: [String: Monitor<Queue>] = [:]
        var waits: [UInt64: Wait] = [:]
        /// Owners that are probed, and from when on they count as silent if they do not answer that.
        var probed: [String: UInt64] = [:]
        var next: UInt64 = 1
        var isWatched = false
        var ended = false

        func isSilent(_ owner: String, _ now: UInt64) -> Bool {
            probed[owner].map { $0 <= now } ?? false
        }
    }
    private let state = Lock(State())
    private let patience: UInt64
    private let probe: @Sendable (_ owner: String) -> Void

    /// - Parameters:
    ///   - patience: how long a call may take, in milliseconds.
    ///   - probe: returns when the owner answers; on a thread of its own.
    init(patience: UInt64 = Forwarding.patience, probe: @escaping @Sendable (String) -> Void) {
        self.patience = patience
        self.probe = probe
    }

    /// Runs `work` for a request, which is failed with what it throws.
    ///
    /// - Parameters:
    ///   - owner: which queue.
    ///   - patience: how long it may take, in milliseconds; `nil`: as long as all.
    ///   - prepare: called with the call's ticket before it can be done.
    ///   - fail: answers the request with an error.
    func call(
        _ owner: String, patience: UInt64? = nil, prepare: (UInt64) -> Void,
        fail: @escaping @Sendable (Errno) -> Void,
        _ work: @escaping @Sendable () throws(Errno) -> Outcome
    ) {
        let now = MonotonicClock.now
        let deadline = now + (patience ?? self.patience) * 1_000_000
        let place = state.withLock { state -> (UInt64, Monitor<Queue>, Bool)? in
            if state.isSilent(owner, now) { return nil }
            let ticket = state.next
            state.next += 1
            state.waits[ticket] = Wait(owner: owner, fail: fail, since: now, deadline: deadline)
            defer { state.isWatched = true }
            return (ticket, Self.queue(owner, &state), !state.isWatched)
        }
        guard let (ticket, queue, starts) = place else { return fail(Errno(ETIMEDOUT)) }
        if starts { Threads.start("grant clock", yielding: true) { [self] in watch() } }
        prepare(ticket)
        let isTaken = enqueue(queue, atMost: Self.longest, ticket) { [self] in
            guard begin(ticket) else { return }
            do throws(Errno) {
                let outcome = try work()
                outcome(end(ticket) != nil)
            } catch {
                end(ticket)?.fail(error)
            }
        }
        if !isTaken { end(ticket)?.fail(Errno(EIO)) }
    }

    /// Runs `work` and calls `then` once with what it gave, or with why there is nothing: ETIMEDOUT
    /// after `patience` milliseconds. On any thread.
    func ask<Value: Sendable>(
        _ owner: String, patience: UInt64, _ work: @escaping @Sendable () throws(Errno) -> Value,
        then: @escaping @Sendable (Result<Value, Errno>) -> Void
    ) {
        call(owner, patience: patience, prepare: { _ in }, fail: { then(.failure($0)) }) {
            () throws(Errno) in
            let value = try work()
            return { isAwaited in if isAwaited { then(.success(value)) } }
        }
    }

    /// Whether somebody waited for the owner in vain, and it has not answered since.
    func isProbed(_ owner: String) -> Bool { state.withLock { $0.probed[owner] != nil } }

    /// Runs `work`, which nobody waits for.
    func post(_ owner: String, _ work: @escaping @Sendable () -> Void) {
        let queue = state.withLock { Self.queue(owner, &$0) }
        _ = enqueue(queue, atMost: .max, 0, work)
    }

    /// The process of a call got a signal: if the call takes much longer it is answered with EINTR.
    ///
    /// Not at once, even if it has not begun: a signal is mostly a timer's or a child's, and no program
    /// that catches it expects that stat(2) or rename(2) fails for it.
    func interrupt(_ ticket: UInt64) {
        state.withLock { state in
            guard let wait = state.waits[ticket], !wait.isDecided else { return }
            state.waits[ticket]?.isInterrupted = true
            let soon = MonotonicClock.after(milliseconds: Self.grace)
            state.waits[ticket]?.deadline = min(wait.deadline, soon)
        }
    }

    /// Says that a call of many steps gets on, so that it may take longer.
    ///
    /// - Parameter toTheEnd: it is about to do what cannot be taken back: from here on nothing but its
    ///   outcome is what it is answered with, if the owner does not hang.
    /// - Throws: EINTR if nobody waits for the call any more: then nothing is to come of it.
    func goOn(_ ticket: UInt64, toTheEnd: Bool) throws(Errno) {
        let isAwaited = state.withLock { state -> Bool in
            guard let wait = state.waits[ticket] else { return false }
            if toTheEnd { state.waits[ticket]?.isDecided = true }
            if toTheEnd || !wait.isInterrupted {
                state.waits[ticket]?.deadline = MonotonicClock.after(milliseconds: patience)
            }
            return true
        }
        if !isAwaited { throw Errno(EINTR) }
    }

    /// Ends the threads that are not in a call; whoever waits is told EIO.
    func stop() {
        let (waits, queues) = state.withLock { state in
            state.ended = true
            defer { state.waits = [:] }
            return (state.waits.values.map(\.fail), Array(state.queues.values))
        }
        for fail in waits { fail(Errno(EIO)) }
        for queue in queues { queue.signal { $0.ended = true } }
    }

    // MARK: Calls

    private static func queue(_ owner: String, _ state: inout State) -> Monitor<Queue> {
        if let known = state.queues[owner] { return known }
        let made = Monitor(Queue())
        state.queues[owner] = made
        return made
    }

    private func enqueue(
        _ queue: Monitor<Queue>, atMost limit: Int, _ ticket: UInt64,
        _ run: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isTaken, starts) = queue.signal { queue -> (Bool, Bool) in
            if queue.ended || queue.calls.count >= limit { return (false, false) }
            queue.calls.append(Call(ticket: ticket, run: run))
            let starts = queue.calls.count > queue.idle && queue.threads < Self.most
            if starts { queue.threads += 1 }
            return (true, starts)
        }
        if starts { Threads.start("grants") { Self.serve(queue) } }
        return isTaken
    }

    private static func serve(_ queue: Monitor<Queue>) {
        while let call = next(queue) { call.run() }
    }

    /// The next call; `nil` if there was none for a while, and the thread ends.
    private static func next(_ queue: Monitor<Queue>) -> Call? {
        queue.withLock { $0.idle += 1 }
        let found = queue.wait(until: MonotonicClock.after(milliseconds: rest)) {
            queue -> Call?? in
            queue.calls.isEmpty && !queue.ended ? nil : .some(queue.leave())
        }
        // What came while the time ran out is still to be done.
        return found ?? queue.withLock { $0.leave() }
    }

    /// Whether anybody still waits for the call.
    private func begin(_ ticket: UInt64) -> Bool { state.withLock { $0.waits[ticket] != nil } }

    @discardableResult
    private func end(_ ticket: UInt64) -> Wait? {
        state.withLock { $0.waits.removeValue(forKey: ticket) }
    }

    /// The thread that ends waits; it is there while there are any.
    private func watch() {
        while true {
            usleep(UInt32(Self.pace) * 1000)
            let found = state.withLock { state -> (late: [Wait], probed: Set<String>)? in
                if state.waits.isEmpty || state.ended {
                    state.isWatched = false
                    return nil
                }
                let now = MonotonicClock.now
                let late = state.waits.filter {
                    $0.value.deadline <= now || state.isSilent($0.value.owner, now)
                }
                for ticket in late.keys { state.waits[ticket] = nil }
                return (Array(late.values), suspect(late.values, now, &state))
            }
            guard let found else { return }
            for owner in found.probed {
                Threads.start("grant probe", yielding: true) { [self] in
                    probe(owner)
                    state.withLock { $0.probed[owner] = nil }
                }
            }
            for wait in found.late { wait.fail(Errno(wait.isInterrupted ? EINTR : ETIMEDOUT)) }
        }
    }

    /// The owners that were waited for in vain and are to be probed from now on.
    private func suspect(
        _ late: some Sequence<Wait>, _ now: UInt64, _ state: inout State
    ) -> Set<String> {
        var found: Set<String> = []
        // The queue without a name is for what waits for no owner.
        for wait in late where !wait.isInterrupted && !wait.owner.isEmpty {
            if state.probed[wait.owner] != nil { continue }
            // Who waits for less is no reason to give up earlier than others.
            state.probed[wait.owner] = max(
                wait.since + patience * 1_000_000, now + Self.grace * 1_000_000)
            found.insert(wait.owner)
        }
        return found
    }
}

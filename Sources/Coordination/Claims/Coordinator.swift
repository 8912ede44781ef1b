package import Model
internal import Synchronization
internal import SystemCalls

/// Guards a container's ``ClaimTable`` and tells those who wait.
///
/// Any thread; no call waits. What a call decides about its own claim it returns; everything
/// else is told by the coordinator's own thread, in the order in which it happened and with no lock
/// held. Level 6 of the Locking page.
package final class Coordinator: Sendable {
    /// What became of a request.
    package enum Outcome: Sendable {
        /// With the paths where the targets are now.
        case granted([ClaimPath])
        case refused(ClaimRefusal)
    }
    /// Told once what became of a request.
    package typealias Reply = @Sendable (ClaimID, Outcome) -> Void
    /// A request and, if it was decided at once, what became of it.
    package typealias Answer = (id: ClaimID, outcome: Outcome?)

    private struct State {
        var table: ClaimTable
        var replies: [ClaimID: Reply] = [:]
        var listeners: [PresenterID: @Sendable (PresenterMessage) -> Void] = [:]
        /// What claims by name weigh (``ClaimPath/weight``), and presenters.
        var coordinated: [ClaimID: Int] = [:]
        var presented: [PresenterID: Int] = [:]
        var weight = 0
        var tickets: [UInt64: Ticket] = [:]
        var nextTicket: UInt64 = 1
        /// What is to be told, in order.
        var outbox: [@Sendable () -> Void] = []
        var ended = false
        var done = false

        func hasRoom(for more: Int) -> Bool { weight + more <= Coordinator.mostWeight }

        /// A claim by name has ended.
        mutating func forget(_ claim: ClaimID) {
            weight -= coordinated.removeValue(forKey: claim) ?? 0
        }
    }
    private struct Ticket {
        var claim: ClaimID?
        var interrupted = false
    }

    private let state: Monitor<State>
    private let settling: Lock<@Sendable (ItemNumber) -> Void> = Lock({ _ in })
    private let claimed = Atomic(false)
    private let followed = Atomic(false)

    /// How long a presenter has to answer, in nanoseconds.
    package static let lease: UInt64 = 5_000_000_000
    /// Claims by name, held or waited for, at most.
    package static let mostClaims = 4_096
    /// Presenters at most.
    package static let mostPresenters = 4_096
    /// Bytes that the paths of all of them take, at most.
    package static let mostWeight = 64 << 20

    package init(lease: UInt64 = Coordinator.lease) {
        state = Monitor(State(table: ClaimTable(lease: lease)))
    }

    /// Whether anybody holds or wants a claim by name: file operations have to ask.
    package var isClaimed: Bool { claimed.load(ordering: .acquiring) }
    /// Whether changes have to be noted.
    package var isFollowed: Bool { followed.load(ordering: .acquiring) }

    // MARK: Claims

    /// Asks for a claim. `nil` if there are too many.
    ///
    /// - Parameter reply: called by the coordinator's thread if the answer has no outcome.
    package func claim(
        _ request: ClaimRequest, ticket: UInt64? = nil, reply: @escaping Reply
    ) -> Answer? {
        change { state -> Answer? in
            let isNamed = request.origin == .coordinated
            let weight = isNamed ? request.weight : 0
            if isNamed, state.coordinated.count >= Self.mostClaims || !state.hasRoom(for: weight) {
                return nil
            }
            if let ticket, state.tickets[ticket]?.interrupted == true {
                state.tickets[ticket] = nil
                return (ClaimID(rawValue: 0), .refused(.cancelled))
            }
            let (id, events) = state.table.request(request, at: MonotonicClock.now)
            if isNamed {
                state.coordinated[id] = weight
                state.weight += weight
            }
            let outcome = take(events, about: id, &state)
            if outcome == nil {
                state.replies[id] = reply
                if let ticket { state.tickets[ticket]?.claim = id }
            } else if let ticket {
                state.tickets[ticket] = nil
            }
            return (id, outcome)
        }
    }

    /// Notes that a file is being written.
    package func note(_ request: ClaimRequest) -> ClaimID {
        change { state in
            let (id, events) = state.table.note(request, at: MonotonicClock.now)
            _ = take(events, about: nil, &state)
            return id
        }
    }

    /// What is being written, or locked, has other names than when that was noted.
    package func retarget(_ moved: [(id: ClaimID, targets: [ClaimTarget])]) {
        if moved.isEmpty { return }
        change { state in
            let events = state.table.retarget(moved, at: MonotonicClock.now)
            _ = take(events, about: nil, &state)
        }
    }

    /// Whether a request like this would not have to wait.
    package func isFree(_ request: ClaimRequest) -> Bool {
        state.withLock { $0.table.isFree(request) }
    }

    /// Whether a claim that is held keeps a request like this waiting.
    package func isHeldUp(_ request: ClaimRequest) -> Bool {
        state.withLock { $0.table.isHeldUp(request) }
    }

    /// Who would be in the way of a request like this, in the order they came.
    package func obstacles(to request: ClaimRequest) -> [ClaimListing] {
        state.withLock { $0.table.obstacles(to: request) }
    }

    /// Ends claims; those that wait are forgotten without a reply.
    package func release(_ ids: [ClaimID]) {
        if ids.isEmpty { return }
        change { state in
            for id in ids { state.replies[id] = nil }
            let events = state.table.release(ids, at: MonotonicClock.now)
            for id in ids { state.forget(id) }
            _ = take(events, about: nil, &state)
        }
    }

    /// All claims, in the order they came.
    package var listings: [ClaimListing] { state.withLock { $0.table.listings } }
    /// Presenters that are registered.
    package var presenterCount: Int { state.withLock { $0.table.presenterCount } }
    /// What presenters show.
    package var presentedPaths: Set<ClaimPath> { state.withLock { $0.table.presentedPaths } }

    // MARK: Interrupts

    /// A number for a request that may have to wait, known to ``interrupt(_:)`` from now on.
    package func ticket() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            state.tickets[state.nextTicket] = Ticket()
            return state.nextTicket
        }
    }

    /// A signal came for a waiting request; true if it does not wait any more and is to be answered.
    package func interrupt(_ ticket: UInt64) -> Bool {
        change { state in
            guard let known = state.tickets[ticket] else { return false }
            guard let claim = known.claim else {
                state.tickets[ticket]?.interrupted = true
                return false
            }
            state.tickets[ticket] = nil
            guard state.replies.removeValue(forKey: claim) != nil else { return false }
            let events = state.table.release(claim, at: MonotonicClock.now)
            _ = take(events, about: nil, &state)
            return true
        }
    }

    // MARK: Presenters

    /// Registers somebody who shows an item; `nil` if there are too many. `tell` is called by the
    /// coordinator's thread.
    package func present(
        _ path: ClaimPath, _ holder: ClaimHolder,
        tell: @escaping @Sendable (PresenterMessage) -> Void
    ) -> PresenterID? {
        change { state in
            if state.table.presenterCount >= Self.mostPresenters
                || !state.hasRoom(for: path.weight)
            {
                return nil
            }
            let id = state.table.present(path, holder)
            state.listeners[id] = tell
            state.presented[id] = path.weight
            state.weight += path.weight
            return id
        }
    }

    /// Nobody listens to the presenter any more.
    package func dismiss(_ id: PresenterID) {
        change { state in
            state.listeners[id] = nil
            state.weight -= state.presented.removeValue(forKey: id) ?? 0
            _ = take(state.table.dismiss(id, at: MonotonicClock.now), about: nil, &state)
        }
    }

    /// A presenter has prepared for a claim.
    package func answer(_ presenter: PresenterID, _ claim: ClaimID) {
        change { state in
            let events = state.table.answer(presenter, claim, at: MonotonicClock.now)
            _ = take(events, about: nil, &state)
        }
    }

    /// Tells presenters of a change, and lets claims follow what was renamed.
    ///
    /// - Parameter directory: where a name is another; those who are told are to find it so
    ///   (``setSettling(_:)``).
    package func note(_ change: ItemChange, in directory: ItemNumber? = nil) {
        self.change { state in
            let events = state.table.note(change, at: MonotonicClock.now)
            if let directory, !events.isEmpty {
                state.outbox.append { [settling] in settling.withLock { $0 }(directory) }
            }
            _ = take(events, about: nil, &state)
        }
    }

    /// What the coordinator's thread does before it tells of another name in a directory; it may wait for
    /// the kernel, for a short while.
    package func setSettling(_ body: @escaping @Sendable (ItemNumber) -> Void) {
        settling.withLock { $0 = body }
    }

    // MARK: The thread

    /// Starts the thread that tells, and looks at the clock.
    package func start() {
        Threads.start("coordinator") { [self] in
            while let jobs = wait() {
                for job in jobs { job() }
            }
            state.signal { $0.done = true }
        }
    }

    /// Ends the thread. Who still waits is refused. Returns when it is gone.
    package func stop() {
        state.signal { state in
            for (id, reply) in state.replies {
                state.outbox.append { reply(id, .refused(.cancelled)) }
            }
            state.replies = [:]
            state.ended = true
        }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.done ? true : nil
        }
    }

    /// What is to be told next; `nil` at the end.
    private func wait() -> [@Sendable () -> Void]? {
        let moment = state.withLock { $0.table.nextMoment } ?? .max
        return state.wait(until: moment) { state -> [@Sendable () -> Void]?? in
            let now = MonotonicClock.now
            if let next = state.table.nextMoment, next <= now {
                _ = take(state.table.advance(to: now), about: nil, &state)
                mark(&state)
            }
            if !state.outbox.isEmpty {
                defer { state.outbox = [] }
                return .some(state.outbox)
            }
            if state.ended { return .some(nil) }
            // Something is due earlier than this wait lasts, or its time is up: look again.
            return (state.table.nextMoment ?? .max) != moment ? .some([]) : nil
        } ?? []
    }

    // MARK: Events

    /// Runs `body` alone with the state, and wakes the thread if there is something to tell or an
    /// earlier moment to wait for.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, wakes) = state.withLock { state in
            let before = state.table.nextMoment
            let result = body(&state)
            mark(&state)
            return (result, !state.outbox.isEmpty || state.table.nextMoment != before)
        }
        if wakes { state.signal { _ in } }
        return result
    }

    private func mark(_ state: inout State) {
        claimed.store(!state.coordinated.isEmpty, ordering: .releasing)
        followed.store(!state.table.isIdle, ordering: .releasing)
    }

    /// Puts what happened into the outbox; what became of `own` is the result.
    private func take(
        _ events: [ClaimEvent], about own: ClaimID?, _ state: inout State
    ) -> Outcome? {
        var result: Outcome?
        for event in events {
            switch event {
            case .granted(let id, let paths): settle(id, .granted(paths))
            case .refused(let id, let refusal):
                state.forget(id)
                settle(id, .refused(refusal))
            case .message(let id, let message):
                if let tell = state.listeners[id] { state.outbox.append { tell(message) } }
            }
        }
        return result

        func settle(_ id: ClaimID, _ outcome: Outcome) {
            if id == own {
                result = outcome
            } else if let reply = state.replies.removeValue(forKey: id) {
                if let ticket = state.tickets.first(where: { $0.value.claim == id })?.key {
                    state.tickets[ticket] = nil
                }
                state.outbox.append { reply(id, outcome) }
            }
        }
    }
}

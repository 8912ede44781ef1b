package import Model
internal import SystemCalls
internal import Thumbnailing

/// Draws what was asked for, on a few threads with a worker process each.
///
/// Any thread. Who asked last is served first. A document has one order: a newer version takes the
/// place of an older one, and never the other way round. What nobody has asked for again within the
/// queue's patience is dropped.
package final class PictureQueue: Sendable {
    /// Threads, and so processes, that draw at the same time.
    package static let threads = 4
    /// Orders that wait at most; further ones are dropped, and made when somebody asks again.
    package static let waitingLimit = 65_536
    /// How long an order waits that nobody repeats, in nanoseconds.
    package static let usualPatience: UInt64 = 30_000_000_000
    /// How long a drawing of a version that is not current any more may go on.
    static let overtime: UInt64 = 1_000_000_000
    /// After how long without work a thread ends, but for the last one.
    private static let idleness: UInt64 = 20_000_000_000
    /// How long our own documents are not tried after the program could not be started.
    static let pause: UInt64 = 10_000_000_000
    /// How long a version is not tried again whose drawing took too long, in nanoseconds.
    package static let usualRespite: UInt64 = 60_000_000_000

    private struct Waiting {
        var order: PictureOrder
        var asked: UInt64
        /// Made by a publish: waits until it is its turn.
        var isLasting: Bool
        var serial: UInt64
    }
    private struct Running {
        var order: PictureOrder
        var began: UInt64
        var cancellation: Cancellation?
    }
    private struct State {
        var waiting: [ItemNumber: Waiting] = [:]
        /// The order of service, from the end; entries whose serial is not the order's are dead.
        var stack: [(item: ItemNumber, serial: UInt64)] = []
        var serial: UInt64 = 0
        var running: [ItemNumber: Running] = [:]
        var waiters: [ItemNumber: [UInt64: @Sendable (_ ended: Bool) -> Void]] = [:]
        var threads = 0
        var idle = 0
        /// Ends the start of the first process.
        var start: Cancellation?
        var ended = false
        var pausedUntil: UInt64 = 0
        var problem: String?
        var attempts = DrawingAttempts()
        var counts = Counts()
    }

    /// What a queue has done and has to do.
    package struct Counts: Sendable {
        package var drawn = 0
        package var fetched = 0
        package var failed = 0
        package var dropped = 0
        package var waiting = 0
    }

    private let state = Monitor(State())
    private let maker: PictureMaker
    private unowned let client: any PictureClient

    private let startsEarly: Bool
    private let patience: UInt64
    private let respite: UInt64

    /// - Parameters:
    ///   - client: outlives the queue.
    ///   - startsEarly: whether the first thread starts its process before it has an order.
    ///   - patience: how long an order waits that nobody repeats, in nanoseconds.
    ///   - respite: how long a version is not tried again whose drawing took too long, in nanoseconds.
    package init(
        _ maker: PictureMaker, for client: any PictureClient, startsEarly: Bool = true,
        patience: UInt64 = usualPatience, respite: UInt64 = usualRespite
    ) {
        self.maker = maker
        self.client = client
        self.startsEarly = startsEarly
        self.patience = patience
        self.respite = respite
    }

    /// What was done so far.
    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.waiting = state.waiting.count + state.running.count
            return counts
        }
    }

    /// Why nothing is drawn at the moment; nil if it is.
    package var problem: String? { state.withLock { $0.problem } }

    /// Until when nothing of ours is drawn, of `MonotonicClock`; nil if that is drawn now.
    package var pauseEnd: UInt64? {
        let end = state.withLock { $0.pausedUntil }
        return MonotonicClock.now < end ? end : nil
    }

    /// Why a version is not tried for a while, as its drawing took too long; nil if it may be.
    package func pauseReason(_ node: NodeNumber) -> String? {
        state.withLock { $0.attempts.pauseReason(node, at: MonotonicClock.now) }
    }

    /// Has a version drawn, or drawn sooner; says whether that is under way now.
    ///
    /// - Parameter isLasting: it is drawn even if nobody asks again.
    @discardableResult
    package func ask(_ order: PictureOrder, isLasting: Bool) -> Bool {
        let (accepted, started, overdue) = state.signal { state -> (Bool, Int, Cancellation?) in
            // Taken under the lock: no drawing began later.
            let now = MonotonicClock.now
            let isPaused =
                order.type.isOwn && now < state.pausedUntil
                || state.attempts.pauseReason(order.node, at: now) != nil
            if state.ended || isPaused { return (false, 0, nil) }
            var overdue: Cancellation?
            if let running = state.running[order.item] {
                if running.order.isSame(order) { return (true, 0, nil) }
                let isNewer = running.order.node.ordinal > order.node.ordinal
                if !isNewer, running.began + Self.overtime < now { overdue = running.cancellation }
            }
            let old = state.waiting[order.item]
            // Who looks at a version that was published over asks again.
            if let old, old.order.node.ordinal > order.node.ordinal { return (false, 0, nil) }
            if old == nil, state.waiting.count >= Self.waitingLimit {
                state.counts.dropped += 1
                return (false, 0, overdue)
            }
            state.serial += 1
            var (order, lasts) = (order, isLasting)
            if let old, old.order.isSame(order) {
                lasts = lasts || old.isLasting
                order.isOnlyStored = order.isOnlyStored && old.order.isOnlyStored
            }
            state.waiting[order.item] = Waiting(
                order: order, asked: now, isLasting: lasts, serial: state.serial)
            state.stack.append((order.item, state.serial))
            Self.tidy(&state)
            let isShort = state.idle < state.waiting.count && state.threads < Self.threads
            if isShort { state.threads += 1 }
            return (true, isShort ? state.threads : 0, overdue)
        }
        overdue?.cancel()
        if started > 0 { start(isFirst: started == 1) }
        return accepted
    }

    /// Starts a thread. The first one stays, and so does its process; the others stand back for all
    /// programs.
    private func start(isFirst: Bool) {
        Threads.start("pictures") { [self] in
            let worker = maker.worker(niceness: isFirst ? 0 : 10)
            if isFirst, startsEarly {
                // It counts as idle: a second process would not be sooner.
                let start = try? Cancellation()
                let isOver = state.withLock { state -> Bool in
                    state.idle += 1
                    state.start = start
                    return state.ended
                }
                // What keeps it from starting is found out again by the first drawing.
                if !isOver { try? worker.warmUp(cancellation: start) }
                state.withLock { state in
                    state.idle -= 1
                    state.start = nil
                }
            }
            work(worker, isFirst)
        }
    }

    /// Whether the version waits to be drawn, or is being drawn.
    package func isPending(_ order: PictureOrder) -> Bool {
        state.withLock { state in
            state.waiting[order.item]?.order.isSame(order) == true
                || state.running[order.item]?.order.isSame(order) == true
        }
    }

    /// Whether a newer version waits to be drawn: this one can be asked for after that.
    package func isBehind(_ order: PictureOrder) -> Bool {
        state.withLock { state in
            state.waiting[order.item].map { $0.order.node.ordinal > order.node.ordinal } ?? false
        }
    }

    /// Nobody needs the document's picture any more.
    package func cancel(_ item: ItemNumber) {
        let (running, waiters) = state.withLock {
            state -> (Cancellation?, [@Sendable (Bool) -> Void]) in
            state.waiting[item] = nil
            return (state.running[item]?.cancellation, Self.takeWaiters(of: item, &state))
        }
        running?.cancel()
        for waiter in waiters { waiter(true) }
    }

    /// Starts the first thread and its process, so that the first picture need not wait for them.
    package func warmUp() {
        let starts = state.withLock { state -> Bool in
            guard state.threads == 0, !state.ended else { return false }
            state.threads = 1
            return true
        }
        if starts { start(isFirst: true) }
    }

    /// Calls `then` when nothing of the document is drawn or waits to be, with true; at once if
    /// that is so. A number to ``giveUp(_:_:)`` with, or nil if it was called.
    package func wait(
        for item: ItemNumber, then: @escaping @Sendable (_ ended: Bool) -> Void
    ) -> UInt64? {
        let ticket = state.withLock { state -> UInt64? in
            guard state.waiting[item] != nil || state.running[item] != nil else { return nil }
            state.serial += 1
            state.waiters[item, default: [:]][state.serial] = then
            return state.serial
        }
        if ticket == nil { then(true) }
        return ticket
    }

    /// Ends a wait: calls what waits with false, unless it was called.
    package func giveUp(_ item: ItemNumber, _ ticket: UInt64) {
        let then = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            let then = state.waiters[item]?.removeValue(forKey: ticket)
            if state.waiters[item]?.isEmpty == true { state.waiters[item] = nil }
            return then
        }
        then?(false)
    }

    /// Who waits for a document of which nothing is drawn or waits to be.
    private static func takeWaiters(of item: ItemNumber, _ state: inout State)
        -> [@Sendable (Bool) -> Void]
    {
        guard state.waiting[item] == nil, state.running[item] == nil else { return [] }
        return state.waiters.removeValue(forKey: item).map { Array($0.values) } ?? []
    }

    /// Ends all threads and processes; returns when they are gone, or after 5 s.
    package func stop() {
        let (running, waiters) = state.signal { state in
            state.ended = true
            state.waiting = [:]
            state.stack = []
            defer { state.waiters = [:] }
            return (
                state.running.values.compactMap(\.cancellation) + (state.start.map { [$0] } ?? []),
                state.waiters.values.flatMap(\.values)
            )
        }
        for cancellation in running { cancellation.cancel() }
        for waiter in waiters { waiter(false) }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.threads == 0 ? true : nil
        }
    }

    // MARK: Threads

    private func work(_ worker: ThumbnailWorker, _ isFirst: Bool) {
        while true {
            switch next(isFirst) {
            case .order(let order, let cancellation): draw(order, cancellation, worker)
            case .idle:
                worker.stop()
                return
            case .ended:
                worker.stop()
                state.signal { $0.threads -= 1 }
                return
            }
        }
    }

    private enum Step {
        case order(PictureOrder, Cancellation?)
        /// There is too little to do; the thread does not count any more.
        case idle
        /// The queue ends, and waits for the thread.
        case ended
    }

    private func next(_ isFirst: Bool) -> Step {
        state.withLock { $0.idle += 1 }
        while true {
            let step = state.wait(until: MonotonicClock.now + Self.idleness) { state -> Step? in
                if state.ended { return .ended }
                guard let order = pop(&state) else { return nil }
                state.idle -= 1
                let cancellation = try? Cancellation()
                state.running[order.item] = Running(
                    order: order, began: MonotonicClock.now, cancellation: cancellation)
                return .order(order, cancellation)
            }
            if let step { return step }
            let isSuperfluous = state.withLock { state -> Bool in
                guard !isFirst, state.stack.isEmpty, !state.ended else { return false }
                state.threads -= 1
                state.idle -= 1
                return true
            }
            if isSuperfluous { return .idle }
        }
    }

    /// Takes out the order that was asked for last, passing over those that nobody waits for and
    /// those whose document is being drawn, which come again when that is done.
    private func pop(_ state: inout State) -> PictureOrder? {
        let now = MonotonicClock.now
        var later: [(item: ItemNumber, serial: UInt64)] = []
        defer { state.stack += later.reversed() }
        while let (item, serial) = state.stack.popLast() {
            guard let waiting = state.waiting[item], waiting.serial == serial else { continue }
            if state.running[item] != nil {
                later.append((item, serial))
                continue
            }
            state.waiting[item] = nil
            if waiting.isLasting || now <= waiting.asked + patience { return waiting.order }
            state.counts.dropped += 1
        }
        return nil
    }

    /// Takes dead entries out when they are most of the stack.
    private static func tidy(_ state: inout State) {
        guard state.stack.count > 2 * state.waiting.count + 64 else { return }
        let waiting = state.waiting
        state.stack.removeAll { waiting[$0.item]?.serial != $0.serial }
    }

    private func draw(
        _ order: PictureOrder, _ cancellation: Cancellation?, _ worker: ThumbnailWorker
    ) {
        var found: PictureOutcome?
        while found == nil { found = outcome(order, cancellation, worker) }
        let outcome = found ?? .nothing
        client.keep(outcome, of: order)
        let waiters = state.signal { state in
            state.running[order.item] = nil
            switch outcome {
            case .drawn:
                state.counts.drawn += 1
                state.problem = nil
            case .fetched: state.counts.fetched += 1
            case .failed: state.counts.failed += 1
            case .interrupted, .nothing: state.counts.dropped += 1
            }
            return Self.takeWaiters(of: order.item, &state)
        }
        for waiter in waiters { waiter(true) }
        client.ended(order)
    }

    /// `nil` if it is to be drawn again at once: the worker was ended from outside, the first time.
    private func outcome(
        _ order: PictureOrder, _ cancellation: Cancellation?, _ worker: ThumbnailWorker
    ) -> PictureOutcome? {
        guard let input = client.take(order) else { return .nothing }
        defer { client.letGo(order.node) }
        if case .pictures(let file) = input { return .fetched(file) }
        var outcome = PictureOutcome.nothing
        do throws(ThumbnailFailure) {
            return .drawn(try maker.pictures(of: order, input, by: worker, cancellation))
        } catch {
            switch error {
            case .refused, .died: return .failed(error.description)
            case .cancelled: return .nothing
            case .timedOut, .ended:
                let reason = error.description
                let end = error.isTimeout ? MonotonicClock.now + respite : 0
                let count = state.withLock { $0.attempts.add(order.node, until: end, reason) }
                if count >= DrawingAttempts.limit { return .failed(reason) }
                if end > 0 { return .nothing }
                if count == 1 { return nil }
                outcome = .interrupted
            case .unavailable: break
            }
            // Foreign programs pause by themselves.
            if order.type.isOwn {
                state.withLock { state in
                    state.problem = error.description
                    state.pausedUntil = MonotonicClock.now + Self.pause
                }
            }
            return outcome
        }
    }
}

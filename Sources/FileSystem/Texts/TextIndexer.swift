internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

/// Keeps the words of documents, for queries.
///
/// Any thread. Changes are noted under the volume's lock; the thread `texts` has the documents read
/// by a worker process and writes their words down. Nobody waits here: who wants the words of all
/// that was published is called back.
final class TextIndexer: Sendable {
    /// Changes gather until nothing has changed for so long, or somebody asks, in milliseconds ...
    private static let quiet: UInt64 = 500
    /// ... but no longer than this.
    private static let patience: UInt64 = 5_000
    /// How long who wants words waits for them, in milliseconds.
    private static let waiting: UInt64 = 2_000
    /// After a failure it is tried again, in milliseconds.
    private static let retry: UInt64 = 30_000
    /// Items that are noted one by one; with more all documents are looked through.
    private static let most = 100_000
    /// A worker that has had nothing to read for so long is ended, in milliseconds.
    private static let idleness: UInt64 = 30_000
    /// The worker lets everybody else go first.
    private static let niceness: Int32 = 10

    /// What a round looks at.
    private struct Work {
        /// When the first of it was noted.
        var since: UInt64
        /// nil if it may be any.
        var items: Set<ItemNumber>?
    }

    private struct State {
        /// Items to be looked at.
        var noted: Set<ItemNumber> = []
        /// All are to be looked at.
        var isScanDue = false
        /// When the first and the last of them were noted, as `MonotonicClock` has it.
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// Counts the takings of what was noted.
        var round: UInt64 = 0
        /// What is being looked at; nil between rounds.
        var work: Work?
        /// Who is called when a round is over.
        var waiting: [UInt64: (round: UInt64, then: @Sendable () -> Void)] = [:]
        /// Those who wait, or are about to.
        var tickets: Set<UInt64> = []
        var nextTicket: UInt64 = 1
        var stirred = false
        var ended = false
        var isRunning = false
        var problem: String?
        /// Not before this moment after a failure.
        var notBefore: UInt64 = 0

        var isDue: Bool { isScanDue || !noted.isEmpty }
        var isWorking: Bool { work != nil }
    }
    private let state = Monitor(State())
    private let database = Lock<TextDatabase?>(nil)
    /// How often the reading of a version was told to end.
    let endings = Lock(Recent<NodeNumber, Int>(limit: 1_024))
    /// What was let go before it was read. All that a large import brings at once may wait there, for as long
    /// as that takes.
    let leaving: SecondNames
    let worker: ThumbnailWorker
    let cancellation: Cancellation?
    unowned let volume: Volume

    /// - Parameter program: the path of `shapeedit-thumbnailer`.
    init(_ volume: Volume, program: String) {
        self.volume = volume
        leaving = SecondNames(
            folder: volume.content.folder.reading, limit: 100_000, seconds: 3_600, goesOn: true)
        worker = ThumbnailWorker(program: program, niceness: Self.niceness)
        cancellation = try? Cancellation()
    }

    func start() {
        // What is due is not known yet: who wants words waits until it is.
        state.withLock { state in
            state.isRunning = true
            state.work = Work(since: MonotonicClock.now)
            state.round = 1
        }
        Threads.start("texts", keeping: volume) { [self] in run() }
    }

    /// Ends the thread and its process; returns when they are gone.
    func stop() {
        cancellation?.cancel()
        let waiting = state.signal { state in
            state.ended = true
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.then)
        }
        for then in waiting { then() }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isRunning ? nil : true
        }
    }

    // MARK: Noting

    /// The item may have other words. Under the volume's lock.
    func note(_ item: ItemNumber) {
        let now = MonotonicClock.now
        let isFirst = state.withLock { state -> Bool in
            state.last = now
            if state.noted.count >= Self.most {
                state.noted = []
                state.isScanDue = true
            }
            defer { if !state.isScanDue { state.noted.insert(item) } }
            if state.isDue { return false }
            state.first = now
            return true
        }
        // Later ones are found when the thread looks whether it is quiet.
        if isFirst { state.signal { $0.stirred = true } }
    }

    // MARK: Asking

    /// What follows from the words of the documents. If they turn out to be damaged they are taken from the
    /// documents again.
    func read<Result>(
        _ body: (TextDatabase) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        do throws(Failure) {
            return try database.withLock { (database) throws(Failure) in
                guard let opened = database else { return nil }
                do throws(Failure) { return try body(opened) } catch {
                    if error.kind == .badData {
                        opened.close()
                        database = nil
                        TextDatabase.remove(volume.container.folder.texts)
                    }
                    throw error
                }
            }
        } catch {
            if error.kind == .badData { scan() }
            throw error
        }
    }

    /// Grows when words are written down.
    var round: UInt64 { state.withLock { $0.isWorking ? $0.round - 1 : $0.round } }

    /// Why nothing is indexed; nil if nothing is wrong.
    var problem: String? { state.withLock { $0.problem } }

    /// Whether the words of the item may still have to be read, and can be.
    func awaits(_ item: ItemNumber) -> Bool {
        state.withLock { state in
            guard state.isRunning, !state.ended, state.problem == nil else { return false }
            if state.isScanDue || state.noted.contains(item) { return true }
            return state.work.map { $0.items?.contains(item) ?? true } ?? false
        }
    }

    /// Whether words are missing that were waited for in vain. What came while somebody waited is none of
    /// them.
    var isBehind: Bool {
        let waiting = Self.waiting * 1_000_000
        let limit = max(MonotonicClock.now, waiting) - waiting
        return state.withLock { state in
            state.work.map { $0.since <= limit } == true || state.isDue && state.first <= limit
        }
    }

    /// A ticket for one who is about to wait.
    func ticket() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            state.tickets.insert(state.nextTicket)
            return state.nextTicket
        }
    }

    /// Calls `then` when the words of all that was published before are there, or when two seconds
    /// have passed; never for a ticket that was taken out.
    func whenCurrent(_ ticket: UInt64, then: @escaping @Sendable () -> Void) {
        let (isNow, waits) = state.signal { state -> (Bool, Bool) in
            guard state.tickets.contains(ticket) else { return (false, false) }
            let isHopeless = state.problem != nil || state.ended || !state.isRunning
            if isHopeless || !state.isDue && !state.isWorking {
                state.tickets.remove(ticket)
                return (true, false)
            }
            state.waiting[ticket] = (state.isDue ? state.round + 1 : state.round, then)
            state.stirred = true
            return (false, true)
        }
        if isNow { return then() }
        guard waits else { return }
        volume.scheduler.at(MonotonicClock.after(milliseconds: Self.waiting)) { [weak self] in
            self?.takeOut(ticket)?()
        }
    }

    /// Takes one who waits out of the waiting; what was to be called.
    func takeOut(_ ticket: UInt64) -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.tickets.remove(ticket)
            return state.waiting.removeValue(forKey: ticket)?.then
        }
    }

    /// Whether one who waited, or was about to, was taken out before it was called.
    func interrupt(_ ticket: UInt64) -> Bool {
        state.withLock { state in
            state.waiting[ticket] = nil
            return state.tickets.remove(ticket) != nil
        }
    }

    // MARK: The thread

    private func run() {
        defer {
            worker.stop()
            leaving.stop()
            database.withLock { $0?.close() }
            state.signal { $0.isRunning = false }
        }
        resume()
        var wasDamaged = false
        while let (items, scan, head) = take() {
            do throws(Failure) {
                try open()
                try look(at: items, scan: scan, head)
                finish()
            } catch {
                // Those that were written down cost little to look at again. Words that were damaged are
                // begun anew at once, unless they are so again.
                let isFirst = error.kind == .badData && !wasDamaged
                wasDamaged = wasDamaged || isFirst
                finish(left: items, scan: scan, isFirst ? nil : error.message)
            }
        }
    }

    /// Waits for what there is to do; nil at the end.
    private func take() -> (items: Set<ItemNumber>, scan: Bool, head: ChangeSequence)? {
        while true {
            let moment = state.withLock { $0.ended ? nil : Self.moment(of: $0) }
            guard let moment else { return nil }
            if MonotonicClock.now >= moment { break }
            let hasWorker = worker.processIdentifier != nil
            let rest =
                hasWorker ? min(moment, MonotonicClock.after(milliseconds: Self.idleness)) : moment
            let stirred = state.wait(until: rest) { state -> Bool? in
                guard state.stirred || state.ended else { return nil }
                state.stirred = false
                return true
            }
            if stirred == nil, moment == .max { worker.stop() }
        }
        // All that is recorded up to this change was noted before.
        return volume.state.withLock { volumeState in
            let head = volumeState.log.head
            return state.withLock { state in
                state.round += 1
                state.work = Work(
                    since: state.first, items: state.isScanDue ? nil : state.noted)
                defer { (state.noted, state.isScanDue) = ([], false) }
                return (state.noted, state.isScanDue, head)
            }
        }
    }

    /// When what was noted is to be looked at.
    private static func moment(of state: State) -> UInt64 {
        if !state.isDue { return .max }
        if state.notBefore > 0 { return state.notBefore }
        if !state.waiting.isEmpty { return 0 }
        return min(state.last + quiet * 1_000_000, state.first + patience * 1_000_000)
    }

    /// A round is over; with a problem, what has to be looked at again.
    private func finish(
        left: Set<ItemNumber> = [], scan: Bool = false, _ problem: String? = nil
    ) {
        let done = state.withLock { state -> [@Sendable () -> Void] in
            state.work = nil
            state.problem = problem
            state.notBefore =
                problem == nil ? 0 : MonotonicClock.after(milliseconds: Self.retry)
            state.noted.formUnion(left)
            state.isScanDue = state.isScanDue || scan
            var done: [@Sendable () -> Void] = []
            for (ticket, waiter) in state.waiting
            where problem != nil || waiter.round <= state.round {
                state.waiting[ticket] = nil
                state.tickets.remove(ticket)
                done.append(waiter.then)
            }
            return done
        }
        for then in done { then() }
        // Queries for words find others now.
        volume.liveQueries?.stir()
        volume.state.withLock { $0.bells.ringAll() }
    }

    private func open() throws(Failure) {
        if database.withLock({ $0 != nil }) { return }
        let opened = try TextDatabase(path: volume.container.folder.texts)
        database.withLock { $0 = opened }
    }

    /// Finds out what is due, as a round of its own; who waits for words then waits for the next round,
    /// or has them.
    private func resume() {
        noteMissed()
        let isDue = state.withLock { state -> Bool in
            guard state.isDue else { return false }
            state.work = nil
            for ticket in state.waiting.keys { state.waiting[ticket]?.round = state.round + 1 }
            return true
        }
        if !isDue { finish() }
    }

    /// Begins where an earlier mount ended: what has changed since, or all.
    private func noteMissed() {
        let mark = try? { () throws(Failure) in
            try open()
            return try read { (database) throws(Failure) in try database.mark() } ?? nil
        }()
        let log = volume.log
        guard let mark = mark ?? nil, mark <= log.head else { return scan() }
        if mark == log.head { return }
        let rows = try? volume.container.query { (catalog) throws(Failure) in
            try catalog.changes(after: mark, limit: Self.most)
        }
        guard let rows, rows.count < Self.most, rows.first.map({ $0.sequence == mark + 1 }) ?? false
        else { return scan() }
        for row in rows { note(row.item) }
    }

    private func scan() {
        let now = MonotonicClock.now
        state.signal { state in
            if !state.isDue { state.first = now }
            (state.isScanDue, state.stirred) = (true, true)
        }
    }
}

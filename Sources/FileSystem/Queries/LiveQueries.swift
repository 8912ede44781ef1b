package import Coordination
internal import Glibc
package import Model
package import SystemCalls

/// What is told of a live query.
package enum QueryNews: Sendable {
    /// The first results, and why some may be missing.
    case gathered([Found], problem: String?)
    case changed(QueryBatch)
    /// Nothing more comes: its folder is not there (ENOENT), there are too many queries or results
    /// (ENOSPC), the mount goes away (ENODEV), or words could not be read.
    case ended(Errno)
}

/// One who follows a query. Told on any thread with the engine's lock held: it may only note what it is
/// told, under a lock of the last level.
package protocol QueryFollower: AnyObject, Sendable {
    func take(_ news: QueryNews)
}

/// Names a live query as long as the volume lives.
package struct LiveQueryID: Hashable, Sendable { let number: UInt64 }

/// All queries that are followed, whoever does: an item that changes is looked at once and offered to
/// each of them.
///
/// Any thread. The thread `queries` is there while there are live queries; whoever wants the results as
/// of now works in its place (``settle()``). Changes come from the change feed, so that whoever makes
/// them does nothing for queries but note that there are some.
package final class LiveQueries: Sendable {
    /// Live queries of a mount, at most.
    package static let most = 4_096
    /// Results of all of them, at most.
    static let mostResults = 2_000_000
    /// Changes gather until nothing has happened for so long, in nanoseconds ...
    private static let quiet: UInt64 = 100_000_000
    /// ... but no longer than this.
    private static let patience: UInt64 = 1_000_000_000
    /// The first change after a quiet time is told so soon: what one program does at once comes together.
    private static let lead: UInt64 = 1_000_000
    /// How often ``tidy`` is called, in milliseconds.
    private static let pace: UInt64 = 10_000

    struct Order {
        let id: LiveQueryID
        let query: Query
        let follower: any QueryFollower
        let isLenient: Bool
    }
    private struct Orders {
        var coming: [Order] = []
        var going: Set<LiveQueryID> = []
        var next: UInt64 = 1
        /// Those that came and did not go.
        var live: [LiveQueryID: Query] = [:]
        /// Something has changed: when first and last, as `MonotonicClock` has it.
        var isStirred = false
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// When something that concerns queries was looked at last.
        var told: UInt64 = 0
        var isRunning = false
        var ended = false

        var hasOrders: Bool { !coming.isEmpty || !going.isEmpty }
        /// When changes are to be told.
        var moment: UInt64 {
            if !isStirred { return .max }
            // What was looked at last may be younger: it stirs by bringing changes to the journal.
            if first >= told + quiet { return first + lead }
            return min(last + quiet, first + patience)
        }
    }
    private let orders = Monitor(Orders())
    let engine: Lock<QueryEngine>
    private unowned let volume: Volume
    private let tidy: Lock<@Sendable () -> Void> = Lock({})
    private let granted: GrantedResults?

    /// - Parameter granted: what other containers grant, in the mount of an app.
    init(_ volume: Volume, _ granted: GrantedResults?) {
        engine = Lock(QueryEngine(volume))
        self.volume = volume
        self.granted = granted
    }

    /// What is to be done every ten seconds while there are live queries.
    func setTidy(_ body: @escaping @Sendable () -> Void) { tidy.withLock { $0 = body } }

    // MARK: Queries

    /// Begins a query; its follower is told the results. `nil` if there are too many queries.
    ///
    /// - Parameter isLenient: a folder that is not there is as good as an empty one, and words and what
    ///   other containers grant have been waited for.
    package func follow(_ query: Query, isLenient: Bool = false, _ follower: any QueryFollower)
        -> LiveQueryID?
    {
        let id = orders.withLock { orders -> LiveQueryID? in
            if orders.ended || orders.live.count >= Self.most { return nil }
            let id = LiveQueryID(number: orders.next)
            orders.next += 1
            orders.live[id] = query
            return id
        }
        guard let id else { return nil }
        let order = Order(id: id, query: query, follower: follower, isLenient: isLenient)
        granted?.follow(query)
        if isLenient {
            begin(order)
        } else if query.tellsTitles, let texts = volume.texts {
            // The first results know the words of what was published before, as those of a file do.
            texts.whenCurrent(texts.ticket()) { [self] in ask(order) }
        } else {
            ask(order)
        }
        return id
    }

    /// Begins a query when other containers have said what they grant.
    private func ask(_ order: Order) {
        guard let granted else { return begin(order) }
        granted.ask(order.query) { [self] in begin(order) }
    }

    /// Has a query gathered that did not go meanwhile.
    private func begin(_ order: Order) {
        let (starts, isOver) = orders.signal { orders -> (Bool, Bool) in
            if orders.ended { return (false, true) }
            guard orders.live[order.id] != nil else { return (false, false) }
            orders.coming.append(order)
            defer { orders.isRunning = true }
            return (!orders.isRunning, false)
        }
        if starts {
            Threads.start("queries", yielding: true, keeping: volume) { [self] in run() }
        }
        if isOver { order.follower.take(.ended(Errno(ENODEV))) }
    }

    /// Ends a query; what is being told may still come to its end.
    package func end(_ id: LiveQueryID) {
        let query = orders.signal { orders -> Query? in
            guard let query = orders.live.removeValue(forKey: id) else { return nil }
            orders.going.insert(id)
            return query
        }
        if let query { granted?.unfollow(query) }
    }

    /// Results may be others. Also with the journal's lock held.
    func stir() {
        let now = MonotonicClock.now
        let isFirst = orders.withLock { orders -> Bool in
            orders.last = now
            if orders.isStirred || !orders.isRunning { return false }
            (orders.isStirred, orders.first) = (true, now)
            return true
        }
        if isFirst { orders.signal { _ in } }
    }

    /// Tells everything that has changed so far. Waits for the journal.
    func settle() {
        engine.withLock { engine in
            takeOrders(&engine)
            engine.flush()
            engine.collect()
            _ = tell(&engine)
        }
    }

    /// Ends all queries; returns when the thread is gone.
    func stop() {
        orders.signal { $0.ended = true }
        let _: Bool? = orders.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isRunning ? nil : true
        }
    }

    // MARK: The thread

    private func run() {
        var cleaned = MonotonicClock.now
        while let isDue = next(until: cleaned + Self.pace * 1_000_000) {
            let isNews = engine.withLock { engine -> Bool in
                takeOrders(&engine)
                // Nobody else may wait for what was recorded last (`ChangeLog.announce`).
                if isDue { engine.flush() }
                engine.collect()
                return isDue ? tell(&engine) : false
            }
            // What a close makes safe before the version is published concerns no query: the
            // version is still the first change after a quiet time.
            if isNews { orders.withLock { $0.told = MonotonicClock.now } }
            if MonotonicClock.now >= cleaned + Self.pace * 1_000_000 {
                tidy.withLock { $0 }()
                cleaned = MonotonicClock.now
            }
            let isOver = orders.withLock { orders -> Bool in
                if !orders.live.isEmpty || orders.hasOrders { return false }
                orders.isRunning = false
                return true
            }
            if isOver { return }
        }
        engine.withLock { engine in
            takeOrders(&engine)
            engine.endAll()
        }
        orders.signal { $0.isRunning = false }
    }

    /// Waits until there is something to do: whether changes are to be told; `nil` at the end.
    private func next(until end: UInt64) -> Bool? {
        while true {
            let (moment, isStirred) = orders.withLock { ($0.moment, $0.isStirred) }
            let now = MonotonicClock.now
            // Changes are taken before the feed lets go of them.
            let rest = isStirred ? min(moment, now + Self.quiet) : end
            let found = orders.wait(until: rest) { orders -> Bool? in
                let isNews = orders.isStirred && !isStirred
                return orders.ended || orders.hasOrders || isNews ? true : nil
            }
            let state = orders.withLock { orders -> (ended: Bool, isDue: Bool, works: Bool) in
                let isDue = MonotonicClock.now >= orders.moment
                if isDue { orders.isStirred = false }
                return (orders.ended, isDue, orders.hasOrders)
            }
            if state.ended { return nil }
            if state.isDue || state.works || found == nil { return state.isDue }
        }
    }

    /// Tells what has changed, and ends queries if there are too many results then; false if nothing has
    /// changed that concerns queries.
    private func tell(_ engine: inout QueryEngine) -> Bool {
        guard engine.tell() else { return false }
        for id in engine.endLargest() { end(id) }
        return true
    }

    private func takeOrders(_ engine: inout QueryEngine) {
        let (coming, going) = orders.withLock { orders -> ([Order], Set<LiveQueryID>) in
            defer { (orders.coming, orders.going) = ([], []) }
            return (orders.coming, orders.going)
        }
        engine.end(going)
        for order in coming where !going.contains(order.id) {
            if engine.begin(order, wake: { [weak self] in self?.stir() }) { continue }
            end(order.id)
        }
    }
}

internal import Model
internal import PathText
internal import Stores
internal import SystemCalls

/// Who waits for bytes is told that they do not come when the store, or the source that they are at, has
/// given nothing for as long as it is waited for: however many wait before them, and also if no worker has
/// turned to them. The bounds of a request end only the waits of those whose request it is.
extension Downloads {
    /// Whether somebody looks after those who wait.
    struct Watch {
        var isRunning = false
        var ended = false
    }

    /// A request that is not answered fails a moment earlier, and knows better why. In nanoseconds.
    private static let lateness: UInt64 = 250_000_000

    private var limit: UInt64 { UInt64(patience * 1e9) + Self.lateness }

    /// How often those are looked at who have waited for longer while something came.
    private var pace: UInt64 { limit / 16 }

    /// Sees to it that those who wait are looked after.
    func watchWaiters() {
        let starts = watch.withLock { watch -> Bool in
            guard !watch.isRunning, !watch.ended else { return false }
            watch.isRunning = true
            return true
        }
        if starts { Threads.start("patience") { [self] in keepWatch() } }
    }

    private func keepWatch() {
        while let moment = nextLook() {
            let hasEnded: Bool? = watch.wait(until: moment) { $0.ended ? true : nil }
            if hasEnded == true { return watch.signal { $0.isRunning = false } }
            tellOverdue()
        }
    }

    /// When to look next; `nil`, and nobody looks any more, if nobody waits.
    private func nextLook() -> UInt64? {
        // With the lock of the watch: whoever begins to wait now sees whether it goes on.
        watch.signal { watch -> UInt64? in
            let next = state.withLock { state -> UInt64? in
                if state.waiting == 0 { return nil }
                let now = MonotonicClock.now
                var next = now + limit
                for download in state.active.values {
                    for waiter in download.waiters {
                        let end = waiter.since + limit
                        next = min(next, end > now ? end : now + pace)
                    }
                }
                return next
            }
            if next == nil { watch.isRunning = false }
            return next
        }
    }

    private func tellOverdue() {
        let now = MonotonicClock.now
        let late = state.withLock { state -> [ContentHash] in
            // They wait for this machine's disk.
            if state.queued.isFull { return [] }
            return state.active.values.filter { download in
                !download.isFinishing && download.waiters.contains { $0.since + limit <= now }
            }.map(\.blob.hash)
        }
        if late.isEmpty { return }
        // Without the lock: the catalog may be asked where they are.
        let places = late.map { ($0, place($0)) }
        for (waiters, nodes, problem) in takeOverdue(places, now) {
            failed(nodes, problem)
            for waiter in waiters { waiter.reply(problem) }
        }
    }

    /// Takes those out of the waiting who have waited in vain for too long, in one step: the worker that
    /// the first of them leaves is not to turn to the next.
    private func takeOverdue(_ places: [(ContentHash, Place?)], _ now: UInt64)
        -> [([DownloadWaiter], Set<NodeNumber>, ContentProblem)]
    {
        state.withLock { state in
            var told: [([DownloadWaiter], Set<NodeNumber>, ContentProblem)] = []
            for (hash, place) in places {
                guard let download = state.active[hash], !download.isFinishing else { continue }
                let gaveAt = place?.gaveAt ?? state.cameAt
                let waiters = Self.takeWaiters(of: download, &state) {
                    max($0.since, gaveAt) + limit <= now
                }
                if waiters.isEmpty { continue }
                let problem = ContentProblem(
                    StoreError(
                        .timedOut, at: place?.address ?? store.address,
                        "nothing has come for \(Count.words(Int(patience.rounded(.up)), "second"))")
                )
                state.problem = problem.reason
                told.append((waiters, download.nodes, problem))
                settle(download, &state)
            }
            return told
        }
    }
}

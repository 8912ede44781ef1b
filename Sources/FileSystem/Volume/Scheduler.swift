internal import SystemCalls

/// Runs things at a moment, on a thread of its own; they must be short.
final class Scheduler: Sendable {
    private struct Plan {
        var jobs: [(moment: UInt64, job: @Sendable () -> Void)] = []
        var ended = false
        var done = false
    }
    private let plan = Monitor(Plan())

    func start() {
        Threads.start("scheduler") { [plan] in
            while true {
                let next = plan.withLock { $0.jobs.map(\.moment).min() } ?? .max
                let due = plan.wait(until: next) { state -> [@Sendable () -> Void]? in
                    if state.ended { return [] }
                    let now = MonotonicClock.now
                    let due = state.jobs.filter { $0.moment <= now }.map(\.job)
                    if due.isEmpty {
                        // A job that is due earlier than `next` may have come: look again.
                        return state.jobs.contains { $0.moment < next } ? [] : nil
                    }
                    state.jobs.removeAll { $0.moment <= now }
                    return due
                }
                if plan.withLock({ $0.ended }) {
                    plan.signal { $0.done = true }
                    return
                }
                for job in due ?? [] { job() }
            }
        }
    }

    /// Runs `job` at `moment` (of ``MonotonicClock``) or soon after.
    func at(_ moment: UInt64, _ job: @escaping @Sendable () -> Void) {
        plan.signal { $0.jobs.append((moment, job)) }
    }

    /// Ends the thread; what is still planned does not run. Returns when it is gone.
    func stop() {
        plan.signal { $0.ended = true }
        let _: Bool? = plan.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.done ? true : nil
        }
    }
}

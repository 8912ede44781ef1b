internal import SystemCalls

/// The thread that tells the kernel to forget.
///
/// A notification waits for locks that a request in flight may hold, so request handlers never send
/// one; they hand it over, together with the reply that has to come after it.
final class Notifier: Sendable {
    private struct Work {
        var jobs: [@Sendable () -> Void] = []
        var ended = false
        var done = false
        /// As the kernel knows it; 0 before it has begun.
        var thread: Int32 = 0
    }
    private let work = Monitor(Work())

    /// Whether the thread waits for a lock of the kernel, or cannot be seen; not whether it has not got its turn.
    var isHeldUp: Bool {
        Processes.isStuck(ownThread: work.withLock { $0.thread }) ?? true
    }

    /// - Parameter name: of the thread.
    func start(_ name: String = "notifier") {
        Threads.start(name) { [work] in
            work.withLock { $0.thread = Threads.current }
            while true {
                let jobs = work.wait { state -> [@Sendable () -> Void]? in
                    if !state.jobs.isEmpty {
                        defer { state.jobs = [] }
                        return state.jobs
                    }
                    return state.ended ? [] : nil
                }
                guard let jobs, !jobs.isEmpty else {
                    work.signal { $0.done = true }
                    return
                }
                for job in jobs { job() }
            }
        }
    }

    /// Runs `job` on the notifier's thread, after all jobs before it.
    func post(_ job: @escaping @Sendable () -> Void) { work.signal { $0.jobs.append(job) } }

    /// What does `job` when all is done that was posted before it is called.
    func last(_ job: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        { [self] in post(job) }
    }

    /// Ends the thread after what was posted; returns when it is gone.
    func stop() {
        work.signal { $0.ended = true }
        let _: Bool? = work.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.done ? true : nil
        }
    }
}

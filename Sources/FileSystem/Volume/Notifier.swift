internal import Synchronization
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
    }
    private let work = Monitor(Work())
    /// When it began what it is at, by ``MonotonicClock``; 0 for nothing.
    private let began = Atomic<UInt64>(0)
    /// Nothing takes longer, in nanoseconds, that waits for no store.
    private static let usual: UInt64 = 20_000_000

    /// Whether it waits for a request in flight that waits for a store or a source: who can do without it is not
    /// to wait as well.
    var isHeldUp: Bool {
        let began = began.load(ordering: .relaxed)
        return began != 0 && MonotonicClock.now > began + Self.usual
    }

    /// - Parameter name: of the thread.
    func start(_ name: String = "notifier") {
        Threads.start(name) { [self] in
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
                for job in jobs {
                    began.store(MonotonicClock.now, ordering: .relaxed)
                    job()
                }
                began.store(0, ordering: .relaxed)
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

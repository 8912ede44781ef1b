public import Glibc

/// A lock with the state it guards inside.
///
/// A `pthread_mutex_t`, because `Synchronization.Mutex` of Swift 6.3 is a priority-inheritance futex
/// that costs a hundred times more with eight threads (swift issue 88440; use it again when mended).
/// Never call out, log or wait while holding one. The order of locks is in the Locking page.
/// Inlinable, because every request takes several.
public final class Lock<State>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that `state` is only reached through `mutex`.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var state: State

    /// Takes `state` under guard.
    public init(_ state: consuming State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        self.state = state
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone with the state.
    @inlinable @inline(__always)
    public func withLock<Result, Problem: Error>(
        _ body: (inout State) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body` alone with the state, if nobody else has it at the moment.
    package func withLockIfFree(_ body: (inout State) -> Void) {
        guard pthread_mutex_trylock(mutex) == 0 else { return }
        defer { pthread_mutex_unlock(mutex) }
        body(&state)
    }
}

/// A lock with a condition to wait for; the same rules as ``Lock``.
public final class Monitor<State>: @unchecked Sendable {
    // Unchecked for the reason given at Lock.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline var state: State

    /// Takes `state` under guard.
    public init(_ state: consuming State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        self.state = state
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone with the state and wakes every waiter afterwards.
    @inlinable
    public func signal<Result, Problem: Error>(
        _ body: (inout State) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Wakes one waiter, for states in which each can do what is to be done. What was changed without
    /// a signal before is seen by it.
    public func signalOne() { pthread_cond_signal(condition) }

    /// Runs `body` alone with the state and wakes nobody.
    @inlinable
    public func withLock<Result, Problem: Error>(
        _ body: (inout State) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits until `body` gives a result, at most until `deadline` (of ``MonotonicClock``); `nil`
    /// when the time ran out. `body` runs with the lock held, again after every signal.
    public func wait<Result>(
        until deadline: UInt64 = .max, _ body: (inout State) -> Result?
    ) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if deadline == .max {
                pthread_cond_wait(condition, mutex)
            } else {
                var moment = timespec(
                    tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
                if pthread_cond_timedwait(condition, mutex, &moment) == ETIMEDOUT {
                    return body(&state)
                }
            }
        }
    }
}

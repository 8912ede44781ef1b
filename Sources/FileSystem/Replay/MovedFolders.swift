internal import Glibc
internal import Model
internal import Synchronization
internal import SystemCalls

/// Folders that were moved otherwise than through the kernel, and are looked up before it has heard of it.
///
/// The kernel has such a folder at its former place still, and moves it when somebody looks it up at the new
/// one. It only tries the locks that it needs for that: beside a rename anywhere, or a change of the former
/// directory, it fails, goes through the whole path once more, asking for each folder on it, and says ESTALE
/// if it fails again. Who so asks for the folder above is answered when those are done who make the kernel
/// take such locks: the replay's helper and the name notifier. They begin nothing new until the folder can be
/// moved. A rename that waits for a directory keeps the locks, so nothing is let wait that may have the lock of
/// one: not the request for the folder itself. Any thread; no wait is longer than ``patience``.
final class MovedFolders: Sendable {
    /// In milliseconds.
    static let patience: UInt64 = 20
    /// The kernel goes through the path again so soon, in milliseconds.
    private static let again: UInt64 = 5
    /// It moves the folder so soon after it was answered, in milliseconds.
    private static let moving: UInt64 = 1

    private struct State {
        /// Who was told of such a folder, in which directory, and until when it may come again.
        var told: [Int32: (directory: ItemNumber, until: UInt64)] = [:]
        /// Those who make the kernel take locks now.
        var busy = 0
        var waiting: [SingleCall] = []
        /// Nobody begins before.
        var quiet: UInt64 = 0

        mutating func drop(before now: UInt64) { told = told.filter { $0.value.until > now } }
    }
    private let state = Monitor(State())
    private let isAny = Atomic<Bool>(false)

    /// A thread is told of such a folder in a directory.
    func tell(_ thread: Int32, in directory: ItemNumber) {
        let now = MonotonicClock.now
        state.withLock { state in
            if state.told.count > 100 { state.drop(before: now) }
            state.told[thread] = (directory, now + Self.again * 1_000_000)
            isAny.store(true, ordering: .releasing)
        }
    }

    /// Whether a thread asks for that directory because the kernel could not move what it was told of there.
    /// One load as a rule.
    @inline(__always)
    func comesAgain(_ thread: Int32, to directory: ItemNumber) -> Bool {
        if !isAny.load(ordering: .acquiring) { return false }
        return state.withLock { state in
            let now = MonotonicClock.now
            let comes =
                state.told[thread].map { $0.directory == directory && now < $0.until } ?? false
            if comes { state.told[thread] = nil } else { state.drop(before: now) }
            if state.told.isEmpty { isAny.store(false, ordering: .releasing) }
            return comes
        }
    }

    /// Runs `body` when nothing is in the way of moving a folder; on a thread of the volume, or at once.
    func whenFree(_ scheduler: Scheduler, _ body: @escaping @Sendable () -> Void) {
        let call = SingleCall(body)
        let waits = state.withLock { state in
            if state.busy == 0 {
                state.quiet = MonotonicClock.after(milliseconds: Self.moving)
                return false
            }
            state.waiting.append(call)
            return true
        }
        if !waits { return call.make() }
        scheduler.at(MonotonicClock.after(milliseconds: Self.patience)) { [self] in
            state.signal { $0.waiting.removeAll { $0 === call } }
            call.make()
        }
    }

    /// Runs what makes the kernel take locks of directories, when those that come again have come through.
    func locking<Result>(_ body: () -> Result) -> Result {
        begin()
        defer {
            let free = state.signal { state -> [SingleCall] in
                state.busy -= 1
                if state.busy > 0 || state.waiting.isEmpty { return [] }
                defer { state.waiting = [] }
                state.quiet = MonotonicClock.after(milliseconds: Self.moving)
                return state.waiting
            }
            for call in free { call.make() }
        }
        return body()
    }

    private func begin() {
        let end = MonotonicClock.after(milliseconds: Self.patience)
        while true {
            let quiet: UInt64? = state.wait(until: end) { state in
                if !state.waiting.isEmpty { return nil }
                if state.quiet <= MonotonicClock.now {
                    state.busy += 1
                    return 0
                }
                return state.quiet
            }
            if quiet == 0 { return }
            let now = MonotonicClock.now
            if now >= end { break }
            if let quiet, quiet > now { usleep(UInt32((quiet - now) / 1_000 + 1)) }
        }
        state.withLock { $0.busy += 1 }
    }
}

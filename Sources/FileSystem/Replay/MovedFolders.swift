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
/// moved. Who has a descriptor of the folder above asks at once for the moved one again, and waits for them
/// as well, but not for one that needs that folder above: the kernel has it locked for the request, and a
/// rename that waits for a directory keeps the other locks. Any thread; no wait is longer than ``patience``.
final class MovedFolders: Sendable {
    /// In milliseconds.
    static let patience: UInt64 = 20
    /// The kernel goes through the path again so soon, in milliseconds.
    private static let again: UInt64 = 5
    /// It moves the folder so soon after it was answered, in milliseconds.
    private static let moving: UInt64 = 1

    /// A folder that a thread was told of, in a directory, and until when it may come again.
    private struct Telling {
        let folder: ItemNumber
        let directory: ItemNumber
        let until: UInt64
    }

    /// One who makes the kernel take locks, and the directories that are locked; nil if that is not known.
    private struct Locking {
        let number: UInt64
        let directories: [ItemNumber]?

        func needs(_ directory: ItemNumber) -> Bool { directories?.contains(directory) ?? true }
    }

    private struct State {
        /// By the threads.
        var told: [Int32: Telling] = [:]
        var busy: [Locking] = []
        /// The last one's.
        var number: UInt64 = 0
        var waiting: [SingleCall] = []
        /// Nobody begins before.
        var quiet: UInt64 = 0

        mutating func drop(before now: UInt64) { told = told.filter { $0.value.until > now } }
    }
    private let state = Monitor(State())
    private let isAny = Atomic<Bool>(false)

    /// A thread is told of such a folder in a directory.
    func tell(_ thread: Int32, of folder: ItemNumber, in directory: ItemNumber) {
        let now = MonotonicClock.now
        state.withLock { state in
            if state.told.count > 100 { state.drop(before: now) }
            state.told[thread] = Telling(
                folder: folder, directory: directory, until: now + Self.again * 1_000_000)
            isAny.store(true, ordering: .releasing)
        }
    }

    /// How a thread comes again that asks for a folder in a directory.
    enum Return {
        /// For the folder above the one that the kernel could not move.
        case fromAbove
        /// For that one itself.
        case directly
    }

    /// Whether, and how, a thread asks because the kernel could not move what it was told of. One load as a rule.
    @inline(__always)
    func comesAgain(
        _ thread: Int32, for folder: ItemNumber, in directory: ItemNumber
    ) -> Return? {
        if !isAny.load(ordering: .acquiring) { return nil }
        return state.withLock { state in
            let now = MonotonicClock.now
            var comes: Return?
            if let told = state.told.removeValue(forKey: thread), now < told.until {
                if told.directory == folder {
                    comes = .fromAbove
                } else if told.folder == folder, told.directory == directory {
                    comes = .directly
                } else {
                    state.told[thread] = told
                }
            }
            if comes == nil { state.drop(before: now) }
            if state.told.isEmpty { isAny.store(false, ordering: .releasing) }
            return comes
        }
    }

    /// Runs `body` when nothing is in the way of moving a folder; on a thread of the volume, or at once.
    ///
    /// - Parameter directory: what the kernel has locked until then: who needs it is not waited for.
    func whenFree(
        _ scheduler: Scheduler, locked directory: ItemNumber? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        let call = SingleCall(body)
        let waits = state.withLock { state in
            if state.busy.isEmpty {
                state.quiet = MonotonicClock.after(milliseconds: Self.moving)
                return false
            }
            if let directory, state.busy.contains(where: { $0.needs(directory) }) { return false }
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
    ///
    /// - Parameter directories: which; nil if that is not known.
    func locking<Result>(_ directories: [ItemNumber]?, _ body: () -> Result) -> Result {
        let number = begin(directories)
        defer {
            let free = state.signal { state -> [SingleCall] in
                state.busy.removeAll { $0.number == number }
                if !state.busy.isEmpty || state.waiting.isEmpty { return [] }
                defer { state.waiting = [] }
                state.quiet = MonotonicClock.after(milliseconds: Self.moving)
                return state.waiting
            }
            for call in free { call.make() }
        }
        return body()
    }

    /// Returns the number among those who are busy.
    private func begin(_ directories: [ItemNumber]?) -> UInt64 {
        let end = MonotonicClock.after(milliseconds: Self.patience)
        while true {
            let next: (number: UInt64, pause: UInt64)? = state.wait(until: end) { state in
                let now = MonotonicClock.now
                if now < end {
                    if !state.waiting.isEmpty { return nil }
                    if now < state.quiet { return (0, state.quiet - now) }
                }
                state.number += 1
                state.busy.append(Locking(number: state.number, directories: directories))
                return (state.number, 0)
            }
            guard let next else { continue }
            if next.number != 0 { return next.number }
            usleep(UInt32(next.pause / 1_000 + 1))
        }
    }
}

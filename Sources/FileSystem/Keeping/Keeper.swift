internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The thread that looks after what nobody waits for: makes published versions durable, thins out
/// earlier ones, removes what was unlinked, keeps room on the disk.
///
/// Blobs come and go on this thread alone, so that a blob is never removed while a version with the
/// same hash is being sealed.
final class Keeper: Sendable {
    /// How often it looks, in milliseconds.
    static let pace: UInt64 = 1_000
    /// How long who wants room waits for it, in milliseconds.
    static let patience: UInt64 = 10_000
    /// A version is on the disk within 5 s: one sync for all, this long after the first.
    private static let durability: UInt64 = 2_500_000_000
    /// Access times are recorded this often, in nanoseconds.
    private static let accessPace: UInt64 = 5_000_000_000
    /// All documents' earlier versions are looked through this often, in nanoseconds.
    private static let thinningPace: UInt64 = 600_000_000_000

    /// A round goes on for so long, in milliseconds, with the removing of what others wait for.
    private static let purgingTime: UInt64 = 3_000

    /// Freed memory goes back to the system this often, in nanoseconds.
    private static let trimPace: UInt64 = 20_000_000_000

    private struct State {
        var hurried = false
        var ended = false
        var done = false
        /// When the first version was published that no sync has covered.
        var firstUnsynced: UInt64 = 0
        var accessed: UInt64 = 0
        var thinned: UInt64 = 0
        var trimmed: UInt64 = 0
        /// Threads that wait for room.
        var wantRoom = 0
        /// Threads that only want what was removed to go.
        var wantRemoved = 0
        /// Rounds that were begun, and those that were made.
        var begun = 0
        var rounds = 0
        /// The last round that threads wait for.
        var awaited = 0
        /// The last round that let anything go, and the last after whose beginning nothing was left of what
        /// was removed.
        var gained = 0
        var purged = 0
    }

    /// What a thread that wants room waits for.
    enum Room {
        /// That what was removed is gone, and no earlier version.
        case ofRemoved
        /// That anything is gone.
        case some
        /// That all is gone that may go.
        case all
    }
    private let state = Monitor(State())
    private let work = Lock<Weeding?>(nil)

    /// Starts the thread for `volume`.
    func start(_ volume: Volume) {
        work.withLock { $0 = Weeding(volume) }
        Threads.start("keeper", yielding: true, keeping: volume) { [self] in
            let hashing = PartialHashing()
            work.withLock({ $0 })?.countLeftArrivals()
            work.withLock({ $0 })?.findPins()
            while !round(hashing) {}
            state.signal { $0.done = true }
        }
    }

    /// Ends the thread after everything is sealed, or at least on the disk, however long a slow one
    /// takes: what is called closed is not looked at after a loss of power. Returns when it is gone.
    func stop() {
        state.signal { $0.ended = true }
        let _: Bool? = state.wait { $0.done ? true : nil }
        work.withLock { $0 = nil }
    }

    /// There is something to remove.
    func wake() { state.signal { $0.hurried = true } }

    /// A version was published, or a content came from the store: it is to be on the disk soon.
    func needsSync() {
        state.withLock { state in
            if state.firstUnsynced == 0 { state.firstUnsynced = MonotonicClock.now }
        }
    }

    /// Lets go of what may be let go of, and waits for it; says whether that made room since.
    @discardableResult
    func makeRoom(
        _ room: Room, until end: UInt64 = MonotonicClock.after(milliseconds: patience)
    ) -> Bool {
        let target = state.signal { state -> Int in
            if room == .ofRemoved { state.wantRemoved += 1 } else { state.wantRoom += 1 }
            state.hurried = true
            // One that is under way does not know of this.
            state.awaited = state.begun + 1
            return state.awaited
        }
        let _: Bool? = state.wait(until: end) { state in
            let isMade =
                switch room {
                case .ofRemoved: state.purged >= target
                case .some: state.gained >= target || state.rounds >= target
                case .all: state.rounds >= target && state.purged >= target
                }
            return isMade ? true : nil
        }
        return state.withLock { state in
            if room == .ofRemoved { state.wantRemoved -= 1 } else { state.wantRoom -= 1 }
            return state.gained >= target
        }
    }

    /// Seals one version now, for fsync; says whether it was one that needed it.
    func seal(_ node: NodeNumber) throws(Errno) -> Bool {
        guard let weeding = work.withLock({ $0 }) else { return false }
        return try weeding.seal(now: node)
    }

    private func round(_ hashing: PartialHashing) -> Bool {
        _ = state.wait(until: MonotonicClock.after(milliseconds: Self.pace)) { state -> Bool? in
            state.hurried || state.ended ? true : nil
        }
        let plan = state.withLock { state in
            // Taken under the lock: nothing that is recorded here is later.
            let now = MonotonicClock.now
            let accessed = now - state.accessed > Self.accessPace || state.ended
            if accessed { state.accessed = now }
            let sync = state.firstUnsynced != 0 && now - state.firstUnsynced > Self.durability
            if sync { state.firstUnsynced = 0 }
            let everything = now - state.thinned > Self.thinningPace
            if everything { state.thinned = now }
            let trim = now - state.trimmed > Self.trimPace
            if trim { state.trimmed = now }
            state.hurried = false
            state.begun += 1
            return (
                sync: sync, accessed: accessed, everything: everything, trim: trim,
                room: state.wantRoom > 0, removed: state.wantRemoved > 0, ended: state.ended
            )
        }
        guard let weeding = work.withLock({ $0 }) else { return true }
        // Whatever nobody waited for is in the journal within a second, and on the disk.
        weeding.synchronizeLog()
        weeding.settleRecents(ending: plan.ended)
        weeding.remove(contentsOf: [])
        if plan.sync, !weeding.synchronizeContents() {
            // Another time it may work.
            state.withLock { $0.firstUnsynced = MonotonicClock.now }
        }
        if plan.accessed { weeding.recordAccessTimes() }
        let tight = plan.room || weeding.isTight
        if tight { weeding.volume.noteFullDisk() }
        weeding.keepReserve(tight: tight)
        // A file that was removed may be made again in a moment, and is its document then; only who waits
        // for room is in a hurry, and does not wait for what is to be sealed as well.
        let isHurried = plan.room || plan.removed
        var hasMore = isHurried
        let purgingEnd = MonotonicClock.after(milliseconds: Self.purgingTime)
        while hasMore, MonotonicClock.now < purgingEnd {
            hasMore = purge(weeding, now: true, ending: plan.ended)
        }
        let isHashing = weeding.sealDue(
            hashing, all: tight || plan.ended, ending: plan.ended
        ) { isAwaited }
        if !isHurried { hasMore = purge(weeding, now: plan.ended, ending: plan.ended) }
        // Not for room either: a living document is no file between the two halves of a save.
        var gained = weeding.purgeAbandoned(now: plan.ended)
        gained = weeding.thin(tight: tight, everything: plan.everything) || gained
        gained = weeding.endWaits(all: plan.room) || gained
        if plan.room { gained = weeding.dropParts() || gained }
        weeding.followPins()
        weeding.letClosedGo()
        weeding.keepQuota()
        if plan.ended { weeding.settleArrivals() }
        weeding.removeUnusedPacks(ending: plan.ended)
        if plan.trim { Memory.trim() }
        state.signal { state in
            state.rounds += 1
            // The rest of it comes with the next rounds.
            if isHashing || hasMore, !state.ended { state.hurried = true }
            if gained { state.gained = state.begun }
        }
        return plan.ended
    }

    /// Whether somebody waits for a round that was not begun yet.
    private var isAwaited: Bool { state.withLock { $0.awaited > $0.begun } }

    /// Removes items that have no name, and tells who waits for that; says whether there are more.
    private func purge(_ weeding: Weeding, now: Bool, ending: Bool) -> Bool {
        let (gained, isMore) = weeding.purge(now: now, ending: ending)
        if gained {
            weeding.noteRemoval()
            weeding.volume.log.retry()
        }
        state.signal { state in
            if gained { state.gained = state.begun }
            if !isMore { state.purged = state.begun }
        }
        return isMore
    }
}

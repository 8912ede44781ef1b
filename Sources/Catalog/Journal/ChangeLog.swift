package import Model
internal import Synchronization
package import SystemCalls

/// Takes mutations in, gives them their sequence, and brings them to the journal and to SQLite.
///
/// ``append(_:)`` orders (under the caller's lock, in memory), ``flush(upTo:)`` writes the journal
/// and returns when the mutation survives the death of the daemon, ``synchronize()`` when it
/// survives power loss. A thread of its own applies what the journal has to SQLite in batches; a
/// file of the journal is used again once SQLite has all of it durably.
package final class ChangeLog: @unchecked Sendable {
    // Unchecked because of what is not Sendable: `journal` is only used under `writer`, `database` and
    // `pruned` only by the applying thread once that is started.

    /// Bytes kept free in the journal for what was already admitted.
    private static let reserve = 512 << 10
    /// Mutations that may wait for SQLite before callers are slowed down.
    private static let longestQueue = 40_000
    /// With so many waiting they are applied without gathering more.
    private static let longQueue = 24_576
    /// Mutations of one SQLite transaction.
    private static let batch = 8_192
    /// How long mutations may gather before they are applied, in milliseconds.
    private static let gathering: UInt64 = 1_500

    /// Changes that can be read again from the catalog, which would grow for ever otherwise.
    package static let keptChanges = 250_000
    /// So many more than those may gather before the oldest go, ...
    private static let excess = 4_096
    /// ... and so many go in one step.
    private static let pruning = 16_384

    private struct Pending {
        var next: ChangeSequence
        var mutations: [Mutation] = []
    }
    private struct Writer {
        var flushed: ChangeSequence
        /// Everything up to here survives power loss.
        var synchronized: ChangeSequence = 0
    }
    struct Queue {
        var mutations: [Mutation] = []
        /// Everything up to here is in SQLite.
        var applied: ChangeSequence
        /// Everything up to here is in SQLite and on the disk.
        var durable: ChangeSequence
        var wantDurable: ChangeSequence = 0
        /// Somebody waits: do not gather.
        var hurried = false
        /// There may be room on the disk again, or somebody waits for another try.
        var retries = false
        var problem: Failure?
        /// How often SQLite has failed.
        var failures = 0
        var closing = false
        var closed = false

        /// The disk is full, and SQLite has used what it held for that.
        var isStuck: Bool { problem?.isDiskFull ?? false }
    }

    private let journal: Journal
    private let database: CatalogDatabase
    private let pending: Lock<Pending>
    private let writer: Lock<Writer>
    let queue: Monitor<Queue>
    /// Tells of changes when the journal has them.
    package let feed: ChangeFeed
    /// The journal could not be brought to the disk: nothing more may be acknowledged.
    private let isBroken = Atomic(false)
    /// Bytes that are free on the disk for what grows. Costs next to nothing where they are many.
    let roomToGrow: @Sendable () -> UInt64
    /// The journal did not take what is pending, and is to be tried again first.
    private let isHeldUp = Atomic(false)
    /// Something was written that ``mark()`` has not noted.
    private let isUnmarked = Atomic(false)
    /// Changes that can be read again.
    private let kept: Int
    /// The last change when the log was pruned.
    private var pruned: ChangeSequence = 0

    /// - Parameters:
    ///   - database: holds every mutation of the journal; used by this object alone from now on.
    ///   - kept: how many changes can be read again.
    ///   - roomToGrow: bytes that are free on the disk for what grows; costs next to nothing where they are many.
    package init(
        journal: Journal, database: CatalogDatabase, keeping kept: Int = ChangeLog.keptChanges,
        roomToGrow: @escaping @Sendable () -> UInt64 = { .max }
    ) {
        self.kept = kept
        self.roomToGrow = roomToGrow
        let applied = database.appliedSequence
        self.journal = journal
        self.database = database
        pending = Lock(Pending(next: applied + 1))
        feed = ChangeFeed(head: applied)
        writer = Lock(Writer(flushed: applied))
        queue = Monitor(Queue(applied: applied, durable: applied))
        Threads.start("catalog", yielding: true) { [self] in applyForever() }
    }

    /// The last sequence given out.
    package var head: ChangeSequence { pending.withLock { $0.next - 1 } }

    // MARK: Taking in

    /// Says whether another mutation can be taken: waits a little while SQLite is far behind.
    ///
    /// - Throws: ENOSPC when SQLite cannot write and the journal is nearly full, EIO when the
    ///   journal could not be brought to the disk, and what it said when it could not be written and still
    ///   cannot. Nothing has been changed then.
    package func admit() throws(Errno) {
        // Not under the writer's lock, which is held while the journal is written.
        if isBroken.load(ordering: .acquiring) { throw Errno(5) }
        if isHeldUp.load(ordering: .acquiring) {
            try writer.withLock { (state) throws(Errno) in try write(&state) }
        }
        if queue.withLock({ $0.mutations.count < Self.longestQueue && $0.problem == nil }) {
            return
        }
        let full: Bool? = queue.wait(until: MonotonicClock.after(milliseconds: 5_000)) { state in
            if state.mutations.count < Self.longestQueue { return false }
            if state.problem != nil { return true }
            return nil
        }
        if full == true { throw Errno(28) }
        if queue.withLock({ $0.problem }) != nil,
            writer.withLock({ _ in
                journal.room < journal.capacity / 4 && !otherFileIsFree
            })
        {
            throw Errno(28)
        }
    }

    /// Gives `mutation` the next sequence. Call it under the lock that guards what it describes, so
    /// that the log's order is the order in which things happened.
    @discardableResult
    package func append(_ mutation: Mutation) -> ChangeSequence {
        pending.withLock { state in
            var mutation = mutation
            mutation.sequence = state.next
            state.next += 1
            state.mutations.append(mutation)
            return mutation.sequence
        }
    }

    /// Returns when the mutation `sequence` and all before it survive the daemon's death.
    ///
    /// - Parameter marksLater: ``mark()`` follows, when nobody waits any more.
    package func flush(upTo sequence: ChangeSequence, marksLater: Bool = false) throws(Errno) {
        try writer.withLock { (state) throws(Errno) in
            if state.flushed >= sequence { return }
            try write(&state)
            if marksLater {
                isUnmarked.store(true, ordering: .relaxed)
            } else {
                journal.markLast()
            }
        }
    }

    /// Notes what the journal got last, so that damage to it is found. Waits for nobody: whoever writes to the
    /// journal now, or next, does it as well.
    package func mark() {
        guard isUnmarked.exchange(false, ordering: .relaxed) else { return }
        writer.withLockIfFree { _ in journal.markLast() }
    }

    /// Has what was appended told soon, though whoever appended it does not wait for the journal:
    /// those who follow are woken, and flush before they look. So they are told nothing that the
    /// journal does not have. If nobody follows nothing is done. Not under the volume's lock.
    package func announce() { feed.announce() }

    /// Returns when everything appended so far survives power loss.
    ///
    /// - Throws: what the disk said; from then on EIO, until the container is opened again.
    package func synchronize() throws(Errno) {
        try writer.withLock { (state) throws(Errno) in
            try write(&state)
            journal.markLast()
            if state.synchronized == state.flushed { return }
            try makeDurable { () throws(Errno) in try journal.synchronize() }
            state.synchronized = state.flushed
        }
    }

    /// A step that brings the journal to the disk. The kernel tells only once that it could not, and takes
    /// the pages for written then: the next step would succeed without them, and after a loss of power
    /// everything behind the hole would be missing.
    private func makeDurable(_ step: () throws(Errno) -> Void) throws(Errno) {
        do throws(Errno) { try step() } catch {
            isBroken.store(true, ordering: .releasing)
            throw error
        }
    }

    private var otherFileIsFree: Bool {
        let last = journal.lastOfOther
        return queue.withLock { state in state.durable >= last }
    }

    /// Writes what is pending; the writer's lock is held.
    private func write(_ state: inout Writer) throws(Errno) {
        if isBroken.load(ordering: .acquiring) { throw Errno(5) }
        var mutations = pending.withLock { pending in
            defer { pending.mutations = [] }
            return pending.mutations[...]
        }
        while !mutations.isEmpty {
            // Put into bytes here, not when it was appended: that was under the volume's lock.
            var records = ByteWriter()
            var count = 0
            for mutation in mutations {
                if records.count >= Self.reserve { break }
                Journal.append(mutation, to: &records)
                count += 1
            }
            let part = mutations.prefix(count)
            do throws(Errno) { try makeRoom(for: records.count, state) } catch {
                // Nothing is lost: it waits here until there is room.
                pending.withLock { $0.mutations = mutations + $0.mutations }
                throw error
            }
            let last = part[part.endIndex - 1].sequence
            do throws(Errno) { try journal.write(records, last: last) } catch {
                // Nothing is lost here either: the next try writes the same bytes to the same place. A disk that
                // never writes over a block in its place (btrfs) may have no room for one of the journal.
                pending.withLock { $0.mutations = mutations + $0.mutations }
                isHeldUp.store(true, ordering: .releasing)
                throw error
            }
            state.flushed = last
            mutations = mutations.dropFirst(count)
            // The applying thread looks by itself every now and then: waking it for each mutation
            // would cost more than the mutation.
            let many = queue.withLock { state -> Bool in
                state.mutations += part
                return state.mutations.count >= Self.longQueue
            }
            if many { queue.signal { _ in } }
            feed.publish(part)
        }
        isHeldUp.store(false, ordering: .releasing)
    }

    /// Goes on in the other file when this one is nearly full and the other is free; waits for that
    /// only if it must. The applying thread never comes here, so it can be waited for.
    private func makeRoom(for count: Int, _ state: Writer) throws(Errno) {
        if count + Self.reserve <= journal.room { return }
        let retired = journal.lastOfOther
        queue.signal { queue in
            queue.wantDurable = max(queue.wantDurable, retired)
            queue.hurried = true
        }
        // The reserve is there for this: the other file is not free yet.
        if count <= journal.room, !otherFileIsFree { return }
        let free: Bool? = queue.wait(until: MonotonicClock.after(milliseconds: 30_000)) { queue in
            if queue.durable >= retired { return true }
            return queue.problem == nil ? nil : false
        }
        guard free == true else { throw Errno(28) }
        try makeDurable { () throws(Errno) in try journal.rotate() }
        queue.signal { $0.wantDurable = max($0.wantDurable, state.flushed) }
    }

    // MARK: Applying

    private func applyForever() {
        while true {
            _ = queue.wait(until: MonotonicClock.after(milliseconds: Self.gathering)) {
                state -> Bool? in
                if state.hurried || state.closing || state.mutations.count >= Self.longQueue {
                    return true
                }
                return nil
            }
            let (mutations, closing) = queue.withLock { state in
                (Array(state.mutations.prefix(Self.batch)), state.closing)
            }
            do throws(Failure) {
                try apply(mutations)
                if closing, mutations.isEmpty {
                    try database.checkpoint()
                    break
                }
            } catch {
                queue.signal { state in
                    state.problem = error
                    state.failures += 1
                }
                if closing { break }
                _ = queue.wait(until: MonotonicClock.after(milliseconds: 500)) { state in
                    defer { state.retries = false }
                    return state.closing || state.retries ? true : nil
                }
            }
        }
        database.close()
        queue.signal { $0.closed = true }
    }

    private func apply(_ mutations: [Mutation]) throws(Failure) {
        if !mutations.isEmpty { try database.applyAll(mutations) }
        let applied = database.appliedSequence
        let wantDurable = queue.signal { state -> Bool in
            state.mutations.removeFirst(mutations.count)
            state.applied = applied
            state.problem = nil
            if state.mutations.isEmpty { state.hurried = false }
            return state.wantDurable > state.durable && applied >= state.wantDurable
        }
        if wantDurable {
            try database.checkpoint()
            queue.signal { $0.durable = applied }
        } else {
            // A file of the journal takes long to fill: what it holds can be many times as long in
            // SQLite's log, which would only be emptied then.
            try database.shortenLog()
        }
        prune(applied)
    }

    /// Takes the oldest changes out now and then. If that fails there is another time.
    private func prune(_ applied: ChangeSequence) {
        if applied < pruned + UInt64(Self.excess) { return }
        let isDone = try? database.pruneChanges(keeping: kept, atMost: Self.pruning)
        if isDone != false { pruned = applied }
    }

    /// Returns when SQLite has everything appended so far.
    package func drain() throws(Failure) {
        let wanted = head
        do throws(Errno) { try flush(upTo: wanted) } catch {
            throw Failure(.inputOutput, "the journal cannot be written: \(error)")
        }
        // Mostly it has, and the applying thread is let sleep.
        if queue.withLock({ $0.applied >= wanted }) { return }
        // What failed before may work now; room on a full disk does not come by itself.
        let failures = queue.signal { state -> Int in
            state.hurried = true
            if state.isStuck { return -1 }
            state.retries = true
            return state.failures
        }
        let result: Failure?? = queue.wait(until: MonotonicClock.after(milliseconds: 60_000)) {
            state in
            if state.applied >= wanted { return .some(nil) }
            if let problem = state.problem, state.failures > failures { return .some(problem) }
            return nil
        }
        guard let outcome = result else {
            throw Failure(.temporary, "the catalog did not take the changes within a minute")
        }
        if let problem = outcome { throw problem }
    }

    /// What stops the journal or SQLite from taking changes, if anything does.
    package var problem: Failure? {
        if isBroken.load(ordering: .acquiring) {
            return Failure(
                .inputOutput,
                "\(journal.folder): the disk did not take the journal: nothing can be changed until the "
                    + "container is unmounted and mounted again; see first that this disk works")
        }
        return queue.withLock { $0.problem }
    }

    /// Applies everything, makes it durable and ends the thread. Nothing may be appended afterwards.
    package func close() {
        try? flush(upTo: head)
        queue.signal { $0.closing = true }
        let _: Bool? = queue.wait { $0.closed ? true : nil }
    }

    /// Gives the disk back the room that the catalog holds, after ``close()``, when this process has the
    /// catalog open nowhere else.
    package func releaseRoom() { database.releaseRoom() }
}

internal import Glibc
package import Logging
package import Model
package import Stores
internal import SystemCalls

/// Brings published contents to the store, in the background: one after the other in the order they
/// were published, each again until it is there.
///
/// The queue is not kept: what has to go is what the catalog says is sealed and not stored. Any thread.
package final class Uploads: Sendable {
    /// A content to be put.
    package struct Job: Sendable {
        package let node: NodeNumber
        package let blob: Blob

        package init(node: NodeNumber, blob: Blob) {
            self.node = node
            self.blob = blob
        }
    }

    /// Contents at a time.
    private static let workers = 2
    /// The first wait after a failure, and the longest, in nanoseconds.
    private static let firstWait: UInt64 = 500_000_000
    private static let longestWait: UInt64 = 15_000_000_000
    /// How long a content is left that failed too often by its own fault, in nanoseconds.
    private static let rest: UInt64 = 60_000_000_000
    /// The longest wait that a store is granted which asks to be left alone, in seconds: it may be wrong.
    private static let longestAsked: Double = 600
    /// A request that the store has not answered may be carried out for so long, in nanoseconds.
    static let longestDoubt: UInt64 = 600_000_000_000
    /// A content that failed so often in a row does not keep the others waiting any more.
    private static let patience = 3

    private struct State {
        /// From ``next`` on: those before have been taken.
        var queue: [Job] = []
        var next = 0
        var running: [NodeNumber: Cancellation] = [:]
        /// What is being put, how often, and what must not be for now.
        var sending: [ContentHash: Int] = [:]
        var reserved: Set<ContentHash> = []
        /// What the store may yet remove, and until when that is thought, of ``MonotonicClock``.
        var doubtful: [ContentHash: UInt64] = [:]
        var workers = 0
        /// Of all that wait or are on their way.
        var bytes: Int64 = 0
        var left: Int { queue.count - next }
        /// Nothing waits or is on its way.
        var isEmpty: Bool { left == 0 && aside.isEmpty && running.isEmpty }
        /// How often contents have failed that may be at fault themselves.
        var failures: [NodeNumber: Int] = [:]
        /// Those that failed too often, in the order of the moments when they are tried again.
        var aside: [(job: Job, from: UInt64)] = []

        mutating func takeFirst() -> Job {
            let job = queue[next]
            next += 1
            // Given up in large parts: a container may have a million to upload.
            if next >= 4096 || next == queue.count {
                queue.removeFirst(next)
                next = 0
            }
            return job
        }

        mutating func putAside(_ job: Job, until moment: UInt64) {
            let next = aside.firstIndex { $0.from > moment } ?? aside.count
            aside.insert((job, moment), at: next)
        }

        /// Puts those whose time has come back into the queue.
        mutating func takeBack(_ now: UInt64) {
            let ripe = aside.prefix { $0.from <= now }
            if ripe.isEmpty { return }
            queue += ripe.map(\.job)
            aside.removeFirst(ripe.count)
        }

        /// Not before this moment; grows while the store does not answer.
        var pausedUntil: UInt64 = 0
        var wait: UInt64 = Uploads.firstWait
        var problem: String?
        var ended = false
    }
    private let state = Monitor(State())
    private let store: any ContentStore
    private let damaged: DamagedBlobs?
    private let logger: Logger
    /// Opens a content for reading; `nil` if it need not go any more. Throws `local` if it cannot be
    /// opened for now.
    private let source: @Sendable (Job) throws(StoreError) -> (any BlobSource)?
    /// Called before each content, on its thread.
    private let ready: @Sendable (StoreCall) throws(StoreError) -> Void
    /// The store has it.
    private let done: @Sendable (Job) -> Void
    /// Told why an attempt failed; there will be others.
    private let failed: @Sendable (Job, StoreError) -> Void

    /// - Parameter damaged: what is in the store and must not be taken for what is put.
    package init(
        store: any ContentStore, damaged: DamagedBlobs? = nil, logger: Logger,
        ready: @escaping @Sendable (StoreCall) throws(StoreError) -> Void,
        source: @escaping @Sendable (Job) throws(StoreError) -> (any BlobSource)?,
        done: @escaping @Sendable (Job) -> Void,
        failed: @escaping @Sendable (Job, StoreError) -> Void
    ) {
        self.store = store
        self.damaged = damaged
        self.logger = logger
        self.ready = ready
        self.source = source
        self.done = done
        self.failed = failed
    }

    /// Contents that wait or are on their way.
    package var count: Int {
        state.withLock { $0.left + $0.aside.count + $0.running.count }
    }

    /// Bytes of those.
    package var bytes: Int64 { state.withLock { $0.bytes } }

    /// Why the last attempt failed; `nil` since one succeeded.
    package var problem: String? { state.withLock { $0.problem } }

    /// Notes what keeps all waiting that has to go, until ``goOn(after:)``, or something has gone; those that are on
    /// their way.
    package func hold(_ problem: String) -> [NodeNumber] {
        state.withLock { state in
            state.problem = problem
            return Array(state.running.keys)
        }
    }

    /// That does not keep anything waiting any more.
    package func goOn(after problem: String) {
        state.withLock { if $0.problem == problem { $0.problem = nil } }
    }

    /// Queues contents.
    package func add(_ jobs: [Job]) {
        if jobs.isEmpty { return }
        let starts = state.signal { state -> Int in
            if state.ended { return 0 }
            state.queue += jobs
            state.bytes += jobs.reduce(0) { $0 + $1.blob.size }
            let starts = min(Self.workers, state.left) - state.workers
            state.workers += max(starts, 0)
            return max(starts, 0)
        }
        for _ in 0..<starts { Threads.start("upload") { [self] in work() } }
    }

    /// Ends the sending of contents that nobody needs any more; those that wait are not sent when it is their
    /// turn.
    package func cancel(_ nodes: [NodeNumber]) {
        state.withLock { state in
            if state.running.isEmpty { return }
            for node in nodes { state.running[node]?.cancel() }
        }
    }

    /// Ends the workers; what has not gone goes the next time. Returns when they are gone, or after
    /// 5 s.
    package func stop() {
        state.signal { state in
            state.ended = true
            for cancellation in state.running.values { cancellation.cancel() }
        }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.workers == 0 ? true : nil
        }
    }

    /// Keeps a content from being put until ``release(_:)``; `false` if it is being put.
    func reserve(_ hash: ContentHash) -> Bool {
        state.withLock { state in
            state.sending[hash] == nil && state.reserved.insert(hash).inserted
        }
    }

    func release(_ hash: ContentHash) { state.signal { _ = $0.reserved.remove(hash) } }

    /// Notes that the store may yet remove a content, whatever is put before: it is put later.
    ///
    /// - Parameter nanoseconds: for so long.
    func doubt(_ hash: ContentHash, for nanoseconds: UInt64 = Uploads.longestDoubt) {
        state.withLock { $0.doubtful[hash] = MonotonicClock.now + nanoseconds }
    }

    private func work() {
        while let (job, cancellation) = take() { run(job, cancellation) }
    }

    private func take() -> (Job, Cancellation)? {
        while true {
            let now = MonotonicClock.now
            let until = state.withLock { state -> UInt64 in
                let next = state.left > 0 ? now : state.aside.first?.from ?? now
                return max(state.pausedUntil, next)
            }
            let found = state.wait(until: until) { state -> (Job, Cancellation)?? in
                if state.ended { return .some(nil) }
                let now = MonotonicClock.now
                if state.pausedUntil > now { return nil }
                state.takeBack(now)
                guard state.left > 0 else { return state.aside.isEmpty ? .some(nil) : nil }
                let job = state.takeFirst()
                let cancellation = Cancellation()
                state.running[job.node] = cancellation
                return .some((job, cancellation))
            }
            guard let found else { continue }
            if let found { return found }
            let ends = state.signal { state -> Bool in
                // A job may have come in the last moment.
                guard state.ended || state.left + state.aside.count == 0 else { return false }
                state.workers -= 1
                return true
            }
            if ends { return nil }
        }
    }

    private func run(_ job: Job, _ cancellation: Cancellation) {
        var failure: StoreError?
        do throws(StoreError) {
            if let source = try source(job), let later = try put(job, source, cancellation) {
                return putAside(job, until: later)
            }
        } catch {
            failure = error
        }
        if let failure, failure.kind != .cancelled {
            logger.warning("\(job.blob.hash) was not uploaded: \(failure)")
            failed(job, failure)
        }
        state.signal { state in
            state.running[job.node] = nil
            if failure == nil || failure?.kind == .cancelled { state.bytes -= job.blob.size }
            guard let failure else {
                state.problem = nil
                state.wait = Self.firstWait
                state.failures[job.node] = nil
                return
            }
            if failure.kind == .cancelled {
                // It may have been this one's, and there is nothing left that has any.
                if state.isEmpty { state.problem = nil }
                return
            }
            state.problem = failure.description
            let now = MonotonicClock.now
            if failure.isAboutOne {
                let times = state.failures[job.node, default: 0] + 1
                state.failures[job.node] = times
                if times >= Self.patience {
                    state.putAside(job, until: now + Self.rest)
                    return
                }
            }
            state.queue.append(job)
            let asked = min(failure.retryAfter ?? 0, Self.longestAsked)
            state.pausedUntil = now + max(state.wait, UInt64(asked * 1e9))
            state.wait = min(state.wait * 2, Self.longestWait)
        }
    }

    /// Leaves a content for later whose removal may not be over.
    private func putAside(_ job: Job, until moment: UInt64) {
        failed(
            job,
            StoreError(
                .unreachable, at: store.address,
                "the same content was being removed there, and that may not be over"))
        state.signal { state in
            state.running[job.node] = nil
            state.putAside(job, until: moment)
        }
    }

    /// - Returns: when it is to be put, if not now.
    private func put(_ job: Job, _ source: any BlobSource, _ cancellation: Cancellation)
        throws(StoreError) -> UInt64?
    {
        var call = StoreCall(cancellation: cancellation, urgency: Urgency(awaited: false))
        // The attempts go on for as long as a store is waited for: nobody is to wonder meanwhile.
        call.fails = { [self] error in
            state.withLock { $0.problem = error.description }
            failed(job, error)
        }
        let hash = job.blob.hash
        let doubtEnd = state.wait { state -> UInt64? in
            if state.reserved.contains(hash) { return nil }
            if let moment = state.doubtful[hash], moment > MonotonicClock.now { return moment }
            state.doubtful[hash] = nil
            state.sending[hash, default: 0] += 1
            return 0
        }
        if let doubtEnd, doubtEnd > 0 { return doubtEnd }
        defer {
            state.withLock { state in
                let others = state.sending[hash, default: 1] - 1
                state.sending[hash] = others > 0 ? others : nil
            }
        }
        try ready(call)
        if let damaged, damaged.contains(hash) {
            try store.putCompared(job.blob, from: source, call, comparing: call)
            damaged.forget(hash)
        } else {
            try store.put(job.blob, from: source, call)
        }
        done(job)
        return nil
    }
}

extension StoreError {
    /// Whether the fault may lie with the content's own bytes here, with what the store answers for it, or with
    /// its size: others may go nevertheless.
    fileprivate var isAboutOne: Bool {
        switch kind {
        case .corrupt, .local, .refused(status: 413): true
        default: false
        }
    }
}

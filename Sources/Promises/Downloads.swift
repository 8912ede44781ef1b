package import Content
internal import Glibc
package import Logging
package import Model
internal import PathText
package import Stores
package import SystemCalls

/// Brings contents from the store: each once, however many wait for it, those somebody waits for
/// first.
///
/// Any thread. Nothing here waits for the network but its own workers; replies run on those, or on the
/// caller's thread if there is nothing to wait for, with no lock held.
package final class Downloads: Sendable {
    /// What the contents are.
    package enum Kind: Sendable {
        /// Blobs of the container's store. Large ones without digests come whole.
        case blobs
        /// Contents of foreign trees, by the names that stand for their hashes. The tree says with each
        /// piece whether it is still of the same content; another hash is made of what has come. They
        /// have no place here under their names.
        case foreign
    }

    /// A content that is whole, and the nodes that wanted it.
    package typealias Whole = (blob: Blob, nodes: Set<NodeNumber>)

    /// Pieces at a time, from one place.
    static let workers = 8
    /// Places of whose pieces none waits for those of the others.
    static let mostPlaces = 8
    /// A worker without work ends after this, in milliseconds.
    static let idleness: UInt64 = 10_000

    struct Ticket {
        /// What they wait for; `nil` before they do.
        var hash: ContentHash?
        let interrupted: @Sendable (Errno) -> Void
    }
    struct State {
        var active: [ContentHash: Download] = [:]
        /// Those of them of which something is still to come, in the order they came.
        var order: [Download] = []
        /// Those who wait for one of them.
        var waiting = 0
        /// Those who wait, or are about to.
        var tickets: [UInt64: Ticket] = [:]
        var nextTicket: UInt64 = 1
        var workers = 0
        /// Places that contents come from.
        var places = 1
        /// Pieces that are on their way, and how many of them from each place; not of those that were
        /// begun when there was only one.
        var running = 0
        var runningFrom: [String: Int] = [:]
        /// When more is to come for a reader who stays, of ``MonotonicClock``.
        var nextLook = UInt64.max
        /// Whole contents that have not been taken over.
        var queued = Queued()
        /// Foreign contents that were taken over a moment ago, and how long that counts, of
        /// ``MonotonicClock``: who looked before may ask for them still.
        var adopted: [ContentHash: UInt64] = [:]
        /// With so many those that do not count any more are dropped.
        var mostAdopted = 1_024
        var idle = 0
        var fetched: UInt64 = 0
        /// When something came last, of ``MonotonicClock``.
        var cameAt: UInt64 = 0
        /// Why the store gave nothing when it was last asked.
        var problem: String?
        var ended = false
    }
    /// Workers wait here for something to do, and ``stop()`` for their end.
    let state = Monitor(State())
    /// Whoever takes contents over waits here. Its lock may be taken with that of ``state`` held.
    let finished = Monitor(Finished())
    /// Whoever looks after those who wait, waits here. Its lock is never taken with that of ``state``
    /// held.
    let watch = Monitor(Watch())
    let content: LocalContent
    let store: any ContentStore
    /// Told what came with other bytes.
    let damaged: DamagedBlobs?
    package let kind: Kind
    let logger: Logger
    /// Seconds.
    let patience: Double
    let place: @Sendable (ContentHash) -> Place?
    /// Takes contents over that are whole, before anybody is told of them; what came of each.
    let adopt: @Sendable ([Whole]) -> [Result<Void, Errno>]
    /// Told that a part of a content came, with the nodes that wanted it, before any reader is.
    let came: @Sendable (Set<NodeNumber>) -> Void
    /// Told why a content did not come, with the nodes that wanted it.
    let failed: @Sendable (Set<NodeNumber>, ContentProblem) -> Void

    /// - Parameters:
    ///   - kind: what is brought.
    ///   - patience: seconds that somebody waits for who gets nothing.
    ///   - place: where a content comes from; `nil` for the store.
    package init(
        _ kind: Kind, content: LocalContent, store: any ContentStore,
        damaged: DamagedBlobs? = nil, patience: Double, logger: Logger,
        place: @escaping @Sendable (ContentHash) -> Place? = { _ in nil },
        adopt: @escaping @Sendable ([Whole]) -> [Result<Void, Errno>],
        came: @escaping @Sendable (Set<NodeNumber>) -> Void,
        failed: @escaping @Sendable (Set<NodeNumber>, ContentProblem) -> Void
    ) {
        self.kind = kind
        self.content = content
        self.store = store
        self.damaged = damaged
        self.patience = patience
        self.logger = logger
        self.place = place
        self.adopt = adopt
        self.came = came
        self.failed = failed
    }

    /// Tells how many places there are that contents come from.
    package func serve(places: Int) { state.withLock { $0.places = places } }

    /// Why the store gave nothing when it was last asked; `nil` when something has come since.
    package var problem: String? { state.withLock { $0.problem } }

    /// Bytes that came from the store since the start.
    package var fetchedBytes: UInt64 { state.withLock { $0.fetched } }

    /// Contents that are on their way: their hash, size, bytes that are here, and whose they are.
    package var active: [(blob: Blob, received: Int64, nodes: Set<NodeNumber>)] {
        state.withLock { state in
            state.active.values.filter(\.isUnderWay)
                .map { ($0.blob, $0.received, $0.nodes) }
        }
    }

    /// Bytes of the content that are here; `nil` if it is not on its way.
    ///
    /// - Parameter item: what it has to be on its way for; `nil`: whatever it is.
    package func received(_ hash: ContentHash, for item: ItemNumber? = nil) -> Int64? {
        state.withLock { state in
            guard let download = state.active[hash], download.isUnderWay,
                item == nil || download.nodes.contains(where: { $0.item == item })
            else { return nil }
            return download.received
        }
    }

    // MARK: Without waiting

    /// Begins to bring all of the content, though nobody waits.
    package func want(_ blob: Blob, for node: NodeNumber) {
        let lacksWorker = state.withLock { state -> Bool? in
            if hasCome(blob, state) { return nil }
            let download = Self.download(blob, &state)
            download.wanting.insert(node)
            download.nodes.insert(node)
            // Otherwise it is not its turn.
            return state.running < Self.workers ? Self.lacksWorker(&state) : nil
        }
        if let lacksWorker { engage(lacksWorker) }
    }

    /// All of it is not wanted any more for a document; who waits goes on waiting, and what is wanted for others
    /// comes.
    package func leave(_ hash: ContentHash, for item: ItemNumber) {
        state.withLock { state in
            guard let download = state.active[hash] else { return }
            download.endWish(of: item)
            settle(download, &state)
        }
    }

    /// Whether somebody brings or reads the content.
    package func isUsed(_ hash: ContentHash) -> Bool { state.withLock { $0.active[hash] != nil } }

    /// Removes what came of a content that did not become whole, unless somebody brings or reads it;
    /// whether it is gone now.
    @discardableResult
    package func drop(_ hash: ContentHash) -> Bool {
        // With the lock: its files are opened with it.
        state.withLock { state in
            guard let download = state.active[hash] else {
                content.dropIncoming(hash)
                return true
            }
            download.isDropped =
                download.waiters.isEmpty && !download.isRead && !download.wantsMore
                && !download.isFinishing
            return false
        }
    }

    /// Stops bringing the content for a document: who waits for it there is told so. What is here stays, and
    /// the rest comes for others that have the same content.
    package func cancel(_ hash: ContentHash, for item: ItemNumber) {
        let waiters = state.withLock { state -> [DownloadWaiter] in
            guard let download = state.active[hash] else { return [] }
            if download.readers.keys.allSatisfy({ $0.item == item }) { download.reading.end() }
            let waiters = Self.takeWaiters(of: download, &state) { $0.node.item == item }
            download.endWish(of: item)
            settle(download, &state)
            return waiters
        }
        for waiter in waiters { waiter.reply(ContentProblem.cancelled) }
    }

    /// A handle reads the content block by block from now on.
    package func opened(_ blob: Blob, for node: NodeNumber) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            let download = Self.download(blob, &state)
            do throws(Errno) { _ = try download.open(content, kind) } catch {
                settle(download, &state)
                throw error
            }
            download.addReader(node)
        }
    }

    /// The handle is gone; nothing if it was not counted here.
    package func closed(_ hash: ContentHash, for node: NodeNumber) {
        state.withLock { state in
            guard let download = state.active[hash], download.removeReader(node) else { return }
            settle(download, &state)
        }
    }

    /// Where the content's blocks come to, and whether those in `range` are there; `nil` if nobody has
    /// it open.
    package func bytes(_ hash: ContentHash, _ range: Range<Int64>) -> (IncomingBytes, Bool)? {
        var lacksWorker: Bool?
        defer { if let lacksWorker { engage(lacksWorker) } }
        return state.withLock { state -> (IncomingBytes, Bool)? in
            guard let download = state.active[hash], let incoming = download.incoming else {
                return nil
            }
            let range = range.clamped(to: download.blob.range)
            if range.isEmpty { return (incoming.bytes, true) }
            let blocks = incoming.blocks(range)
            let isHere = incoming.has(blocks)
            if isHere, Self.note(blocks, of: download, &state) {
                lacksWorker = Self.lacksWorker(&state)
            }
            return (incoming.bytes, isHere)
        }
    }

    /// Bytes of a content, however few, for somebody who only wants to know what it looks like: they are
    /// kept nowhere, and compared with nothing but the content's size. Blocks the caller.
    ///
    /// - Parameter range: within the content.
    package func part(of blob: Blob, _ range: Range<Int64>, _ call: StoreCall)
        throws(StoreError) -> [UInt8]
    {
        let sink = MemorySink(from: range.lowerBound)
        defer { state.withLock { $0.fetched += UInt64(sink.bytes.count) } }
        try store.get(blob, range, into: sink, call)
        return sink.bytes
    }

    /// Whether the content can be read before it has become local. A foreign one can also when it
    /// comes whole: until it has its hash and is on the disk takes longer than it takes to come.
    package func isReadInBlocks(_ blob: Blob) -> Bool { kind == .foreign || isOpenedAtOnce(blob) }

    /// Whether it is a foreign content that comes as one block.
    func comesWhole(_ blob: Blob) -> Bool {
        kind == .foreign && blob.size <= BlockDigests.wholeSize
    }

    /// Whether the content has come whole and is about to be the container's own, for which nobody
    /// waits any more after this question.
    package func isArriving(_ hash: ContentHash) -> Bool {
        let isFinishing = state.withLock { $0.active[hash]?.isFinishing ?? false }
        if isFinishing { finished.signal { $0.isUrgent = true } }
        return isFinishing
    }

    /// Whether nobody has to wait with opening it.
    package func isOpenedAtOnce(_ blob: Blob) -> Bool {
        blob.size > BlockDigests.wholeSize
            && (kind == .foreign || access(content.folder.digests(blob.hash).cPath, F_OK) == 0)
    }

    /// Ends everything; who waits is told so. Returns when the workers are gone, and whoever
    /// looks after those who wait, or after 5 s for each.
    package func stop() {
        let waiters = state.signal { state -> [DownloadWaiter] in
            state.ended = true
            var waiters: [DownloadWaiter] = []
            for download in state.active.values {
                waiters += Self.takeWaiters(of: download, &state)
                for piece in download.pieces { piece.cancellation.cancel() }
            }
            return waiters
        }
        finished.signal { $0.isUrgent = true }
        watch.signal { $0.ended = true }
        let problem = ContentProblem(Errno(EIO), "the container is being unmounted")
        for waiter in waiters { waiter.reply(problem) }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.workers == 0 ? true : nil
        }
        // It may be asking the catalog, which is closed next.
        let _: Bool? = watch.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isRunning ? nil : true
        }
    }
}

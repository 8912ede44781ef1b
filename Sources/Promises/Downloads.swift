package import Content
internal import Glibc
package import Logging
package import Model
package import Stores
package import SystemCalls

/// Brings contents from the store: each once, however many wait for it, those somebody waits for
/// first.
///
/// Any thread. Nothing here waits for the network but its own workers; replies run on those, or on the
/// caller's thread if there is nothing to wait for, with no lock held.
package final class Downloads: Sendable {
    /// Pieces at a time.
    private static let workers = 8
    /// A worker without work ends after this, in milliseconds.
    private static let idleness: UInt64 = 10_000

    private struct Ticket {
        /// What they wait for; `nil` before they do.
        var hash: ContentHash?
        let interrupted: @Sendable (Errno) -> Void
    }
    private struct State {
        var active: [ContentHash: Download] = [:]
        /// Those who wait, or are about to.
        var tickets: [UInt64: Ticket] = [:]
        var nextTicket: UInt64 = 1
        var workers = 0
        var idle = 0
        var fetched: UInt64 = 0
        var ended = false
    }
    private let state = Monitor(State())
    private let content: LocalContent
    private let store: any ContentStore
    private let logger: Logger
    /// Takes a content that is whole over, before anybody is told of it.
    private let adopt: @Sendable (Blob, Set<NodeNumber>) throws(Errno) -> Void
    /// Told why a content did not come, with the nodes that wanted it.
    private let failed: @Sendable (Set<NodeNumber>, ContentProblem) -> Void

    package init(
        content: LocalContent, store: any ContentStore, logger: Logger,
        adopt: @escaping @Sendable (Blob, Set<NodeNumber>) throws(Errno) -> Void,
        failed: @escaping @Sendable (Set<NodeNumber>, ContentProblem) -> Void
    ) {
        self.content = content
        self.store = store
        self.logger = logger
        self.adopt = adopt
        self.failed = failed
    }

    /// Bytes that came from the store since the start.
    package var fetchedBytes: UInt64 { state.withLock { $0.fetched } }

    /// Contents that are on their way: their hash, size, and bytes that are here.
    package var active: [(blob: Blob, received: Int64)] {
        state.withLock { state in
            state.active.values.filter(\.isUnderWay)
                .map { ($0.blob, $0.received) }
        }
    }

    /// Bytes of the content that are here; `nil` if it is not on its way.
    package func received(_ hash: ContentHash) -> Int64? {
        state.withLock { state in
            guard let download = state.active[hash], download.isUnderWay else { return nil }
            return download.received
        }
    }

    // MARK: Waiting

    /// A number for somebody who is going to wait, so that they can be interrupted.
    ///
    /// - Parameter interrupted: what ``interrupt(_:)`` gives to whoever interrupts them.
    package func ticket(interrupted: @escaping @Sendable (Errno) -> Void) -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            state.tickets[state.nextTicket] = Ticket(hash: nil, interrupted: interrupted)
            return state.nextTicket
        }
    }

    /// Calls `reply` when the bytes in `range` are here, or with the reason why they do not come.
    ///
    /// - Parameter range: all of the content where it should become local.
    package func await(
        _ blob: Blob, _ range: Range<Int64>, for node: NodeNumber, ticket: UInt64,
        reply: @escaping @Sendable (ContentProblem?) -> Void
    ) {
        enum Outcome { case waiting, here, interrupted }
        do throws(Errno) {
            let outcome = try state.signal { (state) throws(Errno) -> Outcome in
                guard state.tickets[ticket] != nil else { return .interrupted }
                let download = try self.download(blob, &state)
                let blocks = download.blocks(range)
                let isWhole = range == blob.range
                if isWhole {
                    download.nodes.insert(node)
                } else {
                    download.note(blocks)
                    if download.has(blocks) {
                        state.tickets[ticket] = nil
                        return .here
                    }
                }
                download.waiters.append(
                    DownloadWaiter(ticket: ticket, blocks: blocks, isWhole: isWhole, reply: reply))
                for piece in download.pieces { piece.urgency.raise() }
                download.hurry(blocks)
                state.tickets[ticket]?.hash = blob.hash
                return .waiting
            }
            switch outcome {
            case .waiting: engage()
            case .here: reply(nil)
            case .interrupted: reply(ContentProblem(Errno(EINTR), "interrupted"))
            }
        } catch {
            state.withLock { _ = $0.tickets.removeValue(forKey: ticket) }
            reply(ContentProblem(error, "the container's disk: \(error)"))
        }
    }

    /// Takes somebody out of the waiting, if they still wait: their reply is not called then, and
    /// the caller has to tell them with the result. One that has not begun to wait is told when it
    /// does.
    package func interrupt(_ ticket: UInt64) -> (@Sendable (Errno) -> Void)? {
        state.withLock { state in
            guard let known = state.tickets.removeValue(forKey: ticket), let hash = known.hash
            else { return nil }
            if let download = state.active[hash] {
                download.waiters.removeAll { $0.ticket == ticket }
                settle(download, &state)
            }
            return known.interrupted
        }
    }

    // MARK: Without waiting

    /// Begins to bring all of the content, though nobody waits.
    package func want(_ blob: Blob, for node: NodeNumber) throws(Errno) {
        try state.signal { (state) throws(Errno) in
            let download = try self.download(blob, &state)
            download.isWanted = true
            download.nodes.insert(node)
        }
        engage()
    }

    /// Nobody wants all of it any more; who waits goes on waiting.
    package func leave(_ hash: ContentHash) {
        state.signal { state in
            guard let download = state.active[hash] else { return }
            download.isWanted = false
            settle(download, &state)
        }
    }

    /// Stops bringing the content: who waits for it is told so. What is here stays.
    package func cancel(_ hash: ContentHash) {
        let waiters = state.signal { state -> [DownloadWaiter] in
            guard let download = state.active[hash] else { return [] }
            download.isWanted = false
            download.asked = []
            let waiters = download.waiters
            for waiter in waiters { state.tickets[waiter.ticket] = nil }
            download.waiters = []
            settle(download, &state)
            return waiters
        }
        let problem = ContentProblem(Errno(ECANCELED), "cancelled")
        for waiter in waiters { waiter.reply(problem) }
    }

    /// A handle reads the content block by block from now on.
    package func opened(_ blob: Blob, for node: NodeNumber) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            let download = try self.download(blob, &state)
            download.readers += 1
            download.nodes.insert(node)
        }
    }

    package func closed(_ hash: ContentHash) {
        state.signal { state in
            guard let download = state.active[hash], download.readers > 0 else { return }
            download.readers -= 1
            if download.readers == 0 { download.asked = [] }
            settle(download, &state)
        }
    }

    /// The file that the content's blocks come into, and whether those in `range` are there; `nil` if
    /// nobody has it open.
    package func file(_ hash: ContentHash, _ range: Range<Int64>) -> (SharedDescriptor, Bool)? {
        state.withLock { state in
            guard let download = state.active[hash] else { return nil }
            let range = range.clamped(to: download.blob.range)
            if range.isEmpty { return (download.file, true) }
            let blocks = download.blocks(range)
            let isHere = download.has(blocks)
            if isHere { download.note(blocks) }
            return (download.file, isHere)
        }
    }

    /// Whether the content can be read block by block.
    package func isReadInBlocks(_ blob: Blob) -> Bool {
        blob.size > BlockDigests.wholeSize
            && access(content.folder.digests(blob.hash), F_OK) == 0
    }

    /// Ends everything; who waits is told so. Returns when the workers are gone, or after 5 s.
    package func stop() {
        let waiters = state.signal { state -> [DownloadWaiter] in
            state.ended = true
            let waiters = state.active.values.flatMap(\.waiters)
            for download in state.active.values {
                download.waiters = []
                for piece in download.pieces { piece.cancellation.cancel() }
            }
            return waiters
        }
        let problem = ContentProblem(Errno(EIO), "the container is being unmounted")
        for waiter in waiters { waiter.reply(problem) }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.workers == 0 ? true : nil
        }
    }

    // MARK: Work

    /// The download of a content; opens its files if it is not on its way yet.
    private func download(_ blob: Blob, _ state: inout State) throws(Errno) -> Download {
        if let known = state.active[blob.hash] { return known }
        let download = try Download(blob, content)
        state.active[blob.hash] = download
        return download
    }

    /// Stops pieces that nobody wants any more, and forgets what nobody has to do with.
    private func settle(_ download: Download, _ state: inout State) {
        if download.waiters.isEmpty, !download.wantsAll {
            for piece in download.pieces { piece.cancellation.cancel() }
        }
        if download.isIdle { state.active[download.blob.hash] = nil }
    }

    /// Sees to it that there are workers for what there is to do.
    private func engage() {
        let starts = state.withLock { state -> Bool in
            guard !state.ended, state.idle == 0, state.workers < Self.workers else { return false }
            state.workers += 1
            return true
        }
        if starts { Threads.start("download") { [self] in work() } }
    }

    private func work() {
        while let (download, piece) = take() {
            // There may be more to do than this.
            engage()
            fetch(download, piece)
        }
    }

    /// The next piece; `nil` when there has been none for a while.
    private func take() -> (Download, Piece)? {
        state.withLock { $0.idle += 1 }
        let end = MonotonicClock.after(milliseconds: Self.idleness)
        let found = state.wait(until: end) { state -> (Download, Piece)?? in
            if state.ended { return .some(nil) }
            return Self.choose(&state).map { .some($0) }
        }
        return state.signal { state in
            state.idle -= 1
            if let found, found != nil { return found }
            // Something may have come in the last moment.
            if !state.ended, let late = Self.choose(&state) { return late }
            state.workers -= 1
            return nil
        }
    }

    private static func choose(_ state: inout State) -> (Download, Piece)? {
        let order = state.active.values.sorted {
            ($0.waiters.first?.ticket ?? .max) < ($1.waiters.first?.ticket ?? .max)
        }
        for awaited in [true, false] {
            for download in order where !download.isFinishing {
                if let blocks = download.nextPiece(awaited: awaited) {
                    let piece = Piece(blocks, awaited: awaited)
                    download.pieces.append(piece)
                    download.busy.formUnion(blocks)
                    return (download, piece)
                }
                if download.map.missing == 0, !download.waiters.isEmpty || download.isWanted {
                    // All had come before anybody wanted it whole.
                    let piece = Piece(0..<0, awaited: awaited)
                    download.pieces.append(piece)
                    return (download, piece)
                }
            }
        }
        return nil
    }

    private func fetch(_ download: Download, _ piece: Piece) {
        var problem: ContentProblem?
        let range = download.bytes(piece.first..<piece.end)
        if !range.isEmpty {
            let sink = BlockSink(download, from: range.lowerBound, for: store.address) {
                [self] (count, block) throws(StoreError) in
                try came(download, piece, count, block)
            }
            let call = StoreCall(cancellation: piece.cancellation, urgency: piece.urgency)
            do throws(StoreError) {
                try store.get(download.blob, range, into: sink, call)
                if download.digests == nil { _ = try came(download, piece, 0, 0) }
            } catch {
                if error.kind != .cancelled {
                    problem =
                        sink.local.map { ContentProblem($0, error.description) }
                        ?? ContentProblem(error)
                    logger.warning("\(download.blob.hash) did not come: \(error)")
                }
            }
        }
        conclude(download, piece, problem)
    }

    /// Notes bytes that came and, when it is whole and in the file, a block. Says whether the piece
    /// goes on after it.
    private func came(_ download: Download, _ piece: Piece, _ count: Int, _ block: Int?)
        throws(StoreError) -> Bool
    {
        do throws(Errno) {
            let (ready, goesOn) = try state.withLock {
                (state) throws(Errno) -> ([DownloadWaiter], Bool) in
                state.fetched += UInt64(count)
                piece.partial += Int64(count)
                guard let block else { return ([], true) }
                piece.partial = 0
                piece.next = block + 1
                download.busy.remove(block)
                try download.map.add(block)
                let ready = download.waiters.filter { !$0.isWhole && download.has($0.blocks) }
                download.waiters.removeAll { !$0.isWhole && download.has($0.blocks) }
                for waiter in ready { state.tickets[waiter.ticket] = nil }
                return (ready, piece.next < piece.end)
            }
            for waiter in ready { waiter.reply(nil) }
            return goesOn
        } catch {
            throw StoreError(.local, at: store.address, "the map of what has come: \(error)")
        }
    }

    /// The piece is over: finishes the content if all of it is there, fails those who wait for what
    /// does not come.
    private func conclude(_ download: Download, _ piece: Piece, _ problem: ContentProblem?) {
        let isWhole = state.withLock { state -> Bool in
            for block in piece.next..<max(piece.end, piece.next) { download.busy.remove(block) }
            guard problem == nil, download.map.missing == 0, !download.isFinishing else {
                return false
            }
            download.isFinishing = true
            return true
        }
        var problem = problem
        let nodes = state.withLock { _ in download.nodes }
        if isWhole {
            do throws(Errno) {
                try adopt(download.blob, nodes)
                unlink(content.folder.incoming(download.blob.hash) + ContainerFolder.mapSuffix)
            } catch {
                problem = ContentProblem(error, "the container's disk: \(error)")
            }
        }
        if let problem { failed(nodes, problem) }
        let told = state.signal { state -> [DownloadWaiter] in
            download.pieces.removeAll { $0 === piece }
            download.isFinishing = download.isFinishing && !isWhole
            var told: [DownloadWaiter] = []
            if isWhole || problem != nil {
                told = download.waiters
                for waiter in told { state.tickets[waiter.ticket] = nil }
                download.waiters = []
                download.isWanted = false
                download.asked = []
            }
            if isWhole, problem == nil {
                // Handles that are open go on with the same file under its new name.
                if state.active[download.blob.hash] === download, download.readers == 0 {
                    state.active[download.blob.hash] = nil
                }
            } else {
                settle(download, &state)
            }
            return told
        }
        for waiter in told { waiter.reply(problem) }
    }
}

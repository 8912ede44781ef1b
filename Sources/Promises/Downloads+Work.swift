internal import Content
internal import Glibc
internal import Logging
internal import Model
internal import PathText
internal import Stores
internal import SystemCalls

/// The workers: which piece comes next, and what follows when it has come.
extension Downloads {
    /// Whether the content has become whole since the caller looked. A foreign one has another name
    /// then.
    func hasCome(_ blob: Blob, _ state: State) -> Bool {
        if state.active[blob.hash] != nil { return false }
        if kind == .foreign { return MonotonicClock.now < state.adopted[blob.hash] ?? 0 }
        return content.hasBlob(blob.hash)
    }

    /// The download of a content.
    static func download(_ blob: Blob, _ state: inout State) -> Download {
        if let known = state.active[blob.hash] {
            known.isDropped = false
            return known
        }
        let download = Download(blob)
        state.active[blob.hash] = download
        state.order.append(download)
        return download
    }

    static func forget(_ download: Download, _ state: inout State) {
        let hash = download.blob.hash
        guard state.active[hash] === download else { return }
        state.active[hash] = nil
        strike(download, &state)
    }

    /// Nothing more of it is to come.
    private static func strike(_ download: Download, _ state: inout State) {
        if let place = state.order.firstIndex(where: { $0 === download }) {
            state.order.remove(at: place)
        }
    }

    /// Takes those out who wait for a download, or only some of them; they are to be told.
    static func takeWaiters(
        of download: Download, _ state: inout State,
        where isTaken: (DownloadWaiter) -> Bool = { _ in true }
    ) -> [DownloadWaiter] {
        let waiters = download.waiters.filter(isTaken)
        for waiter in waiters { state.tickets[waiter.ticket] = nil }
        state.waiting -= waiters.count
        download.waiters.removeAll(where: isTaken)
        return waiters
    }

    /// Stops pieces that nobody wants any more, and forgets what nobody has to do with.
    func settle(_ download: Download, _ state: inout State) {
        if download.waiters.isEmpty, !download.wantsMore {
            for piece in download.pieces { piece.cancellation.cancel() }
        }
        guard download.isIdle else { return }
        if download.isDropped { content.dropIncoming(download.blob.hash) }
        Self.forget(download, &state)
    }

    /// Sees to it that somebody turns to what has just come to be done.
    ///
    /// - Parameter lacksWorker: what ``lacksWorker(_:)`` said when it came.
    func engage(_ lacksWorker: Bool) {
        state.signalOne()
        if lacksWorker { startWorker() }
    }

    /// Whether another worker is to be started for what there is to do: it is counted already.
    static func lacksWorker(_ state: inout State) -> Bool {
        let most = workers * min(state.places, mostPlaces)
        guard !state.ended, state.idle == 0, state.workers < most else { return false }
        state.workers += 1
        return true
    }

    private func startWorker() { Threads.start("download") { [self] in work() } }

    private func work() {
        while let (task, lacksWorker) = take() {
            // There may be more to do than this: other pieces, or other contents.
            if task.hasMore { engage(lacksWorker) } else if lacksWorker { startWorker() }
            switch task.files {
            case .success(let incoming):
                if task.isUnplaced, !place(task) { continue }
                fetch(task.download, incoming, task.piece)
            case .failure(let error):
                conclude(
                    task.download, nil, task.piece,
                    ContentProblem(ofDisk: error))
            }
        }
    }

    /// What a worker is to do.
    private struct Task {
        let download: Download
        let files: Result<Incoming, Errno>
        let piece: Piece
        /// It has to be found out whether its place has as many pieces on their way as it may.
        let isUnplaced: Bool

        /// Whether others could bring more of the same.
        var hasMore: Bool { (try? files.get())?.isInBlocks ?? false }
    }

    /// What a worker finds that looks for something to do.
    private enum Look {
        case task(Task, lacksWorker: Bool)
        /// There will be something before it would look again.
        case sooner
        case end
    }

    /// The next piece, and what ``lacksWorker(_:)`` says then; `nil` when there has been none for a while.
    private func take() -> (Task, Bool)? {
        let end = MonotonicClock.after(milliseconds: Self.idleness)
        var isIdle = false
        // The first look does not wait.
        var next = MonotonicClock.now
        look: while true {
            let until = next
            let found = state.wait(until: until) { state -> Look? in
                let isDue = state.nextLook <= MonotonicClock.now
                if !state.ended, let task = choose(&state) {
                    if isIdle { state.idle -= 1 }
                    return .task(task, lacksWorker: Self.lacksWorker(&state))
                }
                if !isIdle { state.idle += 1 }
                isIdle = true
                if state.ended { return .end }
                if isDue {
                    let moments = state.order.lazy.compactMap(\.wantsAllFrom)
                    state.nextLook = moments.min() ?? .max
                }
                next = min(end, state.nextLook)
                return next < until ? .sooner : nil
            }
            switch found {
            case .task(let task, let lacksWorker): return (task, lacksWorker)
            case .end: break look
            case .sooner: break
            case nil: if MonotonicClock.now >= end { break look }
            }
        }
        let late = state.withLock { state -> (Task, Bool)? in
            state.idle -= 1
            // Something may have come in the last moment.
            if !state.ended, let task = choose(&state) { return (task, Self.lacksWorker(&state)) }
            state.workers -= 1
            return nil
        }
        if late == nil { state.signal { _ in } }
        return late
    }

    /// Who waits for contents of one place does not wait behind those of another, which may be frozen. What
    /// nobody waits for may.
    private func choose(_ state: inout State) -> Task? {
        for awaited in [true, false]
        where awaited ? state.waiting > 0 : state.running < Self.workers {
            for download in state.order
            where awaited ? !download.waiters.isEmpty : download.wantsMore {
                if let place = download.place, !Self.hasRoom(place, state) { continue }
                if state.queued.isFull, comesWhole(download.blob) { continue }
                let incoming: Incoming
                do throws(Errno) { incoming = try download.open(content, kind) } catch {
                    return Self.task(download, .failure(error), 0..<0, awaited, &state)
                }
                if let blocks = download.nextPiece(incoming, awaited: awaited) {
                    return Self.task(download, .success(incoming), blocks, awaited, &state)
                }
                if incoming.map.missing == 0, download.pieces.isEmpty {
                    // All had come before anybody wanted it whole.
                    return Self.task(download, .success(incoming), 0..<0, awaited, &state)
                }
            }
        }
        return nil
    }

    private static func task(
        _ download: Download, _ files: Result<Incoming, Errno>, _ blocks: Range<Int>,
        _ awaited: Bool, _ state: inout State
    ) -> Task {
        let piece = Piece(blocks, awaited: awaited)
        download.pieces.append(piece)
        download.busy.formUnion(blocks)
        state.running += 1
        if let place = download.place { count(piece, at: place, &state) }
        return Task(
            download: download, files: files, piece: piece,
            isUnplaced: state.places > 1 && download.place == nil)
    }

    /// Finds out where a piece comes from; `false`, and it is left for later, if that place has as many on
    /// their way as it may.
    private func place(_ task: Task) -> Bool {
        // Without the lock: the catalog is asked.
        let place = place(task.download.blob.hash)?.address ?? ""
        return state.withLock { state in
            task.download.place = place
            guard Self.hasRoom(place, state) else {
                Self.remove(task.piece, of: task.download, &state)
                settle(task.download, &state)
                return false
            }
            Self.count(task.piece, at: place, &state)
            return true
        }
    }

    private func fetch(_ download: Download, _ incoming: Incoming, _ piece: Piece) {
        var problem: ContentProblem?
        let range = incoming.bytes(piece.first..<piece.end)
        if !range.isEmpty {
            let sink = BlockSink(
                incoming, of: download.blob.hash, range, for: store.address
            ) { [self] (count, block) throws(StoreError) in
                try note(download, incoming, piece, count, block)
            }
            var call = StoreCall(cancellation: piece.cancellation, urgency: piece.urgency)
            let hash = download.blob.hash
            call.ignoresRange = { [state] in
                state.withLock { $0.active[hash]?.isWithoutRanges = true }
            }
            do throws(StoreError) {
                try store.get(download.blob, range, into: sink, call)
                if !incoming.isInBlocks { _ = try note(download, incoming, piece, 0, 0) }
            } catch {
                if error.kind == .corrupt { damaged?.note(hash) }
                if [.unreachable, .timedOut, .denied].contains(error.kind) {
                    state.withLock { $0.problem = error.description }
                }
                if error.kind != .cancelled {
                    problem =
                        sink.local.map { ContentProblem(ofDisk: $0) } ?? ContentProblem(error)
                    logger.warning("\(download.blob.hash) did not come: \(error)")
                }
            }
        }
        conclude(download, incoming, piece, problem)
    }

    /// Notes bytes that came and, when it is whole and in the file, a block. Says whether the piece
    /// goes on after it.
    private func note(
        _ download: Download, _ incoming: Incoming, _ piece: Piece, _ count: Int, _ block: Int?
    ) throws(StoreError) -> Bool {
        do throws(Errno) {
            let (ready, nodes, goesOn) = try state.withLock {
                (state) throws(Errno) -> ([DownloadWaiter], Set<NodeNumber>, Bool) in
                state.fetched += UInt64(count)
                if count > 0 {
                    state.cameAt = MonotonicClock.now
                    state.problem = nil
                }
                piece.partial += Int64(count)
                guard let block else { return ([], [], true) }
                piece.partial = 0
                piece.next = block + 1
                download.busy.remove(block)
                try incoming.map.add(block)
                let ready = Self.takeWaiters(of: download, &state) { waiter in
                    waiter.blocks.map(incoming.has) ?? false
                }
                return (ready, download.nodes, piece.next < piece.end)
            }
            if !nodes.isEmpty { came(nodes) }
            for waiter in ready { waiter.reply(nil) }
            return goesOn
        } catch {
            throw StoreError(
                .local, at: "the container's disk", "the map of what has come: \(error)")
        }
    }

    /// The piece is over: finishes the content if all of it is there, fails those who wait for what
    /// does not come.
    private func conclude(
        _ download: Download, _ incoming: Incoming?, _ piece: Piece, _ problem: ContentProblem?
    ) {
        let (isWhole, isQueued) = state.withLock { state -> (Bool, Bool) in
            if Self.remove(piece, of: download, &state) { self.state.signalOne() }
            guard problem == nil, incoming?.map.missing == 0, !download.isFinishing else {
                return (false, false)
            }
            download.isFinishing = true
            Self.strike(download, &state)
            // Who reads it has it already, and waits for nothing.
            let isQueued = comesWhole(download.blob)
            if isQueued { queue(download, &state) }
            return (true, isQueued)
        }
        if isQueued { return }
        if isWhole { return finish([(download, .success(()))]) }
        let nodes = state.withLock { _ in download.nodes }
        if let problem { failed(nodes, problem) }
        let told = state.withLock { state -> [DownloadWaiter] in
            let told = problem == nil ? [] : Self.giveUp(download, &state)
            // What fills the disk in vain does not stay there.
            if let error = problem?.error, error.isNoRoom {
                download.isDropped = true
            }
            settle(download, &state)
            return told
        }
        for waiter in told { waiter.reply(problem) }
        if let problem, problem.isPatienceOver, kind == .blobs { giveUpOthers(piece, problem) }
    }

    /// Fails those who wait behind a piece for which the store has not answered, and have waited
    /// for about as long: in their turn each would wait so long again. Those whose pieces are on
    /// the way are told by these. Not for foreign contents: another of their sources may answer.
    private func giveUpOthers(_ piece: Piece, _ problem: ContentProblem) {
        let (waiters, nodes) = state.withLock { state -> ([DownloadWaiter], Set<NodeNumber>) in
            let half = piece.began + (MonotonicClock.now - piece.began) / 2
            var waiters: [DownloadWaiter] = []
            var nodes: Set<NodeNumber> = []
            for download in state.order where download.pieces.isEmpty {
                guard let last = download.waiters.last?.since, last <= half, last > state.cameAt
                else { continue }
                nodes.formUnion(download.nodes)
                waiters += Self.giveUp(download, &state)
                settle(download, &state)
            }
            return (waiters, nodes)
        }
        if waiters.isEmpty { return }
        failed(nodes, problem)
        for waiter in waiters { waiter.reply(problem) }
    }

    /// Takes contents over that are whole, and tells who waits for that.
    ///
    /// - Parameter contents: with each whether all of it is in its file.
    func finish(_ contents: [(download: Download, landing: Result<Void, Errno>)]) {
        let landed = contents.filter { (try? $0.landing.get()) != nil }.map(\.download)
        let wholes = state.withLock { _ in landed.map { Whole($0.blob, $0.nodes) } }
        var outcomes = adopt(wholes)[...]
        for (download, landing) in contents {
            finish(download, landing.flatMap { outcomes.popFirst() ?? .failure(Errno(EIO)) })
        }
    }

    /// Tells who waits for a content what came of it.
    private func finish(_ download: Download, _ outcome: Result<Void, Errno>) {
        let nodes = state.withLock { _ in download.nodes }
        var problem: ContentProblem?
        switch outcome {
        case .success:
            unlink((content.folder.incoming(download.blob.hash) + ContainerFolder.mapSuffix).cPath)
            damaged?.forget(download.blob.hash)
        case .failure(let error):
            let told = ContentProblem(ofDisk: error)
            failed(nodes, told)
            problem = told
        }
        let told = state.withLock { state -> [DownloadWaiter] in
            download.isFinishing = false
            let told = Self.giveUp(download, &state)
            if problem == nil, kind == .foreign { Self.noteAdopted(download.blob.hash, &state) }
            // Handles that are open go on with the same file under its new name; that of a foreign
            // content is not known here.
            if problem == nil, !download.isRead || kind == .foreign {
                Self.forget(download, &state)
                return told
            }
            if state.active[download.blob.hash] === download { state.order.append(download) }
            if problem != nil { settle(download, &state) }
            return told
        }
        for waiter in told { waiter.reply(problem) }
    }

    /// How long a caller may take from its look to its question, in milliseconds.
    private static let hesitation: UInt64 = 1_000
    private static func noteAdopted(_ hash: ContentHash, _ state: inout State) {
        if state.adopted.count >= state.mostAdopted {
            let now = MonotonicClock.now
            state.adopted = state.adopted.filter { $0.value > now }
            // All may count still: they are not looked through for each that comes then.
            state.mostAdopted = max(1_024, state.adopted.count * 2)
        }
        state.adopted[hash] = MonotonicClock.after(milliseconds: hesitation)
    }

    /// Nothing more of it is to come for now; those who waited.
    private static func giveUp(_ download: Download, _ state: inout State) -> [DownloadWaiter] {
        download.wanting = []
        download.reading.end()
        return takeWaiters(of: download, &state)
    }
}

internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
package import Logging
internal import Model
internal import PathText
internal import Promises
package import Stores
internal import SystemCalls

/// The container's store: what goes there, and what came from there. See the page Promises.
extension Volume {
    /// Whether contents may lie elsewhere already when the mount begins.
    var mayPromise: Bool { link != nil || sources?.isInUse == true }

    /// Connects the container with its store; before the first request.
    ///
    /// - Parameters:
    ///   - address: of the store, as the container has it.
    ///   - patience: seconds that a store is waited for that gives nothing.
    ///   - grace: seconds that blobs nobody needs stay in a store of the container's own; 0: for ever.
    package func connect(
        _ store: any ContentStore, address: String, patience: Double, grace: Int64, logger: Logger
    ) {
        let ownership = StoreOwnership(
            store, address: address, path: content.folder.storeOwner,
            waits: { [weak self] in self?.tellOfOtherContainer() },
            tells: { [weak self] in self?.noteStoreDoubt(isUncompared: $0) })
        let damaged = DamagedBlobs(path: content.folder.storeDamaged)
        let downloads = Downloads(
            .blobs, content: content, store: store, damaged: damaged, patience: patience,
            logger: logger,
            adopt: { [weak self] contents in
                contents.map { content in
                    Result { () throws(Errno) in try self?.adopt(content.blob, for: content.nodes) }
                }
            },
            came: { [weak self] nodes in self?.reasons.forget(nodes) },
            failed: { [weak self] nodes, problem in
                for node in nodes { self?.reasons.note(problem, for: node) }
                if problem.mayPass { self?.noteMissing(nodes) }
            })
        let uploads = Uploads(
            store: store, damaged: damaged, logger: logger,
            ready: { (call) throws(StoreError) in _ = try ownership.isOwner(call) },
            source: { [weak self] (job) throws(StoreError) in try self?.source(of: job) },
            done: { [weak self] job in self?.stored(job) },
            failed: { [weak self] job, problem in
                self?.reasons.note("it is not in the store yet: \(problem)", for: job.node)
            })
        let cleaning = StoreCleaning(
            store, ownership, uploads, path: content.folder.storeUnneeded, grace: grace,
            logger: logger, stored: { [weak self] hash in self?.storedContents(after: hash) },
            lost: { [weak self] blob in self?.putAgain(blob) }
        ) { [weak self] hashes in self?.needed(hashes) }
        let doubt: StayReason? =
            switch ownership.doubt {
            case .isCopy: .isUncompared
            case .isUnasked: .isUnasked
            case nil: nil
            }
        state.withLock { $0.storeDoubt = doubt }
        link = StoreLink(
            address: store.address, ownership: ownership, downloads: downloads, uploads: uploads,
            pictures: StoredPictures(store), cleaning: cleaning, logger: logger)
    }

    /// Why nothing goes to the store for a while when another container has used it.
    static let otherContainer =
        "another container has used the store: it has two minutes to notice this one, "
        + "or twelve if it was removing something"

    private func tellOfOtherContainer() {
        let problem = Self.otherContainer
        for node in link?.uploads.hold(problem) ?? [] {
            reasons.note("it is not in the store yet: \(problem)", for: node)
        }
    }

    /// Which of these contents a version refers to; `nil` if the catalog does not answer.
    private func needed(_ hashes: [ContentHash]) -> [Bool]? {
        try? container.query { (database) throws(Failure) in
            try hashes.map { (hash) throws(Failure) in try database.isReferenced(hash) }
        }
    }

    // MARK: To the store

    /// Queues what had not gone when the container was mounted last.
    func resumeUploads() {
        guard let link else { return }
        link.cleaning.start()
        link.uploads.add(
            state.withLock { state in
                var jobs: [Uploads.Job] = []
                state.index.forEach { record in
                    guard record.isRegular, record.place == .sealed, let hash = record.hash else {
                        return
                    }
                    jobs.append(
                        Uploads.Job(node: record.node, blob: Blob(hash: hash, size: record.size)))
                }
                return jobs
            })
    }

    /// Opens what is to be uploaded; `nil` if it is not current any more.
    private func source(of job: Uploads.Job) throws(StoreError) -> (any BlobSource)? {
        let isCurrent = state.withLock { state in
            let position = state.index.find(job.node.item)
            guard position != 0 else { return false }
            let record = state.index[item: position]
            // What has lost its name is not current in any document: it goes soon, or is an earlier version
            // of what took the name.
            let isNamed = record.pointee.links > 0 || record.pointee.flags.contains(.isLinkable)
            return record.pointee.node == job.node && record.pointee.place == .sealed && isNamed
        }
        guard isCurrent else { return nil }
        let path = content.folder.blob(job.blob.hash)
        let file: OwnedDescriptor
        do throws(Errno) { file = try OwnedDescriptor.open(path, O_RDONLY) } catch {
            throw StoreError(.local, at: path, "cannot be opened: \(error)")
        }
        let digests = content.folder.digests(job.blob.hash)
        if job.blob.size > BlockDigests.wholeSize, access(digests.cPath, F_OK) != 0 {
            // Without them it comes back whole.
            try? BlockDigests.make(file, size: job.blob.size, at: digests)
        }
        return FileTransfer(file, name: job.blob.hash.description)
    }

    private func stored(_ job: Uploads.Job) {
        let node = job.node
        state.withLock { state in
            let position = state.index.find(node.item)
            if position != 0, state.index[item: position].pointee.node == node,
                state.index[item: position].pointee.place != .sealed
            {
                return
            }
            state.place(node, .stored, job.blob.hash, .uploaded)
        }
        log.announce()
        reasons.forget([node])
        pictures?.upload(node)
        if pin(of: node) == .onlineOnly {
            state.withLock { _ = $0.lastCloses.insert(node) }
            keeper.wake()
        }
        if quota.isLimited { state.withLock { $0.quota.isDue = true } }
    }

    // MARK: From the store

    /// Whether there can be contents that are not here; cheap.
    var mayMiss: Bool { link != nil || sources?.isInUse == true }

    /// The content of a node that is not here; `nil` if it is, or if it has none.
    ///
    /// - Parameter handle: the one it is asked for through; `nil` for none.
    func missing(_ node: NodeNumber, _ handle: Handle? = nil) -> MissingContent? {
        guard mayMiss else { return nil }
        return state.withLock { $0.wanted(node, handle) }.flatMap(missing)
    }

    /// Keeps the content of a node from being evicted, until ``letGo(_:)``: this thread
    /// is about to use it. `nil` if no content can go, or if there is nothing to keep.
    func hold(_ node: NodeNumber, for thread: Int32) -> HeldContent? {
        guard mayMiss else { return nil }
        return state.withLock { state in
            guard let content = state.wanted(node, nil) else { return nil }
            state.held.add(content.node)
            // No handle tells yet who it is that it is kept for.
            state.openers.add(content.node, thread)
            return HeldContent(node: content.node, thread: thread)
        }
    }

    func letGo(_ held: HeldContent?) {
        guard let held else { return }
        state.withLock { state in
            state.held.remove(held.node)
            state.openers.remove(held.node, held.thread)
        }
    }

    /// The same for an earlier version.
    func missing(_ version: VersionRow) -> MissingContent? {
        missing(
            ContentReference(
                node: version.node, place: version.place, hash: version.hash, size: version.size))
    }

    /// The content if it is not here.
    func missing(_ content: ContentReference) -> MissingContent? {
        guard let hash = content.hash else { return nil }
        switch content.place {
        case .promised:
            guard let link, !isHere(hash, for: content.node) else { return nil }
            return MissingContent(
                node: content.node, blob: Blob(hash: hash, size: content.size),
                downloads: link.downloads)
        case .elsewhere:
            guard let sources else { return nil }
            return MissingContent(
                node: content.node, blob: Blob(hash: hash, size: content.size),
                downloads: sources.downloads)
        case .none, .staged, .durable, .sealed, .stored: return nil
        }
    }

    /// Whether the blob is here; if so it counts as arrived, and is not evicted in between.
    func isHere(_ hash: ContentHash, for node: NodeNumber) -> Bool {
        if state.withLock({ $0.arrived[node] != nil }) { return true }
        return blobs.withLock { _ in
            guard content.hasBlob(hash) else { return false }
            state.withLock { $0.arrived[node] = hash }
            keeper.needsSync()
            return true
        }
    }

    /// Begins to read the content as it comes: the download knows of the reader until
    /// ``BlockReading/end()``. `nil` if it is not read so. Throws ENOENT if it has become local since the
    /// caller looked.
    func readInBlocks(_ content: ContentReference) throws(Errno) -> BlockReading? {
        guard let missing = missing(content), missing.isReadInBlocks else { return nil }
        try missing.downloads.opened(missing.blob, for: content.node)
        let reading = BlockReading(
            downloads: missing.downloads, hash: missing.blob.hash, node: content.node)
        if self.missing(content.node) == nil {
            reading.end()
            throw Errno(ENOENT)
        }
        return reading
    }

    /// A content is here, whole and verified.
    private func adopt(_ blob: Blob, for nodes: Set<NodeNumber>) throws(Errno) {
        try blobs.withLock { (_) throws(Errno) in
            try content.adopt(blob.hash)
            state.withLock { state in
                state.pins.hasCome(nodes)
                for node in nodes {
                    state.arrived[node] = blob.hash
                    // Its words can be read from now on.
                    let position = state.index.find(node.item)
                    if position != 0 { state.followTexts(.materialized, position) }
                }
            }
        }
        reasons.forget(nodes)
        keeper.needsSync()
        noteArrival(blob.size)
        liveQueries?.stir()
        refresh(Array(nodes)) {}
    }

    /// What came is on the disk: its versions are not mere promises any more.
    func recordArrivals(_ nodes: Set<NodeNumber>) {
        if nodes.isEmpty { return }
        state.withLock { state in
            for node in nodes {
                guard let hash = state.arrived.removeValue(forKey: node),
                    state.isPromised(node)
                else { continue }
                state.place(node, .stored, hash, .materialized)
            }
        }
        log.announce()
    }
}

/// A content that is not here, and what brings it.
struct MissingContent {
    let node: NodeNumber
    let blob: Blob
    let downloads: Downloads

    /// Whether it can be read before it has become local.
    var isReadInBlocks: Bool { downloads.isReadInBlocks(blob) }
    /// Whether it can be opened before anything of it is here.
    var isOpenedAtOnce: Bool { downloads.isOpenedAtOnce(blob) }
    /// Bytes of it that are here; `nil` if it is not on its way for this document.
    var received: Int64? { downloads.received(blob.hash, for: node.item) }
}

/// What a handle reads as it comes. Kept from its open on: when it is closed its node may show another
/// content, above all if it was written.
struct BlockReading: Sendable {
    let downloads: Downloads
    let hash: ContentHash
    let node: NodeNumber

    /// The handle is gone.
    func end() { downloads.closed(hash, for: node) }
}

extension VolumeState {
    /// Whether the bytes of a version are not here. What has come counts as here before the catalog has
    /// it.
    func isAway(_ node: NodeNumber, _ place: ContentPlace) -> Bool {
        place.isAway && arrived[node] == nil
    }

    /// Whether a version that has come counts as a promise. An earlier one that nobody looks at, or whose file is
    /// gone, is not in memory: it was one when it was asked for.
    fileprivate func isPromised(_ node: NodeNumber) -> Bool {
        let position = index.find(node.item)
        guard position != 0 else { return true }
        do throws(Errno) {
            return try content(of: node, at: position)?.place == .promised
        } catch {
            return true
        }
    }

    /// Notes and records where the bytes of a version are now.
    func place(
        _ node: NodeNumber, _ place: ContentPlace, _ hash: ContentHash?, _ kind: ChangeKind
    ) {
        let position = index.find(node.item)
        let time = Self.now()
        let effect = Effect.placeVersion(node.item, node.ordinal, place)
        if position != 0 { notePlace(place, hash, of: node, at: position) }
        if position != 0, index[item: position].pointee.node == node {
            record(kind, position, at: time, [effect])
        } else {
            log.append(Mutation(time: time, kind: kind, item: node.item, effects: [effect]))
        }
    }

    /// The content that who reads the node, or begins to write it, needs; `nil` if the bytes are
    /// staged, or there is none.
    fileprivate func wanted(_ node: NodeNumber, _ handle: Handle?) -> ContentReference? {
        let position = index.find(node.item)
        guard position != 0, index[item: position].pointee.isRegular else { return nil }
        if handle?.isDirect == true, let session = sessions[position] {
            return session.isStaged ? nil : session.base
        }
        return (try? content(of: node, at: position)) ?? nil
    }
}

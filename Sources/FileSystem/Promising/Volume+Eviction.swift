internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import Pictures
internal import Promises
internal import Stores
internal import SystemCalls

/// Letting contents go that the store has, and bringing them.
extension Volume {
    /// Lets the local copy of a document's current version go, or stops bringing it. Throws EBUSY if
    /// it has to stay for now, ENOTSUP without a store; the reason is kept for the user.
    func evict(_ node: NodeNumber) throws(Errno) {
        if try stopBringing(node) { return }
        guard let link else { throw Errno(ENOTSUP) }
        let current = currentNode(node)
        var found: (NodeNumber, Blob)?
        var pin: String?
        var reason: StayReason?
        try state.withLock { (state) throws(Errno) in
            let position = try state.position(node)
            // In one step with what follows: who pins it from here on finds that it is not here, and has it come.
            pin = state.pinToKeep(node)
            if pin != nil { return }
            reason = state.reasonToStay(position)
            if reason == nil { found = state.release(position) }
        }
        if let pin {
            reasons.note(pin, for: current)
            throw Errno(EBUSY)
        }
        if let reason {
            var text = reason.text
            if case .isNotStored = reason, let problem = link.uploads.problem {
                text += ": " + problem
            }
            reasons.note(text, for: current)
            throw Errno(EBUSY)
        }
        guard let found else { return }
        link.downloads.leave(found.1.hash, for: found.0.item)
        try remove([found])
        // It went with the content or when it was drawn, unless the daemon died in between.
        pictures?.upload(found.0)
    }

    /// Lets go of what can go of these; the bytes that are not here any more, and those that could not be
    /// removed.
    func letGo(_ nodes: [NodeNumber]) -> (gone: UInt64, failed: UInt64) {
        let found = state.withLock { state in
            nodes.compactMap { node -> (NodeNumber, Blob)? in
                let position = state.index.find(node.item)
                // Looked at here: who pins one from here on finds that it is not here, and has it come.
                guard position != 0, state.index[item: position].pointee.node == node,
                    state.pin(of: node).pin != .keep, state.reasonToStay(position) == nil
                else { return nil }
                return state.release(position)
            }
        }
        if found.isEmpty { return (0, 0) }
        let bytes = found.reduce(0) { $0 + Weeding.counted($1.1.size) }
        return (try? remove(found)) == nil ? (0, bytes) : (bytes, 0)
    }

    /// Removes the blobs of versions that count on them no more, unless others do. Those without a
    /// picture are drawn then, of what is kept for that.
    private func remove(_ found: [(node: NodeNumber, blob: Blob)]) throws(Errno) {
        try releaseEarlier(Set(found.map(\.blob.hash)))
        try log.synchronize()
        // In parts: who needs the blobs meanwhile does not wait for all.
        for start in stride(from: 0, to: found.count, by: Self.removedTogether) {
            try removeBlobs(Array(found[start..<min(start + Self.removedTogether, found.count)]))
        }
        reasons.forget(found.map(\.node))
        refresh(found.map(\.node)) {}
    }

    /// Earlier versions with these contents, which the store has, go as well: nobody lets them go by
    /// themselves, and as long as one of them counts on a blob nothing is gone.
    private func releaseEarlier(_ hashes: Set<ContentHash>) throws(Errno) {
        let counting: [(node: NodeNumber, hash: ContentHash)]
        do throws(Failure) {
            counting = try container.query { (database) throws(Failure) in
                var counting: [(node: NodeNumber, hash: ContentHash)] = []
                for hash in hashes {
                    for node in try database.versionsCounting(on: hash) {
                        counting.append((node, hash))
                    }
                }
                return counting
            }
        } catch {
            throw Errno(EIO)
        }
        if counting.isEmpty { return }
        state.withLock { state in
            for (node, hash) in counting where state.isUnusedEarlier(node) {
                state.place(node, .promised, hash, .evicted)
            }
        }
    }

    /// Whether the blob of a promise is here for other documents only, which have the same content: it is
    /// a promise all the same, for which nothing will have to be fetched.
    func isHereForOthers(_ node: NodeNumber, _ hash: ContentHash) -> Bool {
        let (isItsOwn, isAnothers) = state.withLock { state in
            (state.arrived[node] != nil, state.arrived.values.contains(hash))
        }
        if isItsOwn || isAnothers { return !isItsOwn }
        let isNeeded: Bool? = try? container.query { (database) throws(Failure) in
            try database.isBlobNeeded(hash)
        }
        return isNeeded ?? false
    }

    /// Blobs that are removed under one hold of their lock.
    private static let removedTogether = 64

    private func removeBlobs(_ found: [(node: NodeNumber, blob: Blob)]) throws(Errno) {
        let unread = texts?.unread(found.map(\.node)) ?? []
        let leaving = blobs.withLock { _ -> [PictureOrder]? in
            // The catalog does not know yet of what has come a moment ago.
            let (gone, arrived) = state.withLock { state in
                (found.filter { state.arrived[$0.node] == nil }, Set(state.arrived.values))
            }
            let needed: [Bool]? = try? container.query { (database) throws(Failure) in
                try gone.map { (pair) throws(Failure) in
                    if arrived.contains(pair.blob.hash) { return true }
                    return try database.isBlobNeeded(pair.blob.hash)
                }
            }
            guard let needed else { return nil }
            var leaving: [PictureOrder] = []
            for (pair, isNeeded) in zip(gone, needed) {
                let order = pictures?.keepLeaving(pair.node, pair.blob, isNeeded: isNeeded)
                if let order { leaving.append(order) }
                if unread.contains(pair.node) {
                    texts?.keepLeaving(pair.node, pair.blob, isNeeded: isNeeded)
                }
                if isNeeded { continue }
                content.forget(pair.node)
                content.evictBlob(pair.blob.hash)
                link?.downloads.drop(pair.blob.hash)
            }
            return leaving
        }
        guard let leaving else { throw Errno(EIO) }
        pictures?.drawLeaving(leaving)
    }

    // MARK: Who has what open

    /// Notes who opened a version. Under the volume's lock.
    func noteOpener(_ node: NodeNumber, _ process: Int32, _ state: VolumeState) {
        if link == nil { return }
        state.openers.add(node, process)
        if quota.isLimited { state.quota.noteOpen(node.item, at: VolumeState.now()) }
    }

    /// The last handle of a version is gone: what had to stay for it may go. Under the volume's lock.
    func noteLastClose(_ node: NodeNumber, _ state: VolumeState) {
        if link == nil { return }
        if state.quota.excess > 0 { state.quota.isDue = true }
        if state.pin(of: node).pin == .onlineOnly {
            state.lastCloses.insert(node)
            keeper.wake()
        }
    }

    /// Contents have come: if they are too many, others go at once.
    func noteArrival(_ bytes: Int64) {
        guard quota.isLimited else { return }
        let isTooMuch = state.withLock { state in
            state.quota.isDue = true
            state.quota.localBytes += UInt64(bytes)
            return state.quota.localBytes > quota.bytes ?? .max
        }
        if isTooMuch || quota.free != nil { keeper.wake() }
    }

    /// Stops bringing a document's content; who waits for it gets an error.
    func cancel(_ node: NodeNumber) throws(Errno) {
        let content = try read { (state) throws(Errno) in
            state.content(try state.position(node))
        }
        guard let hash = content.hash else { return }
        for downloads in self.downloads
        where downloads.received(hash, for: node.item) != nil {
            // Before anybody is told: their kernel asks again, and who reads on has not asked yet.
            refuse(.cancelled, for: content.node, Refusals.all)
            reasons.note(ContentProblem.cancelled, for: content.node)
            downloads.cancel(hash, for: node.item)
        }
    }

    /// Begins to bring the content of a document's current version.
    func materialize(_ node: NodeNumber) throws(Errno) {
        let current = currentNode(node)
        guard let missing = missing(current) else { return }
        reasons.forget([current])
        missing.downloads.want(missing.blob, for: current)
    }

    /// What is still elsewhere need not be evicted: says whether the content is, and does not bring it
    /// any more unless somebody waits for it. What came of it goes, unless somebody has it open.
    private func stopBringing(_ node: NodeNumber) throws(Errno) -> Bool {
        guard let sources, sources.isInUse else { return false }
        let name = state.withLock { state -> ContentHash? in
            let position = state.index.find(node.item)
            guard position != 0, state.index[item: position].pointee.place == .elsewhere,
                !state.index[item: position].pointee.flags.contains(.inSession)
            else { return nil }
            return state.index[item: position].pointee.hash
        }
        guard let name else { return false }
        if sources.downloads.isArriving(name) {
            reasons.note("it has just come, and is being put on the disk", for: currentNode(node))
            throw Errno(EBUSY)
        }
        sources.downloads.leave(name, for: node.item)
        sources.downloads.drop(name)
        return true
    }

    /// The node of the item's current version; `node` itself if the item is gone.
    func currentNode(_ node: NodeNumber) -> NodeNumber {
        state.withLock { state in
            let position = state.index.find(node.item)
            return position == 0 ? node : state.index[item: position].pointee.node
        }
    }
}

extension VolumeState {
    /// Why the current version's bytes cannot go now; `nil` if they can.
    func reasonToStay(_ position: MemoryIndex.Position) -> StayReason? {
        let record = index[item: position]
        let node = record.pointee.node
        guard record.pointee.isRegular else { return .isNoDocument }
        if record.pointee.flags.contains(.inSession) {
            return .isWritten(sessions[position]?.writers.keys.sorted() ?? [])
        }
        if modes[node.rawValue]?.isUsed == true {
            return .isOpen(openers[node])
        }
        if held.contains(node) { return .isOpen(openers[node]) }
        switch record.pointee.place {
        case .staged, .durable, .sealed: return .isNotStored
        case .stored: return storeDoubt
        case .none, .promised, .elsewhere: return nil
        }
    }

    /// Whether it is an earlier version that nobody has open, or goes on from.
    fileprivate func isUnusedEarlier(_ node: NodeNumber) -> Bool {
        if held.contains(node) { return false }
        if modes[node.rawValue]?.isUsed == true { return false }
        let position = index.find(node.item)
        if position == 0 { return true }
        return index[item: position].pointee.node != node && sessions[position]?.base.node != node
    }

    /// The current version's bytes are to go: it is a promise from now on. `nil` if it has none.
    fileprivate func release(_ position: MemoryIndex.Position) -> (NodeNumber, Blob)? {
        let record = index[item: position]
        let node = record.pointee.node
        guard let hash = record.pointee.hash else { return nil }
        arrived[node] = nil
        if record.pointee.place == .stored { place(node, .promised, hash, .evicted) }
        return (node, Blob(hash: hash, size: record.pointee.size))
    }
}

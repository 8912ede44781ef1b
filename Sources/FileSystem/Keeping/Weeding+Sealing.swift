internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Sealing: published versions are made durable, hashed and moved among the blobs. On the keeper's
/// thread, but for ``seal(now:)``.
extension Weeding {
    /// How long a round goes on with the hashing of a large content, in milliseconds.
    private static let hashingTime: UInt64 = 500
    /// A round seals for so long, in milliseconds: what else the keeper does is to come in between, above all
    /// that what is published meanwhile gets onto the disk.
    private static let sealingTime: UInt64 = 1_000
    /// How long an unmount spends on sealing, in milliseconds.
    private static let endingPatience: UInt64 = 2_000

    /// Makes the published versions durable that are due, and moves them among the blobs.
    ///
    /// - Parameters:
    ///   - hashing: goes on with a large content for a while.
    ///   - all: they are due, whenever they were published.
    ///   - ending: the mount is going away, and somebody waits for that: what is not sealed in time is
    ///     made durable where it is, and sealed in the next mount.
    ///   - isAwaited: says whether somebody waits for another round.
    /// - Returns: whether there is more to do at once.
    func sealDue(
        _ hashing: PartialHashing, all: Bool, ending: Bool, isAwaited: () -> Bool
    ) -> Bool {
        let begin = MonotonicClock.now
        guard volume.state.withLock({ $0.unsealed.ripen(at: begin, all: all) }) else {
            return false
        }
        var count = 0
        defer {
            volume.state.withLock { $0.unsealed.seal(count, from: begin, to: MonotonicClock.now) }
        }
        let deadline = MonotonicClock.after(
            milliseconds: ending ? Self.endingPatience : Self.sealingTime)
        while true {
            if MonotonicClock.now > deadline {
                if ending { synchronizeAtEnd() }
                return !ending
            }
            let batch = volume.state.withLock { $0.takeUnsealed() }
            if batch.isEmpty { return false }
            let (sealed, left, unfinished) = seal(batch, hashing, ending: ending) {
                !ending && isAwaited()
            }
            count += sealed
            endSealing(batch.count, left, unfinished)
            if !ending, isAwaited() { return true }
            if left.isEmpty, unfinished.isEmpty { continue }
            if ending { synchronizeAtEnd() }
            return left.isEmpty
        }
    }

    /// Sees to it that what has come in this mount, whole or in part, is on the disk at its end, and noted as
    /// being here: the next mount believes what it finds of a promise, and looks for none of it.
    func settleArrivals() {
        let hasArrivals = volume.state.withLock { !$0.arrived.isEmpty }
        let hasCome =
            volume.container.recovered != nil || volume.downloads.contains { $0.fetchedBytes > 0 }
        let parts = (try? Directories.names(in: content.folder.incoming)) ?? []
        if hasArrivals || hasCome && !parts.isEmpty { synchronizeAtEnd() }
    }

    /// The last time that this mount can: what is not on the disk after it is not called closed.
    private func synchronizeAtEnd() {
        if !synchronizeContents() { volume.container.leaveUnfinished() }
    }

    /// Seals one current version, or makes it durable where it is if hashing it would take long, and
    /// makes the log durable; says whether there was anything to do.
    func seal(now node: NodeNumber) throws(Errno) -> Bool {
        let waiting = volume.state.withLock { state -> Bool in
            guard !state.frozen.contains(node), state.unsealed.remove(node) else { return false }
            state.beginSealing(1)
            return true
        }
        if !waiting { return try makeDurable(node) }
        let (_, left, unfinished) = seal([node], nil, ending: false) { false }
        endSealing(1, left, unfinished)
        if !left.isEmpty { throw Errno(EIO) }
        try volume.log.synchronize()
        return true
    }

    /// Makes a version durable where it is that the keeper is sealing just now, or that cannot be sealed yet,
    /// and the log; says whether it had to be.
    private func makeDurable(_ node: NodeNumber) throws(Errno) -> Bool {
        volume.state.withLock { $0.beginSealing(1) }
        defer { endSealing(1, [], []) }
        let isDone = try volume.followingMoves { () throws(Errno) -> Bool in
            guard let content = volume.state.withLock({ $0.published(node) }),
                content.place == .staged, let file = try self.content.open(content)
            else { return false }
            try self.content.makeDurable(node, file)
            return true
        }
        guard isDone, var version = try volume.versionRow(node) else { return false }
        version.place = .durable
        record(version)
        try volume.log.synchronize()
        return true
    }

    /// So many are not being sealed any more; some have to be tried again, and others are to go on.
    private func endSealing(_ count: Int, _ left: [NodeNumber], _ unfinished: [NodeNumber]) {
        volume.state.withLock { state in
            state.sealing -= count
            for node in left { state.unsealed.fail(node, at: MonotonicClock.now) }
            state.unsealed.goOn(unfinished)
        }
    }

    /// Seals what it can.
    ///
    /// - Parameters:
    ///   - hashing: goes on with a large content; `nil`: they wait.
    ///   - ending: what is durable and only to be moved is left to the next mount.
    ///   - isAwaited: says whether others wait for this to end.
    /// - Returns: how many it sealed, what has to be tried again, and what is to go on: large ones that are
    ///   durable but not hashed yet, and all that it did not come to.
    private func seal(
        _ nodes: [NodeNumber], _ hashing: PartialHashing?, ending: Bool, isAwaited: () -> Bool
    ) -> (sealed: Int, failed: [NodeNumber], unfinished: [NodeNumber]) {
        let rows: [VersionRow]? = try? volume.container.query { (database) throws(Failure) in
            var found: [VersionRow] = []
            for node in nodes {
                if let row = try database.version(node.item, node.ordinal) { found.append(row) }
            }
            return found
        }
        guard let rows else { return (0, nodes, []) }
        // Versions that are not in the catalog any more need nothing.
        let versions = rows.filter { !$0.place.isNamed }
        var unfinished: [NodeNumber] = []
        // One at a time: the hashing of another one would begin anew.
        var hashing = hashing
        var retry: [NodeNumber] = []
        // Recorded as sealed by an earlier try, whose move failed.
        var ready =
            ending ? [] : rows.filter { $0.place == .sealed && content.isStaged($0.node) }
        // What has no file of its own gets one before all are made durable.
        for version in versions { try? content.spill(version.node) }
        // Where that fails each one tells whether it is on the disk.
        let many =
            versions.count { $0.place == .staged } > UnsealedVersions.many && content.trustsDisk
            && (try? content.synchronizeDisk()) != nil
        for (index, row) in versions.enumerated() {
            if isAwaited() {
                unfinished += versions[index...].map(\.node)
                break
            }
            var version = row
            do throws(Errno) {
                switch try prepare(&version, isDurable: many, hashing) {
                case .ready: ready.append(version)
                case .unfinished:
                    hashing = nil
                    unfinished.append(version.node)
                case .stays: break
                }
            } catch {
                // Removed meanwhile: nothing is left to seal.
                if error.code != ENOENT { retry.append(version.node) }
            }
        }
        retry += moveAmongBlobs(ready)
        return (ready.count, retry, unfinished)
    }

    private enum Preparation {
        case ready
        /// Its hash is not known yet.
        case unfinished
        /// It is not sealed.
        case stays
    }

    /// Makes what a version has durable and hashes it.
    private func prepare(
        _ version: inout VersionRow, isDurable: Bool, _ hashing: PartialHashing?
    ) throws(Errno) -> Preparation {
        let reference = ContentReference(
            node: version.node, place: version.place, hash: version.hash, size: version.size)
        // Cut off, or replaced, by other means: with a hash it would be taken for what was saved, also
        // by check, which finds it so.
        if version.hash == nil, let file = try content.open(reference),
            try file.status().size != version.size
        {
            throw Errno(EIO)
        }
        if !isDurable, version.place == .staged, let file = try content.open(reference) {
            try content.makeDurable(version.node, file)
        }
        if version.hash == nil, version.size >= PartialHashing.threshold {
            if version.place == .staged {
                version.place = .durable
                record(version)
            }
            if version.size > PartialHashing.largest { return .stays }
            if let hashing { version.hash = try hashPart(reference, hashing) }
            if version.hash == nil { return .unfinished }
        } else if version.hash == nil {
            version.hash = try content.hash(reference)?.hash
        }
        version.place = .sealed
        return version.hash == nil ? .stays : .ready
    }

    /// Records versions as sealed and moves their files among the blobs; those of which that failed.
    private func moveAmongBlobs(_ versions: [VersionRow]) -> [NodeNumber] {
        // While nobody waits; what comes in between is little.
        var damaged = lostBlobs(of: versions)
        damaged.formUnion(versions.filter(isBlobDamaged).compactMap(\.hash))
        return volume.blobs.withLock { _ in
            damaged.formUnion(lostBlobs(of: versions))
            // Recorded before the file moves: a content is looked for in both places.
            for version in versions { record(version) }
            do throws(Errno) { try volume.log.synchronize() } catch { return versions.map(\.node) }
            var failed: [NodeNumber] = []
            let begin = MonotonicClock.now
            for version in versions {
                guard let hash = version.hash else { continue }
                do throws(Errno) {
                    try content.seal(version.node, hash: hash, replacing: damaged.contains(hash))
                } catch {
                    failed.append(version.node)
                }
            }
            let time = MonotonicClock.now - begin
            volume.state.withLock { $0.unsealed.measure(versions.count, time: time) }
            volume.link?.upload(versions.filter { !failed.contains($0.node) })
            if volume.quota.isLimited { volume.state.withLock { $0.quota.isDue = true } }
            return failed
        }
    }

    /// Makes blobs durable that are here already and take the place of these: they may have come from the
    /// store a moment ago. Those that cannot be.
    private func lostBlobs(of versions: [VersionRow]) -> Set<ContentHash> {
        Set(versions.compactMap(\.hash)).filter { (try? content.synchronizeBlob($0)) == nil }
    }

    /// Whether a blob that is here already has been damaged since: the document may just have been saved
    /// once more for that.
    private func isBlobDamaged(_ version: VersionRow) -> Bool {
        version.hash.map { content.isDamaged($0, size: version.size) } ?? false
    }

    /// Goes on with the hashing of a large content for a while; `nil` if there is more to do.
    private func hashPart(
        _ reference: ContentReference, _ hashing: PartialHashing
    ) throws(Errno) -> ContentHash? {
        guard let file = try content.open(reference) else { throw Errno(ENOENT) }
        let deadline = MonotonicClock.after(milliseconds: Self.hashingTime)
        return try file.with { (file) throws(Errno) in
            try hashing.goOn(reference.node, file, size: reference.size, until: deadline)
        }
    }

    /// Records where a version is now: sealed, or durable where it was.
    private func record(_ sealed: VersionRow) {
        volume.state.withLock { state in
            var version = sealed
            let node = version.node
            // Sealed meanwhile: it is not where it was.
            if version.place == .durable, state.published(node).map({ $0.place != .staged }) == true
            {
                return
            }
            let position = state.index.find(node.item)
            if position != 0 {
                state.notePlace(version.place, version.hash, of: node, at: position)
            }
            let time = VolumeState.now()
            // Not what the item is now: one that was replaced, or became a backup, left its history to
            // the one that took its name.
            if let adopted = state.adopted[node.item], node.ordinal <= adopted.until {
                version.document = adopted.document
            }
            if position != 0, state.index[item: position].pointee.node == node {
                state.record(.sealed, position, at: time, [.putVersion(version)])
            } else {
                volume.log.append(
                    Mutation(
                        time: time, kind: .sealed, item: node.item,
                        effects: [.putVersion(version)]))
            }
        }
    }
}

extension VolumeState {
    /// Whether all versions are sealed, or as good as that.
    var isSettled: Bool { unsealed.isEmpty && sealing == 0 }

    /// Takes versions out that are due. Those that cannot be sealed yet are tried again later.
    fileprivate func takeUnsealed() -> [NodeNumber] {
        var batch: [NodeNumber] = []
        for node in unsealed.take() {
            if frozen.contains(node) {
                unsealed.publish(node, at: MonotonicClock.now)
            } else {
                batch.append(node)
            }
        }
        beginSealing(batch.count)
        return batch
    }

    /// So many versions are about to be read from the catalog and sealed.
    func beginSealing(_ count: Int) {
        if sealing == 0 { adopted = [:] }
        sealing += count
    }
}

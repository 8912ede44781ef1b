internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// What the keeper does; everything here runs on its thread, but for ``seal(now:)``.
final class Weeding: Sendable {
    /// Below this share of the disk, or this many bytes, nothing is kept for convenience.
    private static let tightShare: UInt64 = 20
    private static let tightBytes: UInt64 = 64 << 20
    /// The share of the disk that earlier versions may take: a tenth.
    private static let versionShare: UInt64 = 10
    /// More versions than this are made durable by one sync of the disk instead of one each.
    private static let manyVersions = 16

    unowned let volume: Volume
    let content: LocalContent
    /// Of the keeper's thread.
    private let hashing = Lock(PartialHashing())

    init(_ volume: Volume) {
        self.volume = volume
        content = volume.content
    }

    var isTight: Bool {
        guard let space = try? content.space() else { return false }
        return space.free
            < max(space.total / Self.tightShare, min(Self.tightBytes, space.total / 8))
    }

    /// Makes everything published so far durable, and what came from the store.
    func synchronizeContents() {
        let (moment, arrived) = volume.state.withLock { ($0.publishTime(), $0.arrived) }
        do throws(Errno) { try content.synchronize(until: moment) } catch { return }
        volume.recordArrivals(arrived)
    }

    /// Holds room for the next time the container is opened, while there is enough.
    func keepReserve(tight: Bool) {
        if !tight { content.holdReserve() }
    }

    func synchronizeLog() { try? volume.log.synchronize() }

    func recordAccessTimes() {
        // On a full disk they wait: they are worth less than what the journal has room for.
        if volume.log.problem != nil { return }
        let recorded = volume.state.withLock { state -> Bool in
            let positions = state.accessed
            state.accessed = []
            let time = VolumeState.now()
            for position in positions
            where state.index[item: position].pointee.flags.contains(.accessPending) {
                state.index[item: position].pointee.flags.remove(.accessPending)
                state.record(.accessed, position, at: time)
            }
            return !positions.isEmpty
        }
        if recorded { try? volume.log.flush(upTo: volume.log.head) }
    }

    func settleRecents(ending: Bool) { volume.settleRecents(ending: ending) }

    // MARK: Sealing

    /// How long a round goes on with the hashing of a large content, in milliseconds.
    private static let hashingTime: UInt64 = 500
    /// How long an unmount spends on sealing, in milliseconds.
    private static let endingPatience: UInt64 = 2_000

    /// Makes published versions durable and moves them among the blobs.
    ///
    /// - Parameter ending: the mount is going away, and somebody waits for that: what is not sealed
    ///   in time is made durable where it is, and sealed in the next mount.
    /// - Returns: whether there is more to do at once.
    func sealAll(ending: Bool) -> Bool {
        let deadline = MonotonicClock.after(milliseconds: Self.endingPatience)
        while true {
            if ending, MonotonicClock.now > deadline {
                synchronizeContents()
                return false
            }
            let batch = volume.state.withLock { state -> [NodeNumber] in
                let batch = Array(state.unsealed.prefix(512))
                state.unsealed.removeFirst(batch.count)
                state.sealing += batch.count
                return batch
            }
            if batch.isEmpty { return false }
            let (left, large) = seal(batch)
            endSealing(batch.count, left + large)
            if left.isEmpty, large.isEmpty { continue }
            if ending { synchronizeContents() }
            return left.isEmpty
        }
    }

    /// Seals one current version, or makes it durable where it is if hashing it would take long, and
    /// makes the log durable.
    func seal(now node: NodeNumber) throws(Errno) -> Bool {
        let waiting = volume.state.withLock { state -> Bool in
            guard let place = state.unsealed.firstIndex(of: node) else { return false }
            state.unsealed.remove(at: place)
            state.sealing += 1
            return true
        }
        if !waiting { return false }
        let (left, large) = seal([node], hashes: false)
        endSealing(1, left + large)
        if !left.isEmpty { throw Errno(EIO) }
        try volume.log.synchronize()
        return true
    }

    /// So many are not being sealed any more; these have to be tried again.
    private func endSealing(_ count: Int, _ left: [NodeNumber]) {
        volume.state.withLock { state in
            state.sealing -= count
            state.unsealed += left
        }
    }

    /// Seals what it can.
    ///
    /// - Parameter hashes: whether to go on with the hashing of large contents.
    /// - Returns: what has to be tried again, and what is durable but not hashed yet.
    private func seal(
        _ nodes: [NodeNumber], hashes: Bool = true
    ) -> (failed: [NodeNumber], large: [NodeNumber]) {
        let rows: [VersionRow]? = try? volume.container.query { (database) throws(Failure) in
            var found: [VersionRow] = []
            for node in nodes {
                if let row = try database.version(node.item, node.ordinal) { found.append(row) }
            }
            return found
        }
        // Versions that are not in the catalog any more need nothing.
        guard let versions = rows?.filter({ !$0.place.isNamed }) else { return (nodes, []) }
        var large: [NodeNumber] = []
        // One at a time: the hashing of another one would begin anew.
        var mayHash = hashes
        var retry: [NodeNumber] = []
        var ready: [VersionRow] = []
        // What has no file of its own gets one before all are made durable.
        for version in versions { try? content.spill(version.node) }
        let many = versions.count > Self.manyVersions
        if many, let folder = try? OwnedDescriptor.open(content.folder.path, O_RDONLY) {
            try? folder.synchronizeFileSystem()
        }
        for var version in versions {
            let reference = ContentReference(
                node: version.node, place: version.place, hash: version.hash, size: version.size)
            do throws(Errno) {
                if !many, version.place == .staged, let file = try content.open(reference) {
                    _ = try file.with { (file) throws(Errno) in try check { fsync(file.number) } }
                }
                if version.hash == nil {
                    if version.size >= PartialHashing.threshold {
                        if version.place == .staged {
                            version.place = .durable
                            record(version)
                        }
                        version.hash = mayHash ? try hashPart(reference) : nil
                        if version.hash == nil {
                            mayHash = false
                            large.append(version.node)
                            continue
                        }
                    } else {
                        version.hash = try content.hash(reference)?.hash
                    }
                }
                version.place = .sealed
                if version.hash != nil { ready.append(version) }
            } catch {
                // Removed meanwhile: nothing is left to seal.
                if error.code != ENOENT { retry.append(version.node) }
            }
        }
        let failed = volume.blobs.withLock { _ in
            // Recorded before the file moves: a content is looked for in both places.
            for version in ready { record(version) }
            do throws(Errno) { try volume.log.synchronize() } catch {
                return retry + ready.map(\.node)
            }
            for version in ready {
                guard let hash = version.hash else { continue }
                do throws(Errno) { try content.seal(version.node, hash: hash) } catch {
                    retry.append(version.node)
                }
            }
            volume.link?.upload(ready.filter { !retry.contains($0.node) })
            if volume.quota.isLimited { volume.state.withLock { $0.quota.isDue = true } }
            return retry
        }
        return (failed, large)
    }

    /// Goes on with the hashing of a large content for a while; `nil` if there is more to do.
    private func hashPart(_ reference: ContentReference) throws(Errno) -> ContentHash? {
        guard let file = try content.open(reference) else { throw Errno(ENOENT) }
        let deadline = MonotonicClock.after(milliseconds: Self.hashingTime)
        return try hashing.withLock { (hashing) throws(Errno) in
            try file.with { (file) throws(Errno) in
                try hashing.goOn(reference.node, file, size: reference.size, until: deadline)
            }
        }
    }

    /// Records where a version is now: sealed, or durable where it was.
    private func record(_ sealed: VersionRow) {
        volume.state.withLock { state in
            var version = sealed
            let node = version.node
            let position = state.index.find(node.item)
            if position != 0 {
                state.notePlace(version.place, version.hash, of: node, at: position)
            }
            let time = VolumeState.now()
            if position != 0, state.index[item: position].pointee.node == node {
                // An item that was replaced left its history to the one that took its name.
                if state.index[item: position].pointee.links > 0 {
                    version.document = DocumentID(
                        rawValue: state.index[item: position].pointee.document)
                }
                state.record(.sealed, position, at: time, [.putVersion(version)])
            } else {
                volume.log.append(
                    Mutation(
                        time: time, kind: .sealed, item: node.item,
                        effects: [.putVersion(version)]))
            }
        }
    }

    // MARK: Removing

    /// Removes packs that are not needed any more.
    func removeUnusedPacks(ending: Bool) { content.removeUnusedPacks(ending: ending) }

    /// Removes items that have no name and that nobody knows any more.
    ///
    /// - Parameter now: without waiting for a file of the same name to take over their identity.
    func purge(now: Bool) -> Bool {
        let patience = UInt64(IdentityTunnel.lifetime * 1e9)
        let moment = MonotonicClock.now
        let ripe = volume.state.withLock { state in
            state.dying.filter { now || moment >= $0.value + patience }.map(\.key)
        }
        var gained = false
        for number in ripe {
            let item = ItemNumber(rawValue: number)
            let found = volume.state.withLock { state -> (DocumentID, Bool)? in
                state.dying[number] = nil
                let position = state.index.find(item)
                guard position != 0 else { return nil }
                let record = state.index[item: position]
                guard record.pointee.links == 0, !state.isKnown(position) else { return nil }
                // A document that began with this item and was never published has no version. Asking
                // for those of each of 100,000 empty files takes half a minute.
                let mayHaveVersions =
                    record.pointee.isRegular
                    && (record.pointee.ordinal != 0
                        || record.pointee.document != record.pointee.number)
                return (DocumentID(rawValue: record.pointee.document), mayHaveVersions)
            }
            guard let (document, mayHaveVersions) = found else { continue }
            var versions: [VersionRow] = []
            if mayHaveVersions {
                let rows: [VersionRow]? = try? volume.container.query {
                    (database) throws(Failure) in try database.versions(of: document)
                }
                guard let rows else {
                    // Not now: without its versions its bytes would stay for ever.
                    volume.state.withLock { $0.dying[number] = moment }
                    continue
                }
                versions = rows
            }
            let removed = volume.state.withLock { state -> Bool in
                let position = state.index.find(item)
                guard position != 0, state.index[item: position].pointee.links == 0,
                    !state.isKnown(position),
                    state.index[item: position].pointee.document == document.rawValue
                else { return false }
                // A backup made by renaming the document away has its bytes from the same history.
                versions.removeAll { $0.item != item && state.needs($0) }
                state.accessed.remove(position)
                state.index.removeItem(position)
                state.makers[item] = nil
                state.marks.remove(versions.map(\.node))
                let bookmarks = state.dropBookmarks(of: document)
                let grants = state.grants.dropAll(of: document)
                let recents: [Effect] =
                    state.recents.remove(document) ? [.removeRecent(document)] : []
                volume.log.append(
                    Mutation(
                        time: VolumeState.now(), kind: .purged, item: item,
                        effects: [.removeItem(item)]
                            + versions.map { .removeVersion($0.item, $0.ordinal) } + bookmarks
                            + grants + recents))
                return true
            }
            if removed {
                remove(contentsOf: versions)
                gained = true
            }
        }
        return gained
    }

    /// Thins out the earlier versions of documents that changed; of all now and then, and when the
    /// disk is full.
    func thin(tight: Bool, everything: Bool) -> Bool {
        let (documents, pinned) = volume.state.withLock { state in
            defer { state.thinning = [] }
            return (state.thinning, state.marks.staying)
        }
        let now = VolumeState.now()
        var drop: [VersionRow] = []
        if tight || everything {
            drop = superfluous(now, keeping: pinned, budget: tight ? 0 : share())
        } else if !documents.isEmpty {
            let found: [VersionRow]? = try? volume.container.query {
                (database) throws(Failure) in
                var drop: [VersionRow] = []
                for document in documents {
                    drop += Retention.superfluous(
                        try database.versions(of: document), keeping: pinned, now: now)
                }
                return drop
            }
            drop = found ?? []
        }
        // What the kernel still knows is looked at again when it is forgotten.
        let idle = volume.state.withLock { state in
            drop.filter { version in
                if state.needs(version) || state.marks.stays(version.node) { return false }
                // In one step with the look: whoever pins the version later finds it gone.
                volume.log.append(
                    Mutation(
                        time: now, kind: .pruned, item: version.item,
                        effects: [.removeVersion(version.item, version.ordinal)]))
                return true
            }
        }
        if idle.isEmpty { return false }
        remove(contentsOf: idle)
        return true
    }

    /// Bytes that earlier versions may take.
    private func share() -> Int64 {
        guard let space = try? content.space() else { return .max }
        return Int64(clamping: space.total / Self.versionShare)
    }

    /// What age and budget drop of all documents.
    private func superfluous(
        _ now: Timestamp, keeping pinned: Set<NodeNumber>, budget: Int64
    ) -> [VersionRow] {
        let found: [VersionRow]? = try? volume.container.query { (database) throws(Failure) in
            var documents: [DocumentID] = []
            try database.documentsWithEarlierVersions { documents.append($0) }
            var drop: [VersionRow] = []
            // There may be a great many versions: they are compared with each other, and so in memory
            // together, only if what age leaves of them takes too much.
            var bytes: Int64 = 0
            for document in documents {
                let versions = try database.versions(of: document)
                let old = Retention.superfluous(versions, keeping: pinned, now: now)
                drop += old
                bytes += versions.dropLast().reduce(0) { $0 + $1.size }
                bytes -= old.reduce(0) { $0 + $1.size }
            }
            if bytes <= budget { return drop }
            let gone = Set(drop.map(\.node))
            var kept: [[VersionRow]] = []
            for document in documents {
                kept.append(try database.versions(of: document).filter { !gone.contains($0.node) })
            }
            return drop + Retention.exceeding(kept, keeping: pinned, budget: budget)
        }
        return found ?? []
    }

    /// Removes the bytes of versions that are out of the catalog; blobs only if nothing refers to
    /// them.
    private func remove(contentsOf versions: [VersionRow]) {
        // Asking what is still needed waits for the catalog.
        if versions.isEmpty { return }
        volume.blobs.withLock { _ in
            let inUse: [Bool]? = try? volume.container.query { (database) throws(Failure) in
                var inUse: [Bool] = []
                for version in versions {
                    if let hash = version.hash {
                        inUse.append(try database.isReferenced(hash))
                    } else {
                        inUse.append(false)
                    }
                }
                return inUse
            }
            // Only when the catalog is sure to have forgotten them, also after a power loss.
            guard let inUse, (try? volume.log.synchronize()) != nil else { return }
            for (version, inUse) in zip(versions, inUse) {
                volume.pictures?.remove(version.node)
                content.removeUnused(version.node)
                if let hash = version.hash, !inUse { content.removeBlob(hash) }
            }
        }
    }
}

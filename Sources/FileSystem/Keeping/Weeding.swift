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
    /// Documents whose versions are looked at in one hold of the catalog, and microseconds in between.
    static let together = 128
    private static let breath: UInt32 = 200
    /// The share of the disk that earlier versions may take: a tenth.
    static let versionShare: UInt64 = 10

    unowned let volume: Volume
    let content: LocalContent
    /// What is out of the catalog and still has its bytes: nobody else would ever remove them.
    private let left = Lock<[VersionRow]>([])

    init(_ volume: Volume) {
        self.volume = volume
        content = volume.content
    }

    var isTight: Bool {
        guard let space = try? content.space() else { return false }
        return space.free
            < max(space.total / Self.tightShare, min(Self.tightBytes, space.total / 8))
    }

    /// Makes everything published so far durable, and what came from the store; says whether it could.
    @discardableResult
    func synchronizeContents() -> Bool {
        let (moment, arrived, isSettled) = volume.state.withLock { state in
            (state.publishTime(), state.arrived, state.isSettled)
        }
        do throws(Errno) { try content.synchronize(until: moment, isSettled: isSettled) } catch {
            return false
        }
        let durable = arrived.filter { content.trustsDisk || isDurable($0.value) }
        volume.recordArrivals(Set(durable.keys))
        return true
    }

    private func isDurable(_ hash: ContentHash) -> Bool {
        (try? content.synchronizeBlob(hash)) != nil
    }

    /// Holds room for the next time the container is opened, while there is enough.
    func keepReserve(tight: Bool) {
        if !tight { content.holdReserve() }
    }

    /// Makes all that was recorded so far durable.
    ///
    /// What sessions have left behind that ended without a version goes then: recovery would miss it
    /// while it does not know of their end.
    func synchronizeLog() {
        let left = volume.state.withLock { state in
            defer { state.leftStaged = [] }
            return state.leftStaged
        }
        do throws(Errno) { try volume.log.synchronize() } catch {
            volume.state.withLock { $0.leftStaged += left }
            return
        }
        for node in left { content.removeStaging(node) }
    }

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

    // MARK: Removing

    /// Removes packs that are not needed any more.
    func removeUnusedPacks(ending: Bool) {
        let isSettled = volume.state.withLock { $0.isSettled }
        content.removeUnusedPacks(ending: ending, isSettled: isSettled)
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
        // Of these some stay only as long as the current one is not on the disk.
        var again: Set<DocumentID> = []
        if tight || everything {
            drop = superfluous(now, keeping: pinned, budget: tight ? 0 : share())
            if !tight { again = documents }
        } else if !documents.isEmpty {
            let found: [VersionRow]? = try? volume.container.query {
                (database) throws(Failure) in
                var drop: [VersionRow] = []
                for document in documents {
                    let versions = try aged(document, database, keeping: pinned, now: now)
                    drop += versions.old
                    if versions.staysForNow { again.insert(document) }
                }
                return drop
            }
            drop = found ?? []
        }
        // What the kernel still knows is looked at again when it is forgotten.
        let idle = volume.state.withLock { state -> [VersionRow] in
            let idle = drop.filter { version in
                if state.needs(version) || state.marks.stays(version.node) { return false }
                // It is told of what is the document now: what was when the version was published may be gone,
                // after a save by renaming.
                let holder = state.index.knownHolder(of: version.document)
                let item =
                    holder == 0
                    ? version.item
                    : ItemNumber(rawValue: state.index[item: holder].pointee.number)
                // In one step with the look: whoever pins the version later finds it gone.
                volume.log.append(
                    Mutation(
                        time: now, kind: .pruned, item: item,
                        effects: [.removeVersion(version.item, version.ordinal)]))
                return true
            }
            state.followLosses(of: Set(idle.map(\.document)))
            state.thinning.formUnion(again)
            return idle
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
        do throws(Failure) {
            var documents: [DocumentID] = []
            try volume.container.query { (database) throws(Failure) in
                try database.documentsWithEarlierVersions { documents.append($0) }
            }
            var drop: [VersionRow] = []
            // There may be a great many versions: they are compared with each other, and so in memory
            // together, only if what age leaves of them takes too much.
            var bytes: Int64 = 0
            try look(at: documents) { (document, database) throws(Failure) in
                let (versions, old, _) = try aged(document, database, keeping: pinned, now: now)
                drop += old
                bytes += Retention.bytesHere(versions.dropLast()) - Retention.bytesHere(old)
            }
            if bytes <= budget { return drop }
            let gone = Set(drop.map(\.node))
            var kept: [[VersionRow]] = []
            try look(at: documents) { (document, database) throws(Failure) in
                kept.append(try database.versions(of: document).filter { !gone.contains($0.node) })
            }
            return drop
                + Retention.exceeding(
                    kept, keeping: pinned, durableUntil: content.durableUntil(), budget: budget)
        } catch {
            return []
        }
    }

    /// Looks at documents, a few at a time: who waits for an answer of the catalog comes in between.
    private func look(
        at documents: [DocumentID],
        _ body: (DocumentID, CatalogDatabase) throws(Failure) -> Void
    ) throws(Failure) {
        for start in stride(from: 0, to: documents.count, by: Self.together) {
            let part = documents[start..<min(start + Self.together, documents.count)]
            try volume.container.query { (database) throws(Failure) in
                for document in part { try body(document, database) }
            }
            // Else this would mostly have the lock again before they wake.
            usleep(Self.breath)
        }
    }

    /// The versions of a document, which of them their age drops, and whether it will drop more of them
    /// as soon as the current one is on the disk.
    private func aged(
        _ document: DocumentID, _ database: CatalogDatabase, keeping pinned: Set<NodeNumber>,
        now: Timestamp
    ) throws(Failure) -> (versions: [VersionRow], old: [VersionRow], staysForNow: Bool) {
        let versions = try database.versions(of: document)
        // Asked after the versions: a mark comes before what replaces the marked one.
        let apart = try database.versionsKeptApart(of: document)
        if versions.count < 2 { return (versions, [], false) }
        // Before they are sealed only the syncs of the disk tell what a power loss would leave.
        let old = Retention.superfluous(
            versions, keeping: pinned, apart: apart, durableUntil: content.durableUntil(), now: now)
        // What comes later is published later.
        let later = Retention.superfluous(
            versions, keeping: pinned, apart: apart, durableUntil: Timestamp(rawValue: .max),
            now: now)
        return (versions, old, later.count > old.count)
    }

    /// Removes the bytes of versions that are out of the catalog, and of those for which that failed before;
    /// blobs only if nothing refers to them.
    func remove(contentsOf versions: [VersionRow]) {
        let versions = left.withLock { left in
            defer { left = [] }
            return left + versions
        }
        // Asking what is still needed waits for the catalog.
        if versions.isEmpty { return }
        volume.link?.uploads.cancel(versions.map(\.node))
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
            guard let inUse, (try? volume.log.synchronize()) != nil else {
                return left.withLock { $0 += versions }
            }
            for (version, inUse) in zip(versions, inUse) {
                volume.pictures?.remove(version.node)
                content.removeUnused(version.node)
                if let hash = version.hash, !inUse { content.removeBlob(hash) }
            }
        }
    }
}

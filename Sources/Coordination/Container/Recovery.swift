internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// Brings a container that was not closed to the state that was acknowledged.
///
/// A session with an acknowledged close or fsync is published; one without is discarded, and the
/// version before it stays. After a crash of the daemon alone, files are as they were written; after
/// a power loss (another boot than the one that wrote) a content counts only if an fsync made it
/// durable or its hash is known and right.
struct Recovery {
    private let index: MemoryIndex
    private let database: CatalogDatabase
    private let content: LocalContent
    private let orphans: [ItemNumber]
    private var mutations: [Mutation] = []
    private var report = RecoveryReport()
    /// Versions whose contents are to be moved among the blobs.
    private var sealedHere: [NodeNumber: VersionRow] = [:]
    private(set) var nextNumber: UInt64
    /// Now, and not before any version was published.
    let time: Timestamp
    private let versions: [VersionRow]
    private let clean: Bool
    private let durableUntil: Timestamp

    init(
        index: MemoryIndex, database: CatalogDatabase, content: LocalContent, orphans: [ItemNumber]
    ) throws(Failure) {
        self.index = index
        self.database = database
        self.content = content
        self.orphans = orphans
        nextNumber = database.highestNumber + 1
        durableUntil = content.durableUntil()
        versions = try database.stagedVersions()
        // All others are durable.
        let latest = versions.map(\.published).max() ?? durableUntil
        time = max(
            Timestamp(WallClock.now),
            max(latest, durableUntil).successor)
        clean = try database.meta("clean") == "1"
        let boot = try database.meta("boot")
        report.afterPowerLoss = !clean && boot != Self.boot()
    }

    /// The kernel's name for this boot.
    static func boot() -> String {
        guard let file = try? OwnedDescriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
        else { return "" }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        return String(decoding: bytes[..<count].filter { $0 > 32 }, as: UTF8.self)
    }

    /// Does all of it; `nil` if the container had been closed.
    ///
    /// - Parameters:
    ///   - journal: the container's.
    ///   - replayed: how many changes of it the catalog did not have.
    func run(after journal: Journal, replayed: Int) throws(Failure) -> RecoveryReport? {
        var recovery = self
        recovery.report.replayed = replayed
        // A container that was closed needs none, and a power loss may have taken one that was just made.
        recovery.report.lacksJournal = journal.isNew && !clean && !report.afterPowerLoss
        var kept: Set<NodeNumber> = []
        let sessions = try database.sessions()
        try recovery.adoptPacked(sessions, versions)
        let unnamed = Set(orphans)
        for row in sessions {
            if unnamed.contains(row.item) {
                // Nobody comes to what was written.
                recovery.record(.discarded, row.item, [.removeSession(row.item, row.ordinal)])
            } else if try recovery.resume(row) {
                kept.insert(row.node)
            }
        }
        for version in versions where !kept.contains(version.node) {
            if recovery.isWhole(version) {
                kept.insert(version.node)
                try recovery.noteAbsent(version)
            } else {
                try recovery.fallBack(version)
            }
        }
        if report.afterPowerLoss { try recovery.forgetArrivals() }
        for item in orphans { try recovery.remove(item, &kept) }
        // Without the journal nobody knows what became of a document that no file is by the catalog.
        if !clean, !recovery.report.lacksJournal { try recovery.removeAbandoned(&kept) }
        try recovery.apply()
        try recovery.moveSealed()
        if recovery.report.lacksJournal {
            recovery.report.setAside = try lost.setAside(except: kept)
        }
        recovery.sweep(kept)
        let report = recovery.report
        recovery.report.isOfClosed =
            clean && report.removed == recovery.mutationCount && report.missing.isEmpty
            && report.damaged.isEmpty
        return clean && recovery.mutationCount == 0 && report.damaged.isEmpty
            ? nil : recovery.report
    }

    private var lost: LostContents {
        LostContents(index: index, database: database, content: content)
    }

    private var mutationCount: Int {
        report.replayed + report.published + report.discarded + report.fellBack + report.removed
    }

    private mutating func record(_ kind: ChangeKind, _ item: ItemNumber, _ effects: [Effect]) {
        mutations.append(
            Mutation(
                sequence: database.appliedSequence + UInt64(mutations.count) + 1, time: time,
                kind: kind, item: item, effects: effects))
    }

    private mutating func apply() throws(Failure) {
        if mutations.isEmpty { return }
        try database.applyAll(mutations)
    }

    // MARK: Packed contents

    /// Finds the contents that had no file of their own yet.
    ///
    /// A file that is there was made whole, and what was written later is only in it. After a power
    /// loss it may have lost its bytes; then the entry counts if it is what was published. What has become
    /// of an entry that is damaged is nobody's document, but the user may find in it what it was.
    private mutating func adoptPacked(_ sessions: [SessionRow], _ versions: [VersionRow])
        throws(Failure)
    {
        let unfinished = Set(sessions.map(\.node))
        let published = Dictionary(versions.map { ($0.node, $0) }) { $1 }
        let isPowerLoss = report.afterPowerLoss
        let lost = report.lacksJournal ? self.lost : nil
        if let pack = content.packed.oddPack {
            throw Failure(
                .inputOutput,
                "\(pack) is no file: put the file back that belongs there, or remove it if "
                    + "there was none")
        }
        do throws(Errno) {
            let damaged = try content.packed.adopt { node, size, modified in
                let isThere = access(content.folder.staging(node), F_OK) == 0
                if let version = published[node] {
                    // An entry before the one that was published is not this version.
                    return version.size == size
                        && (!isThere || isPowerLoss && version.modified == modified)
                }
                return !isThere
                    && (unfinished.contains(node) || lost?.isUnknown(node) ?? false)
            }
            for node in damaged {
                let isThere = access(content.folder.staging(node), F_OK) == 0
                if isPowerLoss, isThere || !(published[node].map(isWhole) ?? false) {
                    content.packed.remove(node)
                } else {
                    try content.setAside(node)
                    // Of an earlier version check says so.
                    if index.holder(of: node) != 0 || unfinished.contains(node) {
                        report.damaged.append(node.item)
                    }
                }
            }
        } catch {
            throw Failure(.inputOutput, "\(content.folder.packs): \(error)")
        }
    }

    // MARK: Sessions

    /// Publishes or discards an acknowledged session; says whether its staging file is in use now.
    private mutating func resume(_ row: SessionRow) throws(Failure) -> Bool {
        let position = index.find(row.item)
        let status = position == 0 ? nil : try contentStatus(row.node)
        if position != 0, status == nil, !report.damaged.contains(row.item),
            row.synced || row.wrote && !report.afterPowerLoss
        {
            report.missing.append(row.item)
        }
        guard position != 0, let status, isAcknowledged(row, status) else {
            record(.discarded, row.item, [.removeSession(row.item, row.ordinal)])
            report.discarded += 1
            return false
        }
        let record = index[item: position]
        record.pointee.setContent(
            status, ordinal: row.ordinal, place: row.synced ? .durable : .staged)
        record.pointee.nextOrdinal = max(record.pointee.nextOrdinal, row.ordinal + 1)
        let version = VersionRow(
            document: DocumentID(rawValue: record.pointee.document), item: row.item,
            ordinal: row.ordinal, size: status.size, blocks: status.blocks,
            modified: status.modified, published: time, author: row.author,
            place: record.pointee.place, hash: nil)
        self.record(
            .published, row.item,
            [
                .putItem(index.row(position)), .putVersion(version),
                .removeSession(row.item, row.ordinal),
            ])
        report.published += 1
        return true
    }

    /// Notes a document whose published content should be in the folder and is not.
    private mutating func noteAbsent(_ version: VersionRow) throws(Failure) {
        guard !clean, version.place == .staged, index.holder(of: version.node) != 0,
            !report.damaged.contains(version.item), try contentStatus(version.node) == nil
        else { return }
        report.absent.append(version.item)
    }

    /// What there is of a session's content; `nil` if it is gone. One that only cannot be read now is not
    /// to be given up for that.
    private func contentStatus(_ node: NodeNumber) throws(Failure) -> FileStatus? {
        do throws(Errno) { return try content.stagingStatus(node) } catch {
            if error.code == ENOENT { return nil }
            throw Failure(
                error.code == EACCES || error.code == EPERM ? .noPermission : .inputOutput,
                "\(content.folder.staging(node)): \(error); what was saved last of a document is in it. "
                    + "Make it a file that can be read and written, or move it away to go on with the "
                    + "version before")
        }
    }

    /// Whether the staging file holds what a close or an fsync acknowledged.
    private func isAcknowledged(_ row: SessionRow, _ status: FileStatus) -> Bool {
        let same = status.size == row.size && status.modified == row.modified
        if !report.afterPowerLoss {
            // Written again since, and not closed since: all bytes that were acknowledged are there.
            return same || row.wrote || row.synced
        }
        return row.synced
    }

    private func hash(_ node: NodeNumber, _ size: Int64) -> ContentHash? {
        let staged = ContentReference(node: node, place: .staged, hash: nil, size: size)
        guard let result = try? content.hash(staged), result.size == size else { return nil }
        return result.hash
    }

    // MARK: Versions that may not have reached the disk

    private func isWhole(_ version: VersionRow) -> Bool {
        guard report.afterPowerLoss, version.place == .staged else { return true }
        if version.published < durableUntil { return true }
        guard let hash = version.hash else { return false }
        return self.hash(version.node, version.size) == hash
    }

    /// A version was lost with the power: the document's last whole one takes its place.
    private mutating func fallBack(_ version: VersionRow) throws(Failure) {
        var effects: [Effect] = [.removeVersion(version.item, version.ordinal)]
        let position = index.holder(of: version.node)
        // An item without a name goes anyway. What it would fall back to is its successor's history
        // now, and would stand there as the newest.
        if position != 0 {
            let record = index[item: position]
            // Also what the file held as another document, as one that became a backup did.
            var earlier = try database.versions(of: version.document, andOf: version.item)
                .sorted { ($0.published, $0.ordinal) < ($1.published, $1.ordinal) }
                .last {
                    $0.node != version.node && $0.published <= version.published && isWhole($0)
                }
            if let whole = earlier { earlier = try sealed(whole) }
            let ordinal = record.pointee.nextOrdinal
            record.pointee.nextOrdinal += 1
            record.pointee.ordinal = earlier == nil ? 0 : ordinal
            record.pointee.size = earlier?.size ?? 0
            record.pointee.blocks = MemoryIndex.pages(of: earlier?.blocks ?? 0)
            record.pointee.place = .none
            record.pointee.hash = nil
            if var earlier {
                // Its bytes may have moved among the blobs just now.
                effects.append(.putVersion(earlier))
                record.pointee.modified = earlier.modified.rawValue
                record.pointee.changed =
                    max(
                        Timestamp(rawValue: record.pointee.changed).successor, time
                    ).rawValue
                record.pointee.place = earlier.place
                record.pointee.hash = earlier.hash
                earlier.document = DocumentID(rawValue: record.pointee.document)
                earlier.item = version.item
                earlier.ordinal = ordinal
                earlier.published = time
                effects.append(.putVersion(earlier))
            }
            effects.insert(.putItem(index.row(position)), at: 0)
        }
        record(.repaired, version.item, effects)
        report.fellBack += 1
    }

    /// The version as it is when its content is among the blobs, where ``moveSealed()`` takes it; `nil`
    /// if it has none that can be read.
    private mutating func sealed(_ version: VersionRow) throws(Failure) -> VersionRow? {
        if version.place.isNamed { return version }
        // Two items may go back to the same version: a backup that was renamed away, and the
        // document that was written in its place.
        if let known = sealedHere[version.node] { return known }
        guard let hash = hash(version.node, version.size) else { return nil }
        do throws(Errno) { try content.prepareSealing(version.node, hash: hash) } catch {
            throw Self.sealingFailed(content.folder.blob(hash), error)
        }
        var sealed = version
        sealed.place = .sealed
        sealed.hash = hash
        sealedHere[version.node] = sealed
        return sealed
    }

    /// Moves the contents of versions that others went back to among the blobs.
    ///
    /// Only when the catalog is sure to know: it does not look there for a content whose hash it does not
    /// have. Of what is cut off here ``sweep(_:)`` does the rest at the next opening.
    private func moveSealed() throws(Failure) {
        if sealedHere.isEmpty { return }
        try database.checkpoint()
        for (node, version) in sealedHere {
            guard let hash = version.hash else { continue }
            do throws(Errno) {
                try content.seal(
                    node, hash: hash, replacing: content.isDamaged(hash, size: version.size))
            } catch {
                throw Self.sealingFailed(content.folder.blob(hash), error)
            }
        }
    }

    /// Another time it may work: the document is not to be given up for that.
    private static func sealingFailed(_ path: String, _ error: Errno) -> Failure {
        Failure(.inputOutput, "\(path): \(error)", isDiskFull: error.code == ENOSPC)
    }

    /// What came of promises shortly before a power loss may not have reached the disk: it comes
    /// again when somebody asks for it.
    private func forgetArrivals() throws(Failure) {
        for hash in try database.promisedHashes() { content.evictBlob(hash) }
        for name in (try? Directories.names(in: content.folder.incoming)) ?? [] {
            unlink(content.folder.incoming + "/" + name)
        }
    }

    // MARK: What nobody needs

    /// Removes an item that had no name any more when its last user went away with the daemon, and the
    /// versions that nobody can see without it.
    private mutating func remove(
        _ item: ItemNumber, _ kept: inout Set<NodeNumber>
    ) throws(Failure) {
        let position = index.find(item)
        if position == 0 { return }
        let document = DocumentID(rawValue: index[item: position].pointee.document)
        index.removeItem(position)
        var effects: [Effect] = [.removeItem(item)]
        for version in try database.versions(of: document, andOf: item) {
            let heir = index.holder(of: version.node)
            if heir != 0, version.document == document {
                // What is current in a file that lives on, as a backup, is that file's history now.
                let document = DocumentID(rawValue: index[item: heir].pointee.document)
                effects.append(.adoptVersions(item: version.item, document: document))
            }
            if heir != 0 { continue }
            if version.document != document, try isHeld(version.document) { continue }
            effects.append(.removeVersion(version.item, version.ordinal))
            kept.remove(version.node)
            if let hash = version.hash { report.unneeded.insert(hash) }
        }
        record(.purged, item, effects)
        report.removed += 1
    }

    /// Removes what is left of documents that no file is any more: the mount would have done that a moment
    /// later.
    private mutating func removeAbandoned(_ kept: inout Set<NodeNumber>) throws(Failure) {
        var gone = try database.documentsThatMoved()
        if gone.isEmpty { return }
        index.forEach { gone.remove(DocumentID(rawValue: $0.document)) }
        for document in gone.sorted(by: { $0.rawValue < $1.rawValue }) {
            let versions = try database.versions(of: document).filter {
                // What is current in a file, as in a backup, is its own.
                index.holder(of: $0.node) == 0
            }
            guard let first = versions.first else { continue }
            for version in versions {
                kept.remove(version.node)
                if let hash = version.hash { report.unneeded.insert(hash) }
            }
            record(
                .pruned, first.item, versions.map { .removeVersion($0.item, $0.ordinal) })
        }
    }

    private func isHeld(_ document: DocumentID) throws(Failure) -> Bool {
        index.isHeld(document, by: try database.writers(of: document))
    }

    /// Empties the journal after a loss of power, before the catalog says that this boot has it open: what
    /// did not reach the disk in order would be taken for damage, or for changes that follow on new ones.
    static func forget(
        _ journal: Journal, _ report: RecoveryReport, _ database: CatalogDatabase
    ) throws(Failure) {
        if !report.afterPowerLoss { return }
        try database.checkpoint()
        do throws(Errno) { try journal.clear() } catch {
            throw Failure(
                .inputOutput, "\(journal.folder): \(error)", isDiskFull: error.code == ENOSPC)
        }
    }

    /// Removes the blobs of what ``run(after:replayed:)`` removed. The catalog has to be on the disk.
    static func removeUnneeded(
        _ report: RecoveryReport, _ database: CatalogDatabase, _ content: LocalContent
    ) throws(Failure) {
        for hash in report.unneeded {
            if try !database.isReferenced(hash) { content.removeBlob(hash) }
        }
    }

    /// Clears the staging folder of what no version and no session refers to, and finishes moves
    /// that were cut off.
    private func sweep(_ kept: Set<NodeNumber>) {
        content.packed.forget(except: kept)
        guard let names = try? Directories.names(in: content.folder.staging) else { return }
        for name in names {
            // What does not look like ours stays: the check of the container reports it.
            guard let node = ContainerFolder.node(of: name) else { continue }
            if kept.contains(node) { continue }
            if let version = try? database.version(node.item, node.ordinal),
                let hash = version.hash,
                version.place.isNamed
            {
                try? content.seal(
                    node, hash: hash, replacing: content.isDamaged(hash, size: version.size))
            } else {
                content.removeStaging(node)
            }
        }
    }
}

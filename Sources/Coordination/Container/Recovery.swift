internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Brings a container that was not closed to the state that was acknowledged.
///
/// A session with an acknowledged close or fsync is published; one without is discarded, and the
/// version before it stays. After a crash of the daemon alone, files are as they were written; after
/// a power loss (another ``Boot`` than the one that wrote) a content counts only if an fsync made it
/// durable or its hash is known and right.
struct Recovery {
    let index: MemoryIndex
    let database: CatalogDatabase
    let content: LocalContent
    let orphans: [ItemNumber]
    var mutations: [Mutation] = []
    var report = RecoveryReport()
    /// Versions whose contents are to be moved among the blobs.
    var sealedHere: [NodeNumber: VersionRow] = [:]
    private(set) var nextNumber: UInt64
    /// Now, and not before any version was published.
    let time: Timestamp
    let versions: [VersionRow]
    let clean: Bool
    let durableUntil: Timestamp
    /// Until when all is on the disk was noted as a moment that cannot be: all versions from here on would have
    /// that one, and of those of one moment only the last is kept.
    let isNoteDamaged: Bool

    /// Nobody notes a moment so much later than all versions and the clock, in seconds.
    private static let longestQuiet: Double = 366 * 86_400

    init(
        index: MemoryIndex, database: CatalogDatabase, content: LocalContent, orphans: [ItemNumber]
    ) throws(Failure) {
        self.index = index
        self.database = database
        self.content = content
        self.orphans = orphans
        nextNumber = database.highestNumber + 1
        let (now, noted) = (Timestamp(WallClock.now), try Self.notedDurability(content))
        // One that has not come is of before the clock was set back, or damage.
        let last = noted > now ? max(now, try database.lastPublished()) : noted
        isNoteDamaged = noted.secondsSince(last) > Self.longestQuiet
        durableUntil = isNoteDamaged ? Timestamp(rawValue: 0) : noted
        versions = try database.stagedVersions()
        // All others are durable.
        let latest = versions.map(\.published).max() ?? durableUntil
        time = max(now, max(latest, isNoteDamaged ? last : durableUntil).successor)
        clean = try database.meta("clean") == "1"
        let (boot, recorded) = (try Boot(of: content.folder), try database.meta("boot"))
        report.afterPowerLoss = clean ? false : try !boot.includes(recorded)
        report.isOfCopy = !clean && boot.isCopied(since: recorded)
        report.diskWasAway = report.afterPowerLoss && boot.isOfMachine(recorded)
    }

    private static func notedDurability(_ content: LocalContent) throws(Failure) -> Timestamp {
        do throws(Errno) { return try content.notedDurability() } catch {
            throw Failure(.inputOutput, "\(content.folder.durable): \(error)")
        }
    }

    /// Does all of it; `nil` if the container had been closed.
    ///
    /// - Parameter replayed: how many changes of the journal the catalog did not have.
    func run(replayed: Int) throws(Failure) -> RecoveryReport? {
        var recovery = self
        if isNoteDamaged { unlink(content.folder.durable.cPath) }
        recovery.report.replayed = replayed
        // A container that was closed needs none, and a power loss may have taken one that was just made.
        let isLost = try database.meta(Container.lostJournalKey) != nil
        recovery.report.lacksJournal = isLost && !clean && !report.afterPowerLoss
        var kept: Set<NodeNumber> = []
        let sessions = try database.sessions()
        // Before anybody reads them here: a mapping of the mount before can outlive it.
        for version in versions where content.isLeftFrozen(version.node) {
            content.takeFromWriters(version.node)
        }
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
            if try recovery.isWhole(version) {
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

    /// Notes that all of it is done.
    static func end(in folder: ContainerFolder, _ database: CatalogDatabase) throws(Failure) {
        try database.setMeta("boot", try Boot(of: folder).text)
    }

    /// Notes that what it did is about to be said. Until then whoever opens the container next is to be told
    /// of a journal that was lost: nobody else looks into ``ContainerFolder/lost``.
    static func noteTold(_ database: CatalogDatabase) throws(Failure) {
        try database.setMeta(Container.lostJournalKey, nil)
    }

    var lost: LostContents {
        LostContents(index: index, database: database, content: content)
    }

    var mutationCount: Int {
        report.replayed + report.published + report.discarded + report.fellBack + report.removed
    }

    mutating func record(_ kind: ChangeKind, _ item: ItemNumber, _ effects: [Effect]) {
        mutations.append(
            Mutation(
                sequence: database.appliedSequence + UInt64(mutations.count) + 1, time: time,
                kind: kind, item: item, effects: effects))
    }

    mutating func apply() throws(Failure) {
        if mutations.isEmpty { return }
        try database.applyAll(mutations)
    }
}

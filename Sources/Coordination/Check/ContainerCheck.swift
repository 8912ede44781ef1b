internal import Catalog
internal import Content
internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// `shapeedit container check`: the catalog against itself and against the contents.
///
/// What is sound is not written to: a container without damage, or with damage that cannot be
/// repaired, is the same file for file afterwards.
package struct ContainerCheck {
    package struct Finding: Sendable {
        package let problem: String
        package let repaired: Bool
    }

    package struct Report: Sendable {
        package var items = 0
        package var versions = 0
        package var findings: [Finding] = []
    }

    let database: CatalogDatabase
    let content: LocalContent
    /// What the container's store has, by hash, with sizes in bytes; `nil` if it is not known.
    let stored: [ContentHash: Int64]?
    private let time: Timestamp
    private(set) var report = Report()
    private var mutations: [Mutation] = []
    var rows: [ItemNumber: ItemRow] = [:]
    var names: [ItemNumber: [Name]] = [:]
    /// Current versions that are told in two ways of which neither is known to be wrong.
    var undecided: Set<NodeNumber> = []

    /// The container had been closed, and nothing had to be recovered.
    private(set) var wasClosed = false
    /// SQLite cannot trust the catalog's file.
    private var isUntrusted = false
    /// Something in the catalog was put right, which explains that its file is another one.
    private var hasMendedCatalog = false

    /// A name of an item.
    struct Name {
        var parent: ItemNumber
        var bytes: [UInt8]
        /// Its age among the names of the item.
        var rank: UInt32 = 0
    }

    /// Checks the container in `path`, which nobody has open, and repairs what it can.
    ///
    /// - Parameter stored: what the store at an address has, with sizes in bytes; `nil` if it does not
    ///   answer. It is told what should be there.
    package static func run(
        _ name: String, at path: String,
        stored: (String, Set<ContentHash>) -> [ContentHash: Int64]? = { _, _ in nil }
    ) throws(Failure) -> Report {
        let folder = ContainerFolder(path: path)
        try folder.checkOurs(name)
        // Nothing is made in a folder that has none.
        if access(folder.lock.cPath, F_OK) != 0 { try requireCatalog(folder, name) }
        let lock = try Container.lock(name, at: path, holder: "being checked")
        defer { withExtendedLifetime(lock) {} }
        // Not before: one that is being made has none yet, and one that is being deleted none any more.
        try requireCatalog(folder, name)
        let content = LocalContent(folder: folder)
        try content.makeRoomToOpen()
        // Before SQLite opens the file, and perhaps brings it to a newer version.
        let sum = CatalogSum(of: folder)
        let database: CatalogDatabase
        do throws(Failure) {
            database = try CatalogDatabase(path: folder.catalog, create: false)
        } catch {
            guard error.kind == .badData else { throw error }
            throw error.advising(
                "nothing of it can be read: put a backup of it back (the contents of the documents "
                    + "are in \(folder.blobs))")
        }
        defer {
            database.close()
            database.releaseRoom()
            content.holdReserve()
        }
        var inStore: [ContentHash: Int64]?
        do throws(Failure) {
            // A container without a store has none that could have anything.
            inStore = [:]
            if let store = try database.meta(Container.storeKey) {
                inStore = stored(store, expected(database))
            }
        } catch { inStore = nil }
        var check = ContainerCheck(database, content, stored: inStore)
        let counted = sum.flatMap { $0.counts(in: database) ? $0 : nil }
        try check.run()
        if check.isUntrusted { return check.report }
        // What the check has written itself is no damage.
        if check.hasMendedCatalog {
            let closing = CatalogSum.closing(of: database.appliedSequence)
            try? database.setMeta(CatalogSum.key, closing)
            database.close()
            CatalogSum.note(folder, closing: closing)
        } else if let counted, counted.isKept {
            database.close()
            CatalogSum.note(folder, closing: counted.closing)
        } else if counted != nil {
            check.find(
                "catalog.sqlite has other bytes than when the container was closed, though nothing in it "
                    + "contradicts the rest: a name, a time or the like may not be what it was. Mount "
                    + "the container to go on with it as it is, or put a backup of it back",
                repaired: false)
        }
        return check.report
    }

    /// What the store should have; none of it where that cannot be read, which is told elsewhere.
    private static func expected(_ database: CatalogDatabase) -> Set<ContentHash> {
        var found: Set<ContentHash> = []
        try? database.forEachVersion { version in
            if version.place == .stored || version.place == .promised, let hash = version.hash {
                found.insert(hash)
            }
        }
        return found
    }

    /// Fails if the container has no catalog. Where there are no contents either, its making was cut off.
    private static func requireCatalog(_ folder: ContainerFolder, _ name: String) throws(Failure) {
        if try folder.hasCatalog() { return }
        guard folder.hasContents else {
            throw Failure(.noInput, "there is no container \(name)")
        }
        throw Failure(
            .badData,
            "\(folder.catalog) is missing: the names of the documents are lost; their contents "
                + "are in \(folder.blobs). Put a backup of the catalog back")
    }

    private init(
        _ database: CatalogDatabase, _ content: LocalContent, stored: [ContentHash: Int64]?
    ) {
        self.database = database
        self.content = content
        self.stored = stored
        time = Timestamp(WallClock.now)
    }

    private mutating func run() throws(Failure) {
        let errors = try database.integrityErrors()
        if !errors.isEmpty {
            // Nothing is written to a file that SQLite cannot trust, and no table of it is believed.
            isUntrusted = true
            for error in errors { find("catalog.sqlite: \(error)", repaired: false) }
            find(
                "catalog.sqlite is damaged and was left alone: put a backup of it back; what a mount "
                    + "still shows can be copied out", repaired: false)
            checkFolder()
            return
        }
        for gap in try database.changeLogGaps() {
            find(
                "the change log: \(gap); it begins anew after that, and so must who follows it",
                repaired: true)
        }
        if !report.findings.isEmpty { try database.closeChangeLogGaps() }
        let recovered = try recover()
        wasClosed = recovered?.isOfClosed ?? true
        try load()
        if let recovered, recovered.lacksJournal {
            find(
                "\(content.folder.journal) was missing after a crash: what was changed last is lost"
                    + (recovered.setAside == 0
                        ? ""
                        : "; what may be of it, \(Count.words(recovered.setAside, "content")), is in "
                            + "\(content.folder.lost), without names: take out what you need, and "
                            + "remove the folder"),
                repaired: false)
        }
        for item in recovered?.missing ?? [] {
            find("\(path(item)): what was saved last is missing", repaired: false)
        }
        for item in recovered?.damaged ?? [] {
            find(
                "\(path(item)): what was saved last is damaged; what is left of it is in "
                    + content.folder.lost, repaired: false)
        }
        try checkKinds()
        checkOwners()
        try checkNames()
        try checkAttributes()
        if try BookmarkKey.repair(database) {
            find(
                "the key of the bookmarks was damaged; tokens from before are not valid any more",
                repaired: true)
        }
        try checkContents()
        try checkOrigins()
        checkFolder()
        if TextDatabase.isDamaged(content.folder.texts) {
            TextDatabase.remove(content.folder.texts)
            find(
                "\(content.folder.texts) was damaged: the next mount takes the words from the documents "
                    + "again, but for those whose content is only in the store", repaired: true,
                isOfCatalog: false)
        }
        if report.findings.isEmpty {
            try removeUnusedBlobs()
            try removeUnusedPictures()
        }
        try repair()
        if recovered != nil { try Recovery.noteTold(database) }
    }

    /// - Parameter isOfCatalog: what was put right, if it was, is in the catalog.
    mutating func find(_ problem: String, repaired: Bool, isOfCatalog: Bool = true) {
        if repaired, isOfCatalog, !hasMendedCatalog {
            hasMendedCatalog = true
            // If this is cut off, the catalog is not what it was, and not damaged.
            try? database.setMeta(CatalogSum.key, nil)
        }
        report.findings.append(Finding(problem: problem, repaired: repaired))
    }

    mutating func fix(_ problem: String, _ item: ItemNumber, _ effects: [Effect]) {
        find(problem, repaired: true)
        amend(item, effects)
    }

    /// Changes what a repair entails, without a finding of its own.
    mutating func amend(_ item: ItemNumber, _ effects: [Effect]) {
        mutations.append(
            Mutation(
                sequence: database.appliedSequence + UInt64(mutations.count) + 1, time: time,
                kind: .repaired, item: item, effects: effects))
    }

    /// The moment of the check.
    var now: Timestamp { time }

    /// What a mount would do first: replay and recovery. Returns what that found; `nil` if the container
    /// had been closed.
    private mutating func recover() throws(Failure) -> RecoveryReport? {
        let journal = try Container.openJournal(content.folder, of: database)
        let replayed = try Container.replay(
            journal, of: content.folder, into: database)
        try checkReadable()
        try checkNumbers()
        let index = try MemoryIndex()
        var orphans: Set<ItemNumber> = []
        var isFull = false
        try database.loadItems { row in
            isFull = isFull || !index.canHold(target: row.target?.count)
            if isFull { return }
            index.insert(row)
            if row.links == 0 { orphans.insert(row.number) }
        }
        if isFull { throw MemoryIndex.noRoom(for: database) }
        // One that has a name is not an orphan, whatever it counts.
        try database.loadNames { _, _, item, _ in orphans.remove(item) }
        orphans.remove(.root)
        let recovery = try Recovery(
            index: index, database: database, content: content, orphans: orphans.sorted())
        if recovery.isNoteDamaged {
            find(
                "\(content.folder.durable) was damaged: what is on the disk is not known before the next mount",
                repaired: true, isOfCatalog: false)
        }
        guard let report = try recovery.run(replayed: replayed) else { return nil }
        try Recovery.forget(journal, report, database)
        try Recovery.end(in: content.folder, database)
        try database.checkpoint()
        try Recovery.removeUnneeded(report, database, content)
        return report
    }

    private mutating func load() throws(Failure) {
        var rows: [ItemNumber: ItemRow] = [:]
        var names: [ItemNumber: [Name]] = [:]
        var count = 0
        try database.loadItems { rows[$0.number] = $0 }
        try database.loadNames { parent, name, item, rank in
            names[item, default: []].append(
                Name(parent: parent, bytes: Array(name), rank: rank))
        }
        var last: [ItemNumber: VersionRow] = [:]
        try database.forEachVersion { version in
            count += 1
            let item = version.item
            guard rows[item] == nil, names[item] != nil else { return }
            // They come in order.
            last[item] = version
        }
        self.rows = rows
        self.names = names
        for version in last.values.sorted(by: { $0.item < $1.item }) { revive(version) }
        reviveDirectories()
        report.items = rows.count
        report.versions = count
    }

    private mutating func repair() throws(Failure) {
        if mutations.isEmpty { return }
        do throws(Failure) {
            try database.applyAll(mutations)
        } catch {
            guard error.isDiskFull else { throw error }
            report.findings = report.findings.map { Finding(problem: $0.problem, repaired: false) }
            find(
                "the disk is full: not all of this could be repaired; free some space and check again",
                repaired: false)
        }
        do throws(Failure) { try database.checkpoint() } catch {
            // What is committed is kept in SQLite's log until there is room.
            if !error.isDiskFull { throw error }
        }
    }

    /// Where an item is, for people.
    func path(_ item: ItemNumber) -> String {
        var parts: [String] = []
        var current = item
        while current != .root, parts.count < 4_096, let first = names[current]?.first {
            parts.append(String(path: first.bytes))
            current = first.parent
        }
        return parts.isEmpty
            ? item == .root ? "the root" : "item \(item.rawValue)"
            : parts.reversed().joined(separator: "/")
    }
}

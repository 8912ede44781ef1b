package import Catalog
package import Content
internal import Glibc
package import Model
internal import PathText
internal import Synchronization
internal import SystemCalls

/// An open container: its catalog in memory and on the disk, its contents, its change log.
///
/// Opening locks it against a second opener, replays what SQLite does not have yet, and recovers
/// what a crash left. ``close()`` makes everything durable.
package final class Container: @unchecked Sendable {
    // Unchecked because of `index`, which the volume guards, and `reader`, guarded by its lock.
    package let name: String
    package let folder: ContainerFolder
    package let content: LocalContent
    package let log: ChangeLog
    package let index: MemoryIndex
    /// The first number that no item or document has had.
    package let nextNumber: UInt64
    /// No version was published later.
    package let lastPublished: Timestamp
    /// What recovery did; `nil` after a clean close.
    package let recovered: RecoveryReport?
    /// Published versions that are not sealed yet, left by a crash.
    package let unsealed: [NodeNumber]
    /// Versions that stay whatever their age, as of the opening.
    package let pinnedVersions: [NodeNumber]
    /// Versions of conflicts and their documents, as of the opening.
    package let conflictVersions: [NodeNumber: DocumentID]
    /// The bookmarks, as of the opening.
    package let bookmarks: Bookmarks
    /// The grants, as of the opening.
    package let grants: Grants
    /// Documents that were opened lately, as of the opening.
    package let recents: [DocumentID: Timestamp]
    /// The address of the store that the container's contents go to; `nil` if they stay here.
    package let store: String?
    private let lock: ContainerLock
    /// Something that was acknowledged could not be brought to the disk.
    private let isUnfinished = Atomic(false)
    /// Nothing is left that only a mount looks after.
    private let isSettled: Atomic<Bool>
    /// A second connection, for reading while the log applies.
    private let reader: Lock<CatalogDatabase>

    /// Where the catalog keeps ``store``.
    package static let storeKey = "store"

    /// Makes an empty container with a root directory owned by the caller.
    ///
    /// - Parameters:
    ///   - store: the address of its store; `nil`: none.
    ///   - hasSamples: whether it begins with samples (``awaitsSamples()``).
    package static func create(
        _ name: String, at path: String, store: String? = nil, hasSamples: Bool = false
    ) throws(Failure) {
        let folder = ContainerFolder(path: path)
        let isTaken = Failure(.cannotCreate, "there is a container \(name) already")
        if access(folder.catalog.cPath, F_OK) == 0 { throw isTaken }
        if let lost = folder.lostCatalog { throw lost }
        try folder.checkLongestFile()
        try folder.make(isNew: true)
        let lock = try ContainerLock(folder, name: name, holder: "being created")
        // Somebody else may have made it since.
        if access(folder.catalog.cPath, F_OK) == 0 { throw isTaken }
        // Under another name until it is whole: what was cut off is made anew.
        let draft = folder.catalogDraft
        for end in ["", "-wal", "-shm"] { unlink((draft + end).cPath) }
        // Of one whose deletion was cut off: SQLite would take them for those of the new one.
        for end in ["-wal", "-shm"] { unlink((folder.catalog + end).cPath) }
        let database = try CatalogDatabase(path: draft, create: true)
        let time = Timestamp(WallClock.now)
        let root = ItemRow(
            number: .root, mode: S_IFDIR | 0o755, user: getuid(), group: getgid(), links: 2,
            modified: time, changed: time, accessed: time,
            document: DocumentID(rawValue: ItemNumber.root.rawValue))
        try database.apply([
            Mutation(
                sequence: 1, time: time, kind: .created, item: .root, effects: [.putItem(root)])
        ])
        try database.setMeta("name", name)
        try database.setMeta(storeKey, store)
        try database.setMeta(samplesKey, hasSamples ? "due" : nil)
        try database.setMeta("clean", "1")
        try database.checkpoint()
        database.close()
        guard rename(draft.cPath, folder.catalog.cPath) == 0 else {
            throw Failure(.cannotCreate, "\(folder.catalog): \(Errno.last)")
        }
        try? Directories.synchronize(path)
        withExtendedLifetime(lock) {}
    }

    /// The store of the container in `path`, which may be mounted; `nil` if it has none.
    package static func store(at path: String) throws(Failure) -> String? {
        let folder = ContainerFolder(path: path)
        LongestFile.failBeyond()
        try folder.checkLongestFile()
        let database = try CatalogDatabase(lookingAt: folder.catalog, busyMilliseconds: 5_000)
        defer { database.close() }
        return try database.meta(storeKey)
    }

    /// What tells the container in `path` from every other, as its documents tell it; `nil` if that cannot be
    /// read, or it never had one.
    package static func identity(at path: String) -> String? {
        guard
            let database = try? CatalogDatabase(
                lookingAt: ContainerFolder(path: path).catalog, busyMilliseconds: 500)
        else { return nil }
        defer { database.close() }
        return BookmarkKey.known(in: database).map(BookmarkKey.containerID)
    }

    /// Keeps everybody else out of the container as long as the result lives.
    package static func lock(_ name: String, at path: String, holder: String) throws(Failure)
        -> any Sendable
    {
        try ContainerLock(ContainerFolder(path: path), name: name, holder: holder)
    }

    /// Opens the container in `path`.
    ///
    /// - Parameters:
    ///   - holder: what a second opener is told.
    ///   - capacity: names that there is to be address space for.
    ///   - items: the same of items, where they are not to be as many.
    package init(
        _ name: String, at path: String, holder: String,
        capacity: Int = MemoryIndex.usualCapacity, items: Int? = nil
    ) throws(Failure) {
        let folder = ContainerFolder(path: path)
        guard access(folder.catalog.cPath, F_OK) == 0 else {
            if let lost = folder.lostCatalog { throw lost }
            throw Failure(
                .noInput,
                access(path.cPath, F_OK) == 0
                    ? "\(path) has no catalog.sqlite: it is not a container, or its catalog is lost"
                    : "there is no container \(name); `shapeedit container create \(name)` makes one"
            )
        }
        lock = try ContainerLock(folder, name: name, holder: holder)
        let opened: Opened
        do throws(Failure) { opened = try Self.open(folder, capacity, items) } catch {
            guard error.kind == .badData else { throw error }
            throw error.advising("`shapeedit container check \(name)` tells what can be repaired")
        }
        self.name = name
        self.folder = folder
        content = opened.content
        index = opened.index
        recovered = opened.recovered
        unsealed = opened.unsealed
        pinnedVersions = opened.pinnedVersions
        conflictVersions = opened.conflictVersions
        bookmarks = opened.bookmarks
        grants = opened.grants
        recents = opened.recents
        nextNumber = opened.nextNumber
        lastPublished = opened.lastPublished
        isSettled = Atomic(opened.recovered == nil)
        store = opened.store
        let content = opened.content
        log = ChangeLog(journal: opened.journal, database: opened.database) { content.roomToGrow }
        reader = Lock(opened.reader)
    }

    private struct Opened {
        var content: LocalContent
        var index: MemoryIndex
        var recovered: RecoveryReport?
        var unsealed: [NodeNumber]
        var pinnedVersions: [NodeNumber]
        var conflictVersions: [NodeNumber: DocumentID]
        var bookmarks: Bookmarks
        var grants: Grants
        var recents: [DocumentID: Timestamp]
        var nextNumber: UInt64
        var lastPublished: Timestamp
        var store: String?
        var journal: Journal
        var database: CatalogDatabase
        var reader: CatalogDatabase
    }

    /// Opens everything in the folder, which is locked, and recovers what a crash left.
    private static func open(
        _ folder: ContainerFolder, _ capacity: Int, _ items: Int?
    ) throws(Failure) -> Opened {
        let content = LocalContent(folder: folder)
        try content.makeRoomToOpen()
        let database = try CatalogDatabase(path: folder.catalog, create: false)
        let journal = try openJournal(folder, of: database)
        try database.holdRoom()
        let replayed = try replay(journal, of: folder, into: database)
        let index = try MemoryIndex(capacity: capacity, items: items)
        let orphans = try load(index, from: database)
        let recovery = try Recovery(
            index: index, database: database, content: content, orphans: orphans)
        let report = try recovery.run(replayed: replayed)
        if let report { try Recovery.forget(journal, report, database) }
        content.adoptSpares()
        let bookmarks = Bookmarks(
            try database.bookmarks(), key: try BookmarkKey.load(database))
        try database.setMeta("clean", "0")
        try database.setMeta(CatalogSum.key, nil)
        try Recovery.end(in: folder, database)
        try database.checkpoint()
        if let report { try Recovery.removeUnneeded(report, database, content) }
        content.holdReserve()
        try database.refillReserve()
        // The journal and the rows that were read through are as large as the index.
        Memory.trim()
        let opened = Opened(
            content: content, index: index, recovered: report?.isOfClosed == true ? nil : report,
            unsealed: try database.stagedVersions().map(\.node),
            pinnedVersions: try database.pinnedVersions(),
            conflictVersions: try database.conflictVersions(), bookmarks: bookmarks,
            grants: Grants(try database.grants()),
            recents: try database.recents(), nextNumber: max(recovery.nextNumber, 2),
            lastPublished: recovery.time,
            store: try database.meta(storeKey),
            journal: journal, database: database,
            reader: try CatalogDatabase(path: folder.catalog, create: false))
        try Recovery.noteTold(database)
        return opened
    }

    /// Fills the index. Returns the items without names.
    private static func load(
        _ index: MemoryIndex, from database: CatalogDatabase
    ) throws(Failure) -> [ItemNumber] {
        var orphans: [ItemNumber] = []
        var directories: [MemoryIndex.Position] = []
        var isFull = false
        var impossible = database.highestNumber > NodeNumber.largestItem ? 1 : 0
        if database.appliedSequence > CatalogDatabase.largestSequence { impossible += 1 }
        try database.loadItems { row in
            guard NodeNumber.isItem(row.number.rawValue),
                NodeNumber.isItem(row.document.rawValue),
                row.ordinal <= NodeNumber.largestOrdinal
            else {
                impossible += 1
                return
            }
            guard index.canHold(target: row.target?.count) else {
                isFull = true
                return
            }
            let position = index.insert(row)
            if index[item: position].pointee.isDirectory { directories.append(position) }
            if row.links == 0, row.number != .root { orphans.append(row.number) }
        }
        if isFull { throw MemoryIndex.noRoom(for: database) }
        if impossible > 0 {
            throw Failure(
                .badData, "\(database.path): \(Count.words(impossible, "number")) cannot be")
        }
        if index.find(.root) == 0 {
            throw Failure(.badData, "\(database.path) has no root directory")
        }
        index.reserveNames()
        var dangling = 0
        try database.loadNames { parent, bytes, item, rank in
            let directory = index.find(parent)
            let position = index.find(item)
            if directory == 0 || position == 0 || item == .root
                || !index[item: directory].pointee.isDirectory
            {
                dangling += 1
            } else if !MemoryIndex.canBeName(bytes) {
                impossible += 1
            } else if !index.canHold(name: bytes.count) {
                isFull = true
            } else {
                index.insertName(directory, bytes, item: position, rank: rank)
            }
        }
        if isFull { throw MemoryIndex.noRoom(for: database) }
        if dangling > 0 {
            let lead = dangling == 1 ? "leads" : "lead"
            throw Failure(
                .badData, "\(database.path): \(Count.words(dangling, "name")) \(lead) nowhere")
        }
        if impossible > 0 {
            throw Failure(
                .badData, "\(database.path): \(Count.words(impossible, "name")) cannot be")
        }
        if hasLoop(directories, in: index) {
            throw Failure(.badData, "\(database.path): directories are inside themselves")
        }
        try database.loadAttributes { item, attribute, value in
            let position = index.find(item)
            guard position != 0 else { return }
            index.attributes[position, default: [:]][Array(attribute)] = Array(value)
            index[item: position].pointee.flags.insert(.hasAttributes)
        }
        index.countLinks(directories)
        // One that has a name is not an orphan, whatever it counts.
        return orphans.filter { index[item: index.find($0)].pointee.firstName == 0 }
    }

    /// Whether directories are in each other, so that a way up from them never ends.
    private static func hasLoop(
        _ directories: [MemoryIndex.Position], in index: MemoryIndex
    ) -> Bool {
        // In which way up each was first.
        var ways: [MemoryIndex.Position: Int] = [:]
        for (way, directory) in directories.enumerated() {
            var current = directory
            while current != 0, ways[current] == nil {
                ways[current] = way
                let name = index[item: current].pointee.firstName
                current = name == 0 ? 0 : index[name: name].pointee.parent
            }
            if current != 0, ways[current] == way { return true }
        }
        return false
    }

    /// Runs `body` with a connection that has everything recorded so far. On a full disk it may only look.
    package func query<Result>(
        _ body: (CatalogDatabase) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(Failure) { try log.drain() } catch {
            guard error.isDiskFull else { throw error }
            // What would make room asks here what is not needed any more.
            return try reader.withLock { (database) throws(Failure) in
                try database.supposing(log.waiting, body)
            }
        }
        return try reader.withLock { (database) throws(Failure) in try body(database) }
    }

    /// Notes another store, for the next time the container is opened; `nil`: none.
    package func setStore(_ address: String?) throws(Failure) {
        // Not by `query(_:)`, which may only look where the disk is full.
        try log.drain()
        try reader.withLock { (database) throws(Failure) in
            try database.setMeta(Self.storeKey, address)
        }
    }

    /// Notes that contents could not be brought to the disk: what is closed now is not called clean.
    package func leaveUnfinished() { isUnfinished.store(true, ordering: .releasing) }

    /// Notes that a mount has looked after what a process that died has left: contents that may not be on the
    /// disk yet, and pictures that may be of others. Before that the container is not called clean, whoever
    /// has had it open since.
    package func noteSettled() { isSettled.store(true, ordering: .releasing) }

    /// Whether `process` had the container in `path` and ended without bringing everything to the disk.
    package static func isUnfinished(at path: String, by process: Int32) -> Bool {
        ContainerLock.lastHolder(ContainerFolder(path: path))?.process == process
    }

    /// Where a process that is alive says that it has mounted the container in `path`; `nil` if none does.
    package static func mountPoint(at path: String) -> String? {
        guard let holder = ContainerLock.lastHolder(ContainerFolder(path: path)),
            !Processes.isDead(holder.process)
        else { return nil }
        return ContainerFolder.mountPoint(in: holder.words)
    }

    /// Makes everything durable and lets go of the container. Nothing may use it afterwards.
    ///
    /// If it cannot, the container is not called clean, and its lock goes on naming this process.
    ///
    /// - Returns: whether it could.
    @discardableResult
    package func close() -> Bool {
        // With the journal on the disk nothing is lost, though SQLite may not have it yet.
        if (try? log.synchronize()) == nil { leaveUnfinished() }
        log.close()
        let isFinished = !isUnfinished.load(ordering: .acquiring)
        let isWhole =
            isFinished && log.problem == nil && isSettled.load(ordering: .acquiring)
        let closing = CatalogSum.closing(of: log.head)
        reader.withLock { reader in
            if isWhole {
                try? reader.setMeta(CatalogSum.key, closing)
                try? reader.setMeta("clean", "1")
                try? reader.checkpoint()
            }
            reader.close()
        }
        log.releaseRoom()
        if isWhole { CatalogSum.note(folder, closing: closing) }
        content.holdReserve()
        lock.release(finished: isFinished)
        return isFinished
    }
}

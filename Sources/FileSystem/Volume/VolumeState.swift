internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

/// Who makes a request.
struct Caller: Sendable {
    var user: UInt32
    var group: UInt32
    /// The thread's id; 0 from outside the daemon's pid namespace.
    var thread: Int32

    /// Who may know what is for the owner of the mount.
    var ownsMount: Bool { user == 0 || user == geteuid() }
}

/// A content that is no longer current, or the end of a session that published nothing, while the
/// kernel still knows its node.
struct OldNode: Equatable {
    var content: ContentReference
    var modified: UInt64
    var blocks: Int64
    var lookups: UInt32
}

/// The node of an ended session that shows the current version: that of a file that was made and closed
/// without a byte, for one. There may be as many as there are files, so it takes a few bytes only, and
/// becomes an ``OldNode`` when another version is current.
struct EchoNode {
    var ordinal: Ordinal
    var lookups: UInt32
}

/// How a node is open now; the kernel allows one way at a time.
struct OpenMode {
    /// The kernel's number of the backing file, shared by all passthrough handles of the node.
    var backing: Int32 = 0
    var passthrough = 0
    var cached = 0
    /// The processes that write by the node, with a count for each direct handle
    /// (``Volume/openDirectly(_:_:_:_:by:reply:)``).
    var direct = UseCounts<Int32>()

    /// Whether the kernel has it open with its cache, or passes it through.
    var isUsed: Bool { passthrough + cached > 0 }
}

/// An answered redirection: what a thread was told when its writing open met a version's node.
struct Redirection {
    var item: UInt64
    var at: UInt64
    /// The node a LOOKUP of that thread was answered with since.
    var answered: UInt64 = 0
    /// The size that truncate(2) is about to set.
    var size: Int64?
    /// The name that the thread comes by, as far as it has looked it up.
    var place: Place?
    /// Since when that name leads nowhere; 0 if it does not.
    var inVainSince: UInt64 = 0
    /// How often the name has led to another item since the thread was sent round.
    var turns = 0

    /// What a thread looks up to come to a file.
    enum Place: Equatable {
        /// A name in a directory.
        case name(parent: NodeNumber, name: [UInt8])
        /// A document that was granted to an application, by its id.
        case granted(DocumentID)
    }
}

/// All that a mount knows, guarded by the volume's lock. Level 2 of the Locking page: while holding
/// it only the change log's locks may be taken, and nothing that waits for the disk is called.
final class VolumeState {
    let index: MemoryIndex
    let log: ChangeLog
    let coordinator: Coordinator
    /// The path of the control socket, if there is one.
    var control: String?
    /// Processes that made operations while there were claims.
    var operators: [Int32: Operator] = [:]
    /// With so many those are forgotten that nothing needs.
    var mostOperators = 256
    var sessions: [MemoryIndex.Position: WriteSession] = [:]
    /// By item, then by node; those that ``echoes`` does not have.
    var oldNodes: [UInt64: [UInt64: OldNode]] = [:]
    /// By item.
    var echoes: [UInt64: EchoNode] = [:]
    var modes: [UInt64: OpenMode] = [:]
    /// By the node of a current version by which somebody writes.
    var standIns: [UInt64: NodeNumber] = [:]
    /// By handle, of those that read promises block by block.
    var blockReadings: [UInt64: BlockReading] = [:]
    /// The nodes of programs that run, by the handle that the kernel has of each.
    var programs: [UInt64: UInt64] = [:]
    var redirections: [Int32: Redirection] = [:]
    var tunnel = IdentityTunnel()
    /// The items whose documents are in ``tunnel``.
    var tunnelled: [DocumentID: Tunnelled] = [:]
    /// Who made an item a moment ago: a file that its maker renames is no backup.
    var makers = RecentNotes<(process: Int32, at: Timestamp)>()
    /// What took the names of documents in an exchange, by the items that these were.
    var successors = RecentNotes<Successor>()
    /// How many small files each process has made since it made a large one.
    var smallFiles: [Int32: Int] = [:]
    var locks = LockTable<LockWaiter> { MonotonicClock.now }
    var tickets: [UInt64: LockTicket] = [:]
    /// Those whose turn it was while somebody had a claim that is in their way.
    var sentBack: Set<UInt64> = []
    /// By item and owner, while anybody claims by name.
    var lockClaims: [ItemNumber: [UInt64: LockClaim]] = [:]
    var nextTicket: UInt64 = 1
    /// By item and handle, the owners that took record locks through it: locks of an open file
    /// description (OFD) end with it, and the kernel does not say so.
    var lockOwners: [ItemNumber: [UInt64: Set<UInt64>]] = [:]
    /// Handles with flock(2) locks of which a descriptor was closed a moment ago, and how long that
    /// counts, of ``MonotonicClock``: the lock ends with the last one, which the kernel says later.
    var closingLocks: [UInt64: UInt64] = [:]
    /// The next item number or document id.
    var nextNumber: UInt64
    /// When versions are published.
    private var publishing: PublishClock
    /// Why the store may have removed what counts as stored: the container may be a copy of its owner.
    var storeDoubt: StayReason?
    /// Items whose sessions wait for processes that were redirected.
    var expecting: Set<ItemNumber> = []
    var listings = RecentListings()
    var toldFolders = ToldFolders()
    var isSweepPlanned = false
    /// Numbers the handles.
    var serial: UInt32 = 0
    /// Versions that are being drawn: they are not thinned out. Their file is open, and has a name of
    /// its own where a path is needed, so they may be evicted.
    var drawn = UseCounts<NodeNumber>()
    /// Versions that are being opened, or are open under `.shapeedit/versions`: they are neither
    /// thinned out nor evicted.
    var held = UseCounts<NodeNumber>()
    /// Versions whose files are lent for direct handles too: they are sealed when that has ended.
    var frozen = UseCounts<NodeNumber>()
    /// Versions that stay whatever their age.
    var marks: VersionMarks
    var seen = SeenVersions()
    let descent: Descent
    var bookmarks: Bookmarks
    var grants: Grants
    /// By application.
    var grantStamps: [String: GrantStamp] = [:]
    /// Rung for applications that follow what is granted to them.
    var bells = GrantBells()
    /// Items that were looked up by their documents' ids, for writing, besides by their names.
    var lent: Set<UInt64> = []
    /// Items by the names under `.shapeedit/granted` that the kernel may have of them.
    var grantedNames = GrantedItemNames()
    /// Documents that people opened lately.
    var recents: RecentOpens
    /// Those that were forgotten on demand, for whoever keeps the user's list of recent files.
    var forgottenRecents: [(document: DocumentID, time: Timestamp)] = []
    /// Unlinked items that the kernel has forgotten, with the moment from which their time runs; 0 for those
    /// that go at once.
    var dying: [UInt64: UInt64] = [:]
    /// Documents with a history that no item may be any more, with the moment since when.
    var abandoned: [DocumentID: UInt64] = [:]
    /// What documents were by their last names, of those that lost them and that the kernel knows.
    var lastTypes: [ItemNumber: PictureType] = [:]
    /// How often versions became another document's in this mount.
    var adoptions: UInt64 = 0
    /// How often anything was renamed in this mount.
    var renames: UInt64 = 0
    /// Nodes by which the kernel may know another owner or group than the item has.
    var changedOwners: Set<UInt64> = []
    /// Names that the kernel is about to change.
    var changingNames = ChangingNames()
    /// Names that an import has led elsewhere, once for each message that did, as long as the kernel has not been
    /// told.
    var untoldNames = UseCounts<ReplayStep.Place>()
    var unsealed = UnsealedVersions()
    /// How many were taken from there and are neither sealed yet nor in the queue for the store.
    var sealing = 0
    /// The documents whose history items have joined while versions are being sealed: a version that
    /// was read from the catalog before does not tell.
    var adopted: [ItemNumber: (document: DocumentID, until: Ordinal)] = [:]
    /// What sessions staged that ended without a publish after they had acknowledged something: it goes
    /// when the log is durable.
    var leftStaged: [NodeNumber] = []
    /// Documents whose earlier versions are to be thinned out.
    var thinning: Set<DocumentID> = []
    /// Promised versions whose blob is here, but not yet known to be on the disk, and the blob.
    var arrived: [NodeNumber: ContentHash] = [:]
    /// Items whose access time is newer here than in the catalog.
    var accessed: Set<MemoryIndex.Position> = []
    /// Who has what open, in a container with a store.
    var openers = Openers()
    /// Versions to be in the store only that may go now: they were closed, or have reached the store.
    var lastCloses: Set<NodeNumber> = []
    var quota = QuotaState()
    var pins = PinState()
    /// Follows what is recorded; nil for a volume without pictures.
    var pictures: VolumePictures?
    var texts: TextIndexer?
    /// Told of replaced versions; nil for a volume whose changes are not replayed.
    var formerNodes: FormerNodes?

    init(_ container: Container, _ coordinator: Coordinator, _ descent: Descent) {
        self.coordinator = coordinator
        self.descent = descent
        index = container.index
        log = container.log
        nextNumber = container.nextNumber
        publishing = PublishClock(after: container.lastPublished)
        for node in container.unsealed { unsealed.publish(node, at: MonotonicClock.now) }
        marks = VersionMarks(container)
        bookmarks = container.bookmarks
        grants = container.grants
        recents = RecentOpens(container.recents)
    }

    func takeNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    // MARK: Finding

    /// The item of a node; ESTALE if it is gone.
    func position(_ node: NodeNumber) throws(Errno) -> MemoryIndex.Position {
        let position = index.find(node.item)
        if position == 0 { throw Errno(116) }
        return position
    }

    func directory(_ node: NodeNumber) throws(Errno) -> MemoryIndex.Position {
        let position = try self.position(node)
        if !index[item: position].pointee.isDirectory { throw Errno(20) }
        return position
    }

    /// The session whose node this is.
    func session(of node: NodeNumber, at position: MemoryIndex.Position) -> WriteSession? {
        guard index[item: position].pointee.flags.contains(.inSession),
            let session = sessions[position], session.node == node
        else { return nil }
        return session
    }

    /// The current version's content.
    func content(_ position: MemoryIndex.Position) -> ContentReference {
        let record = index[item: position]
        return ContentReference(
            node: record.pointee.node, place: record.pointee.place, hash: record.pointee.hash,
            size: record.pointee.size)
    }

    /// The content that a node's readers see; `nil` for a session that has staged bytes.
    func content(of node: NodeNumber, at position: MemoryIndex.Position) throws(Errno)
        -> ContentReference?
    {
        if let session = session(of: node, at: position) {
            return session.isStaged ? nil : session.base
        }
        if index[item: position].pointee.node == node { return content(position) }
        guard let old = oldNode(node) else { throw Errno(116) }
        return old.content
    }

    // MARK: Guessing

    /// Whether the next file that the process makes is likely to be small, after those before.
    ///
    /// A wrong guess costs time only: a small file that is made at once, or a large one that the
    /// kernel does not write by itself.
    func makesSmallFiles(_ process: Int32) -> Bool { smallFiles[process, default: 0] >= 2 }

    /// A process has closed a file that it had made.
    func noteMade(_ size: Int64, at position: MemoryIndex.Position, by process: Int32) {
        // What takes long to write is a temporary file as well.
        let item = number(position)
        if let maker = makers[item] {
            let now = Self.now()
            makers.note((maker.process, now), of: item, at: now)
        }
        if smallFiles.count > 1024 { smallFiles.removeAll(keepingCapacity: true) }
        smallFiles[process] =
            size <= PackedContents.largest ? min(smallFiles[process, default: 0] + 1, 2) : 0
    }

    // MARK: Recording

    static func now() -> Timestamp { Timestamp(WallClock.now) }

    /// A moment later than that of every version, for the next one or for saying which are durable.
    func publishTime() -> Timestamp { publishing.next(Self.now(), at: MonotonicClock.now) }

    /// Appends a mutation about `position`, whose row comes first among the effects.
    @discardableResult
    func record(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, parent: MemoryIndex.Position = 0,
        name: [UInt8]? = nil, process: Int32 = 0, at time: Timestamp, _ effects: [Effect] = []
    ) -> ChangeSequence {
        let row = index.row(position)
        followPictures(kind, position, effects)
        followTexts(kind, position, effects)
        followGrants(kind, position, effects)
        followClaims(
            kind, position, parent: parent, name: name, process: process, effects)
        return log.append(
            Mutation(
                time: time, kind: kind, item: row.number,
                parent: parent == 0 ? nil : number(parent), name: name, process: process,
                effects: [.putItem(row)] + effects))
    }

    func number(_ position: MemoryIndex.Position) -> ItemNumber {
        ItemNumber(rawValue: index[item: position].pointee.number)
    }

    /// Stamps an item whose attributes changed: later than before, even within one tick of the
    /// clock.
    func stamp(_ position: MemoryIndex.Position, _ time: Timestamp) {
        let record = index[item: position]
        record.pointee.changed =
            max(
                time, Timestamp(rawValue: record.pointee.changed).successor
            ).rawValue
    }

    /// Stamps a directory whose names changed; the effect that records it.
    func touch(_ directory: MemoryIndex.Position, _ time: Timestamp) -> Effect {
        stamp(directory, time)
        let record = index[item: directory]
        record.pointee.modified = record.pointee.changed
        return .putItem(index.row(directory))
    }
}

/// A request that waits for a file lock.
struct LockWaiter: Sendable {
    let ticket: UInt64
    /// Called with `nil` when the lock is held, with ERESTART when it is to be asked for again.
    let reply: @Sendable (Errno?) -> Void
}

/// What is known of a lock request while it waits.
struct LockTicket {
    /// `nil` until it has a place in the table.
    var wait: WaitID?
    var interrupted = false
}

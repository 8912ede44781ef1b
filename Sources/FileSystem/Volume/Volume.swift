internal import Catalog
internal import Content
package import Coordination
internal import Glibc
package import Model
internal import Synchronization
internal import SystemCalls

/// What the volume needs from the kernel's side of a mount. Implemented by the FUSE session.
protocol KernelChannel: Sendable {
    /// Whether handles may be handed to the kernel (passthrough).
    var passesThrough: Bool { get }
    /// Whether a handle that is read past the kernel's page cache can be mapped and shared.
    var mapsDirectly: Bool { get }
    /// Lends a file to the kernel; `nil` if it does not take it.
    func registerBacking(_ descriptor: Int32) -> Int32?
    func releaseBacking(_ backing: Int32)
    /// The kernel forgets what the name leads to. Only on the notifier's thread.
    func invalidateEntry(parent: UInt64, name: [UInt8])
    /// The kernel forgets the node's attributes, and its pages too if `pages`. Only on the
    /// notifier's thread.
    func invalidate(node: UInt64, pages: Bool)
    /// Whoever watches the node's file is told that it is gone. Only on the notifier's thread.
    func announceDeletion(parent: UInt64, node: UInt64, name: [UInt8])
}

/// A mounted container: every file operation, without anything of FUSE.
///
/// Any thread. Operations return when they are done or throw the errno to answer; those that may
/// have to wait for a publish return `nil` and are called again through ``afterClosing(_:_:)``.
package final class Volume: @unchecked Sendable {
    // Unchecked because `channel`, `link`, `sources`, `pictures`, `texts`, `recentFiles`,
    // `replayer`, `liveQueries`, `queryFolders` and `grantedResults` are set once, before the first
    // request.
    let container: Container
    let content: LocalContent
    let log: ChangeLog
    let state: Lock<VolumeState>
    /// Tells the kernel of attributes and pages.
    let notifier = Notifier()
    /// Tells it of names. A thread of its own: it waits for the lock of the directory, which is held by
    /// requests whose answers come after something that the other one tells.
    let nameNotifier = Notifier()
    /// Tells it of attributes alone, for which nothing is waited: requests may be answered after that.
    let timeNotifier = Notifier()
    /// How many names and nodes the kernel was told of: whether that goes on, however slowly.
    let tellings = Atomic(0)
    let nameWitness = NameWitness()
    let movedFolders = MovedFolders()
    let scheduler = Scheduler()
    /// Sessions that are being copied because they are quiet.
    let quietPublishes = Lock(0)
    let keeper = Keeper()
    let openNotes = OpenNotes()
    /// Those who follow what happens.
    package let events: VolumeEvents
    /// Claims and presenters.
    package let coordinator = Coordinator()
    /// Who started those that use documents.
    let descent = Descent()
    /// Mounted with noatime or read-only: reads leave no trace.
    package var noAccessTimes = false
    /// Mounted with nodiratime: listings leave none.
    package var noFolderAccessTimes = false
    var channel: (any KernelChannel)?
    /// The container's store, if it has one.
    var link: StoreLink?
    /// The trees that documents were imported from; nil for a volume that is not mounted.
    var sources: SourceLink?
    let reasons = Reasons()
    let refusals = Refusals()
    /// Where the daemon's log is, if it has a file of its own. Before requests are served.
    package var logFile: String?
    /// How much of its contents may be here, if it has a store. Before the volume is mounted.
    package var quota = Quota()
    /// Held while blobs come or go.
    let blobs = Lock(())
    /// Held while a version is marked, so that what is recorded last is what holds.
    let marking = Lock(())
    /// Set once before the first request; nil for a volume without pictures.
    private(set) var pictures: VolumePictures?
    /// Set once before the first request; nil for a volume that keeps no words.
    private(set) var texts: TextIndexer?
    /// Set once before the first request; nil for a volume whose documents the user's list of recent
    /// files does not have.
    private(set) var recentFiles: RecentFilesKeeper?

    /// Set once before the first request; nil for a volume that lets nobody know of changes that came
    /// otherwise than through its mount.
    private(set) var replayer: Replayer?
    /// Set once before the first request; nil for a volume that is not mounted.
    package private(set) var liveQueries: LiveQueries?
    /// Set once with it.
    private(set) var queryFolders: QueryFolders?
    /// Set once with it; nil for a volume whose mount is no app's.
    private(set) var grantedResults: GrantedResults?

    /// How often it is looked whether something keeps the name notifier waiting, for truncate(2) and for an open
    /// to write in a directory that was listed a moment ago, in milliseconds.
    static let forgettingPace: UInt64 = 20
    /// How often in a row that is so before they are answered although the kernel may not have forgotten the
    /// names of the file.
    static let mostHeldUp = 3
    /// How long they wait for it at most, in milliseconds: what keeps the notifier from them may be the forgetting
    /// of others' names, one after the other, while who removes or renames the file waits with its directory locked.
    static let forgettingPatience: UInt64 = 500
    /// How often the names of a file are forgotten, where something is renamed meanwhile each time.
    static let mostRenames = 8
    /// How often it is looked whether a mapping that outlived its descriptors is gone, in
    /// nanoseconds.
    static let mappingPace: UInt64 = 250_000_000
    /// How long a redirected process has to come back, in milliseconds.
    static let redirectPatience: UInt64 = 2_000
    /// How often it is looked whether they have, in milliseconds.
    static let expectationPace: UInt64 = 50
    /// How long it is remembered that a thread was sent round, in milliseconds: it may be late, but a
    /// second ESTALE would be the program's.
    static let redirectMemory: UInt64 = 10_000
    /// How many other items a thread that was sent round joins. The kernel asks for the name at the end of
    /// the path up to three times before it opens what that leads to, and each time it can be another.
    static let mostTurns = 100
    /// How long a thread that was sent round and found nothing under the name is expected to look again, in
    /// milliseconds: the program may make the file anew, or somebody renames one to there in between.
    static let vainPatience: UInt64 = 100
    /// Contents up to this size are copied when they are opened for writing, so that the kernel can
    /// write without the daemon; larger ones at the first write.
    static let eagerCopy: Int64 = 256 << 10

    /// Contents up to this size are read through the page cache: lending their file to the kernel
    /// costs more than the one request that fills the cache, and the cache outlives the handle.
    static let smallRead: Int64 = 128 << 10
    /// With less room than this, or less than a sixteenth of the disk, writes go through the daemon.
    static let nearlyFullDisk: UInt64 = 64 << 20
    /// With less room than this the disk counts as full, in bytes.
    static let fullDisk: UInt64 = 128 << 10

    /// The last change that was recorded.
    package var lastChange: ChangeSequence { log.head }

    package init(container: Container) {
        self.container = container
        content = container.content
        log = container.log
        state = Lock(VolumeState(container, coordinator, descent))
        events = VolumeEvents(container, state)
        events.setSettling { [weak self] in self?.awaitNames(in: $0) }
        coordinator.setSettling { [weak self] in self?.awaitNames(in: [$0]) }
    }

    /// Makes pictures of the documents and shows them. Before the volume is mounted.
    package func showPictures(_ options: PictureOptions) {
        let made = VolumePictures(self, options)
        pictures = made
        state.withLock { $0.pictures = made }
    }

    /// Keeps the words of the documents for queries. Before the volume is mounted.
    ///
    /// - Parameter program: the path of `shapeedit-thumbnailer`, which reads them.
    package func keepTexts(program: String) {
        let made = TextIndexer(self, program: program)
        texts = made
        state.withLock { $0.texts = made }
    }

    /// Keeps the user's list of recently used files in step. Before the volume is mounted.
    package func keepRecentFiles(_ options: RecentFilesOptions) {
        recentFiles = RecentFilesKeeper(self, options)
    }

    /// Repeats changes that come otherwise on the mount, for those who watch it. Before the volume is
    /// mounted.
    ///
    /// - Parameter program: this program.
    package func replayChanges(program: String, mountPoint: String) {
        let made = Replayer(self, program: program, mountPoint: mountPoint)
        replayer = made
        let former = FormerNodes(self, made)
        state.withLock { $0.formerNodes = former }
    }

    /// Lets queries be followed. Before the first request.
    ///
    /// - Parameter granted: what other containers grant, in the mount of an app.
    func followQueries(_ tree: VirtualTree, _ granted: GrantedTree? = nil) {
        grantedResults = granted.map { GrantedResults(self, $0) }
        let queries = LiveQueries(self, grantedResults)
        liveQueries = queries
        queryFolders = QueryFolders(
            self, queries, known: { [unowned tree] in tree.knownQueries() },
            isWatchable: { [unowned tree] in tree.known(.queries) != nil })
        let notifier = nameNotifier
        state.withLock { state in
            state.bells.ringer = { [unowned tree] application, number in
                notifier.post { tree.announce(bellOf: application, number) }
            }
            state.grantedNames.forget = { [unowned tree] names in
                notifier.post { for name in names { tree.forget(granted: name) } }
            }
        }
    }

    /// Starts the volume's threads. Without one of them it would be of no use; later ones it can wait for.
    func start() {
        notifier.start()
        nameNotifier.start("name notifier")
        timeNotifier.start("time notifier")
        scheduler.start()
        // Before the keeper: it lets go of what it says is to be read.
        texts?.start()
        keeper.start(self)
        coordinator.start()
        pictures?.start()
        recentFiles?.start()
        events.follow { [weak self] in self?.downloads ?? [] }
        if !container.unsealed.isEmpty { keeper.needsSync() }
        resumeUploads()
        Threads.waitForRoom()
    }

    /// Ends them, when no request will come any more. Sessions that somebody has not closed stay as they
    /// are recorded: the next open of the container publishes what was acknowledged.
    func stop() {
        endLeftSessions()
        content.thawAll()
        state.withLock { $0.frozen = UseCounts() }
        replayer?.stop()
        events.stop()
        coordinator.stop()
        link?.stop()
        sources?.downloads.stop()
        liveQueries?.stop()
        texts?.stop()
        pictures?.stop()
        keeper.stop()
        container.noteSettled()
        // After the keeper, which has settled what was opened last.
        recentFiles?.stop()
        scheduler.stop()
        nameWitness.stop()
        nameNotifier.stop()
        timeNotifier.stop()
        notifier.stop()
    }

    /// Runs `body` alone with the state, then makes what it recorded survive the daemon's death.
    ///
    /// - Parameter growing: it makes a name or the like, which a full disk has no room for.
    func change<Result>(
        growing: Bool = false, _ body: (VolumeState) throws(Errno) -> (Result, ChangeSequence)
    ) throws(Errno) -> Result {
        try growing ? admitGrowth() : log.admit()
        let (result, sequence) = try state.withLock { (state) throws(Errno) in try body(state) }
        try log.flush(upTo: sequence)
        return result
    }

    /// Runs `body` alone with the state; for what changes nothing that must last.
    @inline(__always)
    func read<Result>(
        _ body: (VolumeState) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try state.withLock { (state) throws(Errno) in try body(state) }
    }

    /// Whether a close of the item is under way whose version the caller waits for.
    func isClosing(_ item: ItemNumber, for caller: Caller) -> Bool {
        state.withLock { state in
            guard let session = state.sessions[state.index.find(item)] else { return false }
            let now = MonotonicClock.now
            let isWriter = session.concerns(CallerProcess.process(of: caller.thread), now: now)
            return session.keepsWaiting(isWriter: isWriter)
        }
    }

    /// Calls `retry` when the item's session has ended or its patience has; at once if it is not
    /// closing any more. On any thread, with no lock held.
    func afterClosing(_ item: ItemNumber, _ retry: @escaping @Sendable () -> Void) {
        // Whoever asks after a close has returned comes after the kernel let go of the file, however
        // long ago it was last looked at.
        let late = state.withLock { state -> WriteSession? in
            let session = state.sessions[state.index.find(item)]
            return session?.isPutOff == true ? session : nil
        }
        if let late { finish(late, item) }
        let until = state.withLock { state -> UInt64? in
            guard let session = state.sessions[state.index.find(item)],
                session.isClosing || session.replaces
            else { return nil }
            return session.closing.park(retry, at: MonotonicClock.now)
        }
        guard let until else { return retry() }
        scheduler.at(until) { [weak self] in self?.endPatience(item) }
    }

    private func endPatience(_ item: ItemNumber) {
        let (impatient, shown) = state.withLock {
            state -> ([@Sendable () -> Void], WriteSession?) in
            guard let session = state.sessions[state.index.find(item)], !session.isShowing else {
                return ([], nil)
            }
            let impatient = session.closing.takeImpatient(MonotonicClock.now)
            // Whoever renamed it goes on with it, by another descriptor if they closed one, or the RELEASE is late.
            guard session.replaces, !impatient.isEmpty else {
                return (impatient, nil)
            }
            session.replaces = session.placed != nil
            session.isShowing = session.replaces
            if !session.isShowing { return (impatient, nil) }
            // The end of the session may come before that of the copy.
            for retry in impatient { session.closing.hold(retry) }
            return ([], session)
        }
        for retry in impatient { retry() }
        guard let shown else { return }
        // Copying takes time; the scheduler has none.
        Threads.start("show placed") { [self] in showPlaced(shown) }
    }
}

internal import Coordination
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

/// What an app's mount shows besides its own container.
enum GrantedNode: Hashable, Sendable {
    /// `in <owner>` at the root.
    case folder(owner: String)
    /// One version of a document, which whoever reads it sees to the end; `nil`: as its writers see it. The
    /// kernel has pages and a size for each node, so a version has one of its own (<doc:Nodes>).
    case document(owner: String, DocumentID, version: String?)
    /// A file of the app's own beside the documents. The number of its inode tells it from another one
    /// that gets its name later.
    case scratch(owner: String, name: String, inode: UInt64)
    /// `in <owner>` below `.shapeedit/thumbnails/<size>`.
    case pictures(owner: String, PictureSize)
    /// The picture of one version of a document, or what stands for it; `nil`: of whichever is current.
    case picture(owner: String, DocumentID, PictureSize, version: String?)

    var owner: String {
        switch self {
        case .folder(let owner), .document(let owner, _, _), .scratch(let owner, _, _),
            .pictures(let owner, _), .picture(let owner, _, _, _):
            owner
        }
    }

    /// The document that it is, or is a version of.
    var document: DocumentID? {
        if case .document(_, let document, _) = self { document } else { nil }
    }

    var isFolder: Bool {
        switch self {
        case .folder, .pictures: true
        case .document, .scratch, .picture: false
        }
    }
}

/// A name in a listing.
struct ListedName: Sendable {
    var name: String
    /// S_IFDIR or S_IFREG.
    var mode: UInt32
}

/// The folders `in <owner>` of an app's mount, of documents and of their pictures: numbers of their nodes,
/// and what is open.
///
/// Any thread. Knows only what the owners said; nodes get numbers of their own when they are looked up,
/// which tell nothing of the owners'. The two top bits mark them.
final class GrantedTree: Sendable {
    private static let bits: UInt64 = 3 << 62
    /// In listings, which tell no numbers: programs take 0 for a deleted file.
    static let unknown = bits
    private static let prefix = Array("in ".utf8)

    private struct State {
        var nodes = NodeTable<GrantedNode>(bits: GrantedTree.bits)
        var files: [UInt64: GrantedFile] = [:]
        var listings: [UInt64: [ListedName]] = [:]
        /// Those of which something was shown.
        var begunListings: Set<UInt64> = []
        var nextHandle: UInt64 = 1
        /// What each owner granted when it last said so, and what the documents were like.
        var documents: [String: GrantedNames] = [:]
        var statuses: [GrantedNode: stat] = [:]
        /// The version of each document that was looked at last, by the node of its writers.
        var latest: [GrantedNode: GrantedNode] = [:]
        /// What fstat(2) tells as the number of a document's file, by the same.
        var inodes: [GrantedNode: UInt64] = [:]
        var redirections = GrantedRedirections()
        var looks = RecentLooks()
        var renamedAway = RenamedAway()
    }
    private let state = Lock(State())
    let owners: GrantOwners
    let forwarding: Forwarding
    let pages = GrantedPages()
    /// When the folders came.
    let started = VolumeState.now()

    init(_ owners: GrantOwners) {
        self.owners = owners
        forwarding = Forwarding { owner in _ = owners.problem(of: owner) }
        owners.scratch.weed()
    }

    /// Whether a node's number is one of these.
    static func has(_ number: UInt64) -> Bool { number & bits == bits }

    // MARK: Names

    /// The owner whose folder a name at the root can be; `nil` for all other names.
    ///
    /// The folder of an owner is called `in <owner>`. Where the app has something of that name itself,
    /// it is `in <owner> (2)`, and so on.
    static func owner(_ name: UnsafeRawBufferPointer) -> String? {
        guard name.starts(with: prefix) else { return nil }
        let text = String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
        let owner = text.prefix { $0 != " " }
        return ContainerName.isValid(owner) ? String(owner) : nil
    }

    /// - Parameter isTaken: whether the app has something of that name at the root.
    static func folderName(_ owner: String, _ isTaken: (String) -> Bool) -> String {
        var name = "in \(owner)"
        var number = 2
        while isTaken(name) {
            name = "in \(owner) (\(number))"
            number += 1
        }
        return name
    }

    /// The documents of an owner; those that it named last while it does not answer.
    func documents(of owner: String) throws(Errno) -> GrantedNames {
        do throws(Errno) { return try currentDocuments(of: owner) } catch {
            guard let last = state.withLock({ $0.documents[owner] }) else { throw error }
            return last
        }
    }

    /// The documents of an owner at this moment: it is asked each time whether they are others, but tells
    /// the names of all only then. EIO if it does not answer.
    private func currentDocuments(of owner: String) throws(Errno) -> GrantedNames {
        if let known = state.withLock({ $0.documents[owner] }), let stamp = known.stamp,
            stamp == owners.stamp(of: owner)
        {
            return known
        }
        let found = try owners.documents(of: owner)
        state.withLock { $0.documents[owner] = found }
        return found
    }

    /// Whether the container grants anything to the application at this moment. Where its mount does
    /// not say, its catalog does.
    func grantsAnything(_ owner: String) -> Bool {
        guard owners.isOwner(owner) else { return false }
        if let names = try? currentDocuments(of: owner) { return !names.documents.isEmpty }
        return owners.isInCatalog(owner)
    }

    // MARK: Nodes

    /// The node of a number that the kernel knows; ESTALE for any other.
    func node(_ number: UInt64) throws(Errno) -> GrantedNode {
        try state.withLock { (state) throws(Errno) in try state.nodes.node(number) }
    }

    /// Whether the kernel knows the folder of an owner.
    func knowsFolder(of owner: String) -> Bool {
        state.withLock { $0.nodes.number(of: .folder(owner: owner)) != nil }
    }

    /// The numbers of all nodes of a document that the kernel knows, but for one.
    func numbers(
        of document: DocumentID, in owner: String, but current: GrantedNode?
    ) -> [UInt64] {
        state.withLock { state in
            state.nodes.nodes.filter {
                $0.document == document && $0.owner == owner && $0 != current
            }.compactMap { state.nodes.number(of: $0) }
        }
    }

    func forget(_ number: UInt64, _ count: UInt64) {
        state.withLock { state in
            guard let node = state.nodes.forget(number, count) else { return }
            state.statuses[node] = nil
            if let shared = Self.shared(node), state.latest[shared] == node {
                state.latest[shared] = nil
            }
        }
    }

    /// The entry of a folder. In one of pictures nothing can be made.
    func folderEntry(_ folder: GrantedNode, counted: Bool) -> Entry {
        let isReadOnly = if case .pictures = folder { true } else { false }
        var status = stat()
        status.st_mode = S_IFDIR | (isReadOnly ? 0o500 : 0o700)
        status.st_nlink = 2
        status.st_uid = geteuid()
        status.st_gid = getegid()
        status.st_blksize = 4096
        status.st_mtim = timespec(started)
        status.st_ctim = timespec(started)
        status.st_atim = timespec(started)
        return entry(folder, status, counted: counted)
    }

    /// The status that a document or a picture has here, when it has this one at its owner's. It is kept
    /// for the time when the owner does not answer.
    func shown(_ node: GrantedNode, _ status: stat, _ access: GrantedAccess) -> stat {
        var shown = status
        shown.st_mode = S_IFREG | status.st_mode & (access == .write ? 0o777 : 0o555)
        shown.st_nlink = 1
        state.withLock { state in
            state.statuses[node] = shown
            if let shared = Self.shared(node) { state.latest[shared] = node }
        }
        return shown
    }

    /// The node of a document or a picture that is of no one version, as the writers of a document see it;
    /// `nil` for what is neither.
    private static func shared(_ node: GrantedNode) -> GrantedNode? {
        switch node {
        case .document(let owner, let document, _): .document(owner: owner, document, version: nil)
        case .picture(let owner, let document, let size, _):
            .picture(owner: owner, document, size, version: nil)
        case .folder, .scratch, .pictures: nil
        }
    }

    /// The version of a document that was looked at last, as far as the kernel knows it.
    func latest(_ document: DocumentID, of owner: String) -> GrantedNode? {
        latest(.document(owner: owner, document, version: nil))
    }

    /// The same of a node that is of no one version.
    func latest(_ shared: GrantedNode) -> GrantedNode? { state.withLock { $0.latest[shared] } }

    /// The entry of a file of the app's.
    func scratchEntry(_ owner: String, _ name: String, _ status: stat, counted: Bool) -> Entry {
        entry(
            .scratch(owner: owner, name: name, inode: UInt64(status.st_ino)), status,
            counted: counted)
    }

    /// What a document or a picture was like when its owner last answered.
    func lastShown(_ node: GrantedNode) -> stat? { state.withLock { $0.statuses[node] } }

    /// What a LOOKUP (`counted`) or a GETATTR of the node is answered with.
    func entry(_ node: GrantedNode, _ status: stat, counted: Bool) -> Entry {
        let (number, inode) = state.withLock { state -> (UInt64, UInt64) in
            let number =
                counted ? state.nodes.lookUp(node) : state.nodes.number(of: node) ?? Self.unknown
            guard let shared = Self.shared(node) else { return (number, number) }
            // All nodes of a document, or of its picture, are one file to programs: that of the first.
            let inode = state.inodes[shared] ?? number
            if number != Self.unknown { state.inodes[shared] = inode }
            return (number, inode)
        }
        var shown = status
        shown.st_ino = UInt(inode)
        // Nothing of it is kept: it changes without this mount.
        return Entry(node: number, status: shown, timeout: 0)
    }

    // MARK: Handles

    func hold(_ file: GrantedFile) -> UInt64 {
        state.withLock { state in
            defer { state.nextHandle += 1 }
            state.files[state.nextHandle] = file
            return state.nextHandle
        }
    }

    /// An open document; EBADF for another handle.
    func file(_ handle: UInt64) throws(Errno) -> GrantedFile {
        guard let file = state.withLock({ $0.files[handle] }) else { throw Errno(EBADF) }
        return file
    }

    /// Those by which a document is open.
    func files(of document: DocumentID, in owner: String) -> [GrantedFile] {
        state.withLock { state in
            state.files.values.filter { $0.document == document && $0.owner == owner }
        }
    }

    /// An open file of the app's that may have lost its name.
    func file(inode: UInt64) -> GrantedFile? {
        state.withLock { $0.files.values.first { $0.document == nil && $0.inode == inode } }
    }

    /// Those that a file of the app's is open by for writing.
    func writers(inode: UInt64) -> [GrantedFile] {
        state.withLock { state in
            state.files.values.filter { $0.document == nil && $0.writes && $0.inode == inode }
        }
    }

    func letGo(_ handle: UInt64) -> GrantedFile? {
        state.withLock { $0.files.removeValue(forKey: handle) }
    }

    /// Whether the process has the document open for writing: it sees what it writes.
    func isWriter(_ process: Int32, of document: DocumentID, in owner: String) -> Bool {
        state.withLock { state in
            state.files.values.contains {
                $0.writes && $0.process == process && $0.document == document && $0.owner == owner
            }
        }
    }

    // MARK: Versions that are about to be opened

    /// Holds on to a version that was looked up, for a moment.
    func hold(_ look: GrantOwners.Look, as node: GrantedNode, _ scheduler: Scheduler) {
        if let moment = state.withLock({ $0.looks.note(look, as: node) }) {
            planDropping(at: moment, scheduler)
        }
    }

    /// The version of a node that was looked up a moment ago.
    func recentLook(_ node: GrantedNode) -> GrantOwners.Look? { state.withLock { $0.looks[node] } }

    private func planDropping(at moment: UInt64, _ scheduler: Scheduler) {
        scheduler.at(moment) { [self] in
            let (gone, next) = state.withLock { $0.looks.drop() }
            // Closed without the lock; it waits for no owner.
            withExtendedLifetime(gone) {}
            if let next { planDropping(at: next, scheduler) }
        }
    }

    // MARK: Threads that are sent round

    /// Whether a thread that comes to a node which is not for it is to be sent round by ESTALE.
    func sendRound(_ thread: Int32, to document: DocumentID, of owner: String, writes: Bool) -> Bool
    {
        state.withLock { state in
            state.redirections.send(thread, to: document, of: owner, writes: writes)
        }
    }

    /// Whether the thread comes to write the document.
    func expects(_ thread: Int32, at document: DocumentID, of owner: String) -> Bool {
        state.withLock { $0.redirections.expects(thread, at: document, of: owner) }
    }

    /// The thread has come to the node for it.
    func noteArrival(_ thread: Int32) { state.withLock { $0.redirections.end(thread) } }

    // MARK: Documents renamed to backups

    /// The process has renamed the document to a backup of its own.
    func noteRenamedAway(_ document: DocumentID, of owner: String, by process: Int32) {
        state.withLock { $0.renamedAway.note(document, of: owner, by: process) }
    }

    /// Whether the thread's process has renamed the document away and not made it anew.
    func isRenamedAway(_ document: DocumentID, of owner: String, for thread: Int32) -> Bool {
        let processes = state.withLock { $0.renamedAway.processes(document, of: owner) }
        return !processes.isEmpty && processes.contains(CallerProcess.process(of: thread))
    }

    /// The thread's process has made the document anew.
    func noteMadeAnew(_ document: DocumentID, of owner: String, by thread: Int32) {
        if state.withLock({ $0.renamedAway.processes(document, of: owner) }).isEmpty { return }
        let process = CallerProcess.process(of: thread)
        state.withLock { $0.renamedAway.end(document, of: owner, for: process) }
    }

    /// Keeps the names of an open folder, so that a listing in several parts is one listing.
    func hold(_ listing: [ListedName]) -> UInt64 {
        state.withLock { state in
            defer { state.nextHandle += 1 }
            state.listings[state.nextHandle] = listing
            return state.nextHandle
        }
    }

    func listing(_ handle: UInt64) -> [ListedName] { state.withLock { $0.listings[handle] ?? [] } }

    /// Whether an open folder was listed from its beginning before.
    func isBegunAgain(_ handle: UInt64) -> Bool {
        state.withLock { !$0.begunListings.insert(handle).inserted }
    }

    /// What an open folder shows from now on.
    func renew(_ handle: UInt64, _ listing: [ListedName]) {
        state.withLock { $0.listings[handle] = listing }
    }

    func letGoOfListing(_ handle: UInt64) {
        state.withLock { state in
            state.listings[handle] = nil
            state.begunListings.remove(handle)
        }
    }
}

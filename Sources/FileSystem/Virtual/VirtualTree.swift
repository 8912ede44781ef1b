internal import CFuseShim
internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// The read-only folder `.shapeedit` at the root: reachable by name, not listed.
///
/// Any thread. Nodes get their numbers when they are looked up; the top bit marks them.
final class VirtualTree: Sendable {
    static let bit: UInt64 = 1 << 63
    private static let topName = Array(".shapeedit".utf8)
    /// The path of the folder of former nodes, below the root.
    static let formerFolder = ".shapeedit/former/"

    struct State {
        var nodes = NodeTable<VirtualNode>(bits: VirtualTree.bit)
        /// Those of them that are placeholders.
        var placeholders: Set<PictureNode> = []
        /// Texts of open generated files, as they were at open.
        var texts: [UInt64: [UInt8]] = [:]
        var nextText: UInt64 = 1
        /// Pictures that the kernel knows of versions that are gone.
        var openPictures: [PictureNode: [UInt8]] = [:]
        /// The last listings that began of folders in which much comes and goes.
        var listings: [VirtualNode: [VirtualListing]] = [:]
        var lastListing: UInt64 = 0
    }
    let state = Lock(State())
    unowned let volume: Volume
    private let started = VolumeState.now()

    init(_ volume: Volume) { self.volume = volume }

    /// Whether a name in the folder (its node or item) is that of the virtual folder: it is taken.
    static func isTop(_ name: some Sequence<UInt8>, in folder: UInt64) -> Bool {
        folder == ItemNumber.root.rawValue && name.elementsEqual(topName)
    }

    // MARK: Numbers

    func node(_ number: UInt64) throws(Errno) -> VirtualNode {
        try state.withLock { (state) throws(Errno) in try state.nodes.node(number) }
    }

    /// The number of a node that the kernel knows.
    func known(_ node: VirtualNode) -> UInt64? { state.withLock { $0.nodes.number(of: node) } }

    private func number(_ node: VirtualNode, counted: Bool) -> UInt64 {
        state.withLock { state in
            guard counted else { return state.nodes.number(of: node) ?? state.nodes.unused() }
            if case .picture(let picture) = node, picture.isPlaceholder {
                state.placeholders.insert(picture)
            }
            return state.nodes.lookUp(node)
        }
    }

    func forget(_ number: UInt64, _ count: UInt64) {
        state.withLock { state in
            guard let node = state.nodes.forget(number, count) else { return }
            // Nobody has it open, to go on with.
            state.listings[node] = nil
            if case .picture(let picture) = node {
                state.openPictures[picture] = nil
                state.placeholders.remove(picture)
            }
        }
    }

    /// The picture of a version that is gone.
    func openPicture(_ picture: PictureNode) -> [UInt8]? {
        state.withLock { $0.openPictures[picture] }
    }

    /// Keeps a picture of a version that goes, if the kernel still knows it.
    func keepOpen(_ picture: PictureNode, _ bytes: [UInt8]) {
        state.withLock { state in
            guard state.nodes.number(of: .picture(picture)) != nil else { return }
            state.openPictures[picture] = bytes
        }
    }

    // MARK: Lookup and attributes

    func top() throws(Errno) -> Entry { try entry(.top, counted: true) }

    func lookup(_ parent: UInt64, _ name: [UInt8]) throws(Errno) -> Entry {
        let text = String(path: name)
        let above = try node(parent)
        if text == "." { return try entry(above, counted: true) }
        if let (directory, size) = Self.mirrored(above) {
            let (child, lasts) = try pictured(directory, name, size)
            var found = try entry(child, counted: true)
            if !lasts { found.timeout = 0 }
            return found
        }
        let found = try child(of: above, parent, name, text)
        var entry = try entry(found, counted: true)
        // A bell that has rung since tells nothing any more.
        if case .grantedBell(let application, let number) = found,
            !volume.state.withLock({ $0.bells.hangs(application, number) })
        {
            entry.timeout = 0
        }
        return entry
    }

    /// What has a name in a folder.
    ///
    /// - Parameter number: the folder's.
    private func child(
        of node: VirtualNode, _ number: UInt64, _ name: [UInt8], _ text: String
    ) throws(Errno) -> VirtualNode {
        switch node {
        case .top:
            switch text {
            case "status.json": return .status
            case "metrics": return .metrics
            case "documents": return .documents
            case "bookmarks": return .bookmarks
            case "recents": return .recents
            case "conflicts": return .conflicts
            case "grants": return .grants
            case "granted": return .granted
            case "former": return .former
            case "find": return .find
            case "queries": return .queries
            case "events": return .events(nil)
            case _ where text.hasPrefix("events-"): return try events(text)
            case "versions": return .versions
            case "thumbnails" where volume.pictures != nil: return .thumbnails
            default: throw Errno(ENOENT)
            }
        case .documents:
            guard let document = DocumentID(text), let path = path(of: document) else {
                throw Errno(ENOENT)
            }
            return .document(document, path: path)
        case .bookmarks: return try bookmark(named: text)
        case .recents: return try recent(named: text)
        case .conflicts: return try conflict(named: text)
        case .find:
            guard let query = Query(text) else { throw Errno(ENOENT) }
            return .findings(query)
        case .granted, .grantedHere, .grantedTo, .grantedFind:
            return try granted(text, in: node)
        case .former: throw Errno(ENOENT)
        case .queries: return try query(named: text)
        case .query(let query): return try result(text, of: query.text)
        case .versions: return try mirrored(.root, name, in: number)
        case .versionsBelow(let item, in: _): return try mirrored(item, name, in: number)
        case .history(let document, in: _):
            let version = try version(of: document, named: text)
            return .version(version.item, version.ordinal)
        case .thumbnails:
            guard let size = PictureSize(folderName: text) else { throw Errno(ENOENT) }
            return .thumbnailsOf(size)
        // Names of pictures are looked up apart.
        case .status, .metrics, .events, .document, .bookmark, .recent, .findings, .found, .version,
            .picture, .grants, .grantedNames, .grantedFindings, .grantedBell, .thumbnailsOf,
            .thumbnailsBelow:
            throw Errno(ENOTDIR)
        }
    }

    /// `events-<sequence>`; a change that has not been made yet cannot be known.
    private func events(_ text: String) throws(Errno) -> VirtualNode {
        guard let sequence = ChangeSequence(text.dropFirst(7)), sequence <= volume.log.head,
            "events-\(sequence)" == text
        else { throw Errno(ENOENT) }
        return .events(sequence)
    }

    func mirrored(
        _ directory: ItemNumber, _ name: [UInt8], in folder: UInt64
    ) throws(Errno) -> VirtualNode {
        try volume.read { (state) throws(Errno) in
            let position = state.index.find(directory)
            guard position != 0 else { throw Errno(ENOENT) }
            let found = name.withUnsafeBytes { state.index.lookup(position, $0) }
            guard found != 0 else { throw Errno(ENOENT) }
            return try mirror(state, state.index[name: found].pointee.item, in: folder)
        }
    }

    func mirror(
        _ state: VolumeState, _ position: MemoryIndex.Position, in folder: UInt64
    ) throws(Errno) -> VirtualNode {
        let record = state.index[item: position]
        if record.pointee.isDirectory { return .versionsBelow(state.number(position), in: folder) }
        guard record.pointee.isRegular else { throw Errno(ENOENT) }
        return .history(DocumentID(rawValue: record.pointee.document), in: folder)
    }

    func attributes(_ number: UInt64) throws(Errno) -> Entry {
        try entry(try node(number), counted: false)
    }

    func entry(_ node: VirtualNode, counted: Bool) throws(Errno) -> Entry {
        var status = stat()
        status.st_uid = getuid()
        status.st_gid = getgid()
        status.st_nlink = 1
        status.st_blksize = 4096
        var time = started
        // Nothing of most of this is kept by the kernel: it changes without its knowing.
        var (timeout, attributeTimeout) = (0.0, 0.0)
        switch node {
        case .top, .versions, .thumbnails:
            status.st_mode = S_IFDIR | 0o555
            status.st_nlink = 2
            (timeout, attributeTimeout) = (Entry.forever, Entry.forever)
        case .documents, .find, .conflicts, .granted, .grantedHere, .grantedTo, .grantedFind:
            // Where a document lies is for the owner of the mount to know.
            status.st_mode = S_IFDIR | 0o500
            status.st_nlink = 2
        case .bookmarks, .recents, .queries, .query, .former:
            // Writing is removing, or repeating what came otherwise: nothing can be made here.
            status.st_mode = S_IFDIR | 0o700
            status.st_nlink = 2
        case .bookmark(let id, let path):
            status.st_mode = S_IFLNK | 0o777
            status.st_size = off_t(Self.fromBelow(path).count)
            time = try created(id)
        case .recent(_, let path, let opened):
            status.st_mode = S_IFLNK | 0o777
            status.st_size = off_t(Self.fromBelow(path).count)
            time = opened
        case .found(let path):
            status.st_mode = S_IFLNK | 0o777
            status.st_size = off_t(Self.fromFolder(path.text).count)
        case .picture(let picture):
            let (modified, lasts) = try describe(picture, &status)
            time = modified
            timeout = lasts ? Entry.forever : 0
            attributeTimeout = lasts ? Entry.forever : Entry.brief
        case .thumbnailsOf:
            try describe(mirror: .root, &status, isKept: true)
            (timeout, attributeTimeout) = (Entry.forever, Entry.forever)
        case .thumbnailsBelow(_, let item):
            try describe(mirror: item, &status, isKept: true)
            (timeout, attributeTimeout) = (Entry.forever, Entry.forever)
        case .versionsBelow(let item, in: _): try describe(mirror: item, &status)
        case .history(let document, in: _):
            // Who may read the document may list its versions.
            let owner = try owner(document)
            let read = owner.mode & 0o444
            status.st_mode = S_IFDIR | read | read >> 2
            (status.st_uid, status.st_gid) = (owner.user, owner.group)
            status.st_nlink = 2
        case .document(_, let path):
            status.st_mode = S_IFLNK | 0o777
            status.st_size = off_t(Self.fromBelow(path).count)
        case .status, .metrics:
            status.st_mode = S_IFREG | 0o444
            status.st_size = off_t(generated(node)?.count ?? 0)
            time = VolumeState.now()
        case .grantedBell:
            status.st_mode = S_IFREG | 0o400
            // The kernel tells the end of names only that it keeps.
            timeout = Entry.forever
        case .events, .findings, .grants, .grantedNames, .grantedFindings:
            // What is here and what happens to it is for the owner of the mount to know.
            status.st_mode = S_IFREG | 0o400
            time = VolumeState.now()
        case .version(let item, let ordinal):
            let version = try row(item, ordinal)
            let owner = try owner(version.document)
            status.st_mode = S_IFREG | owner.mode & 0o444
            (status.st_uid, status.st_gid) = (owner.user, owner.group)
            status.st_size = off_t(version.size)
            status.st_blocks = blkcnt_t(max(version.blocks, 1))
            time = version.modified
        }
        status.st_mtim = timespec(time)
        status.st_ctim = timespec(time)
        status.st_atim = timespec(time)
        let number = number(node, counted: counted)
        status.st_ino = UInt(number)
        return Entry(
            node: number, status: status, timeout: timeout, attributeTimeout: attributeTimeout)
    }

    /// What a directory's mirror shows of it. The kernel may keep that of a folder of pictures.
    private func describe(mirror item: ItemNumber, _ status: inout stat, isKept: Bool = false)
        throws(Errno)
    {
        let owner = try owner(item, isKept: isKept)
        status.st_mode = S_IFDIR | owner.mode & 0o555
        (status.st_uid, status.st_gid) = (owner.user, owner.group)
        status.st_nlink = 2
    }

    private typealias Owner = (mode: UInt32, user: UInt32, group: UInt32)

    private func owner(_ item: ItemNumber, isKept: Bool) throws(Errno) -> Owner {
        try volume.read { (state) throws(Errno) in
            let position = state.index.find(item)
            if position == 0 { throw Errno(ENOENT) }
            let record = state.index[item: position]
            if isKept { record.pointee.flags.insert(.isPictured) }
            return (record.pointee.mode, record.pointee.user, record.pointee.group)
        }
    }

    /// Of a document: of the item that it is now; the daemon's if it is gone.
    private func owner(_ document: DocumentID) throws(Errno) -> Owner {
        volume.state.withLock { state in
            let position = state.index.holder(of: document)
            if position == 0 { return (0o400, getuid(), getgid()) }
            let record = state.index[item: position].pointee
            return (record.mode, record.user, record.group)
        }
    }
}

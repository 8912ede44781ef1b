internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// Names and listings of what is granted to the app that this mount is for.
extension FuseSession {
    /// How long an owner is waited for that says whether it grants anything, in milliseconds.
    private static let folderPatience: UInt64 = 100

    /// Runs `work` on a thread that may wait for an owner, and answers the request with what it throws.
    func forward(
        _ request: Request, _ granted: GrantedTree, to owner: String,
        _ work: @escaping @Sendable () throws(Errno) -> Forwarding.Outcome
    ) {
        granted.forwarding.call(
            owner,
            prepare: { answerInterrupts(of: request, .forwarding, $0) },
            fail: { request.fail($0) }, work)
    }

    /// As ``forward(_:_:to:_:)``, for work of many steps.
    ///
    /// - Parameter work: gets the call's ticket, by which it says that it gets on.
    func forwardSteps(
        _ request: Request, _ granted: GrantedTree, to owner: String,
        _ work: @escaping @Sendable (_ ticket: UInt64) throws(Errno) -> Forwarding.Outcome
    ) {
        let ticket = Lock<UInt64>(0)
        granted.forwarding.call(
            owner,
            prepare: { number in
                ticket.withLock { $0 = number }
                answerInterrupts(of: request, .forwarding, number)
            },
            fail: { request.fail($0) }
        ) { () throws(Errno) in try work(ticket.withLock { $0 }) }
    }

    /// LOOKUP of the folder of an owner, of its documents or of their pictures.
    ///
    /// Does not wait for an owner that hangs: the kernel may have the directory locked that the folder is
    /// in, which the app needs for what is its own. The owner's catalog says then whether the folder is there.
    func lookupFolder(_ request: Request, _ granted: GrantedTree, _ folder: GrantedNode) {
        // Names that no container has take no queue and no thread: a program may try any number of them.
        let owner = folder.owner
        guard granted.owners.isOwner(owner) else { return request.fail(Errno(ENOENT)) }
        let answer: @Sendable (Bool) -> Void = { isThere in
            guard isThere else { return request.fail(Errno(ENOENT)) }
            request.answer(granted.folderEntry(folder, counted: true))
        }
        let answerByCatalog: @Sendable () -> Void = { [self] in
            forward(request, granted, to: "") { () throws(Errno) in
                let isThere = granted.owners.isInCatalog(owner)
                return { isAwaited in if isAwaited { answer(isThere) } }
            }
        }
        if granted.forwarding.isProbed(owner) { return answerByCatalog() }
        granted.forwarding.ask(owner, patience: Self.folderPatience) { () throws(Errno) in
            granted.grantsAnything(owner)
        } then: { isThere in
            do throws(Errno) { answer(try isThere.get()) } catch { answerByCatalog() }
        }
    }

    /// LOOKUP in a folder, or of a node by its handle. Documents come before files of the app's.
    func lookupDocument(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) {
        let node = try granted.node(parent)
        let owner = node.owner
        guard node.isFolder else {
            guard name == "." else { throw Errno(ENOTDIR) }
            return forward(request, granted, to: owner) { [self] () throws(Errno) in
                try described(request, granted, node, counted: true)
            }
        }
        if name == "." { return lookupFolder(request, granted, node) }
        if case .pictures(_, let size) = node {
            return lookupPicture(request, granted, owner, size, name)
        }
        forward(request, granted, to: owner) { [self] () throws(Errno) in
            if let found = try granted.documents(of: owner)[name] {
                let thread = request.caller.thread
                if granted.isRenamedAway(found.document, of: owner, for: thread) {
                    throw Errno(ENOENT)
                }
                return try foundDocument(request, granted, found.document, of: owner)
            }
            let status = try Self.status(granted.owners.scratch.path(owner, name))
            return { isAwaited in
                guard isAwaited else { return }
                request.answer(granted.scratchEntry(owner, name, status, counted: true))
            }
        }
    }

    /// The picture's name is the document's in the folder of documents, with the end of all pictures:
    /// by no other name is there anything.
    private func lookupPicture(
        _ request: Request, _ granted: GrantedTree, _ owner: String, _ size: PictureSize,
        _ name: String
    ) {
        forward(request, granted, to: owner) { [self] () throws(Errno) in
            let documents = try granted.documents(of: owner)
            guard let wanted = VirtualTree.document(ofPicture: name.pathBytes),
                let document = documents[String(path: wanted)]?.document
            else { throw Errno(ENOENT) }
            return try foundPicture(request, granted, document, size, of: owner)
        }
    }

    /// LOOKUP of a picture: that of the current version. While the owner does not answer, the one that was
    /// looked at last.
    private func foundPicture(
        _ request: Request, _ granted: GrantedTree, _ document: DocumentID, _ size: PictureSize,
        of owner: String
    ) throws(Errno) -> Forwarding.Outcome {
        do throws(Errno) {
            let found = try granted.owners.look(size, of: document, of: owner)
            let node = GrantedNode.picture(owner: owner, document, size, version: found.content)
            granted.hold(found, as: node, volume.scheduler)
            let shown = granted.shown(node, found.status, .read)
            return Self.answer(request, granted, node, shown, counted: true)
        } catch {
            let any = GrantedNode.picture(owner: owner, document, size, version: nil)
            guard error.code == EIO, let last = granted.latest(any),
                let shown = granted.lastShown(last)
            else { throw error }
            return Self.answer(request, granted, last, shown, counted: true)
        }
    }

    func tellGrantedAttributes(_ request: Request, _ granted: GrantedTree, _ number: UInt64)
        throws(Errno)
    {
        let node = try granted.node(number)
        if node.isFolder {
            return request.answer(attributes: granted.folderEntry(node, counted: false))
        }
        forward(request, granted, to: node.owner) { [self] () throws(Errno) in
            try described(request, granted, node, counted: false)
        }
    }

    /// Asks the owner what a document or a picture is like, for a LOOKUP (`counted`) or a GETATTR. While
    /// it does not answer, that is as it was last.
    func described(
        _ request: Request, _ granted: GrantedTree, _ node: GrantedNode, counted: Bool
    ) throws(Errno) -> Forwarding.Outcome {
        let shown: stat
        switch node {
        case .document, .picture:
            do throws(Errno) {
                shown = try look(request, granted, node)
            } catch {
                if error.code == ENOENT, !counted, let left = try Self.removed(node, granted) {
                    shown = left
                } else if error.code == EIO, let last = granted.lastShown(node) {
                    shown = last
                } else {
                    throw error
                }
            }
        case .folder, .pictures: throw Errno(EISDIR)
        case .scratch(_, _, let inode):
            // An open one may have lost its name.
            if let file = granted.file(inode: inode) {
                shown = try file.descriptor.status()
            } else {
                shown = try granted.owners.on(node, shared: false, Self.status)
            }
        }
        return Self.answer(request, granted, node, shown, counted: counted)
    }

    /// What a document is like that its owner has removed, to those who have it open; `nil` if nobody has.
    private static func removed(
        _ node: GrantedNode, _ granted: GrantedTree
    ) throws(Errno) -> stat? {
        guard let open = stillOpen(node, granted) else { return nil }
        let access = try requireGrant(open, granted)
        var shown = granted.shown(node, try open.descriptor.status(), access)
        shown.st_nlink = 0
        return shown
    }

    /// By what somebody has a document's version open, which may have no name any more; `nil` if nobody has.
    static func stillOpen(_ node: GrantedNode, _ granted: GrantedTree) -> GrantedFile? {
        guard case .document(let owner, let document, let version) = node else { return nil }
        return granted.files(of: document, in: owner).first { file in
            guard let version else { return file.writes }
            return (try? GrantOwners.content(of: file.descriptor)) == version
        }
    }

    private static func answer(
        _ request: Request, _ granted: GrantedTree, _ node: GrantedNode, _ shown: stat,
        counted: Bool
    ) -> Forwarding.Outcome {
        { isAwaited in
            guard isAwaited else { return }
            let entry = granted.entry(node, shown, counted: counted)
            if counted { request.answer(entry) } else { request.answer(attributes: entry) }
        }
    }

    /// LOOKUP of a document: the node of those that write it for one of them, else that of the current
    /// version. While the owner does not answer, the one that was looked at last.
    private func foundDocument(
        _ request: Request, _ granted: GrantedTree, _ document: DocumentID, of owner: String
    ) throws(Errno) -> Forwarding.Outcome {
        do throws(Errno) {
            let (found, access) = try current(granted, document, of: owner)
            let thread = request.caller.thread
            let writes =
                access == .write
                && (granted.expects(thread, at: document, of: owner)
                    || granted.isWriter(
                        CallerProcess.process(of: thread), of: document, in: owner))
            let node = GrantedNode.document(
                owner: owner, document, version: writes ? nil : found.content)
            if !writes { granted.hold(found, as: node, volume.scheduler) }
            let seen =
                writes
                ? try granted.owners.on(document, of: owner, shared: true, Self.status)
                : found.status
            let shown = granted.shown(node, seen, access)
            return Self.answer(request, granted, node, shown, counted: true)
        } catch {
            guard error.code == EIO, let last = granted.latest(document, of: owner),
                let shown = granted.lastShown(last)
            else { throw error }
            return Self.answer(request, granted, last, shown, counted: true)
        }
    }

    /// The status of a document's node or of a picture as the request's process sees it.
    private func look(
        _ request: Request, _ granted: GrantedTree, _ node: GrantedNode
    ) throws(Errno) -> stat {
        let owners = granted.owners
        if case .picture(let owner, let document, let size, let version) = node {
            let found = try owners.look(size, of: document, of: owner)
            if version == found.content { return granted.shown(node, found.status, .read) }
            // As it was, for those who have it open.
            guard let last = granted.lastShown(node) else { throw Errno(ESTALE) }
            return last
        }
        guard case .document(let owner, let document, let version) = node else {
            throw Errno(ESTALE)
        }
        let (found, access) = try current(granted, document, of: owner)
        if let version {
            if version == found.content { return granted.shown(node, found.status, access) }
            // As it was, for those who have it open: its size is how far the kernel reads.
            guard let last = granted.lastShown(node) else { throw Errno(ESTALE) }
            return last
        }
        let process = CallerProcess.process(of: request.caller.thread)
        guard access == .write, granted.isWriter(process, of: document, in: owner) else {
            return granted.shown(node, found.status, access)
        }
        return granted.shown(
            node, try owners.on(document, of: owner, shared: true, Self.status), access)
    }

    /// The current version of a document, and what the app may do with it.
    private func current(
        _ granted: GrantedTree, _ document: DocumentID, of owner: String
    ) throws(Errno) -> (found: GrantOwners.Look, access: GrantedAccess) {
        let found = try granted.owners.look(document, of: owner)
        guard let terms = GrantTerms(String(decoding: found.terms, as: UTF8.self)) else {
            throw Errno(EIO)
        }
        return (found, terms.access)
    }

    /// Whether a thread that comes to a version's node to write has to be sent round to the node of those
    /// that write the document.
    static func isSentRound(
        _ request: Request, _ granted: GrantedTree, _ node: GrantedNode
    ) throws(Errno) -> Bool {
        guard case .document(let owner, let document, let version) = node else { return false }
        let thread = request.caller.thread
        if version == nil {
            granted.noteArrival(thread)
            return false
        }
        return granted.sendRound(thread, to: document, of: owner, writes: true)
    }

    static func status(_ path: String) throws(Errno) -> stat {
        var status = stat()
        try check { stat(path.cPath, &status) }
        return status
    }

    // MARK: Listings

    /// Opens a folder, or one that folders of owners come and go in: the root or the top of a size of
    /// pictures. Its own names are not kept by the kernel then.
    func openGranted(
        directory number: UInt64, _ request: Request, _ granted: GrantedTree,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let given = info.pointee
        let isRoot = number == ItemNumber.root.rawValue
        if isRoot { volume.noteListing(NodeNumber(.root, 0), given.flags) }
        try whenNamed(number, request, granted) { [volume] names in
            let handle = granted.hold(names)
            guard isRoot else { return Self.opened(request, given, handle) }
            volume.whenListable(NodeNumber(.root, 0)) { Self.opened(request, given, handle) }
        }
    }

    /// Calls `then` with what owners say is in such a folder now, if the request is still waited for.
    private func whenNamed(
        _ number: UInt64, _ request: Request, _ granted: GrantedTree,
        then: @escaping @Sendable ([ListedName]) -> Void
    ) throws(Errno) {
        guard GrantedTree.has(number) else {
            // Of all owners one after the other, so with a queue of its own; no owner's name is empty.
            return forward(request, granted, to: "") { [volume] () throws(Errno) in
                let names = granted.owners.owners().map {
                    ListedName(
                        name: GrantedTree.folderName($0, volume.hasAtRoot), mode: S_IFDIR)
                }
                return { isAwaited in if isAwaited { then(names) } }
            }
        }
        let folder = try granted.node(number)
        guard folder.isFolder else { throw Errno(ENOTDIR) }
        forward(request, granted, to: folder.owner) {
            let names =
                [".", ".."].map { ListedName(name: $0, mode: S_IFDIR) }
                + Self.files(in: folder, granted.owners)
                .sorted().map { ListedName(name: $0.text, mode: S_IFREG) }
            return { isAwaited in if isAwaited { then(names) } }
        }
    }

    /// What is in a folder, in no order. An owner that does not answer shows nothing;
    /// `user.shapeedit.error` says why.
    private static func files(in folder: GrantedNode, _ owners: GrantOwners) -> Set<PathKey> {
        let documents = (try? owners.documents(of: folder.owner))?.documents.map(\.name) ?? []
        guard case .pictures = folder else {
            return Set((documents + owners.scratch.names(folder.owner)).map { PathKey($0) })
        }
        let end = VirtualTree.pictureEnd.count
        // As in all folders of pictures, one for which the name would be too long is left out.
        return Set(
            documents.filter { $0.pathBytes.count + end <= Limits.name }
                .map { PathKey($0 + ".png") })
    }

    private static func opened(_ request: Request, _ info: fuse_file_info, _ handle: UInt64) {
        var info = info
        info.fh = handle
        fuse_reply_open(request.pointer, &info)
    }

    /// What a listing of the root, or of the top of a size of pictures, shows behind the app's own
    /// names; what one of a folder shows. Who begins once more (rewinddir(3)) is shown what is granted by then.
    func listGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ size: Int,
        _ offset: UInt64, _ handle: UInt64, plus: Bool
    ) throws(Errno) {
        let show: @Sendable () throws(Errno) -> Void = { [self] () throws(Errno) in
            let names = granted.listing(handle)
            if GrantedTree.has(number) {
                guard try granted.node(number).isFolder else { throw Errno(ENOTDIR) }
                try list(request, 0, size, offset, plus: plus, more: names)
            } else {
                try list(request, number, size, offset, plus: plus, more: names)
            }
        }
        guard offset == 0, granted.isBegunAgain(handle) else { return try show() }
        try whenNamed(number, request, granted) { names in
            granted.renew(handle, names)
            do throws(Errno) { try show() } catch { request.fail(error) }
        }
    }
}

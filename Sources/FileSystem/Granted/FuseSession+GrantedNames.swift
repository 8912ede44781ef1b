internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Names and listings of what is granted to the app that this mount is for.
extension FuseSession {
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

    func lookupFolder(_ request: Request, _ granted: GrantedTree, _ owner: String) {
        forward(request, granted, to: owner) { () throws(Errno) in
            guard granted.owners.grantsAnything(owner) else { throw Errno(ENOENT) }
            return { isAwaited in
                if isAwaited { request.answer(granted.folderEntry(owner, counted: true)) }
            }
        }
    }

    /// LOOKUP in a folder, or of a node by its handle. Documents come before files of the app's.
    func lookupDocument(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) {
        let node = try granted.node(parent)
        let owner = node.owner
        guard case .folder = node else {
            guard name == "." else { throw Errno(ENOTDIR) }
            return forward(request, granted, to: owner) { [self] () throws(Errno) in
                try described(request, granted, node, counted: true)
            }
        }
        if name == "." { return lookupFolder(request, granted, owner) }
        forward(request, granted, to: owner) { [self] () throws(Errno) in
            if let found = try granted.documents(of: owner).first(where: { $0.name == name }) {
                return try described(
                    request, granted, .document(owner: owner, found.document), counted: true)
            }
            guard ScratchFolder.takes(name) else { throw Errno(ENOENT) }
            let status = try Self.status(granted.owners.scratch.path(owner, name))
            return { isAwaited in
                guard isAwaited else { return }
                request.answer(granted.scratchEntry(owner, name, status, counted: true))
            }
        }
    }

    func tellGrantedAttributes(_ request: Request, _ granted: GrantedTree, _ number: UInt64)
        throws(Errno)
    {
        let node = try granted.node(number)
        if case .folder(let owner) = node {
            return request.answer(attributes: granted.folderEntry(owner, counted: false))
        }
        forward(request, granted, to: node.owner) { [self] () throws(Errno) in
            try described(request, granted, node, counted: false)
        }
    }

    /// Asks the owner what a document is like, for a LOOKUP (`counted`) or a GETATTR. While it does not
    /// answer, the document is as it was last.
    func described(
        _ request: Request, _ granted: GrantedTree, _ node: GrantedNode, counted: Bool
    ) throws(Errno) -> Forwarding.Outcome {
        let shown: stat
        switch node {
        case .document(let owner, let document):
            do throws(Errno) {
                let (status, access) = try look(request, granted, owner, document)
                shown = granted.shown(node, status, access)
            } catch {
                guard error.code == EIO, let last = granted.lastShown(node) else { throw error }
                shown = last
            }
        case .folder: throw Errno(EISDIR)
        case .scratch(_, _, let inode):
            // An open one may have lost its name.
            if let file = granted.file(inode: inode) {
                shown = try file.descriptor.status()
            } else {
                shown = try granted.owners.on(node, shared: false, Self.status)
            }
        }
        return { isAwaited in
            guard isAwaited else { return }
            let entry = granted.entry(node, shown, counted: counted)
            if counted { request.answer(entry) } else { request.answer(attributes: entry) }
        }
    }

    /// A document's status as the request's process sees it, and what the app may do with it.
    private func look(
        _ request: Request, _ granted: GrantedTree, _ owner: String, _ document: DocumentID
    ) throws(Errno) -> (stat, GrantedAccess) {
        let owners = granted.owners
        let (status, terms) = try owners.on(document, of: owner, shared: false) {
            (path) throws(Errno) in
            let terms = try PathAttributes.value(owners.attribute(of: document), of: path)
            return (try Self.status(path), terms)
        }
        guard let terms = GrantTerms(String(decoding: terms, as: UTF8.self)) else {
            throw Errno(EIO)
        }
        let process = CallerProcess.process(of: request.caller.thread)
        guard terms.access == .write, granted.isWriter(process, of: document, in: owner) else {
            return (status, terms.access)
        }
        return (
            try owners.on(document, of: owner, shared: true, Self.status), terms.access
        )
    }

    static func status(_ path: String) throws(Errno) -> stat {
        var status = stat()
        try check { stat(path.cPath, &status) }
        return status
    }

    // MARK: Listings

    /// Opens a folder, or the root, whose own names are not kept by the kernel then: folders come and
    /// go among them.
    func openGranted(
        directory number: UInt64, _ request: Request, _ granted: GrantedTree,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let given = info.pointee
        if number == ItemNumber.root.rawValue {
            volume.noteAccess(NodeNumber(.root, 0), 0)
            // Of all owners one after the other, so with a queue of its own; no owner's name is empty.
            forward(request, granted, to: "") { [volume] () throws(Errno) in
                let names = granted.owners.owners().map {
                    ListedName(
                        name: GrantedTree.folderName($0, volume.hasAtRoot), mode: S_IFDIR)
                }
                return { isAwaited in
                    guard isAwaited else { return }
                    let handle = granted.hold(names)
                    volume.whenListable(NodeNumber(.root, 0)) {
                        Self.opened(request, given, handle)
                    }
                }
            }
            return
        }
        guard case .folder(let owner) = try granted.node(number) else { throw Errno(ENOTDIR) }
        forward(request, granted, to: owner) {
            // An owner that does not answer shows nothing; `user.shapeedit.error` says why.
            let documents = (try? granted.owners.documents(of: owner)) ?? []
            let names =
                [".", ".."].map { ListedName(name: $0, mode: S_IFDIR) }
                + Set(documents.map(\.name)).union(granted.owners.scratch.names(owner))
                .sorted().map { ListedName(name: $0, mode: S_IFREG) }
            return { isAwaited in
                if isAwaited { Self.opened(request, given, granted.hold(names)) }
            }
        }
    }

    private static func opened(_ request: Request, _ info: fuse_file_info, _ handle: UInt64) {
        var info = info
        info.fh = handle
        fuse_reply_open(request.pointer, &info)
    }

    /// What a listing of the root shows behind the app's own names; what one of a folder shows.
    func listGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ size: Int,
        _ offset: UInt64, _ handle: UInt64, plus: Bool
    ) throws(Errno) {
        let names = granted.listing(handle)
        if number == ItemNumber.root.rawValue {
            try list(request, number, size, offset, plus: plus, more: names)
        } else {
            guard case .folder = try granted.node(number) else { throw Errno(ENOTDIR) }
            try list(request, 0, size, offset, plus: plus, more: names)
        }
    }
}

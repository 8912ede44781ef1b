internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The handlers of an app's mount for everybody else.
private let app = FuseSession.appOperations()

/// Runs a handler for the process that repeats changes, answering what it throws.
///
/// - Returns: false if it is for the app's handler.
private func replay(
    _ request: fuse_req_t?, isGranted: Bool = true,
    _ body: (FuseSession, Request, GrantedTree) throws(Errno) -> Bool
) -> Bool {
    guard isGranted, let (session, request, granted) = FuseSession.appContext(request),
        session.isReplay(request)
    else { return false }
    do throws(Errno) { return try body(session, request, granted) } catch {
        request.fail(error)
        return true
    }
}

/// Requests of the process that repeats what owners did (``GrantedReplay``), in the mount of an app: they are
/// answered with what is true already, and make no change.
extension FuseSession {
    /// libfuse's table for the mount of an app whose changes are repeated.
    static func replayingAppOperations() -> fuse_lowlevel_ops {
        var table = app
        replayNames(&table)
        table.open = { request, number, info in
            let isDone = replay(request, isGranted: GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard try granted.node(number).document != nil else { return false }
                try session.openReplayed(request, NodeNumber(rawValue: number))
                return true
            }
            if !isDone { app.open?(request, number, info) }
        }
        table.getattr = { request, number, info in
            let isDone = replay(request, isGranted: GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.answerAttributes(request, granted, number)
            }
            if !isDone { app.getattr?(request, number, info) }
        }
        table.setattr = { request, number, attributes, valid, info in
            let isDone = replay(request, isGranted: GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.answerAttributes(request, granted, number)
            }
            if !isDone { app.setattr?(request, number, attributes, valid, info) }
        }
        return table
    }

    private static func replayNames(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, text in
            let isDone = replay(request) { (session, request, granted) throws(Errno) in
                guard let text else { return false }
                return try session.lookupReplayed(request, granted, parent, String(cPath: text))
            }
            if !isDone { app.lookup?(request, parent, text) }
        }
        table.mknod = { request, parent, text, mode, device in
            let isDone = replay(request, isGranted: GrantedTree.has(parent)) {
                (session, request, granted) throws(Errno) in
                guard let text else { return false }
                return try session.makeReplayed(request, granted, parent, String(cPath: text))
            }
            if !isDone { app.mknod?(request, parent, text, mode, device) }
        }
        table.mkdir = { request, parent, text, mode in
            let isDone = replay(request) { (session, request, granted) throws(Errno) in
                guard let text else { return false }
                return try session.makeReplayed(request, granted, parent, String(cPath: text))
            }
            if !isDone { app.mkdir?(request, parent, text, mode) }
        }
        table.unlink = { request, parent, text in
            let isDone = replay(request, isGranted: GrantedTree.has(parent)) {
                (session, request, granted) throws(Errno) in
                guard let text else { return false }
                try session.takeReplayed(request, granted, parent, String(cPath: text))
                return true
            }
            if !isDone { app.unlink?(request, parent, text) }
        }
        table.rename = { request, parent, text, newParent, newText, flags in
            let isDone = replay(request, isGranted: GrantedTree.has(parent)) {
                (session, request, granted) throws(Errno) in
                guard let text else { return false }
                try session.takeReplayed(request, granted, parent, String(cPath: text))
                return true
            }
            if !isDone { app.rename?(request, parent, text, newParent, newText, flags) }
        }
    }

    /// The step that is being told of, if it is about names in this folder.
    private func step(_ granted: GrantedTree, in parent: UInt64) -> GrantedStep? {
        guard let step = volume.replayer?.grantedStep else { return nil }
        let isRoot = parent == ItemNumber.root.rawValue
        if step.document == nil { return isRoot ? step : nil }
        guard !isRoot, case .folder(step.owner)? = try? granted.node(parent) else { return nil }
        return step
    }

    /// LOOKUP; false for what is answered as for everybody.
    private func lookupReplayed(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) -> Bool {
        if parent == ItemNumber.root.rawValue, let step = volume.replayer?.grantedStep,
            step.document != nil, step.isFolder(name)
        {
            // On the way to a document that was the last one granted.
            let folder = GrantedNode.folder(owner: step.owner)
            request.answer(granted.folderEntry(folder, counted: true))
            return true
        }
        guard let step = step(granted, in: parent) else { return false }
        switch step.sight(of: name) {
        case .ordinary: return false
        case .absent: request.answer(Entry(node: 0, status: stat(), timeout: 0))
        case .current: answerCurrent(request, granted, step)
        case .former:
            guard let document = step.document else { return false }
            let node =
                granted.latest(document, of: step.owner)
                ?? .document(owner: step.owner, document, version: nil)
            request.answer(Self.replayedEntry(granted, node, counted: true))
        }
        return true
    }

    /// MKNOD and MKDIR: it is there.
    private func makeReplayed(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) -> Bool {
        guard let step = step(granted, in: parent), step.kind == .made,
            case .absent = step.sight(of: name)
        else {
            if GrantedTree.has(parent) { throw Errno(EROFS) }
            return false
        }
        if step.document != nil {
            answerCurrent(request, granted, step)
        } else {
            request.answer(granted.folderEntry(.folder(owner: step.owner), counted: true))
        }
        return true
    }

    /// UNLINK and RENAME: it is gone from there.
    private func takeReplayed(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) {
        guard let step = step(granted, in: parent), case .former = step.sight(of: name) else {
            throw Errno(EROFS)
        }
        request.succeed()
    }

    /// Answers with the current version of the step's document, counted as looked up.
    private func answerCurrent(_ request: Request, _ granted: GrantedTree, _ step: GrantedStep) {
        guard let document = step.document else { return request.fail(Errno(ENOENT)) }
        forward(request, granted, to: step.owner) { () throws(Errno) in
            let found = try granted.owners.look(document, of: step.owner)
            guard let terms = GrantTerms(String(decoding: found.terms, as: UTF8.self)) else {
                throw Errno(EIO)
            }
            let node = GrantedNode.document(
                owner: step.owner, document, version: found.content)
            _ = granted.shown(node, found.status, terms.access)
            return { isAwaited in
                guard isAwaited else { return }
                request.answer(Self.replayedEntry(granted, node, counted: true))
            }
        }
    }

    /// GETATTR and SETATTR; false for a folder.
    private func answerAttributes(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64
    ) throws(Errno) -> Bool {
        let node = try granted.node(number)
        guard node.document != nil else { return false }
        request.answer(attributes: Self.replayedEntry(granted, node, counted: false))
        return true
    }

    /// The entry of a document's node as it was seen last. The process may write to it: its calls are those
    /// of a writer, and come to nothing.
    private static func replayedEntry(
        _ granted: GrantedTree, _ node: GrantedNode, counted: Bool
    ) -> Entry {
        var status = granted.lastShown(node) ?? stat()
        if status.st_mode == 0 {
            status.st_mode = S_IFREG | 0o400
            status.st_nlink = 1
            status.st_uid = geteuid()
            status.st_gid = getegid()
        }
        status.st_mode |= S_IWUSR
        return granted.entry(node, status, counted: counted)
    }

    /// A node of a document as the process finds it in the folder of former ones, counted as looked up.
    func replayedEntry(grantedFormer number: UInt64) -> Entry? {
        guard let granted, let node = try? granted.node(number), node.document != nil else {
            return nil
        }
        return Self.replayedEntry(granted, node, counted: true)
    }
}

/// Changes that the app makes itself: the kernel tells of them.
extension FuseSession {
    /// A document is about to have what was written to the file, which is open on the owner's mount.
    func noteOwn(
        _ document: DocumentID?, of owner: String, _ file: borrowing OwnedDescriptor
    ) {
        guard let document, let replay = volume.grantedResults?.replay,
            let status = try? file.status()
        else { return }
        replay.noteOwn(document, in: owner, status)
    }
}

internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Files that programs make beside granted documents, to save by renaming.
extension FuseSession {
    /// CREATE; EOPNOTSUPP without a name, EROFS for a name that would be taken for a document, EEXIST if it
    /// may have been made up all the same. One that only a document beside it tells from that has to be
    /// new. The name of a document is what it is if it was renamed to a backup: the document is made anew.
    func createScratch(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String,
        _ mode: mode_t, _ flags: Int32
    ) throws(Errno) {
        // Programs do without O_TMPFILE where it is not known.
        if Self.isUnnamed(name.utf8) { throw Errno(EOPNOTSUPP) }
        let owner = try Self.scratchOwner(granted, parent)
        let caller = request.caller
        let process = CallerProcess.process(of: caller.thread)
        let passed = flags & (O_ACCMODE | O_APPEND | O_TRUNC | O_EXCL | O_SYNC)
        forwardSteps(request, granted, to: owner) { (ticket) throws(Errno) in
            let documents = try granted.documents(of: owner)
            if let found = documents[name] {
                return try Self.makeAnew(request, granted, found, of: owner, flags, ticket)
            }
            guard ScratchFolder.admits(name, beside: documents, isNew: flags & O_EXCL != 0)
            else { throw ScratchFolder.refusal(name, beside: documents, flags) }
            let descriptor = try granted.owners.scratch.open(
                owner, name, passed, mode: mode & 0o777)
            // Who mounted it for others makes their files theirs, as everywhere in the mount.
            _ = fchown(descriptor.number, caller.user, caller.group)
            let status = try descriptor.status()
            let file = GrantedFile(
                owner: owner, document: nil, descriptor: descriptor, flags: flags,
                process: process)
            return { isAwaited in
                guard isAwaited else { return }
                let entry = granted.scratchEntry(owner, name, status, counted: true)
                Self.answer(request, granted, created: file, entry)
            }
        }
    }

    /// CREATE of a document's name: the document itself, emptied if the process has renamed it to a backup
    /// before; EEXIST if it has not and wants a new file.
    private static func makeAnew(
        _ request: Request, _ granted: GrantedTree, _ found: GrantOwners.Document,
        of owner: String, _ flags: Int32, _ ticket: UInt64
    ) throws(Errno) -> Forwarding.Outcome {
        let (document, thread) = (found.document, request.caller.thread)
        let isAway = granted.isRenamedAway(document, of: owner, for: thread)
        if !isAway, flags & O_EXCL != 0 { throw Errno(EEXIST) }
        let writes = flags & O_ACCMODE != O_RDONLY
        var passed = flags & (O_ACCMODE | O_APPEND | O_TRUNC | O_SYNC)
        if isAway, writes { passed |= O_TRUNC }
        let node = GrantedNode.document(owner: owner, document, version: nil)
        let file = try granted.owners.on(node, shared: writes) { (path) throws(Errno) in
            GrantedFile(
                owner: owner, document: document,
                descriptor: try opened(path, passed | O_NOCTTY, granted, ticket), flags: flags,
                process: CallerProcess.process(of: thread))
        }
        let status = granted.shown(node, try file.descriptor.status(), found.access)
        granted.noteMadeAnew(document, of: owner, by: thread)
        return { isAwaited in
            guard isAwaited else { return }
            answer(request, granted, created: file, granted.entry(node, status, counted: true))
        }
    }

    private static func answer(
        _ request: Request, _ granted: GrantedTree, created file: GrantedFile, _ entry: Entry
    ) {
        let handle = granted.hold(file)
        var parameter = fuse_entry_param(entry)
        let sent = shim_reply_create(
            request.pointer, &parameter, handle, UInt32(SHIM_FOPEN_DIRECT_IO), 0)
        if sent == -ENOENT {
            _ = granted.letGo(handle)
            granted.forget(entry.node, 1)
        }
    }

    /// unlink(2); EROFS for a document.
    func removeScratch(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String
    ) throws(Errno) {
        let owner = try Self.scratchOwner(granted, parent)
        forward(request, granted, to: owner) { () throws(Errno) in
            // A document may be called so, too, and it is what the name shows then.
            if (try? granted.documents(of: owner))?[name] != nil { throw Errno(EROFS) }
            guard Glibc.unlink(granted.owners.scratch.path(owner, name).cPath) == 0 else {
                throw Errno.last
            }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }

    /// rename(2) within a folder: a file of the app's gets another name, or becomes the next version of
    /// a document; a document is copied to a backup. EXDEV for all else: programs then write in place.
    func renameScratch(
        _ request: Request, _ granted: GrantedTree, _ parent: UInt64, _ name: String,
        _ newName: String, _ flags: UInt32
    ) throws(Errno) {
        let owner = try Self.scratchOwner(granted, parent)
        let caller = request.caller
        // RENAME_NOREPLACE, and nothing else.
        guard flags & ~1 == 0 else { throw Errno(EINVAL) }
        let isExclusive = flags != 0
        forwardSteps(request, granted, to: owner) { [self] (ticket) throws(Errno) in
            let scratch = granted.owners.scratch
            let path = scratch.path(owner, name)
            let documents = try granted.documents(of: owner)
            if let document = documents[name] {
                guard document.access == .write, documents[newName] == nil,
                    ScratchFolder.isBackup(newName, of: name, isExclusive: isExclusive)
                else { throw Errno(EXDEV) }
                try Self.backUp(
                    document.document, of: owner, granted, to: newName, replaces: !isExclusive,
                    caller, ticket)
                return { isAwaited in if isAwaited { request.succeed() } }
            }
            if let target = documents[newName] {
                let isAway = granted.isRenamedAway(target.document, of: owner, for: caller.thread)
                if isExclusive, !isAway { throw Errno(EEXIST) }
                let source = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
                // Whoever has it open may write on, or has not written yet what is in a buffer.
                let writers = granted.writers(inode: UInt64(try source.status().st_ino))
                for file in writers { file.follow(target.document) }
                do throws(Errno) {
                    noteOwn(target.document, of: owner, source)
                    try granted.owners.replace(target.document, of: owner, with: source) {
                        (toTheEnd) throws(Errno) in
                        try granted.forwarding.goOn(ticket, toTheEnd: toTheEnd)
                    }
                } catch {
                    for file in writers { file.follow(nil) }
                    throw error
                }
                if !writers.isEmpty {
                    let content = try? granted.owners.content(target.document, of: owner)
                    for file in writers { file.noteSaved(as: content) }
                }
                Glibc.unlink(path.cPath)
                granted.noteMadeAnew(target.document, of: owner, by: caller.thread)
            } else if !ScratchFolder.admits(newName, beside: documents, isNew: false) {
                throw Errno(EXDEV)
            } else if isExclusive {
                try Directories.renameExclusively(path, scratch.path(owner, newName))
            } else {
                try check { Glibc.rename(path.cPath, scratch.path(owner, newName).cPath) }
            }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }

    /// Copies a document to a file of the app's, and has its name lead nowhere for the process, which is
    /// about to make it anew: so programs save that keep what was there as a backup. Nobody else sees
    /// anything of it.
    private static func backUp(
        _ document: DocumentID, of owner: String, _ granted: GrantedTree, to name: String,
        replaces: Bool, _ caller: Caller, _ ticket: UInt64
    ) throws(Errno) {
        let process = CallerProcess.process(of: caller.thread)
        let made = try granted.owners.copy(
            document, of: owner, shared: granted.isWriter(process, of: document, in: owner),
            to: name, replaces: replaces
        ) { () throws(Errno) in try granted.forwarding.goOn(ticket, toTheEnd: true) }
        _ = fchown(made.number, caller.user, caller.group)
        granted.noteRenamedAway(document, of: owner, by: process)
    }

    /// link(2) of a document under a name that a file of the app's may have: a file with what the
    /// caller would read. GLib makes its backups by linking or renaming, and in no other way. EXDEV
    /// for all else.
    func copyGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ parent: UInt64,
        _ name: String
    ) throws(Errno) {
        let owner = try Self.scratchOwner(granted, parent)
        guard GrantedTree.has(number) else { throw Errno(EXDEV) }
        let node = try granted.node(number)
        guard let document = node.document, node.owner == owner else { throw Errno(EXDEV) }
        let caller = request.caller
        let process = CallerProcess.process(of: caller.thread)
        let shared = granted.isWriter(process, of: document, in: owner)
        forwardSteps(request, granted, to: owner) { (ticket) throws(Errno) in
            let documents = try granted.documents(of: owner)
            guard ScratchFolder.admits(name, beside: documents, isNew: false) else {
                throw Errno(EXDEV)
            }
            let made = try granted.owners.copy(document, of: owner, shared: shared, to: name) {
                () throws(Errno) in try granted.forwarding.goOn(ticket, toTheEnd: true)
            }
            _ = fchown(made.number, caller.user, caller.group)
            let status = try made.status()
            return { isAwaited in
                guard isAwaited else { return }
                request.answer(granted.scratchEntry(owner, name, status, counted: true))
            }
        }
    }

    /// The owner of a folder of documents; EROFS for one of pictures.
    private static func scratchOwner(
        _ granted: GrantedTree, _ parent: UInt64
    ) throws(Errno) -> String {
        let folder = try granted.node(parent)
        guard case .folder(let owner) = folder else {
            throw Errno(folder.isFolder ? EROFS : ENOTDIR)
        }
        return owner
    }
}

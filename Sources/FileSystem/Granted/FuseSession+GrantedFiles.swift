internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Open documents of other containers, and their pictures. Every read and write asks the owner whether
/// the document is still granted.
extension FuseSession {
    /// Throws EACCES if the document is not granted any more, or not for writing; gives for what it is.
    @discardableResult
    static func requireGrant(
        _ file: GrantedFile, _ granted: GrantedTree, writes: Bool = false
    ) throws(Errno) -> GrantedAccess {
        guard let document = file.document else { return .write }
        let text: [UInt8]
        do throws(Errno) {
            text = try file.descriptor.value(ofAttribute: granted.owners.attribute(of: document))
        } catch {
            throw error.code == ENODATA ? Errno(EACCES) : GrantOwners.answer(error)
        }
        guard let terms = GrantTerms(String(decoding: text, as: UTF8.self)),
            !writes || terms.access == .write
        else { throw Errno(EACCES) }
        return terms.access
    }

    /// Runs `work` with an open document that is still granted, and answers with its outcome. What is
    /// to write or to lock does not happen when nobody waits for the answer any more.
    ///
    /// - Parameters:
    ///   - asks: whether it has to be granted.
    ///   - locks: whether it takes a lock, without waiting: it is answered with what came of that.
    func withGranted(
        _ request: Request, _ granted: GrantedTree, _ handle: UInt64, writes: Bool = false,
        asks: Bool = true, locks: Bool = false,
        _ work: @escaping @Sendable (GrantedFile) throws(Errno) -> Forwarding.Outcome
    ) throws(Errno) {
        let file = try granted.file(handle)
        forwardSteps(request, granted, to: file.owner) { (ticket) throws(Errno) in
            if asks { try Self.requireGrant(file, granted, writes: writes) }
            if writes || locks { try granted.forwarding.goOn(ticket, toTheEnd: locks) }
            do throws(Errno) { return try work(file) } catch { throw GrantOwners.answer(error) }
        }
    }

    func openGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ flags: Int32
    ) throws(Errno) {
        let node = try granted.node(number)
        let owner = node.owner
        let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        let document: DocumentID?
        switch node {
        case .folder, .pictures: throw Errno(EISDIR)
        case .document(_, let id, _): document = id
        case .picture(_, let id, _, _):
            if writes { throw Errno(EROFS) }
            document = id
        case .scratch: document = nil
        }
        let thread = request.caller.thread
        let process = CallerProcess.process(of: thread)
        // Who writes a document sees what they write, by every descriptor.
        let shared =
            writes || document.map { granted.isWriter(process, of: $0, in: owner) } ?? false
        if shared, try Self.isSentRound(request, granted, node) { throw Errno(ESTALE) }
        forwardSteps(request, granted, to: owner) { (ticket) throws(Errno) in
            let file = try Self.opened(
                node, document, granted, shared: shared, flags, by: thread, ticket)
            return { isAwaited in
                guard isAwaited else { return }
                let handle = granted.hold(file)
                // Nothing of it is kept in this mount's page cache: it would be read from there
                // after the grant was revoked. What gets there all the same goes at once
                // (`GrantedPages`).
                let sent = shim_reply_open(
                    request.pointer, handle, UInt32(SHIM_FOPEN_DIRECT_IO), 0)
                if sent == -ENOENT { _ = granted.letGo(handle) }
            }
        }
    }

    /// A node's file, opened on the owner's mount; ESTALE for a thread that is to look it up once more.
    private static func opened(
        _ node: GrantedNode, _ document: DocumentID?, _ granted: GrantedTree, shared: Bool,
        _ flags: Int32, by thread: Int32, _ ticket: UInt64
    ) throws(Errno) -> GrantedFile {
        // With O_NONBLOCK the owner's mount does not wait for claims.
        let passed = flags & (O_ACCMODE | O_APPEND | O_TRUNC | O_SYNC | O_NONBLOCK) | O_NOCTTY
        let open = { (path: String) throws(Errno) in
            try Self.opened(path, passed, granted, ticket)
        }
        func file(_ descriptor: consuming OwnedDescriptor, isMisplaced: Bool = false) -> GrantedFile
        {
            GrantedFile(
                owner: node.owner, document: document, descriptor: descriptor, flags: flags,
                process: CallerProcess.process(of: thread), isMisplaced: isMisplaced)
        }
        if !shared, let look = granted.recentLook(node) {
            // What was looked up for this open, though there may be another version by now.
            let held: GrantedFile
            do throws(Errno) { held = file(try open(look.path)) } catch {
                throw GrantOwners.answer(error)
            }
            // It may have been revoked since.
            try requireGrant(held, granted)
            return held
        }
        guard case .document(let owner, let id, let version) = node else {
            return file(try granted.owners.on(node, shared: shared, open))
        }
        let isOfVersion = version != nil && !shared
        let descriptor = try granted.owners.on(node, shared: shared, open)
        let isMisplaced =
            try shared ? version != nil : GrantOwners.content(of: descriptor) != version
        if isMisplaced, isOfVersion,
            granted.sendRound(thread, to: id, of: owner, writes: false)
        {
            throw Errno(ESTALE)
        }
        granted.noteArrival(thread)
        return file(descriptor, isMisplaced: isMisplaced)
    }

    /// A path, opened for a call that may not be waited for any more when it is. What O_TRUNC cuts off is
    /// cut off only if it is: no open waits for claims, and empties a document when they have ended, of
    /// which a program was told that nothing came of it.
    static func opened(
        _ path: String, _ flags: Int32, _ granted: GrantedTree, _ ticket: UInt64
    ) throws(Errno) -> OwnedDescriptor {
        guard flags & O_TRUNC != 0 else { return try OwnedDescriptor.open(path, flags) }
        do {
            let file = try OwnedDescriptor.open(path, flags & ~(O_ACCMODE | O_TRUNC) | O_WRONLY)
            try granted.forwarding.goOn(ticket, toTheEnd: true)
            if flags & O_ACCMODE == O_WRONLY {
                try check { ftruncate(file.number, 0) }
                return file
            }
        }
        // Without O_TRUNC, who reads as well counts as having seen what is cut off.
        return try OwnedDescriptor.open(path, flags)
    }

    /// - Parameter isCached: whether the kernel reads it into its page cache.
    func readGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ handle: UInt64,
        _ size: Int, _ offset: Int64, isCached: Bool
    ) throws(Errno) {
        if !isCached, answerRepeated(request, handle, size, offset) { return }
        try withGranted(request, granted, handle) { [volume, ringReads] (file) throws(Errno) in
            // The node's pages are those of another content.
            if isCached, file.isMisplaced { throw Errno(EINVAL) }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = try file.descriptor.read(into: &bytes, at: offset)
            let answer = Array(bytes[..<count])
            return { isAwaited in
                guard isAwaited else { return }
                if isCached {
                    granted.pages.note(number, of: file.owner, volume.scheduler) {
                        volume.channel?.invalidate(node: number, pages: true)
                    }
                } else {
                    ringReads.note(
                        request.caller.thread, handle, offset, size, answered: answer.count)
                }
                request.answer(answer)
            }
        }
    }

    func writeGranted(
        _ request: Request, _ granted: GrantedTree, _ handle: UInt64,
        _ buffer: UnsafeMutablePointer<fuse_bufvec>, _ offset: Int64, appends: Bool
    ) throws(Errno) {
        // The buffer goes when this returns.
        let bytes = try Self.bytes(of: buffer)
        try withGranted(request, granted, handle, writes: true) { (file) throws(Errno) in
            // Programs may change it while they have the file open.
            let flags = try check { fcntl(file.descriptor.number, F_GETFL) }
            if appends != (flags & O_APPEND != 0) {
                try check { fcntl(file.descriptor.number, F_SETFL, flags ^ O_APPEND) }
            }
            if appends {
                // Where the end is the owner knows.
                try file.descriptor.write(bytes)
            } else {
                try file.descriptor.write(bytes, at: offset)
            }
            if file.document == nil { file.noteChange() }
            return { isAwaited in if isAwaited { request.answer(written: bytes.count) } }
        }
    }

    /// FLUSH: closes a duplicate, so that the owner takes note as of a close of its own. Also after the
    /// grant was revoked: what was written before counts. What was written to a file of the app's after
    /// it was renamed over a document is made the document's next version.
    func flushGranted(_ request: Request, _ granted: GrantedTree, _ handle: UInt64) throws(Errno) {
        let file = try granted.file(handle)
        guard file.writes else { return request.succeed() }
        forwardSteps(request, granted, to: file.owner) { [self] (ticket) throws(Errno) in
            noteOwn(file.document, of: file.owner, file.descriptor)
            do throws(Errno) {
                let copy = try check { fcntl(file.descriptor.number, F_DUPFD_CLOEXEC, 0) }
                if close(copy) != 0 { throw Errno.last }
            } catch { throw GrantOwners.answer(error) }
            if let (document, content) = file.takeChanged() {
                noteOwn(document, of: file.owner, file.descriptor)
                do throws(Errno) {
                    try Self.save(file, granted, over: document, unlessNot: content) {
                        () throws(Errno) in
                        // Nothing else has it: no signal ends the close from here on.
                        try granted.forwarding.goOn(ticket, toTheEnd: true)
                    }
                } catch {
                    // Another close may bring it there.
                    file.noteChange()
                    throw error
                }
            }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }

    /// Makes what is in a file of the app's that has lost its name a document's next version, if the
    /// document still has the content that the file was saved as: what others have saved since is not
    /// this file's any more.
    private static func save(
        _ file: GrantedFile, _ granted: GrantedTree, over document: DocumentID,
        unlessNot content: String, goOn: () throws(Errno) -> Void
    ) throws(Errno) {
        let owners = granted.owners
        try goOn()
        guard try owners.content(document, of: file.owner) == content else { return }
        // It may be open for writing only.
        let source = try OwnedDescriptor.open(
            "/proc/self/fd/\(file.descriptor.number)", O_RDONLY)
        try owners.replace(document, of: file.owner, with: source) { (_) throws(Errno) in
            try goOn()
        }
        let saved = try? owners.content(document, of: file.owner)
        for other in granted.writers(inode: file.inode) { other.noteSaved(as: saved) }
    }

    func releaseGranted(_ granted: GrantedTree, _ handle: UInt64) {
        guard let file = granted.letGo(handle) else { return }
        granted.forwarding.post(file.owner) { withExtendedLifetime(file) {} }
    }

    func synchronizeGranted(_ request: Request, _ granted: GrantedTree, _ handle: UInt64)
        throws(Errno)
    {
        try withGranted(request, granted, handle) { [self] (file) throws(Errno) in
            // It may be shown from then on.
            if file.writes { noteOwn(file.document, of: file.owner, file.descriptor) }
            try check { fsync(file.descriptor.number) }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }

    /// FSYNCDIR: programs that save by renaming make the new name durable with it, so what the owner's
    /// folders have, and the app's own files there.
    func synchronizeGranted(
        directory number: UInt64, _ request: Request, _ granted: GrantedTree
    ) throws(Errno) {
        let owner = try granted.node(number).owner
        forward(request, granted, to: owner) { () throws(Errno) in
            do throws(Errno) {
                let own = granted.owners.scratch.folder(owner)
                if access(own.cPath, F_OK) == 0 { try Directories.synchronize(own) }
                try Directories.synchronize(try granted.owners.place(of: owner))
            } catch {
                throw error.code == ENOENT ? Errno(EIO) : GrantOwners.answer(error)
            }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }

    func seekGranted(
        _ request: Request, _ granted: GrantedTree, _ handle: UInt64, _ offset: Int64,
        _ whence: Int32
    ) throws(Errno) {
        try withGranted(request, granted, handle) { (file) throws(Errno) in
            let found = try check { lseek(file.descriptor.number, off_t(offset), whence) }
            return { isAwaited in if isAwaited { fuse_reply_lseek(request.pointer, found) } }
        }
    }

    // MARK: Locks

    /// How often a lock that is waited for is tried again, in milliseconds: no thread waits with it.
    private static let lockPace: UInt64 = 25

    /// Takes or gives back a lock at the owner's.
    ///
    /// - Parameters:
    ///   - waits: whether to try again while somebody else has it.
    ///   - givesBack: whether it is given back: also when the grant has gone, or it would be in
    ///     everybody's way until the file is closed.
    ///   - attempt: the system call, which must not wait: EAGAIN while somebody else has it.
    func lockGranted(
        _ request: Request, _ granted: GrantedTree, _ handle: UInt64, waits: Bool,
        givesBack: Bool, _ attempt: @escaping @Sendable (Int32) throws(Errno) -> Void
    ) throws(Errno) {
        try withGranted(request, granted, handle, asks: !givesBack, locks: !givesBack) {
            [self] (file) throws(Errno) in
            do throws(Errno) { try attempt(file.descriptor.number) } catch {
                guard waits, error.code == EAGAIN else { throw error }
                return { [self] isAwaited in
                    guard isAwaited else { return }
                    // Each try is a call that is done soon, so none of them ends by the signal.
                    if fuse_req_interrupted(request.pointer) != 0 {
                        return request.fail(Errno(EINTR))
                    }
                    volume.scheduler.at(MonotonicClock.after(milliseconds: Self.lockPace)) {
                        do throws(Errno) {
                            try self.lockGranted(
                                request, granted, handle, waits: true, givesBack: givesBack,
                                attempt)
                        } catch {
                            request.fail(error)
                        }
                    }
                }
            }
            return { isAwaited in if isAwaited { request.succeed() } }
        }
    }
}

internal import CFuseShim
internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Opening, reading and closing what is generated.
extension VirtualTree {
    func open(
        _ request: Request, _ number: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>,
        in session: FuseSession
    ) throws(Errno) {
        if info.pointee.flags & O_ACCMODE != O_RDONLY { throw Errno(EROFS) }
        let node = try node(number)
        if case .version(let item, let ordinal) = node {
            // Pinned first, then looked for: from here on it is not thinned out.
            let pinned = NodeNumber(item, ordinal)
            volume.state.withLock { $0.held.add(pinned) }
            let version: VersionRow
            do throws(Errno) { version = try row(item, ordinal) } catch {
                unpin(pinned)
                throw error
            }
            if let missing = volume.missing(version) {
                let answer = info.pointee
                session.wait(
                    request, for: missing, nil, pinned,
                    otherwise: { [self] in unpin(pinned) }
                ) {
                    var answer = answer
                    fuse_reply_open(request.pointer, &answer)
                }
                return
            }
        }
        if let text = generated(node, for: request.caller) {
            info.pointee.fh = hold(text)
            info.pointee.direct_io = 1
        }
        if case .findings(let query) = node {
            return session.openFindings(request, query, info)
        }
        if case .grantedFindings(let application, let query) = node {
            return session.openFindings(request, query, grantedTo: application, info)
        }
        if case .events(let sequence) = node {
            session.openEvents(request, after: sequence)
            return
        }
        if case .picture = node {
            // Its bytes never change, and nothing is to be done when it is closed.
            info.pointee.keep_cache = 1
            info.pointee.noflush = 1
        }
        fuse_reply_open(request.pointer, info)
    }

    /// What a file shows that is made when it is opened.
    ///
    /// - Parameter caller: who opens it; `nil`: the owner of the mount.
    func generated(_ node: VirtualNode, for caller: Caller? = nil) -> [UInt8]? {
        switch node {
        case .status:
            volume.statusText(namesDocuments: caller?.ownsMount ?? true)
        case .metrics: volume.metricsText()
        case .grants: grantLines()
        case .grantedNames(let application): grantedNames(to: application)
        default: nil
        }
    }

    /// Keeps what an open file shows; its handle.
    func hold(_ text: [UInt8]) -> UInt64 {
        state.withLock { state in
            defer { state.nextText += 1 }
            state.texts[state.nextText] = text
            return state.nextText
        }
    }

    func letGoOfText(_ handle: UInt64) { state.withLock { $0.texts[handle] = nil } }

    func read(
        _ request: Request, _ number: UInt64, _ size: Int, _ offset: Int64, _ handle: UInt64,
        in session: FuseSession
    ) throws(Errno) {
        switch try node(number) {
        case .status, .metrics, .findings, .grants, .grantedNames, .grantedFindings, .grantedBell:
            let text = state.withLock { $0.texts[handle] } ?? []
            try session.answerPastCache(request, handle, size, offset, with: .bytes(text[...]))
        case .picture(let picture):
            request.answer(
                .bytes(try bytes(of: picture)[...]), from: offset, size)
        case .version(let item, let ordinal):
            guard let file = try content(item, ordinal) else { return request.answer([]) }
            _ = shim_reply_file(request.pointer, file.number, offset, size)
            withExtendedLifetime(file) {}
        default: throw Errno(EISDIR)
        }
    }

    /// A version's file; `nil` if it is empty.
    private func content(
        _ item: ItemNumber, _ ordinal: UInt32
    ) throws(Errno) -> SharedDescriptor? {
        try volume.followingMoves { () throws(Errno) in
            let version = try row(item, ordinal)
            return try volume.content.open(
                ContentReference(
                    node: version.node, place: version.place, hash: version.hash,
                    size: version.size))
        }
    }

    /// lseek(2) with SEEK_DATA or SEEK_HOLE of a version; of all else EINVAL, which tools take for data.
    func seek(_ number: UInt64, offset: Int64, data: Bool) throws(Errno) -> Int64 {
        guard case .version(let item, let ordinal) = try node(number) else { throw Errno(EINVAL) }
        guard let file = try content(item, ordinal) else { throw Errno(ENXIO) }
        return try file.with { (file) throws(Errno) in try file.seek(data: data, from: offset) }
    }

    func release(_ number: UInt64, _ handle: UInt64) {
        if case .events? = try? node(number) { return volume.events.close(handle) }
        if handle != 0 { letGoOfText(handle) }
        if case .version(let item, let ordinal)? = try? node(number) {
            unpin(NodeNumber(item, ordinal))
        }
    }

    private func unpin(_ node: NodeNumber) {
        volume.state.withLock { $0.held.remove(node) }
    }
}

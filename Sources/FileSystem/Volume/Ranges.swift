internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Operations on ranges of a file.
extension Volume {
    /// fallocate(2); what ext4 does with the modes that both know.
    func allocate(
        _ node: NodeNumber, _ handle: Handle, mode: Int32, offset: Int64, length: Int64,
        by user: UInt32, reply: @escaping @Sendable () -> Void
    ) throws(Errno) {
        let (file, session) = try writable(node, handle)
        let mode = AllocationMode(rawValue: mode)
        if !mode.contains(.punchHole) { try checkRoom(for: length, in: file) }
        try makeRoom { () throws(Errno) in
            try file.with { (file) throws(Errno) in
                try file.allocate(mode, offset: offset, length: length)
            }
        }
        wrote(session, handle, by: user, reply)
    }

    /// ENOSPC for what would not fit if all earlier versions went. Else the part of it that fits
    /// would fill the disk, and the versions of all documents would go for nothing.
    ///
    /// How much of the range the file has already is not asked: at most all of its blocks.
    private func checkRoom(for length: Int64, in file: SharedDescriptor) throws(Errno) {
        let wanted = try UInt64(max(length - file.status().blocks * 512, 0))
        func isThere() throws(Errno) -> Bool {
            let space = try content.space()
            return wanted <= space.free + space.total / Weeding.versionShare
        }
        if try isThere() { return }
        keeper.makeRoom(.ofRemoved)
        if try !isThere() { throw Errno(ENOSPC) }
    }

    /// SEEK_DATA and SEEK_HOLE, which the C library hides from Swift.
    static let seekData: Int32 = 3
    static let seekHole: Int32 = 4

    /// lseek(2) with SEEK_DATA or SEEK_HOLE. `reply` is called, perhaps on another thread, unless this
    /// throws.
    func seek(
        _ node: NodeNumber, _ handle: Handle, offset: Int64, data: Bool,
        reply: @escaping @Sendable (Result<Int64, Errno>) -> Void
    ) throws(Errno) {
        // Pages of what is still elsewhere are locked by those who wait for it, and nothing is a hole.
        guard !handle.isPassthrough, let session = try? self.session(node, handle),
            missing(node, handle) == nil
        else {
            return reply(.success(try find(node, handle, offset: offset, data: data)))
        }
        // What a mapping wrote may still be in the kernel's pages only, and the hole below it is none.
        notifier.post { [self] in
            channel?.invalidate(node: session.node.rawValue, pages: true)
            do throws(Errno) {
                reply(.success(try find(node, handle, offset: offset, data: data)))
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func find(_ node: NodeNumber, _ handle: Handle, offset: Int64, data: Bool) throws(Errno)
        -> Int64
    {
        if let size = missing(node, handle)?.blob.size {
            // What has not come is no hole: tools would take it for zeros.
            guard offset < size else { throw Errno(ENXIO) }
            return data ? offset : size
        }
        guard let file = try readable(node, handle) else { throw Errno(ENXIO) }
        return try file.with { (file) throws(Errno) in try file.seek(data: data, from: offset) }
    }

    /// copy_file_range(2) within the mount: the bytes copied. EINVAL for ranges of one document that
    /// overlap, also where one of its descriptors reads a version and the other writes the next.
    func copy(
        from node: NodeNumber, _ handle: Handle, at offset: Int64, to target: NodeNumber,
        _ targetHandle: Handle, at targetOffset: Int64, count: Int,
        by user: UInt32, reply: @escaping @Sendable (Int) -> Void
    ) throws(Errno) {
        // The kernel finds that out for descriptors of one node only.
        if node.item == target.item, offset < targetOffset &+ Int64(count),
            targetOffset < offset &+ Int64(count)
        {
            throw Errno(EINVAL)
        }
        // The kernel then reads and writes by itself, and waits where it has to.
        if missing(node, handle) != nil || missing(target, targetHandle) != nil {
            throw Errno(EXDEV)
        }
        guard let source = try readable(node, handle) else {
            reply(0)
            return
        }
        let (file, session) = try writable(target, targetHandle)
        let copied: Int
        do throws(Errno) {
            copied = try makeRoom { () throws(Errno) in
                try file.with { (file) throws(Errno) in
                    try source.with { (source) throws(Errno) in
                        try file.copyRange(
                            from: source, at: offset, to: targetOffset, count: count)
                    }
                }
            }
        } catch {
            // As of a write: what is there is not whole.
            if [ENOSPC, EDQUOT, EIO].contains(error.code) { failed(session, error) }
            throw error
        }
        // At the end of the source nothing is written.
        if copied == 0 { return reply(0) }
        wrote(session, targetHandle, by: user) { reply(copied) }
    }

    /// statfs(2): the disk's own space, the container's own items.
    func space() throws(Errno) -> statvfs {
        var status = statvfs()
        try check { statvfs(content.folder.path.cPath, &status) }
        let items = UInt(state.withLock { state in state.index.count })
        // Some file systems have any number free.
        status.f_files = status.f_ffree > .max - items ? .max : items + status.f_ffree
        status.f_namemax = UInt(Limits.name)
        return status
    }

    /// What a symlink points to, NUL at the end.
    func target(_ node: NodeNumber) throws(Errno) -> [UInt8] {
        try read { (state) throws(Errno) in
            let position = try state.position(node)
            guard state.index[item: position].pointee.isSymlink else { throw Errno(EINVAL) }
            return Array(state.index.target(position)) + [0]
        }
    }
}

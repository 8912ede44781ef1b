internal import CFuseShim
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The handlers of open files that do more than pass on.
extension FuseSession {
    /// - Parameters:
    ///   - held: what ``Volume/hold(_:for:)`` gave, to be let go.
    ///   - asksAgain: whether it has to ask for claims once more (``VolumeState/askAgain(_:)``).
    func open(
        _ request: Request, _ node: NodeNumber, _ flags: Int32, holding held: HeldContent?,
        asksAgain: Bool
    ) {
        volume.open(node, flags: flags, request.caller, asksAgain: asksAgain) { [self] result in
            defer { volume.letGo(held) }
            switch result {
            case .failure(let error) where asksAgain && error.code == ERESTART:
                openWhenFree(request, node, flags)
            case .failure(let error): request.fail(error)
            case .success(let opened):
                let sent = shim_reply_open(
                    request.pointer, opened.handle.rawValue, opened.kernelFlags, opened.backing)
                // The opener was killed while it waited: there will be no release.
                if sent == -ENOENT { volume.release(node, opened.handle) }
            }
        }
    }

    func create(
        _ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ mode: mode_t,
        _ flags: Int32
    ) throws(Errno) {
        // What has no name is in no claim's way.
        if Self.isUnnamed(name) { return try createNow(request, parent, nil, mode, flags) }
        try naming(request, (parent, name, .write)) { [self] (name, asksAgain) throws(Errno) in
            try createNow(request, parent, name, mode, flags, asksAgain: asksAgain)
        }
    }

    /// Whether a CREATE is of O_TMPFILE: the kernel gives it a name then that no file can have.
    static func isUnnamed(_ name: some Collection<UInt8>) -> Bool {
        name.first == UInt8(ascii: "/")
    }

    private func createNow(
        _ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer?, _ mode: mode_t,
        _ flags: Int32, asksAgain: Bool = false
    ) throws(Errno) {
        let (entry, opened) = try volume.create(
            parent, name, mode: mode & 0o7777, flags: flags, request.caller, asksAgain: asksAgain)
        if name != nil { volume.outdateAttributes(of: [parent], by: request.caller) }
        var parameter = fuse_entry_param(entry)
        let sent = shim_reply_create(
            request.pointer, &parameter, opened.handle.rawValue, opened.kernelFlags,
            opened.backing)
        if sent == -ENOENT {
            let node = NodeNumber(rawValue: entry.node)
            volume.release(node, opened.handle)
            volume.forget(node, 1)
        }
    }

    func read(
        _ request: Request, _ node: NodeNumber, _ handle: Handle, _ size: Int, _ offset: Int64
    ) throws(Errno) {
        if volume.missing(node, handle) != nil {
            return try whenHere(request, node, handle, isRead: true) { [self] () throws(Errno) in
                try answer(request, handle, size, offset, with: volume.part(node, handle))
            }
        }
        try answer(request, handle, size, offset, with: volume.part(node, handle))
    }

    func write(
        _ request: Request, _ node: NodeNumber, _ buffer: UnsafeMutablePointer<fuse_bufvec>,
        _ offset: Int64, _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let handle = Handle(rawValue: info.pointee.fh)
        let place = WritePlace(
            offset: offset, appends: info.pointee.flags & O_APPEND != 0,
            lasts: info.pointee.flags & O_DSYNC != 0, isPage: info.pointee.writepage != 0)
        if volume.missing(node, handle) != nil {
            // The buffer goes when this returns.
            let kept = KeptBuffer(buffer)
            try whenHere(request, node, handle) { [self] () throws(Errno) in
                try kept.with { (kept) throws(Errno) in
                    try write(request, node, kept, place, handle)
                }
            }
        } else {
            try write(request, node, buffer, place, handle)
        }
    }

    private func write(
        _ request: Request, _ node: NodeNumber, _ buffer: UnsafeMutablePointer<fuse_bufvec>,
        _ place: WritePlace, _ handle: Handle
    ) throws(Errno) {
        var place = place
        let size = fuse_buf_size(buffer)
        if size <= PackedContents.largest {
            let session = try volume.session(node, handle)
            if volume.content.isPacked(session.node) {
                volume.correct(&place, session, handle)
                try writePacked(request, node, session, handle, buffer, place)
                return
            }
        }
        let (file, session) = try volume.writable(node, handle)
        volume.correct(&place, session, handle)
        try finish(request, node, session, handle, place, size) { () throws(Errno) in
            try put(buffer, size, place, session, in: file)
        }
    }

    /// Writes to a session that has no file.
    private func writePacked(
        _ request: Request, _ node: NodeNumber, _ session: WriteSession, _ handle: Handle,
        _ buffer: UnsafeMutablePointer<fuse_bufvec>, _ place: WritePlace
    ) throws(Errno) {
        let bytes = try Self.bytes(of: buffer, behind: PackedContents.header)
        let size = bytes.count - PackedContents.header
        let isWritten = try finish(request, node, session, handle, place, size) {
            () throws(Errno) in
            try volume.reaching(place, size, session) { (reached) throws(Errno) in
                let kept = PackedContents.header + reached
                let wanted = kept < bytes.count ? Array(bytes.prefix(kept)) : bytes
                return try volume.write(wanted, place, session)
            }
        }
        if isWritten { volume.content.recordAhead(session.node) }
    }

    /// Writes to a session by `body`, notes what came of it, and answers; whether anything was written.
    ///
    /// - Parameter body: how much it wrote; `nil` if nothing of the `size` bytes was to be written.
    @discardableResult
    private func finish(
        _ request: Request, _ node: NodeNumber, _ session: WriteSession, _ handle: Handle,
        _ place: WritePlace, _ size: Int, _ body: () throws(Errno) -> Int?
    ) throws(Errno) -> Bool {
        let written: Int?
        do throws(Errno) { written = try body() } catch {
            volume.failed(session, error)
            throw error
        }
        guard let written else {
            request.answer(written: size)
            return false
        }
        try volume.synchronizeWrite(node, handle, session, place)
        volume.wrote(session, handle, place, by: request.caller.user) {
            request.answer(written: written)
        }
        return true
    }

    /// Writes what is in the buffer to a session's file; how much, or `nil` as ``Volume/reaching(_:_:_:_:)``.
    private func put(
        _ buffer: UnsafeMutablePointer<fuse_bufvec>, _ size: Int, _ place: WritePlace,
        _ session: WriteSession, in file: SharedDescriptor
    ) throws(Errno) -> Int? {
        guard let offset = place.offset else {
            let bytes = try Self.bytes(of: buffer)
            return try volume.makeRoom { () throws(Errno) in
                try file.with { (file) throws(Errno) in try file.append(bytes[...]) }
            }
        }
        // What could not be written at all is still in the buffer for another try.
        return try volume.reaching(place, size, session) { (reached) throws(Errno) in
            guard place.isPage else {
                return try volume.makeRoom { () throws(Errno) in
                    try Self.write(buffer, to: file, at: offset)
                }
            }
            // All of it or an error: the kernel does not look at how much it was.
            let bytes = Array(try Self.bytes(of: buffer).prefix(reached))
            try volume.makeRoom { () throws(Errno) in
                try file.with { (file) throws(Errno) in try file.write(bytes, at: offset) }
            }
            return reached
        }
    }

    /// A copy of what is to be written, zeros before it. Takes it out of the buffer.
    static func bytes(
        of buffer: UnsafeMutablePointer<fuse_bufvec>, behind header: Int = 0
    ) throws(Errno) -> [UInt8] {
        let size = fuse_buf_size(buffer)
        var copied = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: header + size) { memory, count in
            memory[..<header].initialize(repeating: 0)
            copied = shim_read_buffer(buffer, memory.baseAddress.map { $0 + header }, size)
            count = header + max(copied, 0)
        }
        if copied < 0 { throw Errno(Int32(-copied)) }
        return bytes
    }

    private static func write(
        _ buffer: UnsafeMutablePointer<fuse_bufvec>, to file: SharedDescriptor, at offset: Int64
    ) throws(Errno) -> Int {
        let count = shim_write_buffer(buffer, file.number, offset)
        if count < 0 { throw Errno(Int32(-count)) }
        return count
    }
}

extension Opened {
    /// The FOPEN_ flags that go with the handle's way.
    var kernelFlags: UInt32 {
        var flags: Int = 0
        if handle.bypassesCache { flags |= SHIM_FOPEN_DIRECT_IO }
        if handle.isPassthrough { flags |= SHIM_FOPEN_PASSTHROUGH }
        if handle.isCached, !handle.dropsPages { flags |= SHIM_FOPEN_KEEP_CACHE }
        return UInt32(flags)
    }
}

internal import CFuseShim
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The handlers of open files that do more than pass on.
extension FuseSession {
    /// - Parameter held: what ``Volume/hold(_:)`` gave, to be let go.
    func open(_ request: Request, _ node: NodeNumber, _ flags: Int32, holding held: NodeNumber?) {
        volume.open(node, flags: flags, request.caller) { [volume] result in
            defer { volume.letGo(held) }
            switch result {
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
        try naming(request, (parent, name, .write)) { [self] (name) throws(Errno) in
            try createNow(request, parent, name, mode, flags)
        }
    }

    private func createNow(
        _ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ mode: mode_t,
        _ flags: Int32
    ) throws(Errno) {
        let (entry, opened) = try volume.create(
            parent, name, mode: mode & 0o7777, flags: flags, request.caller)
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
            return try whenHere(request, node, handle, isRead: true) { [volume] () throws(Errno) in
                request.answer(try volume.part(node, handle), from: offset, size)
            }
        }
        request.answer(try volume.part(node, handle), from: offset, size)
    }

    func write(
        _ request: Request, _ node: NodeNumber, _ buffer: UnsafeMutablePointer<fuse_bufvec>,
        _ offset: Int64, _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let handle = Handle(rawValue: info.pointee.fh)
        if volume.missing(node, handle) != nil {
            // The buffer goes when this returns.
            let kept = KeptBuffer(buffer)
            try whenHere(request, node, handle) { [self] () throws(Errno) in
                try kept.with { (kept) throws(Errno) in
                    try write(request, node, kept, offset, handle)
                }
            }
        } else {
            try write(request, node, buffer, offset, handle)
        }
    }

    private func write(
        _ request: Request, _ node: NodeNumber, _ buffer: UnsafeMutablePointer<fuse_bufvec>,
        _ offset: Int64, _ handle: Handle
    ) throws(Errno) {
        let size = fuse_buf_size(buffer)
        if size <= PackedContents.largest {
            let session = try volume.session(node, handle)
            if volume.content.isPacked(session.node) {
                try writePacked(request, session, handle, buffer, size, offset)
                return
            }
        }
        let (file, session) = try volume.writable(node, handle)
        let count: Int
        do throws(Errno) {
            // What could not be written at all is still in the buffer for another try.
            count = try volume.makeRoom { () throws(Errno) in
                if !handle.isDirect || !handle.appends {
                    return try Self.write(buffer, to: file, at: offset)
                }
                // On a version's node the kernel does not know where the session's file ends.
                return try session.staging.withLock { (_) throws(Errno) in
                    try Self.write(buffer, to: file, at: try file.status().size)
                }
            }
        } catch {
            volume.failed(session, error)
            throw error
        }
        volume.wrote(session, handle, by: request.caller.user) { request.answer(written: count) }
    }

    /// Writes to a session that has no file.
    private func writePacked(
        _ request: Request, _ session: WriteSession, _ handle: Handle,
        _ buffer: UnsafeMutablePointer<fuse_bufvec>, _ size: Int, _ offset: Int64
    ) throws(Errno) {
        let header = PackedContents.header
        var copied = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: header + size) { memory, count in
            memory[..<header].initialize(repeating: 0)
            copied = shim_read_buffer(buffer, memory.baseAddress.map { $0 + header }, size)
            count = header + max(copied, 0)
        }
        if copied < 0 { throw Errno(Int32(-copied)) }
        let count: Int
        do throws(Errno) { count = try volume.write(bytes, at: offset, session, handle) } catch {
            volume.failed(session, error)
            throw error
        }
        volume.wrote(session, handle, by: request.caller.user) { request.answer(written: count) }
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
        if handle.isDirect || bypassesCache { flags |= SHIM_FOPEN_DIRECT_IO }
        if handle.isPassthrough { flags |= SHIM_FOPEN_PASSTHROUGH }
        if handle.isCached { flags |= SHIM_FOPEN_KEEP_CACHE }
        return UInt32(flags)
    }
}

internal import CFuseShim
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// A request of the kernel, to be answered exactly once, from any thread.
struct Request: @unchecked Sendable {
    // Unchecked because libfuse allows the answer from any thread, and nothing else is done with it.
    let pointer: fuse_req_t

    var caller: Caller {
        let context = fuse_req_ctx(pointer).pointee
        return Caller(user: context.uid, group: context.gid, thread: context.pid)
    }

    func fail(_ error: Errno) { fuse_reply_err(pointer, error.code) }
    func succeed() { fuse_reply_err(pointer, 0) }

    func answer(_ entry: Entry) {
        var parameter = fuse_entry_param(entry)
        fuse_reply_entry(pointer, &parameter)
    }

    func answer(attributes entry: Entry) {
        var status = entry.status
        fuse_reply_attr(pointer, &status, entry.attributeTimeout)
    }

    func answer(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            _ = fuse_reply_buf(
                pointer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        }
    }

    /// Answers a read: at most `size` bytes from `offset` on.
    func answer(_ part: ContentPart?, from offset: Int64, _ size: Int) {
        switch part {
        case .range(let file, let start, let length):
            let count = min(Int64(size), max(length - offset, 0))
            _ = shim_reply_file(pointer, file.number, start + offset, Int(count))
            withExtendedLifetime(file) {}
        case .bytes(let bytes):
            let rest = bytes.dropFirst(Int(clamping: offset)).prefix(size)
            rest.withUnsafeBytes { buffer in
                _ = fuse_reply_buf(
                    pointer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
            }
        case nil: answer([])
        }
    }

    func answer(written count: Int) { fuse_reply_write(pointer, count) }

    /// Answers an extended attribute as getxattr and listxattr ask for it: the size, or the bytes.
    func answer(attribute bytes: [UInt8], room: Int) {
        if room == 0 {
            fuse_reply_xattr(pointer, bytes.count)
        } else if bytes.count > room {
            fail(Errno(ERANGE))
        } else {
            answer(bytes)
        }
    }
}

extension fuse_entry_param {
    init(_ entry: Entry) {
        self.init()
        ino = entry.node
        attr = entry.status
        attr_timeout = entry.attributeTimeout
        entry_timeout = entry.timeout
    }
}

/// The bytes of a NUL-terminated name of the kernel's.
func name(_ pointer: UnsafePointer<CChar>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))
}

extension FuseSession {
    /// Answers with the attributes of a node as they are for the caller.
    ///
    /// After the kernel has taken away what the file was called besides, for it counts the names itself.
    func tellAttributes(_ request: Request, _ number: UInt64) throws(Errno) {
        let node = NodeNumber(rawValue: number)
        let uncounted = volume.uncountedNames(of: node, for: request.caller)
        if uncounted.isEmpty { return try tellAttributesNow(request, number) }
        volume.whenMade(uncounted) { [self] in
            // Where the kernel takes longer it is told of one too many: of one too few it would make none.
            let isMade = volume.uncountedNames(of: node, for: request.caller).isEmpty
            do throws(Errno) { try tellAttributesNow(request, number, isCertain: isMade) } catch {
                request.fail(error)
            }
        }
    }

    private func tellAttributesNow(
        _ request: Request, _ number: UInt64, isCertain: Bool = true
    ) throws(Errno) {
        let entry = try attributes(number, for: request.caller, isCertain: isCertain)
        guard entry.attributeTimeout == Entry.byCaller,
            let own = try volume.directAttributes(NodeNumber(rawValue: number), for: request.caller)
        else { return request.answer(attributes: entry) }
        volume.answerUnkept(NodeNumber(rawValue: number)) { request.answer(attributes: own) }
    }
}

internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// The context of a request: one unretained reference, so that the hot path counts nothing.
private func context(_ request: fuse_req_t?) -> (session: FuseSession, request: Request)? {
    guard let request, let data = fuse_req_userdata(request) else { return nil }
    return (
        Unmanaged<FuseSession>.fromOpaque(data).takeUnretainedValue(), Request(pointer: request)
    )
}

/// Runs a handler, answering what it throws.
@inline(__always)
private func handle(
    _ request: fuse_req_t?, _ body: (FuseSession, Request) throws(Errno) -> Void
) {
    guard let (session, request) = context(request) else { return }
    do throws(Errno) { try body(session, request) } catch { request.fail(error) }
}

private func node(_ number: fuse_ino_t) -> NodeNumber { NodeNumber(rawValue: number) }

private func isVirtual(_ number: fuse_ino_t) -> Bool { number & VirtualTree.bit != 0 }

extension FuseSession {
    /// libfuse's table of handlers.
    static func operations() -> fuse_lowlevel_ops {
        var table = fuse_lowlevel_ops()
        table.`init` = { data, info in
            guard let data, let info else { return }
            Unmanaged<FuseSession>.fromOpaque(data).takeUnretainedValue().negotiate(info)
        }
        directoryOperations(&table)
        fileOperations(&table)
        attributeOperations(&table)
        lockOperations(&table)
        return table
    }

    private static func directoryOperations(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if session.isReplay(request),
                    session.lookupReplayed(request, node(parent), name(text))
                {
                    return
                }
                try session.lookup(request, node(parent), name(text))
            }
        }
        table.forget = { request, number, count in
            guard let (session, request) = context(request) else { return }
            session.forget(number, count)
            fuse_reply_none(request.pointer)
        }
        table.forget_multi = { request, count, list in
            guard let (session, request) = context(request) else { return }
            for index in 0..<count {
                guard let entry = list?[index] else { break }
                session.forget(entry.ino, entry.nlookup)
            }
            fuse_reply_none(request.pointer)
        }
        table.readlink = { request, number in
            handle(request) { (session, request) throws(Errno) in
                let target =
                    isVirtual(number)
                    ? try session.virtual.target(number)
                    : try session.volume.target(node(number))
                target.withUnsafeBufferPointer { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        _ = fuse_reply_readlink(request.pointer, $0.baseAddress)
                    }
                }
            }
        }
        table.mknod = { request, parent, text, mode, device in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                try session.make(
                    request, parent, name(text),
                    Volume.Blueprint(mode: mode, device: UInt64(device)))
            }
        }
        table.mkdir = { request, parent, text, mode in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                try session.make(
                    request, parent, name(text), Volume.Blueprint(mode: mode & 0o7777 | S_IFDIR))
            }
        }
        table.symlink = { request, target, parent, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text, let target else { throw Errno(EINVAL) }
                let bytes = Array(name(target))
                if bytes.count > Limits.target { throw Errno(ENAMETOOLONG) }
                try session.make(
                    request, parent, name(text),
                    Volume.Blueprint(mode: S_IFLNK | 0o777, target: bytes))
            }
        }
        table.unlink = { request, parent, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    return try session.removeReplayed(request, parent, name(text))
                }
                if isVirtual(parent) {
                    try session.virtual.remove(parent, Array(name(text)), request.caller)
                    return request.succeed()
                }
                try session.guardName(parent, name(text), EPERM)
                try session.unlink(request, node(parent), name(text))
            }
        }
        table.rmdir = { request, parent, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    return try session.removeReplayed(request, parent, name(text))
                }
                if isVirtual(parent) {
                    let nodes = try session.virtual.removeDirectory(
                        parent, Array(name(text)), request.caller)
                    return session.volume.refresh(nodes) { request.succeed() }
                }
                try session.guardName(parent, name(text), EPERM)
                try session.removeDirectory(request, node(parent), name(text))
            }
        }
        table.rename = { request, parent, text, newParent, newText, flags in
            handle(request) { (session, request) throws(Errno) in
                guard let text, let newText else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    return try session.renameReplayed(request, parent, name(text))
                }
                try session.guardName(parent, name(text), EPERM)
                try session.guardName(newParent, name(newText), EPERM)
                try session.rename(
                    request, node(parent), name(text), node(newParent), name(newText), flags)
            }
        }
        table.link = { request, number, newParent, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if isVirtual(number) { throw Errno(EXDEV) }
                try session.guardName(newParent, name(text))
                try session.link(request, node(number), node(newParent), name(text))
            }
        }
        table.opendir = { request, number, info in
            handle(request) { (session, request) throws(Errno) in
                guard let info else { throw Errno(EINVAL) }
                if isVirtual(number) {
                    return try session.openVirtualDirectory(request, number, info)
                }
                session.volume.noteListing(node(number), info.pointee.flags)
                info.pointee.cache_readdir = 1
                info.pointee.keep_cache = 1
                let answer = info.pointee
                session.volume.whenListable(node(number)) {
                    var answer = answer
                    fuse_reply_open(request.pointer, &answer)
                }
            }
        }
        table.readdir = { request, number, size, offset, _ in
            handle(request) { (session, request) throws(Errno) in
                try session.list(request, number, size, UInt64(offset), plus: false)
            }
        }
        table.readdirplus = { request, number, size, offset, _ in
            handle(request) { (session, request) throws(Errno) in
                try session.list(request, number, size, UInt64(offset), plus: true)
            }
        }
        table.fsyncdir = { request, _, _, _ in
            handle(request) { (session, request) throws(Errno) in
                try session.volume.synchronizeDirectory()
                request.succeed()
            }
        }
        table.statfs = { request, _ in
            handle(request) { (session, request) throws(Errno) in
                var status = try session.volume.space()
                fuse_reply_statfs(request.pointer, &status)
            }
        }
    }

    private static func fileOperations(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, text, mode, info in
            handle(request) { (session, request) throws(Errno) in
                guard let text, let info else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    return try session.createReplayed(request, parent, name(text))
                }
                try session.guardName(parent, name(text))
                try session.create(request, node(parent), name(text), mode, info.pointee.flags)
            }
        }
        table.open = { request, number, info in
            handle(request) { (session, request) throws(Errno) in
                guard let info else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    try session.openReplayed(request, node(number))
                } else if isVirtual(number) {
                    try session.virtual.open(request, number, info, in: session)
                } else {
                    session.openWhenFree(request, node(number), info.pointee.flags)
                }
            }
        }
        table.read = { request, number, size, offset, info in
            handle(request) { (session, request) throws(Errno) in
                let handle = Handle(rawValue: info?.pointee.fh ?? 0)
                if isVirtual(number), let info, case .events = try session.virtual.node(number) {
                    try session.readEvents(request, info, size)
                } else if isVirtual(number) || handle.bypassesCache,
                    session.answerRepeated(request, handle.rawValue, size, Int64(offset))
                {
                    return
                } else if isVirtual(number) {
                    try session.virtual.read(
                        request, number, size, Int64(offset), handle.rawValue, in: session)
                } else if !handle.isInBlocks
                    || !session.readBlocks(request, node(number), handle, size, Int64(offset))
                {
                    try session.read(request, node(number), handle, size, Int64(offset))
                }
            }
        }
        table.write_buf = { request, number, buffer, offset, info in
            handle(request) { (session, request) throws(Errno) in
                guard let buffer, let info else { throw Errno(EINVAL) }
                try session.write(request, node(number), buffer, Int64(offset), info)
            }
        }
        table.flush = { request, number, info in
            handle(request) { (session, request) throws(Errno) in
                guard let info, !isVirtual(number), info.pointee.fh != Handle.replayed.rawValue
                else { return request.succeed() }
                try session.volume.flush(
                    node(number), Handle(rawValue: info.pointee.fh), owner: info.pointee.lock_owner,
                    by: request.caller.thread
                ) { request.succeed() }
                session.volume.log.mark()
            }
        }
        table.release = { request, number, info in
            guard let (session, request) = context(request) else { return }
            if let info, info.pointee.fh != Handle.replayed.rawValue {
                if isVirtual(number) {
                    session.virtual.release(number, info.pointee.fh)
                } else {
                    let handle = Handle(rawValue: info.pointee.fh)
                    if info.pointee.flock_release != 0 {
                        session.volume.dropWholeLocks(node(number).item, handle)
                    }
                    session.volume.dropHandleLocks(node(number).item, handle)
                    session.volume.release(node(number), handle)
                }
            }
            request.succeed()
        }
        table.poll = { request, number, info, poll in
            guard let (session, request) = context(request) else { return }
            session.poll(request, number, info, poll)
        }
        table.fsync = { request, number, _, info in
            handle(request) { (session, request) throws(Errno) in
                if !isVirtual(number) {
                    try session.volume.synchronize(
                        node(number), info.map { Handle(rawValue: $0.pointee.fh) })
                }
                request.succeed()
            }
        }
        table.fallocate = { request, number, mode, offset, length, info in
            handle(request) { (session, request) throws(Errno) in
                guard let info, !isVirtual(number) else { throw Errno(EBADF) }
                let handle = Handle(rawValue: info.pointee.fh)
                try session.whenHere(request, node(number), handle) { () throws(Errno) in
                    try session.volume.allocate(
                        node(number), handle, mode: mode, offset: Int64(offset),
                        length: Int64(length), by: request.caller.user
                    ) { request.succeed() }
                }
            }
        }
        table.copy_file_range = {
            request, number, offset, info, target, targetOffset, targetInfo, count, _ in
            handle(request) { (session, request) throws(Errno) in
                guard let info, let targetInfo, !isVirtual(number), !isVirtual(target) else {
                    throw Errno(EXDEV)
                }
                try session.volume.copy(
                    from: node(number), Handle(rawValue: info.pointee.fh), at: Int64(offset),
                    to: node(target), Handle(rawValue: targetInfo.pointee.fh),
                    at: Int64(targetOffset), count: count, by: request.caller.user
                ) { request.answer(written: $0) }
            }
        }
        table.lseek = { request, number, offset, whence, info in
            handle(request) { (session, request) throws(Errno) in
                let isData = whence == Volume.seekData
                guard let info, isData || whence == Volume.seekHole else { throw Errno(EINVAL) }
                if isVirtual(number) {
                    let found = try session.virtual.seek(
                        number, offset: Int64(offset), data: isData)
                    fuse_reply_lseek(request.pointer, off_t(found))
                    return
                }
                try session.volume.seek(
                    node(number), Handle(rawValue: info.pointee.fh), offset: Int64(offset),
                    data: isData
                ) { result in
                    switch result {
                    case .failure(let error): request.fail(error)
                    case .success(let found):
                        fuse_reply_lseek(request.pointer, off_t(found))
                    }
                }
            }
        }
    }

    private static func attributeOperations(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, number, _ in
            handle(request) { (session, request) throws(Errno) in
                try session.tellAttributes(request, number)
            }
        }
        table.access = { request, number, mask in
            handle(request) { (session, request) throws(Errno) in
                try session.tellAccess(request, number, mask)
            }
        }
        table.setattr = { request, number, attributes, valid, info in
            handle(request) { (session, request) throws(Errno) in
                guard let attributes else { throw Errno(EINVAL) }
                if session.isReplay(request) {
                    return try session.tellAttributes(request, number)
                }
                if isVirtual(number) { throw Errno(EROFS) }
                try session.setWhenFree(
                    request, node(number), info.map { Handle(rawValue: $0.pointee.fh) },
                    Settings(attributes.pointee, valid))
            }
        }
        table.getxattr = { request, number, text, size in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(ENODATA) }
                if isVirtual(number) {
                    request.answer(
                        attribute: try session.virtual.attribute(number, Array(name(text))),
                        room: size)
                    return
                }
                try session.getAttribute(request, node(number), Array(name(text)), size)
            }
        }
        table.listxattr = { request, number, size in
            handle(request) { (session, request) throws(Errno) in
                let names =
                    isVirtual(number)
                    ? [] : try session.volume.attributeNames(node(number), request.caller)
                request.answer(attribute: names, room: size)
            }
        }
        table.setxattr = { request, number, text, value, size, flags in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if isVirtual(number) { throw Errno(EROFS) }
                let bytes = Array(UnsafeRawBufferPointer(start: value, count: size))
                if name(text).elementsEqual(Volume.importAttribute) {
                    return session.takeImport(request, node(number), bytes)
                }
                let nodes = try session.volume.setAttribute(
                    node(number), Array(name(text)), bytes, flags: flags, request.caller)
                session.volume.refresh(nodes) { request.succeed() }
            }
        }
        table.removexattr = { request, number, text in
            handle(request) { (session, request) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if isVirtual(number) { throw Errno(EROFS) }
                let nodes = try session.volume.removeAttribute(
                    node(number), Array(name(text)), request.caller)
                session.volume.refresh(nodes) { request.succeed() }
            }
        }
    }
}

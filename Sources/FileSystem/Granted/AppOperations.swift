internal import CFuseShim
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// The handlers of every mount.
private let plain = FuseSession.operations()

/// F_OFD_GETLK and F_OFD_SETLK: locks of the open file, so of the app's, not of this process.
private let openFileLockQuery: Int32 = 36
private let openFileLock: Int32 = 37

/// Runs a handler for what is granted, answering what it throws.
///
/// - Parameter isGranted: whether the request is about that.
/// - Returns: false if it is for the plain handler.
private func serve(
    _ request: fuse_req_t?, _ isGranted: Bool,
    _ body: (FuseSession, Request, GrantedTree) throws(Errno) -> Void
) -> Bool {
    guard isGranted, let (session, request, granted) = FuseSession.appContext(request) else {
        return false
    }
    do throws(Errno) { try body(session, request, granted) } catch { request.fail(error) }
    return true
}

/// Answers a request about what is granted with an error.
///
/// - Returns: as `serve`.
private func refuse(_ request: fuse_req_t?, _ isGranted: Bool, _ code: Int32) -> Bool {
    serve(request, isGranted) { (_, _, _) throws(Errno) in throw Errno(code) }
}

/// Whether what is granted is in the listing of a folder, perhaps with the app's own: it is at the root,
/// and at the top of each size of pictures.
private func listsGranted(_ request: fuse_req_t?, _ number: fuse_ino_t) -> Bool {
    GrantedTree.has(number) || number == ItemNumber.root.rawValue
        || pictureSize(request, number) != nil
}

/// Lists what is granted, or a folder that it is among the app's own in.
///
/// - Returns: as `serve`.
private func listing(
    _ request: fuse_req_t?, _ number: fuse_ino_t, _ size: Int, _ offset: off_t,
    _ info: UnsafeMutablePointer<fuse_file_info>?, plus: Bool
) -> Bool {
    serve(request, listsGranted(request, number)) {
        (session, request, granted) throws(Errno) in
        try session.listGranted(
            request, granted, number, size, UInt64(offset), info?.pointee.fh ?? 0, plus: plus)
    }
}

/// The owner whose folder this name at this place is.
private func folderOwner(
    _ request: fuse_req_t?, _ parent: fuse_ino_t, _ text: UnsafePointer<CChar>?
) -> String? {
    guard parent == ItemNumber.root.rawValue, let request, let text else { return nil }
    return FuseSession.of(request)?.volume.grantedOwner(name(text))
}

/// The size of the pictures that are in a folder as the app's documents are at the root; `nil` for all
/// other folders.
private func pictureSize(_ request: fuse_req_t?, _ number: fuse_ino_t) -> PictureSize? {
    guard number & VirtualTree.bit != 0, !GrantedTree.has(number), let request,
        let found = try? FuseSession.of(request)?.virtual.node(number),
        case .thumbnailsOf(let size) = found
    else { return nil }
    return size
}

/// The folder of an owner that this name at this place is: of its documents, or of their pictures.
private func ownersFolder(
    _ request: fuse_req_t?, _ parent: fuse_ino_t, _ text: UnsafePointer<CChar>?
) -> GrantedNode? {
    if let owner = folderOwner(request, parent, text) { return .folder(owner: owner) }
    guard let size = pictureSize(request, parent), let request, let text,
        let owner = FuseSession.of(request)?.volume.grantedOwner(name(text))
    else { return nil }
    return .pictures(owner: owner, size)
}

/// Whether the name is the folder of an owner that the kernel has seen: it is not to be replaced.
private func isFolder(
    _ request: fuse_req_t?, _ parent: fuse_ino_t, _ text: UnsafePointer<CChar>?
) -> Bool {
    guard let owner = folderOwner(request, parent, text), let request else { return false }
    return FuseSession.of(request)?.granted?.knowsFolder(of: owner) == true
}

/// libfuse's table for the mount of an app: what is about documents of other containers is forwarded, all
/// else is served as in every mount.
extension FuseSession {
    static func appOperations() -> fuse_lowlevel_ops {
        var table = plain
        nameOperations(&table)
        listOperations(&table)
        documentOperations(&table)
        attributeOperations(app: &table)
        lockOperations(app: &table)
        return table
    }

    private static func nameOperations(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, text in
            let folder = ownersFolder(request, parent, text)
            let isDone = serve(request, GrantedTree.has(parent) || folder != nil) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                if let folder { return session.lookupFolder(request, granted, folder) }
                try session.lookupDocument(request, granted, parent, String(cPath: text))
            }
            if !isDone { plain.lookup?(request, parent, text) }
        }
        table.forget = { request, number, count in
            guard GrantedTree.has(number), let request else {
                plain.forget?(request, number, count)
                return
            }
            FuseSession.of(request)?.granted?.forget(number, count)
            fuse_reply_none(request)
        }
        table.forget_multi = { request, count, list in
            guard let request, let session = FuseSession.of(request) else { return }
            for index in 0..<count {
                guard let entry = list?[index] else { break }
                if GrantedTree.has(entry.ino) {
                    session.granted?.forget(entry.ino, entry.nlookup)
                } else {
                    session.forget(entry.ino, entry.nlookup)
                }
            }
            fuse_reply_none(request)
        }
        table.unlink = { request, parent, text in
            let isDone = serve(request, GrantedTree.has(parent)) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                try session.removeScratch(request, granted, parent, String(cPath: text))
            }
            if !isDone { plain.unlink?(request, parent, text) }
        }
        table.rmdir = { request, parent, text in
            let isDone =
                refuse(request, isFolder(request, parent, text), EPERM)
                || refuse(request, GrantedTree.has(parent), EROFS)
            if !isDone { plain.rmdir?(request, parent, text) }
        }
        table.rename = { request, parent, text, newParent, newText, flags in
            let crosses = GrantedTree.has(parent) || GrantedTree.has(newParent)
            let isOwners =
                isFolder(request, parent, text) || isFolder(request, newParent, newText)
            let isDone =
                serve(request, GrantedTree.has(parent) && parent == newParent) {
                    (session, request, granted) throws(Errno) in
                    guard let text, let newText else { throw Errno(EINVAL) }
                    try session.renameScratch(
                        request, granted, parent, String(cPath: text),
                        String(cPath: newText), flags)
                } || refuse(request, crosses, EXDEV) || refuse(request, isOwners, EPERM)
            if !isDone { plain.rename?(request, parent, text, newParent, newText, flags) }
        }
        table.link = { request, number, newParent, text in
            let isDone = serve(request, GrantedTree.has(newParent)) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                try session.copyGranted(
                    request, granted, number, newParent, String(cPath: text))
            }
            if !isDone { plain.link?(request, number, newParent, text) }
        }
    }

    private static func listOperations(_ table: inout fuse_lowlevel_ops) {
        table.opendir = { request, number, info in
            let isDone = serve(request, listsGranted(request, number)) {
                (session, request, granted) throws(Errno) in
                guard let info else { throw Errno(EINVAL) }
                try session.openGranted(directory: number, request, granted, info)
            }
            if !isDone { plain.opendir?(request, number, info) }
        }
        table.readdir = { request, number, size, offset, info in
            let isDone = listing(request, number, size, offset, info, plus: false)
            if !isDone { plain.readdir?(request, number, size, offset, info) }
        }
        table.readdirplus = { request, number, size, offset, info in
            let isDone = listing(request, number, size, offset, info, plus: true)
            if !isDone { plain.readdirplus?(request, number, size, offset, info) }
        }
        table.fsyncdir = { request, number, dataOnly, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.synchronizeGranted(directory: number, request, granted)
            }
            if !isDone { plain.fsyncdir?(request, number, dataOnly, info) }
        }
        table.releasedir = { request, _, info in
            guard let request else { return }
            if let info { FuseSession.of(request)?.granted?.letGoOfListing(info.pointee.fh) }
            fuse_reply_err(request, 0)
        }
    }

    private static func documentOperations(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, text, mode, info in
            let isDone = serve(request, GrantedTree.has(parent)) {
                (session, request, granted) throws(Errno) in
                guard let text, let info else { throw Errno(EINVAL) }
                try session.createScratch(
                    request, granted, parent, String(cPath: text), mode, info.pointee.flags)
            }
            if !isDone { plain.create?(request, parent, text, mode, info) }
        }
        table.open = { request, number, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.openGranted(request, granted, number, info?.pointee.flags ?? 0)
            }
            if !isDone { plain.open?(request, number, info) }
        }
        table.read = { request, number, size, offset, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                // Only what a program reads itself comes with the owner of its locks.
                let isCached = (info?.pointee.lock_owner ?? 0) == 0
                try session.readGranted(
                    request, granted, number, info?.pointee.fh ?? 0, size, Int64(offset),
                    isCached: isCached)
            }
            if !isDone { plain.read?(request, number, size, offset, info) }
        }
        table.write_buf = { request, number, buffer, offset, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let buffer, let info else { throw Errno(EINVAL) }
                try session.writeGranted(
                    request, granted, info.pointee.fh, buffer, Int64(offset),
                    appends: info.pointee.flags & O_APPEND != 0)
            }
            if !isDone { plain.write_buf?(request, number, buffer, offset, info) }
        }
        table.flush = { request, number, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.flushGranted(request, granted, info?.pointee.fh ?? 0)
            }
            if !isDone { plain.flush?(request, number, info) }
        }
        table.release = { request, number, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                session.releaseGranted(granted, info?.pointee.fh ?? 0)
                request.succeed()
            }
            if !isDone { plain.release?(request, number, info) }
        }
        table.fsync = { request, number, dataOnly, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.synchronizeGranted(request, granted, info?.pointee.fh ?? 0)
            }
            if !isDone { plain.fsync?(request, number, dataOnly, info) }
        }
        table.fallocate = { request, number, mode, offset, length, info in
            let isDone = refuse(request, GrantedTree.has(number), EOPNOTSUPP)
            if !isDone { plain.fallocate?(request, number, mode, offset, length, info) }
        }
        table.lseek = { request, number, offset, whence, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.seekGranted(
                    request, granted, info?.pointee.fh ?? 0, Int64(offset), whence)
            }
            if !isDone { plain.lseek?(request, number, offset, whence, info) }
        }
    }

    private static func attributeOperations(app table: inout fuse_lowlevel_ops) {
        table.getattr = { request, number, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.tellGrantedAttributes(request, granted, number)
            }
            if !isDone { plain.getattr?(request, number, info) }
        }
        table.setattr = { request, number, attributes, valid, info in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let attributes else { throw Errno(EINVAL) }
                try session.setGranted(
                    request, granted, number, info?.pointee.fh,
                    Settings(attributes.pointee, valid))
            }
            if !isDone { plain.setattr?(request, number, attributes, valid, info) }
        }
        table.getxattr = { request, number, text, size in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(ENODATA) }
                try session.getGrantedAttribute(
                    request, granted, number, String(cPath: text), size)
            }
            if !isDone { plain.getxattr?(request, number, text, size) }
        }
        table.listxattr = { request, number, size in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.listGrantedAttributes(request, granted, number, size)
            }
            if !isDone { plain.listxattr?(request, number, size) }
        }
        table.setxattr = { request, number, text, value, size, flags in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                let bytes = Array(UnsafeRawBufferPointer(start: value, count: size))
                try session.setGrantedAttribute(
                    request, granted, number, String(cPath: text), bytes, flags: flags)
            }
            if !isDone { plain.setxattr?(request, number, text, value, size, flags) }
        }
        table.removexattr = { request, number, text in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let text else { throw Errno(EINVAL) }
                try session.setGrantedAttribute(
                    request, granted, number, String(cPath: text), nil)
            }
            if !isDone { plain.removexattr?(request, number, text) }
        }
    }

    private static func lockOperations(app table: inout fuse_lowlevel_ops) {
        table.flock = { request, number, info, operation in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                try session.lockGranted(
                    request, granted, info?.pointee.fh ?? 0, waits: operation & LOCK_NB == 0,
                    givesBack: operation & LOCK_UN != 0
                ) { (descriptor) throws(Errno) in
                    try check { lockWhole(descriptor, operation | LOCK_NB) }
                }
            }
            if !isDone { plain.flock?(request, number, info, operation) }
        }
        table.setlk = { request, number, info, lock, wait in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let wanted = lock?.pointee else { throw Errno(EINVAL) }
                try session.lockGranted(
                    request, granted, info?.pointee.fh ?? 0, waits: wait != 0,
                    givesBack: Int32(wanted.l_type) == F_UNLCK
                ) { (descriptor) throws(Errno) in
                    var lock = wanted
                    lock.l_pid = 0
                    try check { fcntl(descriptor, openFileLock, &lock) }
                }
            }
            if !isDone { plain.setlk?(request, number, info, lock, wait) }
        }
        table.getlk = { request, number, info, lock in
            let isDone = serve(request, GrantedTree.has(number)) {
                (session, request, granted) throws(Errno) in
                guard let wanted = lock?.pointee else { throw Errno(EINVAL) }
                try session.withGranted(request, granted, info?.pointee.fh ?? 0) {
                    (file) throws(Errno) in
                    var lock = wanted
                    lock.l_pid = 0
                    try check { fcntl(file.descriptor.number, openFileLockQuery, &lock) }
                    let found = lock
                    return { isAwaited in
                        guard isAwaited else { return }
                        var answer = found
                        fuse_reply_lock(request.pointer, &answer)
                    }
                }
            }
            if !isDone { plain.getlk?(request, number, info, lock) }
        }
    }
}

/// flock(2), whose name inside of the session is another's.
private func lockWhole(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    flock(descriptor, operation)
}

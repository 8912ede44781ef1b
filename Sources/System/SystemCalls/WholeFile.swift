internal import Glibc
internal import PathText

/// Reading and writing files as a whole. Blocks on the disk.
package enum WholeFile {
    /// Gives the bytes of a file to what takes them, part by part; ends with what that throws.
    package typealias Parts = (([UInt8]) throws(Errno) -> Void) throws(Errno) -> Void

    /// No document is larger, in bytes; each reader has its own, smaller limit.
    package static let limit = 64 << 20

    /// All bytes of an open file; EFBIG beyond `limit`.
    package static func read(
        _ file: borrowing OwnedDescriptor, limit: Int = WholeFile.limit
    ) throws(Errno) -> [UInt8] {
        let size = Int(try file.status().st_size)
        if size > limit { throw Errno(EFBIG) }
        // One more than the size says: a pipe or a file of /proc has more than it admits.
        var bytes = [UInt8](repeating: 0, count: size + 1)
        var done = 0
        while true {
            let count = try check {
                bytes.withUnsafeMutableBytes { buffer in
                    Glibc.read(
                        file.number, buffer.baseAddress.map { $0 + done }, buffer.count - done)
                }
            }
            if count == 0 { break }
            done += count
            if done == bytes.count {
                if done > limit { throw Errno(EFBIG) }
                bytes += [UInt8](repeating: 0, count: min(max(done, 4096), limit + 1 - done))
            }
        }
        bytes.removeLast(bytes.count - done)
        return bytes
    }

    /// Writes the first `size` bytes of a file over those of another one, which may be on another disk;
    /// EIO if there are fewer.
    ///
    /// - Parameter goOn: called before each MiB; if it throws, the rest is not written.
    package static func copy(
        _ source: borrowing OwnedDescriptor, to target: borrowing OwnedDescriptor, size: Int64,
        goOn: () throws(Errno) -> Void = {}
    ) throws(Errno) {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while offset < size {
            try goOn()
            let count = try source.read(into: &bytes, at: offset)
            if count == 0 { throw Errno(EIO) }
            let part = Array(bytes[..<min(count, Int(size - offset))])
            try target.write(part, at: offset)
            offset += Int64(part.count)
        }
    }

    /// EACCES or EROFS for a file that may not be written, though its folder would let it be
    /// replaced.
    package static func checkWritable(_ path: String) throws(Errno) {
        _ = try check { faccessat(AT_FDCWD, path.cPath, W_OK, AT_EACCESS) }
    }

    /// EFBIG if this process may not make a file so long (RLIMIT_FSIZE). To be asked before the first byte
    /// changes: else half of them are written, and the signal that comes then ends the process.
    package static func checkLength(_ count: Int) throws(Errno) {
        var bound = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &bound) == 0 else { return }
        if UInt64(count) > UInt64(bound.rlim_cur) { throw Errno(EFBIG) }
    }

    /// Makes `bytes` the file's content, in place. Signals that end the process wait until it is
    /// whole.
    package static func overwrite(_ file: borrowing OwnedDescriptor, with bytes: [UInt8])
        throws(Errno)
    {
        try checkLength(bytes.count)
        try fill(file, with: bytes)
    }

    private static func fill(_ file: borrowing OwnedDescriptor, with bytes: [UInt8]) throws(Errno) {
        try holdingSignals { () throws(Errno) in
            let former = try file.status().st_size
            try file.write(bytes, at: 0)
            if former > bytes.count {
                _ = try check { ftruncate(file.number, off_t(bytes.count)) }
            }
        }
    }

    /// Signals that would end this process, or stop it, wait until `body` is done.
    package static func holdingSignals<Result: ~Copyable>(
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }

    /// Writes a new file beside `path` and gives it that name: whoever opens `path` finds the old
    /// content or the new one. Mode, owner and extended attributes are those of `model`.
    ///
    /// - Parameters:
    ///   - lastly: given the new file, and the path that it has until then, when all is done but the
    ///     renaming; if it throws, everything stays as it is.
    ///   - write: fills the file; if it throws, everything stays as it is.
    /// - Returns: the new file, locked (flock) since before it had its name: whoever waits for the
    ///   lock waits on until this is closed.
    package static func replace(
        _ path: String, like model: borrowing OwnedDescriptor,
        lastly: (borrowing OwnedDescriptor, String) throws(Errno) -> Void = { _, _ in },
        write: (borrowing OwnedDescriptor) throws(Errno) -> Void
    ) throws(Errno) -> OwnedDescriptor {
        let status = try model.status()
        return try make(
            // Others may look into it when it is known who may.
            mode: status.st_mode & 0o700, beside: path, write: write,
            prepare: { file throws(Errno) in try liken(file, to: model, status) },
            name: { file, temporary throws(Errno) in
                // Where there are no locks, writing whole must be enough.
                _ = flock(file.number, LOCK_EX | LOCK_NB)
                try lastly(file, temporary)
                _ = try check { rename(temporary.cPath, path.cPath) }
            })
    }

    /// As ``replace(_:like:lastly:write:)``, but the new file is closed when it gets the name.
    ///
    /// For mounts of containers: there what is written is to be seen from the close on, so a file that is
    /// open still would be an empty one to whoever reads it at that moment.
    package static func replaceClosed(
        _ path: String, like model: borrowing OwnedDescriptor,
        lastly: () throws(Errno) -> Void,
        write: (borrowing OwnedDescriptor) throws(Errno) -> Void
    ) throws(Errno) {
        let status = try model.status()
        let temporary = temporaryName(beside: path)
        let file = try OwnedDescriptor.open(
            temporary, O_WRONLY | O_CREAT | O_EXCL, mode: status.st_mode & 0o700)
        do throws(Errno) {
            try write(file)
            try liken(file, to: model, status)
            _ = try check { fsync(file.number) }
            try file.close()
            try lastly()
            _ = try check { rename(temporary.cPath, path.cPath) }
        } catch {
            unlink(temporary.cPath)
            throw error
        }
    }

    /// Gives a file the owner, mode and attributes of another one.
    private static func liken(
        _ file: borrowing OwnedDescriptor, to model: borrowing OwnedDescriptor, _ status: stat
    ) throws(Errno) {
        // Only root can give a file away; a group one belongs to can be kept.
        if fchown(file.number, status.st_uid, status.st_gid) != 0 {
            _ = fchown(file.number, uid_t.max, status.st_gid)
        }
        // A folder may give new files more readers than the old one had.
        if file.attribute(accessList) != nil, model.attribute(accessList) == nil {
            try file.removeAttribute(accessList)
        }
        _ = try check { fchmod(file.number, status.st_mode & 0o7777) }
        copyAttributes(from: model, to: file)
    }

    /// As the other one, with all bytes of the new content.
    package static func replace(
        _ path: String, with bytes: [UInt8], like model: borrowing OwnedDescriptor,
        lastly: (borrowing OwnedDescriptor, String) throws(Errno) -> Void = { _, _ in }
    ) throws(Errno) -> OwnedDescriptor {
        try checkLength(bytes.count)
        return try replace(path, like: model, lastly: lastly) { (file) throws(Errno) in
            try file.write(bytes, at: 0)
        }
    }

    /// Makes `bytes` the content of the file that `path` names: as ``replace(_:with:like:)`` does, but in
    /// place if the file has more names, which are to show the same, is a mount of its own, or its folder
    /// takes no new files, or if the file is another user's, who would have it no more. If that fails, the
    /// file is what it was. Where others have moved it, written to it or put another one in its place meanwhile,
    /// nothing is written: ENOENT or ESTALE.
    ///
    /// - Parameters:
    ///   - file: the same file, open.
    ///   - stamp: what it was when it was read; `nil`: it is what it is now.
    ///   - lastly: given the new file, locked, and the path that it has until it gets the name, if there is to
    ///     be one.
    /// - Returns: the new file, locked, if another one has the name now.
    package static func save(
        _ path: String, with bytes: [UInt8], over file: borrowing OwnedDescriptor,
        since stamp: FileStamp? = nil,
        lastly: (borrowing OwnedDescriptor, String) throws(Errno) -> Void = { _, _ in }
    ) throws(Errno) -> OwnedDescriptor? {
        try checkWritable(path)
        try checkLength(bytes.count)
        let status = try file.status()
        let stamp = stamp ?? FileStamp(status)
        let keepsOwner = geteuid() == 0 || geteuid() == status.st_uid
        if status.st_nlink <= 1, keepsOwner {
            do throws(Errno) {
                return try replace(path, with: bytes, like: file) {
                    (new, temporary) throws(Errno) in
                    // What was made durable meanwhile took its time.
                    guard let named = FileStamp(path: path) else { throw Errno.last }
                    guard named.isSameContent(as: stamp) else { throw Errno(ESTALE) }
                    try lastly(new, temporary)
                }
            } catch {
                // A file that is a mount of its own is busy.
                guard [EACCES, EPERM, EBUSY].contains(error.code) else { throw error }
            }
        }
        try rewrite(path, with: bytes, over: file, since: stamp)
        return nil
    }

    /// Writes the file that `path` names in place and makes that durable. If there is no room for
    /// it, what was there is put back: the file has room for that. Signals that end the process
    /// wait until it is whole.
    private static func rewrite(
        _ path: String, with bytes: [UInt8], over file: borrowing OwnedDescriptor,
        since stamp: FileStamp
    ) throws(Errno) {
        let named = try OwnedDescriptor.open(path, O_WRONLY)
        guard FileStamp(try named.status()).isSameContent(as: stamp) else { throw Errno(ESTALE) }
        var former = [UInt8](repeating: 0, count: Int(try file.status().st_size))
        let count = try file.read(into: &former, at: 0)
        former.removeLast(former.count - count)
        try holdingSignals { () throws(Errno) in
            do throws(Errno) {
                try fill(named, with: bytes)
                _ = try check { fsync(named.number) }
            } catch {
                // What went wrong is worth more than what goes wrong now.
                try? fill(named, with: former)
                fsync(named.number)
                throw error
            }
        }
    }

    /// Makes a new file; EEXIST if the name is taken. No half-written file is ever seen under it.
    package static func create(
        _ path: String, _ bytes: [UInt8], mode: UInt32 = 0o666
    ) throws(Errno) {
        try checkLength(bytes.count)
        _ = try create(
            path, mode: mode, write: { (file) throws(Errno) in try file.write(bytes, at: 0) })
    }

    /// As the other one.
    ///
    /// - Parameters:
    ///   - mode: its permissions, less what the process's umask takes.
    ///   - replaces: whether it may take the place of another file.
    ///   - write: fills the file; if it throws, nothing is left of it.
    /// - Returns: the new file, open for writing.
    package static func create(
        _ path: String, mode: UInt32, replaces: Bool = false,
        write: (borrowing OwnedDescriptor) throws(Errno) -> Void
    ) throws(Errno) -> OwnedDescriptor {
        if !replaces, let file = unnamedFile(beside: path, mode) {
            // It needs no other name before: linkat(2) takes none that is there.
            try write(file)
            _ = try check { fsync(file.number) }
            try link(file, path)
            return file
        }
        return try make(
            mode: mode, beside: path, write: write, prepare: { _ in },
            name: { _, temporary throws(Errno) in
                if replaces {
                    _ = try check { rename(temporary.cPath, path.cPath) }
                } else {
                    try Directories.renameExclusively(temporary, path)
                }
            })
    }

    /// Writes a new file beside `path` and makes it durable, then gives it a temporary name; if anything
    /// fails, nothing is left of it.
    ///
    /// Where files can be without a name it has none until then, so that nothing is left of it either when
    /// the process is killed or the power fails. While it has the temporary one, signals that would end the
    /// process wait.
    ///
    /// - Parameter prepare: what else belongs to the file, before it is made durable.
    /// - Parameter name: gives it its name, as the last step.
    private static func make(
        mode: mode_t, beside path: String,
        write: (borrowing OwnedDescriptor) throws(Errno) -> Void,
        prepare: (borrowing OwnedDescriptor) throws(Errno) -> Void,
        name: (borrowing OwnedDescriptor, _ temporary: String) throws(Errno) -> Void
    ) throws(Errno) -> OwnedDescriptor {
        let temporary = temporaryName(beside: path)
        if let file = unnamedFile(beside: path, mode) {
            try write(file)
            try prepare(file)
            _ = try check { fsync(file.number) }
            try holdingSignals { () throws(Errno) in
                try link(file, temporary)
                do throws(Errno) { try name(file, temporary) } catch {
                    unlink(temporary.cPath)
                    throw error
                }
            }
            return file
        }
        return try holdingSignals { () throws(Errno) in
            // A name that is taken is somebody else's and stays.
            let file = try OwnedDescriptor.open(
                temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            do throws(Errno) {
                try write(file)
                try prepare(file)
                _ = try check { fsync(file.number) }
                try name(file, temporary)
            } catch {
                unlink(temporary.cPath)
                throw error
            }
            return file
        }
    }

    /// Gives a file that has no name its first one; EEXIST if that is taken.
    private static func link(_ file: borrowing OwnedDescriptor, _ path: String) throws(Errno) {
        _ = try check {
            linkat(AT_FDCWD, descriptorPath(file), AT_FDCWD, path.cPath, AT_SYMLINK_FOLLOW)
        }
    }

    /// A new file without a name in the folder of `path`; `nil` where there is no such thing, as on
    /// network file systems, or no way to name it later, and in mounts of FUSE: the kernel tells whoever
    /// watches the folder there of such a file under the name "/", and GLib ends a program that hears of a name
    /// like that, as a file manager that shows the folder.
    private static func unnamedFile(beside path: String, _ mode: mode_t) -> OwnedDescriptor? {
        guard !isOnFuse(beside: path),
            let file = try? OwnedDescriptor.open(folder(of: path), O_WRONLY | unnamed, mode: mode),
            access(descriptorPath(file).cPath, F_OK) == 0
        else { return nil }
        return file
    }

    /// Whether a file that is made at the path is one of FUSE, and so has a temporary name while it is written.
    package static func isOnFuse(beside path: String) -> Bool {
        Directories.isOnFuse(folder(of: path))
    }

    private static func folder(of path: String) -> String {
        let folder = String(path[..<path.lastName.startIndex])
        return folder.isEmpty ? "." : folder
    }

    /// O_TMPFILE, which does not import by this name.
    private static let unnamed = __O_TMPFILE | O_DIRECTORY

    private static func descriptorPath(_ file: borrowing OwnedDescriptor) -> String {
        "/proc/self/fd/\(file.number)"
    }

    /// A hidden name that the mount knows as temporary (as GLib's).
    private static func temporaryName(beside path: String) -> String {
        let folder = String(path[..<path.lastName.startIndex])
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let suffix = String((0..<6).map { _ in letters.randomElement() ?? "A" })
        return folder + ".goutputstream-" + suffix
    }

    /// The attribute that tells which others may use a file.
    private static let accessList = "system.posix_acl_access"

    /// Copies the user's attributes; those that cannot be copied stay behind.
    private static func copyAttributes(
        from source: borrowing OwnedDescriptor, to target: borrowing OwnedDescriptor
    ) {
        for name in source.attributeNames {
            guard let value = source.attribute(name) else { continue }
            try? target.setAttribute(name, value)
        }
    }
}

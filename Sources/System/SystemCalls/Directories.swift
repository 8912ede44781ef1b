internal import CSystemShim
internal import Glibc
internal import PathText

/// Whole-directory operations of the container's own folder.
public enum Directories {
    /// Makes `path` and what is missing above it, each 0700. An existing directory is not an error.
    public static func make(_ path: String) throws(Errno) {
        if Glibc.mkdir(path.cPath, 0o700) == 0 || Glibc.errno == EEXIST { return }
        guard Glibc.errno == ENOENT, let slash = path.lastSlash, slash != path.startIndex
        else { throw Errno.last }
        try make(String(path[..<slash]))
        do throws(Errno) { try check { Glibc.mkdir(path.cPath, 0o700) } } catch {
            // Somebody else has made it in the meantime.
            if error.code != EEXIST { throw error }
        }
    }

    /// The names in `path` without `.` and `..`, in no order.
    public static func names(in path: String) throws(Errno) -> [String] {
        var names: [String] = []
        try forEachName(in: path) { name in
            names.append(name)
            return true
        }
        return names
    }

    /// Shows the names in `path` without `.` and `..`, in no order, until `body` says that it is enough.
    package static func forEachName(in path: String, _ body: (String) -> Bool) throws(Errno) {
        var opened: OpaquePointer?
        try check {
            opened = opendir(path.cPath)
            return opened == nil ? -1 : 0
        }
        guard let directory = opened else { throw Errno.last }
        defer { closedir(directory) }
        while true {
            // Only so an error is told from the end.
            Glibc.errno = 0
            guard let entry = readdir(directory) else {
                if Glibc.errno != 0 { throw Errno.last }
                return
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cPath: $0) }
            }
            if name != ".", name != "..", !body(name) { return }
        }
    }

    /// When the file of this name (which ends with a NUL) in an open directory was made, in nanoseconds
    /// since 1970; 0 if its disk does not tell. With its number it names the file for good: numbers are
    /// used again.
    public static func birthTime(_ name: [CChar], in directory: Int32) -> UInt64 {
        shim_birth_time(directory, name)
    }

    /// When an open file was made, in nanoseconds since 1970; 0 if its disk does not tell.
    public static func birthTime(of file: borrowing OwnedDescriptor) -> UInt64 {
        shim_birth_time(file.number, "")
    }

    /// Whether what is at the path is on a mount of FUSE.
    static func isOnFuse(_ path: String) -> Bool { shim_is_fuse(path.cPath) == 1 }

    /// Whether a file's number is its own for as long as it lives. FAT has no numbers, and most file systems of
    /// FUSE (sshfs) count what is asked for: the kernel gives another one to what it has forgotten, and all
    /// have others when the disk is mounted again.
    public static func keepsNumbers(_ directory: Int32) -> Bool {
        shim_keeps_numbers(directory) == 1
    }

    /// Renames a file unless the new name is taken: EEXIST then.
    ///
    /// Not all file systems can do that in one step (NFS, 9p, ZFS before 2.2 and many of FUSE cannot). There the
    /// file has both names for a moment.
    public static func renameExclusively(_ from: String, _ to: String) throws(Errno) {
        do throws(Errno) {
            try check { shim_rename_exclusively(from.cPath, to.cPath) }
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            try renameInSteps(from, to)
        }
    }

    private static func renameInSteps(_ from: String, _ to: String) throws(Errno) {
        do throws(Errno) {
            try check { link(from.cPath, to.cPath) }
        } catch {
            // A folder, or a file system without hard links, which rclone's mounts say with EIO.
            guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EIO].contains(error.code) else { throw error }
            var status = stat()
            if lstat(to.cPath, &status) == 0 { throw Errno(EEXIST) }
            try check { rename(from.cPath, to.cPath) }
            return
        }
        do throws(Errno) { try check { unlink(from.cPath) } } catch {
            // Somebody else has removed or renamed it in the meantime.
            if error.code == ENOENT { return }
            unlink(to.cPath)
            throw error
        }
    }

    /// Makes the entries of the directory `path` survive power loss.
    public static func synchronize(_ path: String) throws(Errno) {
        let descriptor = try OwnedDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        try check { fsync(descriptor.number) }
    }

    /// Whether nothing is in the directory `path` but these paths and the directories that they are in.
    public static func holds(_ path: String, only kept: Set<String>) throws(Errno) -> Bool {
        for name in try names(in: path) {
            let entry = path + "/" + name
            if kept.contains(entry) { continue }
            guard kept.contains(where: { $0.hasPrefix(entry + "/") }),
                try holds(entry, only: kept)
            else { return false }
        }
        return true
    }

    /// Removes `path` with everything below it; does not follow symlinks. Missing is not an error.
    ///
    /// - Parameter kept: paths that stay, and so do the directories that they are in.
    public static func removeTree(
        _ path: String, except kept: Set<String> = []
    ) throws(Errno) {
        if kept.contains(path) { return }
        var status = stat()
        if lstat(path.cPath, &status) != 0 {
            if Glibc.errno == ENOENT { return }
            throw Errno.last
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in try names(in: path) { try removeTree(path + "/" + name, except: kept) }
            if kept.contains(where: { $0.hasPrefix(path + "/") }) { return }
            try check { rmdir(path.cPath) }
        } else {
            if unlink(path.cPath) == 0 { return }
            guard Glibc.errno == EPERM, status.st_mode & S_IFMT == S_IFREG else { throw Errno.last }
            // A crash may have left it immutable.
            try? OwnedDescriptor.open(path, O_RDONLY).setImmutable(false)
            try check { unlink(path.cPath) }
        }
    }
}

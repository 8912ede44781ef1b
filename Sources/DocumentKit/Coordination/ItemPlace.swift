internal import Glibc
internal import PathText
internal import SystemCalls

/// Where a path leads to: into a mounted container, or somewhere else.
struct ItemPlace {
    /// Without symlinks but perhaps for the item itself, which need not exist.
    let absolute: String
    /// The folder that shows the container; `nil` outside of one.
    let mountPoint: String?
    /// The same, if its daemon makes claims for this process and tells it of changes. That of another user's
    /// mount serves the programs of that user, and root's: to others the mount is a folder like any.
    let servingMount: String?

    /// From the mount's folder down, as the control interface has it.
    var relative: String { absolute.relative(to: mountPoint ?? "") }

    /// The path of what is there below a mount's folder.
    static func absolute(_ relative: String, in mountPoint: String) -> String {
        relative.isEmpty ? mountPoint : "\(mountPoint)/\(relative)"
    }

    /// - Parameter following: a symlink stands for what it leads to, also while that is away, as in the middle
    ///   of a save; for itself if that could not be made there.
    init(_ path: String, following: Bool = false) throws(CoordinationError) {
        if following, let item = MountTable.resolved(path) {
            absolute = item
        } else if following, case let end = SymbolicLink.end(of: path), end != path,
            let item = try? Self.absolute(end)
        {
            absolute = item
        } else {
            absolute = try Self.absolute(path)
        }
        let mount = Self.mount(above: absolute)
        mountPoint = mount?.point
        servingMount = mount.flatMap { [0, $0.user].contains(geteuid()) ? $0.point : nil }
        if mountPoint != nil, relative == ".shapeedit" || relative.isBelow(".shapeedit") {
            throw .badPath(path, "what is below .shapeedit cannot be claimed")
        }
    }

    private static func absolute(_ path: String) throws(CoordinationError) -> String {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let trimmed = String(Substring(bytes))
        let name = trimmed.lastName
        if ["", ".", ".."].contains(name) {
            guard let whole = MountTable.resolved(path) else {
                throw .badPath(path, "\(Errno.last)")
            }
            return whole
        }
        if name.utf8.count > Int(NAME_MAX), String(name).pathBytes.count > Int(NAME_MAX) {
            throw .badPath(path, "\(Errno(ENAMETOOLONG))")
        }
        let folder = trimmed.lastSlash == nil ? "." : trimmed.parentPath
        guard let above = MountTable.resolved(folder) else {
            let error = Errno.last
            throw .badPath(
                path, error.code == ENOENT ? "there is no folder \(folder)" : "\(error)")
        }
        var status = stat()
        if stat(above.cPath, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw .badPath(path, "\(Errno(ENOTDIR))")
        }
        return above == "/" ? "/\(name)" : "\(above)/\(name)"
    }

    /// The topmost folder of the item's file system, if a container shows there, and who mounted it.
    private static func mount(above path: String) -> (point: String, user: uid_t)? {
        var folder = path
        var status = stat()
        if stat(folder.cPath, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
            folder = folder.parentPath
            if stat(folder.cPath, &status) != 0 { return nil }
        }
        let device = status.st_dev
        while folder != "/" {
            let above = folder.parentPath
            if stat(above.cPath, &status) != 0 || status.st_dev != device { break }
            folder = above
        }
        // It is the owner's. On a disk, or in a /tmp that is a file system of its own, it is anybody's, who would
        // have everybody wait for what it names. The kernel may leave one out while others are mounted.
        return stat((folder + "/" + ControlConnection.statusPath).cPath, &status) == 0
            && KernelMount.topmost(at: folder)?.isShapeEdit != false
            ? (folder, status.st_uid) : nil
    }
}

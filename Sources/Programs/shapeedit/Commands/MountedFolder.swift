import DocumentFiles
import DocumentKit
import Glibc
import Model
import SystemCalls

/// A folder that a command is to look below.
enum MountedFolder {
    /// Throws if it is neither in a mount nor has one in it, or its mount is dead.
    ///
    /// - Parameter list: a folder below `.shapeedit`: throws where only another user may look into that.
    static func check(_ folder: String, list: String? = nil) throws(Failure) {
        guard let place = MountTable.resolved(folder) else {
            throw Failure(folder, Errno.last)
        }
        let isMounted = MountTable.mountPoints().contains { point in
            MountTable.isBelow(place, point) || MountTable.isBelow(point, place)
        }
        if !isMounted { throw Failure.notMounted(folder) }
        // Else the kernel might tell of what it still knows, and the rest would seem to be nothing.
        guard let point = MountTable.mountPoint(of: place) else { return }
        if MountPoint(path: point).isDead { throw Failure.mountIsDead(folder) }
        try requireDocuments(folder, at: place.relative(to: point))
        if let list, access("\(point)/.shapeedit/\(list)".cPath, R_OK) != 0, errno == EACCES {
            throw Failure(.noPermission, "\(point): only the owner of the mount may look")
        }
    }

    /// Fails for `.shapeedit` and what is in it: there are no documents, and nothing happens to them.
    ///
    /// - Parameters:
    ///   - name: what the user calls it.
    ///   - path: relative to the mount point.
    static func requireDocuments(_ name: String, at path: String) throws(Failure) {
        if MountTable.isBelow(path, ".shapeedit") {
            throw Failure(.usage, "\(name): there are no documents in .shapeedit")
        }
    }
}

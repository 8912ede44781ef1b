internal import Glibc
internal import PathText
internal import SystemCalls

/// The mounts of ShapeEdit on this machine, as the kernel tells them.
package enum MountTable {
    /// Mount points of type fuse.shapeedit, the last mounted last.
    package static func mountPoints() -> [String] {
        KernelMount.all().filter(\.isShapeEdit).map(\.point)
    }

    /// The mount that has an absolute path without symlinks; `nil` outside of all.
    package static func mountPoint(of path: String) -> String? {
        mountPoints().filter { isBelow(path, $0) }.max { $0.utf8.count < $1.utf8.count }
    }

    /// Whether a path is a folder or something in it.
    package static func isBelow(_ path: String, _ folder: String) -> Bool {
        path.utf8.elementsEqual(folder.utf8) || path.isBelow(folder)
    }

    /// The absolute path of `path` without symlinks; `nil` if it does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let text = realpath(path.cPath, nil) else { return nil }
        defer { free(text) }
        return String(cPath: text)
    }
}

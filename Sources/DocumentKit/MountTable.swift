internal import Glibc
internal import SystemCalls

/// The mounts of ShapeEdit on this machine, as the kernel tells them.
package enum MountTable {
    /// Mount points of type fuse.shapeedit, the last mounted last.
    package static func mountPoints() -> [String] {
        KernelMount.all().filter(\.isShapeEdit).map(\.point)
    }

    /// The absolute path of `path` without symlinks; `nil` if it does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

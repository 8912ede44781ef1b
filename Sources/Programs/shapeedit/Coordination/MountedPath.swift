import Glibc
import Model

/// Where a path leads to in a mounted container.
struct MountedPath {
    /// The mount's folder.
    let mountPoint: String
    /// From there, without a slash at the beginning; empty for the folder itself.
    let relative: String

    /// Finds the mount that a path is in. The last name need not exist.
    init(_ path: String) throws(Failure) {
        let absolute = try Self.absolute(path)
        let found = MountTable.mountPoints().filter {
            absolute == $0 || absolute.hasPrefix($0 + "/")
        }
        guard let point = found.max(by: { $0.utf8.count < $1.utf8.count }) else {
            throw Failure(.usage, "\(path): it is not in a mounted container")
        }
        mountPoint = point
        relative = String(absolute.dropFirst(point.count).drop { $0 == "/" })
        if relative == ".shapeedit" || relative.hasPrefix(".shapeedit/") {
            throw Failure(.usage, "\(path): what is below .shapeedit cannot be claimed")
        }
    }

    /// The path of its folder without symlinks, and the name. The item itself is not looked at: a
    /// symlink is claimed, not what it leads to.
    private static func absolute(_ path: String) throws(Failure) -> String {
        var trimmed = Substring(path)
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        let slash = trimmed.lastIndex(of: "/")
        let name = slash.map { trimmed[trimmed.index(after: $0)...] } ?? trimmed
        if ["", ".", ".."].contains(name) {
            guard let whole = MountTable.resolved(path) else {
                throw Failure(.noInput, "\(path): there is no such folder")
            }
            return whole
        }
        let folder = slash.map { $0 == trimmed.startIndex ? "/" : String(trimmed[..<$0]) } ?? "."
        guard let above = MountTable.resolved(folder) else {
            throw Failure(.noInput, "\(path): there is no folder \(folder)")
        }
        return above == "/" ? "/\(name)" : "\(above)/\(name)"
    }
}

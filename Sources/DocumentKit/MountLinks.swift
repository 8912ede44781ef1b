internal import Glibc
internal import PathText
internal import SystemCalls

/// The symlinks to documents that a mount shows in a folder below `.shapeedit`.
package struct MountLink: Hashable, Sendable {
    /// Where the document is now; absolute.
    package var path: String
    /// The link itself.
    package var link: String

    /// Those of all mounts of this user, or to what lies below a folder, in the mount's order.
    ///
    /// - Parameter kind: the folder's name, such as `recents`.
    /// - Throws: `file` if there is no such folder.
    package static func all(_ kind: String, below folder: String? = nil) throws(DocumentProblem)
        -> [MountLink]
    {
        var place: String?
        if let folder {
            place = MountTable.resolved(folder)
            if place == nil { throw .file("\(folder): \(Errno.last)") }
        }
        // The folder is in a mount, or has mounts in it.
        let points = MountTable.mountPoints().filter { point in
            if let place {
                // Nobody else is asked.
                if MountTable.isBelow(place, point) { return true }
                guard MountTable.isBelow(point, place) else { return false }
            }
            return MountTable.answers(point)
        }
        return points.flatMap { of($0, kind) }.filter { link in
            place.map { MountTable.isBelow(link.path, $0) } ?? true
        }
    }

    /// Those of a mount; none of another user's.
    private static func of(_ point: String, _ kind: String) -> [MountLink] {
        let folder = point + "/.shapeedit/" + kind
        return ((try? Directories.names(in: folder)) ?? []).compactMap { name in
            let link = folder + "/" + name
            // One that went since is none any more.
            guard let target = try? SymbolicLink.target(of: link) else { return nil }
            let path = String(path: target.dropFirst("../../".utf8.count))
            return MountLink(path: point + "/" + path, link: link)
        }
    }
}

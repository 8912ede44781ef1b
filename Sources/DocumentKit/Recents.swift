internal import Glibc
internal import SystemCalls

/// A document that somebody opened lately.
public struct RecentDocument: Hashable, Sendable {
    /// Where it is now; absolute.
    public var path: String
    /// When it was opened, in nanoseconds since 1970.
    public var opened: Int64
    /// The link to it below `.shapeedit/recents`.
    var link: String
}

/// The documents that people opened last in the containers that are mounted. Other folders have none.
/// Reads the file system and waits for it; any thread.
public enum Recents {
    /// Those of all mounts of this user, or of those below a folder; the last opened first.
    ///
    /// - Throws: `file` if there is no such folder.
    public static func documents(below folder: String? = nil) throws(DocumentProblem)
        -> [RecentDocument]
    {
        var place: String?
        if let folder {
            place = MountTable.resolved(folder)
            if place == nil { throw .file("\(folder): \(Errno.last)") }
        }
        func isBelow(_ path: String, _ folder: String) -> Bool {
            path == folder || path.hasPrefix(folder + "/")
        }
        // The folder is in a mount, or has mounts in it.
        let points = MountTable.mountPoints().filter { point in
            place.map { isBelow(point, $0) || isBelow($0, point) } ?? true
        }
        return points.flatMap(all).filter { document in
            place.map { isBelow(document.path, $0) } ?? true
        }.sorted { $0.opened > $1.opened }
    }

    /// Is no recent document from now on, until it is opened again.
    public static func forget(_ document: RecentDocument) throws(DocumentProblem) {
        if unlink(document.link) != 0, errno != ENOENT {
            throw .file("\(document.link): \(Errno.last)")
        }
    }

    /// Those of a mount; none of another user's.
    private static func all(_ point: String) -> [RecentDocument] {
        let folder = point + "/.shapeedit/recents"
        return ((try? Directories.names(in: folder)) ?? []).compactMap { name in
            let link = folder + "/" + name
            var status = stat()
            var text = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(link, &text, text.count)
            // One that was deleted since is none any more.
            guard count > 0, lstat(link, &status) == 0 else { return nil }
            let target = String(
                decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return RecentDocument(
                path: point + "/" + target.dropFirst("../../".count),
                opened: FileStamp(status).modified, link: link)
        }
    }
}

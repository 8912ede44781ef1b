internal import Glibc
internal import PathText
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
        try MountLink.all("recents", below: folder).compactMap { link in
            var status = stat()
            guard lstat(link.link.cPath, &status) == 0 else { return nil }
            return RecentDocument(
                path: link.path, opened: FileStamp(status).modified, link: link.link)
        }.sorted { $0.opened > $1.opened }
    }

    /// Is no recent document from now on, until it is opened again.
    public static func forget(_ document: RecentDocument) throws(DocumentProblem) {
        if unlink(document.link.cPath) != 0, errno != ENOENT {
            throw .file("\(document.link): \(Errno.last)")
        }
    }
}

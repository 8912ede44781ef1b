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
    var link: MountLink
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
            guard let opened = opened(link) else { return nil }
            return RecentDocument(path: link.path, opened: opened, link: link)
        }.sorted { $0.opened > $1.opened }
    }

    /// Is no recent document from now on, until it is opened again.
    public static func forget(_ document: RecentDocument) throws(DocumentProblem) {
        // One that was moved since has its link still, which leads elsewhere now.
        let moved = opened(document.link) == document.opened ? document.link : nil
        guard let link = (document.link.now ?? moved)?.link else { return }
        if unlink(link.cPath) != 0, errno != ENOENT { throw .file("\(link): \(Errno.last)") }
    }

    /// When what a link leads to was opened; `nil` if the link is gone.
    private static func opened(_ link: MountLink) -> Int64? {
        var status = stat()
        return lstat(link.link.cPath, &status) == 0 ? FileStamp(status).modified : nil
    }
}

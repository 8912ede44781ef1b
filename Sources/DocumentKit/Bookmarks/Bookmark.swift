internal import Documents
internal import Model
internal import PathText

/// A way back to a document, wherever it goes. Its token is text to be kept.
///
/// In a container it is the container's: it follows the document through renames, moves, saves and
/// remounts, nobody can make one up, and it can be revoked. On other file systems it is a description
/// of the file: its path and, as its identity, inode number and time of birth. There it follows renames
/// and moves nearby, is not signed, and cannot be revoked. Waits for the file system; any thread.
public struct Bookmark: Hashable, Sendable {
    /// To be kept, and given to ``init(token:)`` again.
    public let token: String

    /// The bookmark of a token; whether it leads anywhere shows when it is resolved.
    public init(token: String) { self.token = token }

    /// Makes a bookmark of a document. In a container a document has one for each application:
    /// making it again gives a token that is not stale.
    ///
    /// - Parameters:
    ///   - path: of a file, or outside of containers of anything.
    ///   - application: whom it is for, as in `org.example.Editor`; `nil`: anybody.
    public init(of path: String, for application: String? = nil) throws(BookmarkProblem) {
        if let application, !BookmarkRow.isApplication(application) {
            throw .unsupported("\(application) cannot be the name of an application")
        }
        guard let absolute = MountTable.resolved(path) else {
            throw .file("\(path): there is no such file")
        }
        let place = try? ItemPlace(absolute)
        token =
            place?.mountPoint != nil
            ? try MountedBookmarks.create(absolute, for: application ?? "")
            : try FolderBookmark(absolute, for: application ?? "").text
    }

    /// Where the document is now.
    ///
    /// - Returns: its path, and whether it was elsewhere when the token was made: it is worth making
    ///   anew then.
    public func resolve(
        for application: String? = nil
    ) throws(BookmarkProblem) -> (path: String, isStale: Bool) {
        if let folder = FolderBookmark(token) { return try folder.resolve(for: application ?? "") }
        return try mounted { point, digits throws(BookmarkProblem) in
            let found = try MountedBookmarks(point).resolve(digits, for: application ?? "")
            return (point + "/" + String(path: found.path), found.isStale)
        }
    }

    /// All tokens of this bookmark lead nowhere from now on.
    ///
    /// - Parameter application: whom it was made for; `nil`: whomever.
    /// - Throws: `unsupported` outside of containers, where nothing is kept of a bookmark.
    public func revoke(for application: String? = nil) throws(BookmarkProblem) {
        if FolderBookmark(token) != nil {
            throw .unsupported("outside of containers bookmarks cannot be revoked")
        }
        try mounted { point, digits throws(BookmarkProblem) in
            try MountedBookmarks(point).revoke(digits, for: application)
        }
    }

    /// Asks where the token's container is mounted. Several may have its name: the one that made the
    /// token counts.
    private func mounted<Result>(
        _ body: (_ point: String, _ digits: String) throws(BookmarkProblem) -> Result
    ) throws(BookmarkProblem) -> Result {
        guard let dot = token.lastIndex(of: "."), dot != token.startIndex else { throw .malformed }
        let digits = token[token.index(after: dot)...]
        guard digits.utf8.count == 128,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { throw .malformed }
        var problem = BookmarkProblem.notMounted
        for point in MountTable.mountPoints()
        where MountTable.status(point)?["container"]?.string == String(token[..<dot]) {
            do throws(BookmarkProblem) { return try body(point, String(digits)) } catch {
                switch error {
                case .forged, .refused, .file: problem = error
                default: throw error
                }
            }
        }
        throw problem
    }
}

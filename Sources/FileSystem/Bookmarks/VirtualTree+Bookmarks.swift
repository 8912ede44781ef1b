internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// `.shapeedit/bookmarks`: a symlink for each token, to be used and to be removed by name.
extension VirtualTree {
    /// The bookmark of a name: digits, or digits, `@` and the application.
    func bookmark(named text: String) throws(Errno) -> VirtualNode {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let application = parts.count > 1 ? parts[1] : ""
        return try volume.read { (state) throws(Errno) in
            do throws(Bookmarks.Problem) {
                let found = try state.bookmarks.resolve(
                    parts[0], for: application, in: state.index)
                return .bookmark(found.row.id, path: found.path)
            } catch {
                switch error {
                // Any other name: nothing of that name is here.
                case .malformed, .deleted: throw Errno(ENOENT)
                case .forged: throw Errno(EBADMSG)
                case .otherApplication: throw Errno(EACCES)
                case .revoked: throw Errno(EKEYREVOKED)
                }
            }
        }
    }

    /// When the bookmark was made; ENOENT if it is gone.
    func created(_ id: BookmarkID) throws(Errno) -> Timestamp {
        try volume.read { (state) throws(Errno) in
            guard let row = state.bookmarks.row(id) else { throw Errno(ENOENT) }
            return row.created
        }
    }

    /// The names of those whose documents are there.
    func bookmarkNames() -> [(String, VirtualNode?)] {
        volume.state.withLock { state in
            state.bookmarks.all.compactMap { row in
                let position = state.index.holder(of: row.document)
                guard position != 0, let path = state.index.path(of: position),
                    let token = state.bookmarks.token(row, in: state.index)
                else { return nil }
                let suffix = row.application.isEmpty ? "" : "@" + row.application
                return (token.text + suffix, .bookmark(row.id, path: path))
            }
        }
    }
}

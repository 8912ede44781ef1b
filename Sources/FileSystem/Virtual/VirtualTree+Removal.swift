internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What can be removed below `.shapeedit`.
extension VirtualTree {
    /// unlink(2): a bookmark is revoked, a recent document forgotten; EROFS for all else.
    func remove(_ parent: UInt64, _ name: [UInt8], _ caller: Caller) throws(Errno) {
        let text = String(path: name)
        switch try node(parent) {
        case .bookmarks:
            guard case .bookmark(let id, _) = try bookmark(named: text) else { throw Errno(ENOENT) }
            try volume.revokeBookmark(id, caller)
        case .recents:
            guard case .recent(let document, _, _) = try recent(named: text) else {
                throw Errno(ENOENT)
            }
            try volume.forgetRecent(document)
        default: throw Errno(EROFS)
        }
    }
}

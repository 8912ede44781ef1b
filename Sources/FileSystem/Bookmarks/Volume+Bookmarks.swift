internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Bookmarks through a document's attributes.
extension Volume {
    /// The application that an attribute's name is about, empty for none in particular; `nil` for
    /// another attribute.
    static func bookmarkApplication(_ key: String) -> Substring? {
        if key == "bookmark" { return "" }
        return key.hasPrefix("bookmark.") ? key.dropFirst(9) : nil
    }

    /// The digits of the token; ENODATA if there is no such bookmark.
    func bookmarkToken(_ node: NodeNumber, for application: Substring) throws(Errno) -> String {
        try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            let document = DocumentID(rawValue: record.pointee.document)
            guard record.pointee.isRegular,
                let row = state.bookmarks.bookmark(of: document, for: String(application)),
                let token = state.bookmarks.token(row, in: state.index)
            else { throw Errno(ENODATA) }
            return token.text
        }
    }

    /// Makes a bookmark of the document, unless there is one. Only the owner or root may.
    func makeBookmark(
        _ node: NodeNumber, for application: String, _ caller: Caller
    ) throws(Errno) {
        if !application.isEmpty, !BookmarkRow.isApplication(application) { throw Errno(EINVAL) }
        try change { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            guard caller.user == 0 || caller.user == record.pointee.user else { throw Errno(EPERM) }
            if record.pointee.isDirectory { throw Errno(EISDIR) }
            guard record.pointee.isRegular else { throw Errno(EPERM) }
            let document = DocumentID(rawValue: record.pointee.document)
            if state.bookmarks.bookmark(of: document, for: application) != nil {
                return ((), state.log.head)
            }
            let time = VolumeState.now()
            let row = BookmarkRow(
                id: .random(), document: document, application: application, created: time)
            state.bookmarks.insert(row)
            let mutation = Mutation(
                time: time, kind: .bookmarked, item: node.item,
                process: CallerProcess.process(of: caller.thread), effects: [.putBookmark(row)])
            return ((), state.log.append(mutation))
        }
    }

    /// Takes a bookmark away; ENOENT if there is none.
    func revokeBookmark(_ id: BookmarkID, _ caller: Caller) throws(Errno) {
        try change { (state) throws(Errno) in
            guard let row = state.bookmarks.row(id) else { throw Errno(ENOENT) }
            state.bookmarks.remove(id)
            let mutation = Mutation(
                time: VolumeState.now(), kind: .bookmarked,
                item: ItemNumber(rawValue: row.document.rawValue),
                process: CallerProcess.process(of: caller.thread), effects: [.removeBookmark(id)])
            return ((), state.log.append(mutation))
        }
    }
}

extension VolumeState {
    /// Takes all bookmarks of a document away that is gone for good: what records it.
    func dropBookmarks(of document: DocumentID) -> [Effect] {
        bookmarks.bookmarks(of: document).map { row in
            bookmarks.remove(row.id)
            return .removeBookmark(row.id)
        }
    }
}

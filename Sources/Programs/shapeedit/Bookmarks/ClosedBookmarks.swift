import Catalog
import Coordination
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// The bookmarks of a container that is not mounted.
struct ClosedBookmarks {
    private let container: ClosedContainer

    init(_ name: String) throws(Failure) {
        container = try ClosedContainer(name, holder: "having its bookmarks looked at")
    }

    private func found(
        _ token: BookmarkToken, for application: String?, in container: Container
    ) throws(Failure) -> (row: BookmarkRow, path: [UInt8], isStale: Bool) {
        do throws(Bookmarks.Problem) {
            return try container.bookmarks.resolve(
                token.text, for: application, in: container.index)
        } catch { throw NamedToken.failure(error) }
    }

    func resolve(
        _ token: BookmarkToken, for application: String
    ) throws(Failure) -> NamedToken.Place {
        try container.with { (container) throws(Failure) in
            let found = try found(token, for: application, in: container)
            return NamedToken.Place(
                path: String(path: found.path), mountPoint: nil,
                isStale: found.isStale)
        }
    }

    func revoke(_ token: BookmarkToken, for application: String?) throws(Failure) {
        try container.with { (container) throws(Failure) in
            let row = try found(token, for: application, in: container).row
            try container.record(.bookmarked, of: row.document, [.removeBookmark(row.id)])
        }
    }

    func list() throws(Failure) -> [ListedBookmark] {
        try container.with { (container) throws(Failure) in
            container.bookmarks.all.compactMap { row in
                let position = container.index.holder(of: row.document)
                guard position != 0, let path = container.index.path(of: position),
                    let token = container.bookmarks.token(row, in: container.index)
                else { return nil }
                return ListedBookmark(
                    path: String(path: path),
                    application: row.application.isEmpty ? nil : row.application,
                    digits: token.text)
            }
        }
    }
}

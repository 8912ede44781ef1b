import Catalog
import Coordination
import DocumentKit
import Glibc
import Model
import SystemCalls

/// The bookmarks of a container that is not mounted: it is opened for the moment, as by a mount.
struct ClosedBookmarks {
    private let name: String

    init(_ name: String) throws(Failure) {
        guard try Containers.exists(name) else {
            throw Failure(.noInput, "there is no container \(name)")
        }
        self.name = name
    }

    private func with<Result>(
        _ body: (Container) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let container = try Container(
            name, at: try Containers.path(name), holder: "having its bookmarks looked at")
        defer { container.close() }
        return try body(container)
    }

    private func found(
        _ token: BookmarkToken, for application: String, in container: Container
    ) throws(Failure) -> (row: BookmarkRow, path: [UInt8], isStale: Bool) {
        do throws(Bookmarks.Problem) {
            return try container.bookmarks.resolve(
                token.text, for: application, in: container.index)
        } catch { throw NamedToken.failure(error) }
    }

    func resolve(
        _ token: BookmarkToken, for application: String
    ) throws(Failure) -> NamedToken.Place {
        try with { (container) throws(Failure) in
            let found = try found(token, for: application, in: container)
            return NamedToken.Place(
                path: String(decoding: found.path, as: UTF8.self), mountPoint: nil,
                isStale: found.isStale)
        }
    }

    func revoke(_ token: BookmarkToken, for application: String) throws(Failure) {
        try with { (container) throws(Failure) in
            let row = try found(token, for: application, in: container).row
            let now = WallClock.now
            container.log.append(
                Mutation(
                    time: Timestamp(seconds: now.seconds, nanoseconds: now.nanoseconds),
                    kind: .bookmarked, item: ItemNumber(rawValue: row.document.rawValue),
                    process: processIdentifier(), effects: [.removeBookmark(row.id)]))
            try container.log.drain()
        }
    }

    func list() throws(Failure) -> [ListedBookmark] {
        try with { (container) throws(Failure) in
            container.bookmarks.all.compactMap { row in
                let position = container.index.holder(of: row.document)
                guard position != 0, let path = container.index.path(of: position),
                    let token = container.bookmarks.token(row, in: container.index)
                else { return nil }
                return ListedBookmark(
                    path: String(decoding: path, as: UTF8.self),
                    application: row.application.isEmpty ? nil : row.application,
                    digits: token.text)
            }
        }
    }
}

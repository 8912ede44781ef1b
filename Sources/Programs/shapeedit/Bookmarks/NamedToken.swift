import Coordination
import Glibc
import Model
import SystemCalls

/// A token as people have it: the container's name, a dot, the digits.
struct NamedToken {
    let container: String
    let token: BookmarkToken

    /// Where a document is.
    struct Place {
        /// Below the root of the container.
        var path: String
        /// `nil` if the container is not mounted.
        var mountPoint: String?
        var isStale: Bool
    }

    init(_ text: String) throws(Failure) {
        guard let dot = text.lastIndex(of: "."),
            let token = BookmarkToken(text[text.index(after: dot)...])
        else { throw Self.failure(.malformed) }
        container = String(text[..<dot])
        do throws(Failure) { try Containers.check(container) } catch {
            throw Self.failure(.malformed)
        }
        self.token = token
    }

    /// Asks the mount, or the container if it is not mounted.
    func resolve(for application: String) throws(Failure) -> Place {
        if let point = MountedBookmarks.mountPoint(of: container) {
            let path = try MountedBookmarks(point).resolve(token, for: application)
            return Place(
                path: String(decoding: path, as: UTF8.self), mountPoint: point,
                isStale: token.isStale(at: path))
        }
        return try ClosedBookmarks(container).resolve(token, for: application)
    }

    func revoke(for application: String) throws(Failure) {
        if let point = MountedBookmarks.mountPoint(of: container) {
            try MountedBookmarks(point).revoke(token, for: application)
        } else {
            try ClosedBookmarks(container).revoke(token, for: application)
        }
    }

    /// What is said of a token that leads nowhere.
    static func failure(_ problem: Bookmarks.Problem) -> Failure {
        switch problem {
        case .malformed: Failure(.usage, "this is no bookmark's token")
        case .forged:
            Failure(.badData, "the token was not made by this container, or it was changed")
        case .otherApplication:
            Failure(.noPermission, "the token was made for another application; see --app")
        case .revoked: Failure(.noPermission, "the bookmark was revoked")
        case .deleted: Failure(.noInput, "the bookmark's document was deleted")
        }
    }
}

/// One bookmark of a list.
struct ListedBookmark {
    /// Below the root of the container.
    var path: String
    var application: String?
    /// The token without the container's name.
    var digits: String

    /// Those of a container whose documents are there, by path.
    static func all(of container: String) throws(Failure) -> [ListedBookmark] {
        let list: [ListedBookmark]
        if let point = MountedBookmarks.mountPoint(of: container) {
            list = try MountedBookmarks(point).list()
        } else {
            list = try ClosedBookmarks(container).list()
        }
        return list.sorted { ($0.path, $0.application ?? "") < ($1.path, $1.application ?? "") }
    }
}

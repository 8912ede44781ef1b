import Coordination
import DocumentKit
import Glibc
import Model
import PathText
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
        if let point = Self.mountPoint(of: container) {
            let found = try Self.mounted { () throws(BookmarkProblem) in
                try MountedBookmarks(point).resolve(token.text, for: application)
            }
            return Place(
                path: String(path: found.path), mountPoint: point,
                isStale: found.isStale)
        }
        return try ClosedBookmarks(container).resolve(token, for: application)
    }

    /// - Parameter application: whom it was made for; `nil`: whomever.
    func revoke(for application: String?) throws(Failure) {
        if let point = Self.mountPoint(of: container) {
            try Self.mounted { () throws(BookmarkProblem) in
                try MountedBookmarks(point).revoke(token.text, for: application)
            }
        } else {
            try ClosedBookmarks(container).revoke(token, for: application)
        }
    }

    /// Where the container of this name is mounted; `nil` if nowhere. Another user's of that name
    /// counts only if this user has none.
    static func mountPoint(of container: String) -> String? {
        let mounts = MountTable.mountPoints().compactMap(status).filter {
            $0["container"] == container
        }
        let own = try? Containers.path(container)
        if let mounted = mounts.last(where: { $0.path("folder") == own }) { return mounted.point }
        return (try? Containers.exists(container)) == true ? nil : mounts.last?.point
    }

    /// Mounts that said nothing.
    private static let silent = Lock<Set<String>>([])

    /// What a mount says; who said nothing is not asked again: for each of many containers one that hangs
    /// would be waited for.
    private static func status(of point: String) -> MountStatus? {
        if silent.withLock({ $0.contains(point) }) { return nil }
        let status = MountStatus(of: point)
        if status.isSilent { silent.withLock { _ = $0.insert(point) } }
        return status
    }

    /// What a mount says, in the words of this program.
    static func mounted<Result>(
        _ body: () throws(BookmarkProblem) -> Result
    ) throws(Failure) -> Result {
        do throws(BookmarkProblem) { return try body() } catch {
            switch error {
            case .malformed: throw failure(.malformed)
            case .forged: throw failure(.forged)
            case .otherApplication: throw failure(.otherApplication)
            case .revoked: throw failure(.revoked)
            case .deleted: throw failure(.deleted)
            case .notMounted: throw Failure(.unavailable, "\(error)")
            case .unsupported(let words): throw Failure(.usage, words)
            case .file(let words): throw Failure(.noInput, words)
            case .refused(let words): throw Failure(.noPermission, words)
            }
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
typealias ListedBookmark = MountedBookmarks.Listed

extension MountedBookmarks.Listed {
    /// Those of a container whose documents are there, by path.
    static func all(of container: String) throws(Failure) -> [ListedBookmark] {
        let list: [ListedBookmark]
        if let point = NamedToken.mountPoint(of: container) {
            list = try NamedToken.mounted { () throws(BookmarkProblem) in
                try MountedBookmarks(point).list()
            }
        } else {
            list = try ClosedBookmarks(container).list()
        }
        return list.sorted { ($0.path, $0.application ?? "") < ($1.path, $1.application ?? "") }
    }
}

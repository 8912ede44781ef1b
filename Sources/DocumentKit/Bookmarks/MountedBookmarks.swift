internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Why a bookmark could not be made or leads nowhere.
public enum BookmarkProblem: Error, Hashable, Sendable {
    /// This is no bookmark's token.
    case malformed
    /// It was not made by this container, or it was changed.
    case forged
    /// It was made for another application.
    case otherApplication
    /// It was revoked.
    case revoked
    /// Its document was deleted, or cannot be found.
    case deleted
    /// Its container is not mounted.
    case notMounted
    /// The file system has no bookmarks of this kind; says which.
    case unsupported(String)
    /// A file cannot be reached; names it and says why.
    case file(String)
    /// The same for want of rights.
    case refused(String)
}

extension BookmarkProblem: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .malformed: "this is no bookmark's token"
        case .forged: "the token was not made by this container, or it was changed"
        case .otherApplication: "the token was made for another application"
        case .revoked: "the bookmark was revoked"
        case .deleted: "the bookmark's document was deleted"
        case .notMounted: "the container is not mounted"
        case .unsupported(let words), .file(let words), .refused(let words): words
        }
    }
}

/// The bookmarks of a mounted container, by system calls on the mount.
package struct MountedBookmarks {
    /// One of them.
    package struct Listed {
        /// Below the root of the container.
        package var path: String
        package var application: String?
        /// The token without the container's name.
        package var digits: String

        package init(path: String, application: String?, digits: String) {
            self.path = path
            self.application = application
            self.digits = digits
        }
    }

    private let point: String
    private var folder: String { point + "/.shapeedit/bookmarks" }

    package init(_ point: String) { self.point = point }

    /// A token of the document `file`; makes the bookmark unless there is one.
    ///
    /// - Parameter application: empty: any.
    package static func create(
        _ file: String, for application: String
    ) throws(BookmarkProblem) -> String {
        let attribute = "user.shapeedit.bookmark"
        let reading = application.isEmpty ? attribute : attribute + "." + application
        do throws(Errno) {
            let container = try PathAttributes.value("user.shapeedit.container", of: file)
            try MountAttributes.set(attribute, Array(application.utf8), of: file)
            let digits = try PathAttributes.value(reading, of: file)
            return String(decoding: container, as: UTF8.self) + "."
                + String(decoding: digits, as: UTF8.self)
        } catch {
            switch error.code {
            case ENODATA, ENOTSUP, ENODEV:
                throw .unsupported("\(file): it is not a document in a mounted container")
            case EISDIR:
                throw .unsupported("\(file): it is a folder; bookmarks are for documents")
            case EPERM, EACCES: throw .refused("\(file): only its owner may do that")
            case EROFS: throw .refused("\(file): \(error)")
            default: throw .file("\(file): \(error)")
            }
        }
    }

    /// The path of the token's document below the root, and whether it was elsewhere when the token was
    /// made.
    package func resolve(
        _ digits: String, for application: String
    ) throws(BookmarkProblem) -> (path: [UInt8], isStale: Bool) {
        do throws(Errno) {
            let path = Self.path(try target(Self.name(digits, application)))
            // The digits of a token have eight bytes of the path's SHA-256 in the fourth place.
            let digest = ContentHash(bytes: try Hashing.sha256(path))?.description ?? ""
            return (path, !digits.dropFirst(48).hasPrefix(digest.prefix(16)))
        } catch { throw problem(error) }
    }

    /// - Parameter application: whom it was made for; `nil`: whomever.
    package func revoke(_ digits: String, for application: String?) throws(BookmarkProblem) {
        do throws(BookmarkProblem) { try remove(digits, for: application ?? "") } catch {
            // The token is right, so it has a row: which begins with the bookmark's id, as all its tokens.
            guard error == .otherApplication, application == nil,
                let row = try list().first(where: { $0.digits.prefix(32) == digits.prefix(32) })
            else { throw error }
            try remove(digits, for: row.application ?? "")
        }
    }

    private func remove(_ digits: String, for application: String) throws(BookmarkProblem) {
        do throws(Errno) {
            _ = try check { unlink((folder + "/" + Self.name(digits, application)).cPath) }
        } catch { throw problem(error) }
    }

    /// All of them, in no order.
    package func list() throws(BookmarkProblem) -> [Listed] {
        do throws(Errno) {
            var list: [Listed] = []
            for name in try Directories.names(in: folder) {
                // One whose document went since is no more.
                guard let target = try? target(name) else { continue }
                let parts = name.split(separator: "@", maxSplits: 1)
                list.append(
                    Listed(
                        path: String(path: Self.path(target)),
                        application: parts.count > 1 ? String(parts[1]) : nil,
                        digits: String(parts[0])))
            }
            return list
        } catch { throw problem(error) }
    }

    private static func name(_ digits: String, _ application: String) -> String {
        application.isEmpty ? digits : digits + "@" + application
    }

    /// The links lead out of two folders.
    private static func path(_ target: [UInt8]) -> [UInt8] {
        Array(target.dropFirst("../../".utf8.count))
    }

    private func target(_ name: String) throws(Errno) -> [UInt8] {
        try SymbolicLink.target(of: folder + "/" + name)
    }

    private func problem(_ error: Errno) -> BookmarkProblem {
        switch error.code {
        case EBADMSG: return .forged
        case EKEYREVOKED: return .revoked
        case ENOENT: return .deleted
        case EACCES:
            // The folder's own answer to those who may not look into it, or the token's.
            if access(folder.cPath, X_OK) == 0 { return .otherApplication }
            return .refused("\(point): only the owner of the mount has its bookmarks")
        case EROFS: return .refused("\(folder): \(error)")
        default: return .file("\(folder): \(error)")
        }
    }
}

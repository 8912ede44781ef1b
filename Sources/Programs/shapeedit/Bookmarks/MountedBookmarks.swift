import Coordination
import DocumentKit
import Glibc
import Model
import SystemCalls

/// The bookmarks of a mounted container, by system calls on the mount.
struct MountedBookmarks {
    private let point: String
    private var folder: String { point + "/.shapeedit/bookmarks" }

    init(_ point: String) { self.point = point }

    /// Where the container of this name is mounted; `nil` if nowhere. Another user's of that name
    /// counts only if this user has none.
    static func mountPoint(of container: String) -> String? {
        let points = MountTable.mountPoints().map { ($0, StatusCommand.text($0)) }.filter {
            StatusCommand.field("container", of: $0.1) == container
        }
        let own = try? Containers.path(container)
        if let mounted = points.last(where: { StatusCommand.field("folder", of: $0.1) == own }) {
            return mounted.0
        }
        return (try? Containers.exists(container)) == true ? nil : points.last?.0
    }

    /// A token of the document `file`; makes the bookmark unless there is one.
    static func create(_ file: String, for application: String) throws(Failure) -> String {
        let attribute = "user.shapeedit.bookmark"
        let reading = application.isEmpty ? attribute : attribute + "." + application
        do throws(Errno) {
            let container = try PathAttributes.value("user.shapeedit.container", of: file)
            try PathAttributes.set(attribute, Array(application.utf8), of: file)
            let digits = try PathAttributes.value(reading, of: file)
            return String(decoding: container, as: UTF8.self) + "."
                + String(decoding: digits, as: UTF8.self)
        } catch {
            switch error.code {
            case ENODATA, ENOTSUP:
                throw Failure(.usage, "\(file): it is not a document in a mounted container")
            case EPERM, EACCES: throw Failure(.noPermission, "\(file): only its owner may do that")
            case ENOENT, ENOTDIR: throw Failure(.noInput, "\(file): \(error)")
            default: throw Failure(.inputOutput, "\(file): \(error)")
            }
        }
    }

    /// The path of the token's document below the root.
    func resolve(_ token: BookmarkToken, for application: String) throws(Failure) -> [UInt8] {
        do throws(Errno) {
            return Self.path(try target(Self.name(token.text, application)))
        } catch { throw failure(error) }
    }

    func revoke(_ token: BookmarkToken, for application: String) throws(Failure) {
        do throws(Errno) {
            _ = try check { unlink(folder + "/" + Self.name(token.text, application)) }
        } catch { throw failure(error) }
    }

    func list() throws(Failure) -> [ListedBookmark] {
        do throws(Errno) {
            var list: [ListedBookmark] = []
            for name in try Directories.names(in: folder) {
                // One whose document went since is no more.
                guard let target = try? target(name) else { continue }
                let parts = name.split(separator: "@", maxSplits: 1)
                list.append(
                    ListedBookmark(
                        path: String(decoding: Self.path(target), as: UTF8.self),
                        application: parts.count > 1 ? String(parts[1]) : nil,
                        digits: String(parts[0])))
            }
            return list
        } catch { throw failure(error) }
    }

    private static func name(_ digits: String, _ application: String) -> String {
        application.isEmpty ? digits : digits + "@" + application
    }

    /// The links lead out of two folders.
    private static func path(_ target: [UInt8]) -> [UInt8] {
        Array(target.dropFirst("../../".utf8.count))
    }

    private func target(_ name: String) throws(Errno) -> [UInt8] {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try check { readlink(folder + "/" + name, &text, text.count) }
        return text[..<count].map { UInt8(bitPattern: $0) }
    }

    private func failure(_ error: Errno) -> Failure {
        switch error.code {
        case EBADMSG: return NamedToken.failure(.forged)
        case EKEYREVOKED: return NamedToken.failure(.revoked)
        case ENOENT: return NamedToken.failure(.deleted)
        case EACCES:
            // The folder's own answer to those who may not look into it, or the token's.
            if access(folder, X_OK) == 0 { return NamedToken.failure(.otherApplication) }
            return Failure(.noPermission, "\(point): only the owner of the mount has its bookmarks")
        default: return Failure(.inputOutput, "\(folder): \(error)")
        }
    }
}

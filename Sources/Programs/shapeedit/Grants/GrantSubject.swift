import DocumentFiles
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// A document that is granted: a path in a mount, or `CONTAINER:PATH`, mounted or not.
struct GrantSubject {
    private enum Place {
        case mounted(path: String)
        case closed(ClosedGrants, path: String)
    }
    private let place: Place
    /// As it was given.
    let text: String
    let container: String

    init(_ text: String) throws(Failure) {
        self.text = text
        var status = stat()
        if stat(text.cPath, &status) == 0 {
            container = try Self.container(of: text)
            place = .mounted(path: text)
            return
        }
        let reason = Errno.last
        guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else {
            throw Failure(text, reason)
        }
        let name = String(text[..<colon])
        guard try Containers.exists(name) else {
            throw Failure(.noInput, "\(text): there is no such file and no container \(name)")
        }
        let names = text[text.index(after: colon)...].split(separator: "/").filter { $0 != "." }
        let path = names.joined(separator: "/")
        if let point = NamedToken.mountPoint(of: name) {
            place = .mounted(path: try Self.place(of: names, below: point, text))
        } else {
            place = .closed(try ClosedGrants(name), path: path)
        }
        container = name
    }

    /// The path of a document that is named from the root of its container. Nothing leads out of there, or
    /// round: a container that is not mounted has no other way to it either.
    private static func place(
        of names: [Substring], below point: String, _ text: String
    ) throws(Failure) -> String {
        let path = point + names.map { "/" + $0 }.joined()
        guard let found = realpath(path.cPath, nil) else { throw Failure(text, Errno.last) }
        defer { free(found) }
        guard String(cPath: found) == path else {
            throw Failure(
                .usage,
                "\(text): a link or .. is on the way; name the document as the container has it")
        }
        return path
    }

    /// Where the document is in a mount; `nil` if its container is not mounted.
    var mountedPath: String? {
        if case .mounted(let path) = place { path } else { nil }
    }

    private static func container(of path: String) throws(Failure) -> String {
        do throws(Errno) {
            return String(
                decoding: try PathAttributes.value("user.shapeedit.container", of: path),
                as: UTF8.self)
        } catch {
            switch error.code {
            case ENODATA, ENOTSUP:
                throw Failure(.usage, "\(path): it is not a document in a mounted container")
            default: throw Failure(path, error)
            }
        }
    }

    private static func attribute(_ application: String) -> String {
        "user.shapeedit.grant." + application
    }

    /// Grants the document, in place of what was granted to the application before.
    func grant(to application: String, _ terms: GrantTerms) throws(Failure) {
        try Containers.check(application)
        if application == container {
            throw Failure(.usage, "\(text) is in the container \(application) already")
        }
        switch place {
        case .closed(let closed, let path): try closed.grant(path, to: application, terms)
        case .mounted(let path):
            do throws(Errno) {
                try MountAttributes.set(
                    Self.attribute(application), Array(terms.text.utf8), of: path)
            } catch { throw problem(error) }
        }
    }

    /// Takes the grants of these applications away, or all; those that were there.
    func revoke(from application: String?) throws(Failure) -> [String] {
        if let application { try Containers.check(application) }
        switch place {
        case .closed(let closed, let path): return try closed.revoke(path, from: application)
        case .mounted(let path):
            let applications: [String]
            if let application {
                applications = [application]
            } else {
                applications = try self.applications(at: path)
            }
            var revoked: [String] = []
            for application in applications {
                do throws(Errno) {
                    try MountAttributes.remove(Self.attribute(application), of: path)
                    revoked.append(application)
                } catch {
                    // That one has ended, or somebody else was faster: the others are still to go.
                    if error.code != ENODATA { throw problem(error) }
                }
            }
            return revoked
        }
    }

    /// Those that the document at a path is granted to.
    private func applications(at path: String) throws(Failure) -> [String] {
        let id: [UInt8]
        do throws(Errno) {
            id = try PathAttributes.value("user.shapeedit.id", of: path)
        } catch { throw problem(error) }
        let document = String(decoding: id, as: UTF8.self)
        return try ListedGrant.all(of: container).filter { $0.document == document }
            .map(\.application)
    }

    private func problem(_ error: Errno) -> Failure {
        switch error.code {
        case EISDIR: ClosedGrants.isFolder(text)
        case ENODEV: Failure(.usage, "\(text): it is not a document in a mounted container")
        case EPERM, EACCES:
            Failure(.noPermission, "\(text): only the owner of its container may do that")
        default: Failure(text, error)
        }
    }
}

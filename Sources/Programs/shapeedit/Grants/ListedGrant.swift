import Documents
import Glibc
import Model
import SystemCalls
import Varlink

/// A grant that holds, as it is listed.
struct ListedGrant {
    var container: String
    var document: String
    /// Below the root of the container.
    var path: String
    var application: String
    /// `read` or `write`.
    var access: String
    /// When it was granted: ISO 8601, UTC.
    var granted: String
    /// When it ends; `nil`: when it is revoked.
    var until: String?

    /// All grants of a container, asked of its mount or, where it is not mounted, of its catalog.
    static func all(of container: String) throws(Failure) -> [ListedGrant] {
        guard let point = NamedToken.mountPoint(of: container) else {
            return try ClosedGrants(container).list()
        }
        let path = point + "/.shapeedit/grants"
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            return try WholeFile.read(file, limit: 1 << 31)
                .split(separator: UInt8(ascii: "\n"))
                .compactMap { (try? JSONValue.readTolerantly(Array($0)))?.value.object }
                .compactMap { ListedGrant($0, of: container) }
        } catch {
            if error.code == EACCES || error.code == EPERM {
                throw Failure(.noPermission, "\(point): only the owner of the mount may look")
            }
            throw Failure(.inputOutput, "\(path): \(error)")
        }
    }

    private init?(_ object: JSONObject, of container: String) {
        guard let document = object["document"]?.string, let path = object.path("path"),
            let application = object["app"]?.string, let access = object["access"]?.string,
            let granted = object["granted"]?.string
        else { return nil }
        self.init(
            container: container, document: document, path: path, application: application,
            access: access, granted: granted, until: object["until"]?.string)
    }

    init(
        container: String, document: String, path: String, application: String, access: String,
        granted: String, until: String?
    ) {
        self.container = container
        self.document = document
        self.path = path
        self.application = application
        self.access = access
        self.granted = granted
        self.until = until
    }

    var json: String {
        var members = [("container", JSONText.string(container))]
        members += JSONText.path("path", path)
        members += [
            ("document", JSONText.string(document)), ("app", JSONText.string(application)),
            ("access", JSONText.string(access)), ("granted", JSONText.string(granted)),
            ("until", JSONText.string(until)),
        ]
        return JSONText.object(members)
    }
}

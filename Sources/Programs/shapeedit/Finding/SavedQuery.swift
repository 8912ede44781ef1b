import Coordination
import DocumentFiles
import Glibc
import Model
import SystemCalls

/// A query of a mount that has a name.
struct SavedQuery {
    private let mountPoint: String
    private let name: String

    init(_ mountPoint: String, _ name: String) {
        self.mountPoint = mountPoint
        self.name = name
    }

    /// Where its results are.
    var folder: String { mountPoint + "/.shapeedit/queries/" + name }
    /// For programs.
    var json: String {
        JSONText.object("path", at: folder, [("query", JSONText.string(name))])
    }
    private var attribute: String { "user.shapeedit.query." + name }

    func save(_ query: Query) throws(Failure) {
        do throws(Errno) {
            try MountAttributes.set(attribute, Array(query.description.utf8), of: mountPoint)
        } catch { throw failure(error) }
    }

    func forget() throws(Failure) {
        do throws(Errno) { try MountAttributes.remove(attribute, of: mountPoint) } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: Errno) -> Failure {
        switch error.code {
        case ENODEV: Failure.notMounted(mountPoint)
        case ENODATA: Failure(.noInput, "\(mountPoint): there is no query '\(name)'")
        case EACCES, EPERM:
            Failure(.noPermission, "\(mountPoint): you may not save queries here")
        case EROFS: Failure(mountPoint, error)
        case ERANGE, ENAMETOOLONG: Failure(.usage, "the name '\(name)' is too long")
        default: Failure(.inputOutput, "\(mountPoint): the query '\(name)': \(error)")
        }
    }
}

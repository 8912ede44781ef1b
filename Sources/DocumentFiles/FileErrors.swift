internal import Documents
internal import Editing
internal import Glibc
internal import Model
internal import SystemCalls

/// Errors of lower modules as failures that name the file.
extension Failure {
    init(_ path: String, _ error: Errno) {
        let kind: Failure.Kind =
            switch error.code {
            case ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG: .noInput
            case EACCES, EPERM, EROFS: .noPermission
            case EEXIST: .cannotCreate
            case EAGAIN, ETIMEDOUT, EINTR: .temporary
            default: .inputOutput
            }
        self.init(
            kind, "\(path): \(error)", isDiskFull: error.code == ENOSPC || error.code == EDQUOT)
    }

    init(_ path: String, _ error: DocumentError) { self.init(.badData, "\(path): \(error)") }

    init(_ path: String, _ error: EditError) {
        let kind: Failure.Kind =
            switch error.kind {
            case .usage: .usage
            default: .badData
            }
        self.init(kind, "\(path): \(error)")
    }
}

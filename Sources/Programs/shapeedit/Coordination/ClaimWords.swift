import DocumentKit
import Glibc
import Model
import PathText

extension Failure {
    /// The failure of a command that coordinates.
    init(_ error: CoordinationError) {
        let kind: Failure.Kind =
            switch error {
            case .timedOut, .deadlock, .cancelled, .tooMany, .claimLost: .temporary
            case .badPath(let path, _): Self.kind(ofBad: path)
            case .severalContainers: .usage
            case .unavailable: .unavailable
            case .notPermitted: .noPermission
            }
        self.init(kind, "\(error)")
    }

    /// What is wrong with a path that cannot be claimed. What a claim is for need not be there, but its folder
    /// has to.
    private static func kind(ofBad path: String) -> Failure.Kind {
        var code = access(path.cPath, R_OK) == 0 ? 0 : errno
        let folder = path.lastSlash == nil ? "." : path.parentPath
        if code == ENOENT, !path.isEmpty, MountTable.resolved(folder) != nil { code = 0 }
        return switch code {
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: .noInput
        case EACCES, EPERM: .noPermission
        default: .usage
        }
    }
}

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
            // What a claim is for need not be there, but its folder has to.
            case .badPath(let path, _):
                access(path.parentPath.cPath, F_OK) != 0 && errno == ENOENT ? .noInput : .usage
            case .severalContainers: .usage
            case .unavailable: .unavailable
            case .notPermitted: .noPermission
            }
        self.init(kind, "\(error)")
    }
}

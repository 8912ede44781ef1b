import DocumentKit
import Glibc
import Model
import PathText

extension Failure {
    /// The failure of a command that coordinates.
    init(_ error: CoordinationError) {
        func list(_ claimants: [Claimant]) -> String {
            claimants.isEmpty ? "" : ": " + claimants.map(\.sentence).joined(separator: "; ")
        }
        switch error {
        case .timedOut(let holders):
            self.init(.temporary, "the claim was not granted in time\(list(holders))")
        case .deadlock(let holders):
            self.init(
                .temporary, "the claim would wait for one that waits for it\(list(holders))")
        case .cancelled: self.init(.temporary, "the claim was cancelled")
        case .badPath(let path, let reason):
            // What a claim is for need not be there, but its folder has to.
            let isMissing = access(path.parentPath.cPath, F_OK) != 0 && errno == ENOENT
            self.init(isMissing ? .noInput : .usage, "\(path): \(reason)")
        case .severalContainers(let one, let other):
            self.init(
                .usage,
                "\(one) and \(other) are not in one mount: only what is can be had in one step")
        case .unavailable(let reason): self.init(.unavailable, reason)
        case .tooMany(let reason):
            self.init(.temporary, "\(reason); try again when some have ended")
        case .claimLost: self.init(.temporary, "the claim ended before the command")
        }
    }
}

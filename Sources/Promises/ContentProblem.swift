internal import Glibc
internal import Stores
package import SystemCalls

/// Why a content that is in the store did not come: the error for the system call, and the reason for
/// a person.
package struct ContentProblem: Error, Sendable {
    package let error: Errno
    package let reason: String

    package init(_ error: Errno, _ reason: String) {
        self.error = error
        self.reason = reason
    }

    /// The disk that holds the container failed.
    init(ofDisk error: Errno) { self.init(error, "the container's disk: \(error)") }

    init(_ error: StoreError) {
        switch error.kind {
        case .timedOut: self.error = Errno(ETIMEDOUT)
        case .cancelled: self.error = Errno(ECANCELED)
        default: self.error = Errno(EIO)
        }
        reason = error.description
    }
}

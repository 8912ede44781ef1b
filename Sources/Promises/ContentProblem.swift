internal import Glibc
internal import Stores
package import SystemCalls

/// Why a content that is in the store did not come: the error for the system call, and the reason for
/// a person.
package struct ContentProblem: Error, Sendable {
    package let error: Errno
    package let reason: String
    /// It was tried for as long as the store is waited for: who asks again waits so long again.
    package let isPatienceOver: Bool
    /// It lies with the store, and not with the content there or with this machine: it may come later.
    package let mayPass: Bool

    package init(_ error: Errno, _ reason: String) {
        self.error = error
        self.reason = reason
        isPatienceOver = false
        mayPass = false
    }

    /// Somebody did not want it any more.
    package static let cancelled = ContentProblem(Errno(ECANCELED), "cancelled")
    package var isCancelled: Bool { error.code == ECANCELED }

    /// What a process that waited is told: a cancellation is a failure to it.
    package var told: Errno { isCancelled ? Errno(EIO) : error }

    /// The disk that holds the container failed.
    init(ofDisk error: Errno) { self.init(error, "the container's disk: \(error)") }

    init(_ error: StoreError) {
        switch error.kind {
        case .timedOut: self.error = Errno(ETIMEDOUT)
        case .cancelled: self.error = Errno(ECANCELED)
        default: self.error = Errno(EIO)
        }
        reason = error.description
        isPatienceOver = error.isTransient
        mayPass =
            switch error.kind {
            // Credentials run out, and are renewed by others; so do certificates.
            case .denied, .refused, .unreachable, .timedOut: true
            case .absent, .corrupt, .full, .cancelled, .local: false
            }
    }
}

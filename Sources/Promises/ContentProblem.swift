internal import Glibc
internal import Stores
package import SystemCalls

/// Why a content that is in the store did not come: the error for the system call, and the reason for
/// a person.
package struct ContentProblem: Error, Sendable {
    /// What programs can tell apart, as `user.shapeedit.error.kind` says it.
    package enum Kind: String, Sendable {
        /// The store does not know who asks, or does not allow it.
        case denied
        /// The store answers, and does not have it.
        case lost
        /// The store has other bytes.
        case damaged
        /// The disk that holds the container failed, or is full.
        case disk
        case cancelled
        /// The store does not answer, or cannot now.
        case unavailable
    }

    package let error: Errno
    package let kind: Kind
    package let reason: String
    /// It was tried for as long as the store is waited for: who asks again waits so long again.
    package let isPatienceOver: Bool
    /// It lies with the store, and not with the content there or with this machine: it may come later.
    package let mayPass: Bool

    package init(_ error: Errno, _ reason: String, _ kind: Kind = .unavailable) {
        self.error = error
        self.kind = kind
        self.reason = reason
        isPatienceOver = false
        mayPass = false
    }

    /// Somebody did not want it any more.
    package static let cancelled = ContentProblem(Errno(ECANCELED), "cancelled", .cancelled)
    package var isCancelled: Bool { error.code == ECANCELED }

    /// What a process that waited is told: a cancellation is a failure to it.
    package var told: Errno { isCancelled ? Errno(EIO) : error }

    /// The disk that holds the container failed.
    init(ofDisk error: Errno) { self.init(error, "the container's disk: \(error)", .disk) }

    init(_ error: StoreError) {
        switch error.kind {
        case .timedOut: self.error = Errno(ETIMEDOUT)
        case .cancelled: self.error = Errno(ECANCELED)
        default: self.error = Errno(EIO)
        }
        kind =
            switch error.kind {
            case .denied: .denied
            case .absent: .lost
            case .corrupt: .damaged
            case .local: .disk
            case .cancelled: .cancelled
            case .unreachable, .timedOut, .full, .refused: .unavailable
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

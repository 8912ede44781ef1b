/// Why a content store could not do what it was asked: what kind of trouble, where, and the reason in
/// words for a person. Never holds credentials.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the caller can tell apart and act on.
    package enum Kind: Hashable, Sendable {
        /// The store answers, and has no such blob.
        case absent
        /// Nothing answers there, or the connection broke; also a folder whose disk is not mounted.
        case unreachable
        /// The store took longer than its bound, or the call's deadline passed.
        case timedOut
        /// The store does not know who asks, or does not allow it.
        case denied
        /// Bytes are not those the blob's hash or size promise.
        case corrupt
        /// No room in the store.
        case full
        /// The call's ``Cancellation`` was cancelled.
        case cancelled
        /// Any other refusal; the HTTP status, or 0 where there is none.
        case refused(status: Int)
        /// The caller's own source or sink failed, not the store: for instance its disk is full.
        case local
    }

    package let kind: Kind
    /// The store's address, without anything secret.
    package let address: String
    package let reason: String
    /// Seconds the store asked to be left alone, from `Retry-After`.
    package let retryAfter: Double?

    package init(_ kind: Kind, at address: String, _ reason: String, retryAfter: Double? = nil) {
        self.kind = kind
        self.address = address
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package var description: String { "\(address): \(reason)" }

    /// Whether the same call may well succeed a little later.
    package var isTransient: Bool {
        switch kind {
        case .unreachable, .timedOut: true
        case .refused(let status): [408, 409, 423, 425, 429, 500, 502, 503, 504].contains(status)
        case .absent, .denied, .corrupt, .full, .cancelled, .local: false
        }
    }
}

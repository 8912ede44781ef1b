/// The bounds of one request to a server. Time spent in the caller's own source and sink is not
/// counted.
package struct Timeouts: Sendable {
    /// Seconds until there is a connection, with TLS.
    package var connect = 10.0
    /// Seconds without a byte in either direction.
    package var stall = 30.0
    /// Seconds until the answer's head is whole, counted from when the request has been sent.
    package var answer = 60.0
    /// Bytes a second that a transfer must have reached on average when it has lasted longer than
    /// twice `answer`.
    package var slowest = 256.0

    package init() {}
}

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

    /// Bytes that a server must read in the time of one `stall`.
    package static let leastRead = 20.0 * 1024
    /// Bytes that the system of a server takes for it, at most: they have arrived, and nobody but the server
    /// sees it read them.
    package static let unread = 128.0 * 1024

    package init() {}

    /// Seconds for which nothing may be seen to move while a server reads what was sent to it.
    ///
    /// - Parameter sent: bytes of the request that have gone.
    func reading(_ sent: Int64) -> Double {
        stall * min(Double(sent), Self.unread) / Self.leastRead
    }
}

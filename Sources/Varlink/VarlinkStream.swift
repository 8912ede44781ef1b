/// The replies to a call that has many. They are taken one by one when the client has read those before,
/// so that what it does not read is kept by the source, which knows how much that may be.
package protocol VarlinkStream: AnyObject, Sendable {
    /// The next reply. On the server's thread; must not wait.
    func next() -> VarlinkPiece
}

/// What a stream has.
package enum VarlinkPiece: Sendable {
    /// The message of a reply that others follow, without its end.
    case message([UInt8])
    /// The last reply; the call is over.
    case last(VarlinkReply)
    /// Nothing now; `VarlinkReplier.wake` says when there is.
    case nothing
    /// The client reads so slowly that something was dropped: its connection is closed.
    case overfull
}

extension VarlinkReply {
    /// The message of a reply that others follow, without its end.
    ///
    /// - Parameter parameters: a JSON object.
    package static func message(_ parameters: [UInt8]) -> [UInt8] {
        var bytes = Array("{\"parameters\": ".utf8)
        bytes.reserveCapacity(parameters.count + 64)
        bytes += parameters
        bytes += ", \"continues\": true}".utf8
        return bytes
    }
}

internal import Coordination
internal import Documents
internal import SystemCalls
internal import Varlink

/// Who has what. There may be thousands of claims, with hundreds of long paths each: no reply has more of them
/// than others have to wait for.
extension ControlSocket {
    /// Bytes of a list in one reply, about.
    static let longestList = 1 << 20
    /// Bytes of one of many replies, about.
    fileprivate static let portion = 128 << 10

    /// - Parameter isStream: the caller takes several replies.
    func list(_ reply: VarlinkReplier, asStream isStream: Bool) {
        let claims = ClaimReplies(volume.coordinator.listings)
        if isStream { return reply.send(claims) }
        reply.send(VarlinkReply(claims.take(Self.longestList).parameters))
    }

    func tellHolders(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let path = parameters.path("path").flatMap({ ClaimPath($0) }) else {
            return reply.send(VarlinkError.invalidParameter("path"))
        }
        let holders = volume.holders(of: path, for: reply.peer.process)
        reply.send(
            VarlinkReply([
                "holders": .array(Self.values(holders[...], Self.longestList, Self.claimant))
            ]))
    }

    /// The first of a list: one, and as many as so many bytes take.
    static func values(
        _ list: ArraySlice<ClaimListing>, _ most: Int, _ object: (ClaimListing) -> JSONObject
    ) -> [JSONValue] {
        var values: [JSONValue] = []
        var room = most
        for listing in list {
            let value = JSONValue.object(object(listing))
            room -= value.line.count
            if room < 0, !values.isEmpty { break }
            values.append(value)
        }
        return values
    }

    static func claimant(_ listing: ClaimListing) -> JSONObject {
        let kind: String
        switch listing.origin {
        case .coordinated: kind = listing.targets.isEmpty ? "presenter" : "claim"
        case .opening, .naming: kind = "operation"
        case .session: kind = "writing"
        case .locking: kind = "lock"
        }
        let now = WallClock.now
        let age = Double(MonotonicClock.now &- listing.since) / 1e9
        let since = Double(now.seconds) + Double(now.nanoseconds) / 1e9 - age
        return [
            "process": .integer(Int(listing.holder.process)),
            "command": .string(listing.holder.command), "kind": .string(kind),
            "state": .string(listing.phase.rawValue),
            "since": .number((since * 1000).rounded() / 1000),
            "targets": .array(
                listing.targets.map { target -> JSONValue in
                    var object = JSONObject()
                    object.setPath("path", target.path.description)
                    object["access"] = .string(target.access.rawValue)
                    return .object(object)
                }),
        ]
    }
}

/// All claims of a moment on their way to a client.
private final class ClaimReplies: VarlinkStream {
    private let rest: Lock<ArraySlice<ClaimListing>>

    init(_ claims: [ClaimListing]) { rest = Lock(claims[...]) }

    func next() -> VarlinkPiece {
        let (parameters, isWhole) = take(ControlSocket.portion)
        if isWhole { return .last(VarlinkReply(parameters)) }
        return .message(VarlinkReply.message(JSONValue.object(parameters).line))
    }

    /// The next of them, as many as so many bytes take; whether those were the last.
    func take(_ most: Int) -> (parameters: JSONObject, isWhole: Bool) {
        rest.withLock { rest in
            let claims = ControlSocket.values(rest, most) { listing in
                [
                    "claim": .integer(Int(listing.id.rawValue)),
                    "claimant": .object(ControlSocket.claimant(listing)),
                ]
            }
            rest = rest.dropFirst(claims.count)
            return (
                ["claims": .array(claims), "complete": .boolean(rest.isEmpty)], rest.isEmpty
            )
        }
    }
}

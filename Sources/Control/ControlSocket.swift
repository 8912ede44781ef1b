internal import Coordination
internal import Documents
package import FileSystem
internal import Glibc
package import Model
internal import SystemCalls
package import Varlink

/// The socket of a mount by which programs ask for claims and register as presenters.
///
/// Its interface is described in `Interface/org.shapeedit.Control.varlink`, its rules in the
/// Coordination page. The methods run on the server's thread.
package final class ControlSocket: VarlinkService {
    /// What a connection has.
    struct Holdings {
        var claims: Set<ClaimID> = []
        var presenters: Set<PresenterID> = []
        /// Ends what is followed for it.
        var end: (@Sendable () -> Void)?
    }

    /// A purpose that clients named, as long as a claim has it.
    struct NamedPurpose {
        var purpose: ClaimPurpose
        var claims: Int
    }

    struct State {
        var holdings: [VarlinkClientID: Holdings] = [:]
        var presenters: [PresenterID: VarlinkPeer] = [:]
        var purposes: [String: NamedPurpose] = [:]
        var purposeNames: [ClaimID: String] = [:]
        var nextPurpose: UInt64 = 1

        /// Connections that present or follow something, which goes on until they end.
        var followers: Int {
            holdings.values.count { !$0.presenters.isEmpty || $0.end != nil }
        }
    }

    /// Connections that go on, at most, so that those find room that ask for a claim and end with it.
    static let mostFollowers = Descriptors.clients / 16 * 15
    /// Targets of one claim at most.
    package static let mostTargets = 256
    /// Bytes of a purpose's name at most.
    package static let longestPurpose = 1_024
    /// How long a claim waits that does not say, and any waits at most, in milliseconds.
    package static let usualPatience = 30_000
    package static let mostPatience = 3_600_000

    let volume: Volume
    let state = Lock(State())
    private let version: String
    private let server: Lock<VarlinkServer?>

    /// Listens for the mount of the volume; ``stop()`` ends it.
    package init(_ volume: Volume, at path: String, version: String) throws(Failure) {
        self.volume = volume
        self.version = version
        server = Lock(nil)
        let made = try VarlinkServer(at: path, self)
        server.withLock { $0 = made }
        volume.noteControl(path)
    }

    package func start() { server.withLock { $0 }?.start() }

    /// Closes all connections; what they held ends.
    package func stop() { server.withLock { $0 }?.stop() }

    // MARK: Service

    package let interfaces = [
        "org.shapeedit.Control": String(
            decoding: PackageResources.org_shapeedit_Control_varlink, as: UTF8.self)
    ]

    package var product: (vendor: String, name: String, version: String, url: String) {
        ("ShapeEdit", "shapeedit", version, "https://varlink.org")
    }

    package func refusal(_ limit: Int) -> VarlinkReply {
        VarlinkReply(error: "org.shapeedit.Control.TooManyClients", ["limit": .integer(limit)])
    }

    package func handle(_ call: VarlinkCall, _ reply: VarlinkReplier) {
        switch call.method {
        case "org.shapeedit.Control.Claim": claim(call.parameters, reply)
        case "org.shapeedit.Control.Release": release(call.parameters, reply)
        case "org.shapeedit.Control.Claims": list(reply, asStream: call.more)
        case "org.shapeedit.Control.Holders": tellHolders(call.parameters, reply)
        case "org.shapeedit.Control.Present", "org.shapeedit.Control.Query",
            "org.shapeedit.Control.Events", "org.shapeedit.Control.Progress":
            if call.more { follow(call, reply) } else { reply.send(VarlinkError.expectedMore) }
        case "org.shapeedit.Control.Prepared": prepared(call.parameters, reply)
        case "org.shapeedit.Control.Status": tellStatus(reply)
        default: reply.send(VarlinkError.methodNotFound(call.method))
        }
    }

    /// The calls that have replies until the connection ends.
    private func follow(_ call: VarlinkCall, _ reply: VarlinkReplier) {
        if state.withLock({ $0.followers }) >= Self.mostFollowers {
            return reply.send(Self.tooMany(Self.mostFollowers))
        }
        switch call.method {
        case "org.shapeedit.Control.Present": present(call.parameters, reply)
        case "org.shapeedit.Control.Query": query(call.parameters, reply)
        case "org.shapeedit.Control.Events": events(call.parameters, reply)
        default: progress(reply)
        }
    }

    package func ended(_ client: VarlinkClientID) {
        let holdings = state.withLock { state -> Holdings? in
            guard let holdings = state.holdings.removeValue(forKey: client) else { return nil }
            for claim in holdings.claims { state.forget(claim) }
            for presenter in holdings.presenters { state.presenters[presenter] = nil }
            return holdings
        }
        guard let holdings else { return }
        volume.coordinator.release(Array(holdings.claims))
        for presenter in holdings.presenters { volume.dismiss(presenter) }
        holdings.end?()
    }

    private func tellStatus(_ reply: VarlinkReplier) {
        let status = (try? JSONValue.read(volume.statusText()))?.object ?? [:]
        reply.send(VarlinkReply(["status": .object(status)]))
    }
}

extension ControlSocket.State {
    /// The purpose of a claim that is about to be asked for.
    mutating func purpose(_ name: String?) -> ClaimPurpose {
        if let name, let known = purposes[name] {
            purposes[name]?.claims += 1
            return known.purpose
        }
        let purpose = ClaimPurpose(rawValue: nextPurpose)
        nextPurpose += 1
        if let name { purposes[name] = .init(purpose: purpose, claims: 1) }
        return purpose
    }

    /// A claim that had the purpose has ended, or was not made.
    mutating func dropPurpose(_ name: String?) {
        guard let name, let left = purposes[name].map({ $0.claims - 1 }) else { return }
        if left > 0 { purposes[name]?.claims = left } else { purposes[name] = nil }
    }

    mutating func forget(_ claim: ClaimID) {
        dropPurpose(purposeNames.removeValue(forKey: claim))
    }
}

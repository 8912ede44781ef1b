internal import Coordination
internal import Documents
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func claim(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let list = parameters["targets"]?.array, !list.isEmpty else {
            return reply.send(VarlinkError.invalidParameter("targets"))
        }
        if list.count > Self.mostTargets { return reply.send(Self.tooMany(Self.mostTargets)) }
        var targets: [ClaimTarget] = []
        var inner: [ClaimPath] = []
        for value in list {
            guard let target = value.object.flatMap(ClaimTarget.init) else {
                return reply.send(VarlinkError.invalidParameter("targets"))
            }
            targets.append(ClaimTarget(target.path.document, target.access))
            inner.append(target.path.inner)
        }
        for target in targets {
            guard let owner = volume.grantedOwner(at: target.path) else { continue }
            // A claim here would keep nobody out.
            return reply.send(
                Self.failed(
                    "\(target.path): the container \(owner) has it: claims on it are made there"))
        }
        guard let name = Self.optional(parameters["purpose"], \.string),
            name?.utf8.count ?? 0 <= Self.longestPurpose
        else {
            return reply.send(VarlinkError.invalidParameter("purpose"))
        }
        guard let number = Self.optional(parameters["presenter"], \.integer) else {
            return reply.send(VarlinkError.invalidParameter("presenter"))
        }
        guard let patience = Self.optional(parameters["timeoutMilliseconds"], \.integer),
            patience ?? 0 >= 0
        else { return reply.send(VarlinkError.invalidParameter("timeoutMilliseconds")) }
        guard let isNested = Self.optional(parameters["nested"], \.boolean) else {
            return reply.send(VarlinkError.invalidParameter("nested"))
        }
        let presenter = number.map { PresenterID(rawValue: UInt64(clamping: $0)) }
        if let presenter, !owns(presenter, reply.peer) {
            return reply.send(Self.noSuchPresenter(number ?? 0))
        }
        let milliseconds = min(patience ?? Self.usualPatience, Self.mostPatience)
        var request = ClaimRequest(
            targets, purpose: state.withLock { $0.purpose(name) },
            holder: Self.holder(reply.peer), isNested: isNested ?? false, presenter: presenter,
            line: reply.client.serial,
            deadline: MonotonicClock.after(milliseconds: UInt64(milliseconds)))
        request.inner = inner
        ask(request, name, reply)
    }

    /// - Parameter name: of the request's purpose.
    private func ask(_ request: ClaimRequest, _ name: String?, _ reply: VarlinkReplier) {
        // Targets that the volume added are none of the caller's.
        let count = request.targets.count
        let decide: @Sendable (ClaimID, Coordinator.Outcome) -> Void = { [self] id, outcome in
            switch outcome {
            case .granted(let paths):
                var answer: JSONObject = ["claim": .integer(Int(id.rawValue))]
                answer.setPaths("paths", paths.prefix(count).map(\.description))
                reply.send(VarlinkReply(answer))
            case .refused(let refusal):
                state.withLock { state in
                    state.forget(id)
                    state.holdings[reply.client]?.claims.remove(id)
                }
                reply.send(Self.reply(refusal))
            }
        }
        // Noted before anybody can be told that it is granted, and so release it.
        let answer = state.withLock { state -> Coordinator.Answer? in
            let answer = volume.claim(request, reply: decide)
            guard let answer else {
                state.dropPurpose(name)
                return nil
            }
            state.holdings[reply.client, default: .init()].claims.insert(answer.id)
            state.purposeNames[answer.id] = name
            return answer
        }
        guard let answer else { return reply.send(Self.tooMany(Coordinator.mostClaims)) }
        if let outcome = answer.outcome { decide(answer.id, outcome) }
    }

    func release(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let number = parameters["claim"]?.integer else {
            return reply.send(VarlinkError.invalidParameter("claim"))
        }
        let id = ClaimID(rawValue: UInt64(clamping: number))
        let isOwn = state.withLock { state -> Bool in
            guard state.holdings[reply.client]?.claims.remove(id) != nil else { return false }
            state.forget(id)
            return true
        }
        guard isOwn else {
            return reply.send(
                VarlinkReply(
                    error: "org.shapeedit.Control.NoSuchClaim", ["claim": .integer(number)]))
        }
        volume.coordinator.release([id])
        reply.send(VarlinkReply())
    }

    // MARK: Values

    static func holder(_ peer: VarlinkPeer) -> ClaimHolder {
        ClaimHolder(process: peer.process, command: CallerProcess.command(of: peer.process))
    }

    static func tooMany(_ limit: Int) -> VarlinkReply {
        VarlinkReply(error: "org.shapeedit.Control.TooMany", ["limit": .integer(limit)])
    }

    static func failed(_ reason: String) -> VarlinkReply {
        VarlinkReply(error: "org.shapeedit.Control.Failed", ["reason": .string(reason)])
    }

    /// The value of a parameter that may be missing; `nil` if it is there and no such value.
    private static func optional<Value>(
        _ parameter: JSONValue?, _ value: (JSONValue) -> Value?
    ) -> Value?? {
        guard let parameter, parameter != .null else { return .some(nil) }
        return value(parameter).map { .some($0) }
    }

    private static func reply(_ refusal: ClaimRefusal) -> VarlinkReply {
        func holders(_ list: [ClaimListing]) -> JSONObject {
            ["holders": .array(values(list[...], Self.longestList, claimant))]
        }
        switch refusal {
        case .timedOut(let list):
            return VarlinkReply(error: "org.shapeedit.Control.TimedOut", holders(list))
        case .deadlock(let list):
            return VarlinkReply(error: "org.shapeedit.Control.Deadlock", holders(list))
        case .cancelled: return VarlinkReply(error: "org.shapeedit.Control.Ending")
        }
    }
}

extension ClaimTarget {
    fileprivate init?(_ object: JSONObject) {
        guard let path = object.path("path").flatMap({ ClaimPath($0) }),
            let access = object["access"]?.string.flatMap(ClaimAccess.init)
        else { return nil }
        self.init(path, access)
    }
}

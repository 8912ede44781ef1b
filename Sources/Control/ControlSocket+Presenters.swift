internal import Coordination
internal import Documents
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func present(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let path = parameters.path("path").flatMap({ ClaimPath($0) }) else {
            return reply.send(VarlinkError.invalidParameter("path"))
        }
        let id = state.withLock { state -> PresenterID? in
            let holder = Self.holder(reply.peer)
            let id = volume.coordinator.present(path.document, holder) { message in
                reply.send(Self.reply(message.object))
            }
            guard let id else { return nil }
            state.holdings[reply.client, default: .init()].presenters.insert(id)
            state.presenters[id] = reply.peer
            return id
        }
        guard let id else { return reply.send(Self.tooMany(Coordinator.mostPresenters)) }
        volume.follow(id, at: path.document)
        reply.send(
            Self.reply(["kind": .string("registered"), "presenter": .integer(Int(id.rawValue))]))
    }

    func prepared(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let number = parameters["presenter"]?.integer else {
            return reply.send(VarlinkError.invalidParameter("presenter"))
        }
        guard let claim = parameters["claim"]?.integer else {
            return reply.send(VarlinkError.invalidParameter("claim"))
        }
        let presenter = PresenterID(rawValue: UInt64(clamping: number))
        guard owns(presenter, reply.peer) else { return reply.send(Self.noSuchPresenter(number)) }
        volume.coordinator.answer(presenter, ClaimID(rawValue: UInt64(clamping: claim)))
        reply.send(VarlinkReply())
    }

    /// Whether the presenter is one of the process's: it may answer for it on any connection.
    func owns(_ presenter: PresenterID, _ peer: VarlinkPeer) -> Bool {
        state.withLock { $0.presenters[presenter] } == peer
    }

    static func noSuchPresenter(_ number: Int) -> VarlinkReply {
        VarlinkReply(
            error: "org.shapeedit.Control.NoSuchPresenter", ["presenter": .integer(number)])
    }

    private static func reply(_ message: JSONObject) -> VarlinkReply {
        VarlinkReply(["message": .object(message)], continues: true)
    }
}

extension PresenterMessage {
    /// The message as the interface describes it.
    fileprivate var object: JSONObject {
        func make(_ kind: String, _ path: ClaimPath? = nil) -> JSONObject {
            var object: JSONObject = ["kind": .string(kind)]
            if let path { object.setPath("path", path.description) }
            return object
        }
        var object: JSONObject
        switch self {
        case .prepare(let claim, let preparation):
            object = make("prepare")
            object["claim"] = .integer(Int(claim.rawValue))
            object["lets"] = .string(preparation.lets.rawValue)
            object["saveChanges"] = .boolean(preparation.saves)
            object["accommodateDeletion"] = .boolean(preparation.accommodatesDeletion)
        case .prepareDeletion(let claim, let path):
            object = make("prepareDeletion", path)
            object["claim"] = .integer(Int(claim.rawValue))
        case .resume(let claim):
            object = make("resume")
            object["claim"] = .integer(Int(claim.rawValue))
        case .changed: object = make("changed")
        case .moved(let path): object = make("moved", path)
        case .deleted: object = make("deleted")
        case .subitemAppeared(let path): object = make("subitemAppeared", path)
        case .subitemChanged(let path): object = make("subitemChanged", path)
        case .subitemMoved(let path, let target):
            object = make("subitemMoved", path)
            object.setPath("newPath", target.description)
        case .subitemDeleted(let path): object = make("subitemDeleted", path)
        case .versionGained: object = make("versionGained")
        case .versionLost: object = make("versionLost")
        case .versionConflict: object = make("versionConflict")
        }
        return object
    }
}

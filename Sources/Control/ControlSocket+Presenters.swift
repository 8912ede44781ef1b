internal import Coordination
internal import Documents
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func present(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let path = parameters.path("path").flatMap({ ClaimPath($0) }) else {
            return reply.send(VarlinkError.invalidParameter("path"))
        }
        let messages = PresenterMessages { reply.send(Self.reply($0.object)) }
        let holder = Self.holder(reply.peer)
        let id = state.withLock { state -> PresenterID? in
            let id = volume.coordinator.present(path, holder) { messages.send($0) }
            guard let id else { return nil }
            state.holdings[reply.client, default: .init()].presenters.insert(id)
            state.presenters[id] = reply.peer
            return id
        }
        guard let id else { return reply.send(Self.tooMany(Coordinator.mostPresenters)) }
        volume.follow(id, at: path.document)
        messages.begin {
            let number = JSONValue.integer(Int(id.rawValue))
            reply.send(Self.reply(["kind": .string("registered"), "presenter": number]))
        }
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

/// Messages on their way to a presenter. What happens before it knows its number waits for that.
private final class PresenterMessages: Sendable {
    private let waiting = Lock<[PresenterMessage]?>([])
    private let pass: @Sendable (PresenterMessage) -> Void

    /// - Parameter pass: sends one; never waits.
    init(_ pass: @escaping @Sendable (PresenterMessage) -> Void) { self.pass = pass }

    func send(_ message: PresenterMessage) {
        // Passed on under the lock, which keeps their order.
        waiting.withLock { waiting in
            guard waiting != nil else { return pass(message) }
            waiting?.append(message)
        }
    }

    /// The presenter is told its number, then what waits.
    func begin(_ register: () -> Void) {
        waiting.withLock { waiting in
            register()
            for message in waiting ?? [] { pass(message) }
            waiting = nil
        }
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

internal import FileSystem
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func progress(_ reply: VarlinkReplier) {
        let replies = ProgressReplies(volume, reply)
        state.withLock { $0.holdings[reply.client, default: .init()].end = { replies.end() } }
        reply.send(replies)
        replies.look()
    }
}

/// Progress on its way to a client: who reads slowly gets the newest only.
private final class ProgressReplies: VarlinkStream {
    /// How often it is told, in milliseconds.
    private static let pace: UInt64 = 500

    private struct State {
        var told = ""
        var next: String?
        var hasEnded = false
    }
    private let state = Lock(State())
    private let volume: Volume
    private let reply: VarlinkReplier

    init(_ volume: Volume, _ reply: VarlinkReplier) { (self.volume, self.reply) = (volume, reply) }

    /// Looks now and again until the end.
    func look() {
        let text = volume.progressText()
        let (isNews, hasEnded) = state.withLock { state -> (Bool, Bool) in
            state.next = text == state.told ? nil : text
            return (state.next != nil, state.hasEnded)
        }
        if hasEnded { return }
        if isNews { reply.wake() }
        volume.after(milliseconds: Self.pace) { [self] in look() }
    }

    func end() { state.withLock { $0.hasEnded = true } }

    func next() -> VarlinkPiece {
        state.withLock { state in
            guard let text = state.next else { return .nothing }
            (state.told, state.next) = (text, nil)
            return .message(VarlinkReply.message(Array(text.utf8)))
        }
    }
}

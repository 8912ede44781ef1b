internal import Documents
internal import FileSystem
internal import Model
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func events(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        var after: ChangeSequence?
        if let value = parameters["after"], value != .null {
            // A change that has not been made yet cannot be known.
            guard let number = value.integer, number >= 0,
                ChangeSequence(number) <= volume.lastChange
            else { return reply.send(VarlinkError.invalidParameter("after")) }
            after = ChangeSequence(number)
        }
        let events = volume.events
        let handle = events.open(after: after) { reply.wake() }
        state.withLock {
            $0.holdings[reply.client, default: .init()].end = { events.close(handle) }
        }
        reply.send(EventReplies(events, handle))
    }
}

/// Events on their way to a client. Who reads slowly is told that it lost some.
private final class EventReplies: VarlinkStream {
    private let events: VolumeEvents
    private let handle: UInt64

    init(_ events: VolumeEvents, _ handle: UInt64) { (self.events, self.handle) = (events, handle) }

    func next() -> VarlinkPiece {
        guard let lines = events.takeLines(handle) else {
            return .last(VarlinkReply(error: "org.shapeedit.Control.Ending"))
        }
        if lines.isEmpty { return .nothing }
        var text = Array("{\"events\": [".utf8)
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            if text.last == UInt8(ascii: "}") { text += ", ".utf8 }
            text += line
        }
        text += "]}".utf8
        return .message(VarlinkReply.message(text))
    }
}

internal import CSystemShim
internal import Glibc
internal import SystemCalls

/// Replies on their way from any thread to the server's. The descriptor is readable when there are
/// some.
final class VarlinkOutbox: Sendable {
    private struct State {
        var replies: [(client: VarlinkClientID, bytes: [UInt8], isLast: Bool)] = []
        var sizes: [VarlinkClientID: Int] = [:]
        /// Clients of whose replies some were dropped.
        var overfull: Set<VarlinkClientID> = []
        /// Clients whose streams may have something, with the stream if it is new.
        var streams: [VarlinkClientID: (any VarlinkStream)?] = [:]
        var ended = false
    }
    private let state = Lock(State())
    private let event: OwnedDescriptor
    /// Bytes that wait here for one client, at most, unless it is one reply; the server looks more often
    /// than they come.
    private static let most = 8 << 20

    init() throws(Errno) {
        event = OwnedDescriptor(adopting: try check { shim_signal_descriptor() })
    }

    var number: Int32 { event.number }
    var isEnded: Bool { state.withLock { $0.ended } }

    func put(_ bytes: [UInt8], to client: VarlinkClientID, isLast: Bool) {
        state.withLock { state in
            let waiting = state.sizes[client, default: 0]
            if waiting > 0, waiting + bytes.count > Self.most { state.overfull.insert(client) }
            if state.overfull.contains(client) { return }
            state.sizes[client] = waiting + bytes.count
            state.replies.append((client, bytes, isLast))
        }
        wake()
    }

    /// Replies come from a stream.
    func put(_ stream: any VarlinkStream, to client: VarlinkClientID) {
        state.withLock { $0.streams[client] = .some(stream) }
        wake()
    }

    /// The client's stream may have something.
    func wake(_ client: VarlinkClientID) {
        let isFirst = state.withLock { state -> Bool in
            if state.streams[client] != nil { return false }
            state.streams[client] = .some(nil)
            return true
        }
        if isFirst { wake() }
    }

    /// All replies since the last time, in order, and the streams that may have some.
    func take() -> (
        replies: [(client: VarlinkClientID, bytes: [UInt8], isLast: Bool)],
        streams: [VarlinkClientID: (any VarlinkStream)?]
    ) {
        var count: UInt64 = 0
        _ = read(number, &count, 8)
        return state.withLock { state in
            defer { (state.replies, state.sizes, state.streams) = ([], [:], [:]) }
            return (state.replies, state.streams)
        }
    }

    /// Whether so much came for a client that some of it was dropped.
    func isOverfull(_ client: VarlinkClientID) -> Bool {
        state.withLock { $0.overfull.contains(client) }
    }

    func forget(_ client: VarlinkClientID) {
        state.withLock { state in
            state.sizes[client] = nil
            state.overfull.remove(client)
            state.streams[client] = nil
            state.replies.removeAll { $0.client == client }
        }
    }

    func end() {
        state.withLock { $0.ended = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        write(number, &one, 8)
    }
}

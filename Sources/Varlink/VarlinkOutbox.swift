internal import CSystemShim
internal import Glibc
internal import SystemCalls

/// Replies on their way from any thread to the server's. The descriptor is readable when there are
/// some.
final class VarlinkOutbox: Sendable {
    private struct State {
        var replies: [(client: VarlinkClientID, bytes: [UInt8], isLast: Bool)] = []
        var sizes: [VarlinkClientID: Int] = [:]
        var ended = false
    }
    private let state = Lock(State())
    private let event: OwnedDescriptor
    /// Bytes that wait here for one client, at most; the server looks more often than they come.
    private static let most = 8 << 20

    init() throws(Errno) {
        event = OwnedDescriptor(adopting: try check { shim_signal_descriptor() })
    }

    var number: Int32 { event.number }
    var isEnded: Bool { state.withLock { $0.ended } }

    func put(_ bytes: [UInt8], to client: VarlinkClientID, isLast: Bool) {
        state.withLock { state in
            let size = state.sizes[client, default: 0] + bytes.count
            state.sizes[client] = size
            if size <= Self.most { state.replies.append((client, bytes, isLast)) }
        }
        wake()
    }

    /// All replies since the last time, in order.
    func take() -> [(client: VarlinkClientID, bytes: [UInt8], isLast: Bool)] {
        var count: UInt64 = 0
        _ = read(number, &count, 8)
        return state.withLock { state in
            defer { state.replies = [] }
            for (client, size) in state.sizes where size <= Self.most { state.sizes[client] = nil }
            return state.replies
        }
    }

    /// Whether so much came for a client that some of it was dropped.
    func isOverfull(_ client: VarlinkClientID) -> Bool {
        state.withLock { $0.sizes[client, default: 0] > Self.most }
    }

    func forget(_ client: VarlinkClientID) {
        state.withLock { state in
            state.sizes[client] = nil
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

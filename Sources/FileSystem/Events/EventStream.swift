internal import CFuseShim
internal import Coordination
internal import Glibc
internal import SystemCalls

/// One open file of `.shapeedit/events`: lines that wait for a read, or a read that waits for lines.
///
/// Any thread. Answers run with no lock held.
final class EventStream: Sendable {
    /// With so many bytes unread no further lines are made.
    static let most = 64 << 10

    private struct Parked {
        /// `nil` before the request waits.
        var request: Request?
        var size = 0
        var isInterrupted = false
    }
    private struct State {
        var bytes: [UInt8] = []
        /// Bytes of ``bytes`` that have been read.
        var read = 0
        /// By number; answered in their order.
        var parked: [UInt64: Parked] = [:]
        var nextNumber: UInt64 = 1
        var poll: OpaquePointer?
        var ended = false

        var left: Int { bytes.count - read }
    }
    private let state = Lock(State())
    /// Called when there are lines, or no more come; for who takes them by ``takeLines()``.
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void = {}) { self.wake = wake }

    /// Whether more lines are wanted.
    var wantsLines: Bool { state.withLock { !$0.ended && $0.left < Self.most } }

    // MARK: Lines come

    /// Adds whole lines, and answers who waits for them.
    func append(_ lines: [UInt8]) {
        if lines.isEmpty { return }
        let (answers, poll) = state.withLock { state -> ([(Request, [UInt8])], OpaquePointer?) in
            if state.read > Self.most {
                state.bytes.removeFirst(state.read)
                state.read = 0
            }
            state.bytes += lines
            var answers: [(Request, [UInt8])] = []
            for number in state.parked.keys.sorted() where state.left > 0 {
                guard let parked = state.parked[number], let request = parked.request else {
                    continue
                }
                state.parked[number] = nil
                answers.append((request, Self.take(parked.size, &state)))
            }
            defer { state.poll = nil }
            return (answers, state.poll)
        }
        for (request, bytes) in answers { request.answer(bytes) }
        Self.notify(poll)
        wake()
    }

    /// The lines that wait; `nil` if there are none and no more come.
    func takeLines() -> [UInt8]? {
        state.withLock { $0.left == 0 && $0.ended ? nil : Self.take(.max >> 1, &$0) }
    }

    /// Whole lines as far as they fit; a part of one that does not fit alone.
    private static func take(_ size: Int, _ state: inout State) -> [UInt8] {
        var end = min(state.read + size, state.bytes.count)
        if end < state.bytes.count,
            let last = state.bytes[state.read..<end].lastIndex(of: UInt8(ascii: "\n"))
        {
            end = last + 1
        }
        defer {
            state.read = end
            if state.read == state.bytes.count {
                state.bytes = []
                state.read = 0
            }
        }
        return Array(state.bytes[state.read..<end])
    }

    // MARK: Reads

    /// A number for a read that is coming, so that it can be interrupted from now on.
    func expect() -> UInt64 {
        state.withLock { state in
            defer { state.nextNumber += 1 }
            state.parked[state.nextNumber] = Parked()
            return state.nextNumber
        }
    }

    /// Answers a read that was expected, now or when there are lines.
    func read(_ request: Request, _ size: Int, _ number: UInt64, waits: Bool) {
        enum Answer {
            case bytes([UInt8])
            case fail(Int32)
        }
        let answer = state.withLock { state -> Answer? in
            let isInterrupted = state.parked.removeValue(forKey: number)?.isInterrupted == true
            // Then nobody waits: lines are given to those who do as they come.
            if state.left > 0 { return .bytes(Self.take(size, &state)) }
            if state.ended { return .fail(ENODEV) }
            if isInterrupted { return .fail(EINTR) }
            if !waits { return .fail(EAGAIN) }
            state.parked[number] = Parked(request: request, size: size)
            return nil
        }
        switch answer {
        case .bytes(let bytes): request.answer(bytes)
        case .fail(let code): request.fail(Errno(code))
        case nil: break
        }
    }

    /// The process of the read was interrupted: its request, if it is to be answered with that.
    func interrupt(_ number: UInt64) -> Request? {
        state.withLock { state in
            guard let parked = state.parked[number] else { return nil }
            guard let request = parked.request else {
                state.parked[number]?.isInterrupted = true
                return nil
            }
            state.parked[number] = nil
            return request
        }
    }

    // MARK: Poll

    /// Answers poll(2); keeps the handle, if there is one, to tell when there is something.
    func poll(_ request: Request, _ handle: OpaquePointer?) {
        let (events, surplus) = state.withLock { state -> (Int32, OpaquePointer?) in
            if state.ended { return (POLLHUP | POLLERR, handle) }
            if state.left > 0 { return (POLLIN | POLLRDNORM, handle) }
            guard let handle else { return (0, nil) }
            defer { state.poll = handle }
            return (0, state.poll)
        }
        if let surplus { fuse_pollhandle_destroy(surplus) }
        fuse_reply_poll(request.pointer, UInt32(events))
    }

    private static func notify(_ poll: OpaquePointer?) {
        guard let poll else { return }
        fuse_lowlevel_notify_poll(poll)
        fuse_pollhandle_destroy(poll)
    }

    /// Nothing more comes: who waits is answered with ENODEV.
    func end() {
        let (requests, poll) = state.withLock { state -> ([Request], OpaquePointer?) in
            state.ended = true
            defer {
                state.parked = [:]
                state.poll = nil
            }
            return (state.parked.values.compactMap(\.request), state.poll)
        }
        for request in requests { request.fail(Errno(ENODEV)) }
        if let poll { fuse_pollhandle_destroy(poll) }
        wake()
    }
}

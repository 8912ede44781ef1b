internal import CWorkerShim
internal import Glibc
public import SystemCalls

/// Messages over a stream socket: four bytes of length, little-endian, then the message. A
/// descriptor travels with the length.
public struct WorkerChannel: ~Copyable, Sendable {
    /// Why a message did not pass. After any of these the channel is of no more use.
    public enum Failure: Error, Equatable, Sendable {
        /// The other side is gone.
        case closed
        /// The moment given came.
        case timedOut
        /// The interrupting descriptor became readable.
        case interrupted
        /// The other side does not keep to the protocol.
        case malformed
        /// The kernel refused.
        case system(Errno)
    }

    /// How long to wait.
    public struct Patience: Sendable {
        /// A moment of `MonotonicClock`.
        var deadline: UInt64 = .max
        /// A descriptor that ends the wait when it becomes readable; -1 for none.
        var interruption: Int32 = -1

        /// At most so many milliseconds from now.
        package init(milliseconds: UInt64) {
            deadline = MonotonicClock.after(milliseconds: milliseconds)
        }

        init() {}

        /// For ever.
        public static let endless = Patience()
    }

    let socket: OwnedDescriptor

    /// Talks over a connected stream socket.
    public init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

    /// Sends a message, and a descriptor with it, which stays the caller's.
    public func send(
        _ message: [UInt8], descriptor: Int32 = -1, _ patience: Patience = .endless
    ) throws(Failure) {
        let count = UInt32(message.count)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        try send(all: length, descriptor, patience)
        try send(all: message, -1, patience)
    }

    private func send(all bytes: [UInt8], _ descriptor: Int32, _ patience: Patience)
        throws(Failure)
    {
        var descriptor = descriptor
        var done = 0
        while done < bytes.count {
            try wait(for: POLLOUT, patience)
            let sent = bytes.withUnsafeBytes {
                shim_send(
                    socket.number, $0.baseAddress.map { $0 + done }, $0.count - done, descriptor)
            }
            if sent < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                throw errno == EPIPE || errno == ECONNRESET ? .closed : .system(Errno.last)
            }
            descriptor = -1
            done += sent
        }
    }

    /// Waits for a message, or the end; whether none came in so many milliseconds.
    public func isQuiet(for milliseconds: UInt64) throws(Failure) -> Bool {
        let patience = Patience(milliseconds: milliseconds)
        do throws(Failure) { try wait(for: POLLIN, patience) } catch {
            if error == .timedOut { return true }
            throw error
        }
        return false
    }

    /// Receives a message of at most `limit` bytes. What came with it is closed unless taken.
    public func receive(limit: Int, _ patience: Patience = .endless) throws(Failure) -> Received {
        let (length, attachment) = try receive(count: 4, patience)
        let count = (0..<4).reduce(0) { $0 | Int(length[$1]) << ($1 * 8) }
        guard count <= limit else { throw .malformed }
        let (message, _) = try receive(count: count, patience)
        return Received(message: message, attachment: attachment)
    }

    /// So many bytes, and the last descriptor that came with them.
    private func receive(count: Int, _ patience: Patience) throws(Failure) -> ([UInt8], Attachment)
    {
        var bytes: [UInt8] = []
        var attachment = Attachment(-1)
        // Grows with what comes, not with what is announced.
        var buffer = [UInt8](repeating: 0, count: min(count, 256 << 10))
        while bytes.count < count {
            try wait(for: POLLIN, patience)
            var received: Int32 = -1
            let part = buffer.withUnsafeMutableBytes {
                shim_receive(
                    socket.number, $0.baseAddress, min($0.count, count - bytes.count), &received)
            }
            if part < 0, errno == EINTR || errno == EAGAIN { continue }
            if received >= 0 { attachment = Attachment(received) }
            guard part > 0 else {
                throw part == 0 || errno == ECONNRESET ? .closed : .system(Errno.last)
            }
            bytes += buffer[..<part]
        }
        return (bytes, attachment)
    }

    private func wait(for events: Int32, _ patience: Patience) throws(Failure) {
        var watched = [
            pollfd(fd: socket.number, events: Int16(events), revents: 0),
            pollfd(fd: patience.interruption, events: Int16(POLLIN), revents: 0),
        ]
        switch poll(&watched, until: patience.deadline) {
        case 0: throw .timedOut
        case 1...: if watched[1].revents != 0 { throw .interrupted }
        default: throw .system(Errno.last)
        }
    }
}

/// A message as it came.
public struct Received: Sendable {
    /// Its bytes.
    public let message: [UInt8]
    let attachment: Attachment

    /// The descriptor that came with it, valid while this value lives; nil if none came.
    public var descriptor: Int32? { attachment.number >= 0 ? attachment.number : nil }
}

/// A descriptor that came with a message, closed with the last of those who hold it.
final class Attachment: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { if number >= 0 { close(number) } }
}

/// poll(2) until a moment of `MonotonicClock`, going on after signals.
func poll(_ watched: inout [pollfd], until deadline: UInt64) -> Int32 {
    while true {
        var timeout: Int32 = -1
        if deadline != .max {
            let now = MonotonicClock.now
            // Rounded up, so that waiting does not end just before the moment.
            timeout = deadline > now ? Int32(min((deadline - now) / 1_000_000 + 1, 1 << 30)) : 0
        }
        let result = Glibc.poll(&watched, nfds_t(watched.count), timeout)
        if result >= 0 || errno != EINTR { return result }
    }
}

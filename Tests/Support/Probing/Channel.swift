internal import Glibc

/// One end of a pair of sockets that carries messages; each message has its length before it.
/// Not for several threads at once.
package struct Channel: Sendable {
    /// The other end is gone, or did not answer in time.
    package enum Broken: Error {
        /// End of file or a failed read or write.
        case closed
        /// Nothing came within the time allowed.
        case late
    }

    /// Where messages come from.
    package let input: Int32
    /// Where messages go.
    package let output: Int32

    /// A channel over two open descriptors, which stay the caller's to close.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Sends one message.
    package func send(_ message: [UInt8]) throws {
        var frame = FrameWriter()
        frame.put(message)
        var rest = frame.bytes[...]
        while !rest.isEmpty {
            // Not by a signal is this process told that the other is gone.
            let count = rest.withUnsafeBytes {
                Glibc.send(output, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Broken.closed }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits for one message, `milliseconds` at most between two pieces; -1 waits for ever.
    package func receive(milliseconds: Int32 = -1) throws -> [UInt8] {
        var header = FrameReader(try receive(count: 8, milliseconds: milliseconds))
        return try receive(count: try header.number(), milliseconds: milliseconds)
    }

    /// Whether a message has begun to arrive within `milliseconds`.
    package func isReady(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private func receive(count: Int, milliseconds: Int32) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            if milliseconds >= 0 && !isReady(milliseconds: milliseconds) { throw Broken.late }
            let got = bytes.withUnsafeMutableBytes {
                read(input, $0.baseAddress?.advanced(by: filled), count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw Broken.closed }
            filled += got
        }
        return bytes
    }
}

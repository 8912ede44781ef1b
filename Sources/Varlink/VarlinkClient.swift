internal import Documents
internal import Glibc
package import Model
internal import SystemCalls

/// A connection to a Varlink service, for one thread at a time. Calls wait for their replies.
package final class VarlinkClient: @unchecked Sendable {
    // Unchecked because `input` belongs to the thread that calls, as the caller sees to.
    private let descriptor: OwnedDescriptor
    private var input = VarlinkInput()

    /// Connects to the socket at `path`.
    package init(_ path: String) throws(Failure) {
        do throws(Errno) { descriptor = try UnixSocket.connect(to: path) } catch {
            let isRefused = [EACCES, EPERM].contains(error.code)
            throw Failure(isRefused ? .noPermission : .unavailable, "\(path): \(error)")
        }
    }

    /// Sends a call without waiting for the reply. Where the server has ended the connection, what it
    /// said before, or the end, is the next reply.
    package func send(_ call: VarlinkCall) throws(Failure) {
        var rest = call.bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE || errno == ECONNRESET { return }
            if count < 0 {
                throw Failure(.unavailable, "the mount's daemon does not listen: \(Errno.last)")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Readable when there may be a reply.
    package var number: Int32 { descriptor.number }

    /// The next reply; waits so many milliseconds for it, or until the connection ends.
    package func next(milliseconds: Int?) throws(Failure) -> VarlinkReply {
        guard let reply = VarlinkReply(try message(milliseconds: milliseconds)) else {
            throw Failure(.software, "the mount's daemon sent what is no reply")
        }
        return reply
    }

    /// The next reply as it came, without its end; waits as ``next(milliseconds:)``.
    package func message(milliseconds: Int?) throws(Failure) -> [UInt8] {
        let deadline = milliseconds.map { MonotonicClock.after(milliseconds: UInt64($0)) }
        while true {
            if let message = input.next() { return message }
            if let deadline {
                let now = MonotonicClock.now
                guard now < deadline else {
                    throw Failure(.unavailable, "the mount's daemon does not answer")
                }
                var polled = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
                let left = Int32(clamping: (deadline - now) / 1_000_000 + 1)
                if poll(&polled, 1, left) <= 0 { continue }
            }
            _ = try receive(0)
        }
    }

    /// The next reply as it came, if it is here.
    package func messageNow() throws(Failure) -> [UInt8]? {
        while true {
            if let message = input.next() { return message }
            if try !receive(Int32(MSG_DONTWAIT)) { return nil }
        }
    }

    /// Takes what is there; false if there is nothing.
    private func receive(_ flags: Int32) throws(Failure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor.number, &bytes, bytes.count, flags)
        if count < 0, errno == EINTR { return true }
        if count < 0, errno == EAGAIN { return false }
        if count <= 0 {
            throw Failure(.unavailable, "the mount's daemon closed the connection")
        }
        input.append(bytes[..<count])
        return true
    }

    /// Ends the connection: who waits for a reply gets an error. Any thread.
    package func shutDown() { shutdown(descriptor.number, Int32(SHUT_RDWR)) }
}

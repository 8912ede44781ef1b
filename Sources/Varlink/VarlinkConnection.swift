internal import CSystemShim
internal import Glibc
internal import SystemCalls

/// A client of the server. Only for the server's thread.
final class VarlinkConnection {
    private let descriptor: OwnedDescriptor
    /// Readable when the process that connected has ended; `nil` where that cannot be known.
    private let ending: Ending?
    let peer: VarlinkPeer

    private final class Ending {
        let descriptor: OwnedDescriptor

        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    /// What came and is not looked at.
    var input = VarlinkInput()
    /// What the client has not taken.
    var output = VarlinkOutput()
    /// How much that may be.
    var room = 0
    /// When it took something last, or there was nothing to take (monotonic nanoseconds).
    var lastRead = MonotonicClock.now
    /// Has the replies to the call that is under way.
    var stream: (any VarlinkStream)?
    /// A call is under way.
    var isBusy = false
    /// The client sends nothing more.
    var isFinished = false
    /// There is nothing more to do for it.
    var isOver: Bool { isFinished && !isBusy && output.isEmpty && !input.hasMessage }

    /// Takes the next connection that waits at the listener; `nil` if it is gone already.
    init?(of listener: Int32) {
        let number = shim_accept(listener)
        if number < 0 { return nil }
        descriptor = OwnedDescriptor(adopting: number)
        var (process, user): (Int32, UInt32) = (0, 0)
        guard shim_peer(number, &process, &user) == 0 else { return nil }
        peer = VarlinkPeer(process: process, user: user)
        let watch = shim_peer_process(number, process)
        // What it would ask for ends with it, though others may have inherited the connection.
        if watch == SHIM_PEER_ENDED { return nil }
        if watch < 0 {
            ending = nil
        } else {
            ending = Ending(OwnedDescriptor(adopting: watch))
        }
    }

    var number: Int32 { descriptor.number }
    /// What is readable when the process has ended; -1 for nothing, which poll(2) passes over.
    var endingNumber: Int32 { ending?.descriptor.number ?? -1 }

    /// What to wait for. While a call is under way nothing more is read, and only the end of the
    /// connection, which is always waited for, counts.
    var interest: Int16 {
        (isBusy || isFinished ? 0 : Int16(POLLIN)) | (output.isEmpty ? 0 : Int16(POLLOUT))
    }

    /// Takes what is there, up to a message and a little; false at the end of the connection.
    func read(_ limit: Int) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while input.count <= limit {
            let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                input.append(bytes[..<count])
                continue
            }
            return count < 0 && (errno == EAGAIN || errno == EINTR)
        }
        return true
    }

    /// Gives what the client takes now; false if the connection has ended.
    func write() -> Bool {
        while !output.isEmpty {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let number = number
            let count = output.give { send(number, $0.baseAddress, $0.count, flags) }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            lastRead = MonotonicClock.now
        }
        return true
    }
}

internal import Glibc
internal import PathText
package import SystemCalls
internal import Thumbnailing
internal import Varlink

/// A lock that this process has from the claim it runs under (``LockLender``), until it is gone.
/// Any thread.
package final class LentLock: Sendable {
    private let channel: WorkerChannel

    /// Asks who lends the locks of the inherited purpose for that of a file, and waits while another
    /// program of the purpose has it.
    ///
    /// - Parameter deadline: of the monotonic clock.
    /// - Returns: `nil` if nobody lends it: it is not locked for the purpose, or the time is over.
    package static func borrow(
        _ file: borrowing OwnedDescriptor, until deadline: UInt64
    ) -> LentLock? {
        guard let item = PlainLock.Item(of: file) else { return nil }
        return borrow(item, until: deadline)
    }

    static func borrow(_ item: PlainLock.Item, until deadline: UInt64) -> LentLock? {
        guard let value = getenv(LockLender.variable), value.pointee != 0,
            let socket = try? UnixSocket.connect(to: String(cPath: value))
        else { return nil }
        let channel = WorkerChannel(socket)
        let now = MonotonicClock.now
        let patience = WorkerChannel.Patience(
            milliseconds: now < deadline ? (deadline - now) / 1_000_000 + 1 : 1)
        guard (try? channel.send(item.bytes, patience)) != nil,
            let reply = try? channel.receive(limit: LockLender.messageLimit, patience),
            reply.message == LockLender.yes
        else { return nil }
        return LentLock(channel)
    }

    private init(_ channel: consuming WorkerChannel) { self.channel = channel }

    /// Gives the lock of a file that takes the place of the lent one to who lent it, who keeps it when
    /// this process has closed the file. If it does not answer, the lock ends with this process.
    package func handOver(_ file: borrowing OwnedDescriptor) {
        let patience = WorkerChannel.Patience(milliseconds: 1_000)
        guard (try? channel.send([], descriptor: file.number, patience)) != nil else { return }
        _ = try? channel.receive(limit: LockLender.messageLimit, patience)
    }
}

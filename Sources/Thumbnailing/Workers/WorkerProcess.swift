internal import Glibc
package import SystemCalls

/// A process whose standard input is the other end of a channel. Killed and reaped at the latest with
/// this value.
package final class WorkerProcess: Sendable {
    package let channel: WorkerChannel
    package let process: ChildProcess

    /// Starts a program, found by its path or in PATH.
    package init(_ arguments: [String]) throws(Errno) {
        var sockets: [Int32] = [-1, -1]
        try check {
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets)
        }
        let theirs = OwnedDescriptor(adopting: sockets[1])
        let ours = OwnedDescriptor(adopting: sockets[0])
        // A stopped worker takes nothing, which must not hold up the sender.
        try check { fcntl(ours.number, F_SETFL, O_NONBLOCK) }
        process = try ChildProcess(
            arguments, environment: WorkerEnvironment.ofWorker, input: theirs.number)
        channel = WorkerChannel(ours)
    }
}

internal import Glibc
package import SystemCalls

/// A process whose standard input is the other end of a channel. Killed and reaped at the latest with
/// this value.
package final class WorkerProcess: Sendable {
    package let channel: WorkerChannel
    package let process: ChildProcess

    /// Starts a program, found by its path or in PATH.
    package init(_ arguments: [String]) throws(Errno) {
        let ends = try Descriptors.socketPair()
        let ours = OwnedDescriptor(adopting: ends.0)
        let theirs = OwnedDescriptor(adopting: ends.1)
        // A stopped worker takes nothing, which must not hold up the sender.
        try check { fcntl(ours.number, F_SETFL, O_NONBLOCK) }
        process = try ChildProcess(
            arguments, environment: WorkerEnvironment.ofWorker, input: theirs.number)
        channel = WorkerChannel(ours)
    }
}

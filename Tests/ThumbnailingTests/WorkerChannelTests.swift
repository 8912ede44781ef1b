import CWorkerShim
import Glibc
import SystemCalls
import Testing
import Thumbnailing

/// What comes over a worker's socket.
@Suite struct WorkerChannelTests {
    @Test(arguments: [1, 3, 4, 6])
    func `a descriptor that came with the beginning of a message is closed`(_ count: Int) throws {
        // Closed last, it tells the other end of the pipe.
        var (pipes, sockets): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        try #require(pipe(&pipes) == 0)
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        let channel = WorkerChannel(OwnedDescriptor(adopting: sockets[0]))
        let bytes: [UInt8] = [3, 0, 0, 0, 1, 2]
        #expect(shim_send(sockets[1], bytes, count, pipes[1]) == count)
        close(sockets[1])
        close(pipes[1])
        #expect(throws: WorkerChannel.Failure.closed) { try channel.receive(limit: 10) }
        var end = pollfd(fd: pipes[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 0) == 1 && end.revents & Int16(POLLHUP) != 0)
        close(pipes[0])
    }
}

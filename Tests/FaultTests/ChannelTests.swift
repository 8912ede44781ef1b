import Glibc
import Probing
import TestSupport
import Testing

/// What tests and the processes that make their calls tell each other.
@Suite struct ChannelTests {
    @Test func `who sends to a process that died is told by an error, not ended by a signal`()
        throws
    {
        let ends = try SocketPair()
        defer { close(ends.ours) }
        ends.closeTheirs()
        let channel = Channel(input: ends.ours, output: ends.ours)
        #expect(throws: Channel.Broken.self) { try channel.send([1]) }
    }
}

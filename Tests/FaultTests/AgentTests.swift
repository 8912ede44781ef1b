import Glibc
import TestSupport
import Testing

/// The processes that make the calls of tests.
@Suite struct AgentTests {
    @Test func `a call by a process that died is an issue of its test, and ends no others`() throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let agent = try Agent(in: folder)
        agent.store("file", "text")
        agent.signal(SIGKILL)
        while Container.isAlive(agent.process) { usleep(1_000) }
        withKnownIssue { agent.store("file", "more") }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// What a daemon in the background takes over from the program that mounts.
@Suite(.oneAtATime) struct DaemonStartTests {
    /// A shell that ends when the folder answers.
    private func mount(_ container: BrokenContainer, _ line: String) throws {
        let result = try run(
            ["sh", "-c", line + #" && "$0" mount test mount"#, try BuiltPrograms.shapeedit()],
            directory: container.container.base, environment: container.container.environment)
        try #require(result.status == 0, "\(result)")
    }

    /// Scripts hold locks so, and others wait for the end of a pipe.
    @Test func `a daemon keeps nothing open that its caller had open`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try mount(broken, "exec 9>held && flock -n 9")
            let free = try run(["flock", "-n", container.base + "/held", "true"])
            #expect(free.status == 0, "\(free)")
            try container.unmount()
        }
    }

    @Test func `a daemon ends by signals that its caller ignores`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try mount(broken, "trap '' TERM INT")
            let daemon = try #require(try container.status().pid)
            #expect(kill(pid_t(daemon), SIGTERM) == 0)
            waitUntil(seconds: 20) { !MountTable.isMounted(container.mountPoint) }
            #expect(!MountTable.isMounted(container.mountPoint))
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// What programs take over from their callers, above all a daemon in the background.
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

    /// The daemon waits for its turn to mount meanwhile. Who interrupts a command would be surprised by a mount
    /// that comes later, and a script would leave it.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `who gives up while a mount begins leaves nothing of it`(_ signal: Int32) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let turn = open(container.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            let lock = open(broken.folder + "/lock", O_RDWR | O_CLOEXEC)
            defer { for descriptor in [turn, lock] { close(descriptor) } }
            try #require(flock(turn, LOCK_EX) == 0)
            let program = try RunningProgram(
                [try BuiltPrograms.shapeedit(), "mount", "test", "mount"].map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            func isFree() -> Bool {
                flock(lock, LOCK_EX | LOCK_NB) == 0 && flock(lock, LOCK_UN) == 0
            }
            waitUntil(seconds: 20) { !isFree() }
            program.kill(signal: signal)
            #expect(program.wait(seconds: 40).status == 128 + Int(signal))
            #expect(isFree())
            #expect(!MountTable.isMounted(container.mountPoint))
            try #require(flock(turn, LOCK_UN) == 0)
            waitUntil(seconds: 20) { isFree() || MountTable.isMounted(container.mountPoint) }
            #expect(!MountTable.isMounted(container.mountPoint))
            if MountTable.isMounted(container.mountPoint) { try container.unmount() }
        }
    }

    /// Also of the folder that was made for it.
    @Test func `who gives up a mount at a new folder has no such folder`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let turn = open(container.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(turn) }
            try #require(flock(turn, LOCK_EX) == 0)
            let program = try RunningProgram(
                [try BuiltPrograms.shapeedit(), "mount", "made"].map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            let folder = container.base + "/made"
            waitUntil(seconds: 20) { access(folder, F_OK) == 0 }
            program.kill(signal: SIGINT)
            #expect(program.wait(seconds: 40).status == 128 + Int(SIGINT))
            #expect(access(folder, F_OK) != 0)
        }
    }

    /// A shell's bound is for what it runs, not for the mount, which lives on.
    @Test func `a daemon takes the time it needs, whatever its caller was to take`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try mount(broken, "ulimit -S -t 30")
            let daemon = try #require(try container.status().pid)
            let limit = try run(["grep", "^Max cpu time", "/proc/\(daemon)/limits"]).text
            #expect(limit.split(separator: " ").dropFirst(3).first == "unlimited", "\(limit)")
            try container.unmount()
        }
    }

    /// Nothing tells how a child ended where SIGCHLD is ignored, as programs are started by some services.
    @Test func `who waits for no children is told how commands end`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let line = """
                trap '' CHLD
                grep -q 'SigIgn:.*1....$' /proc/self/status || exit 99
                mkdir other
                "$0" mount test other
                test $? = 75 || exit 1
                "$0" coordinate --read mount/a -- sh -c 'exit 7'
                test $? = 7 || exit 2
                """
            let result = try run(
                ["bash", "-c", line, try BuiltPrograms.shapeedit()], directory: container.base,
                environment: container.environment)
            #expect(result.status == 0, "\(result)")
            try container.unmount()
        }
    }
}

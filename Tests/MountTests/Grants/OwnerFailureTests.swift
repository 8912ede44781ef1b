import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// What an app sees of owners that do not answer, and of owners that need the app.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct OwnerFailureTests {
    private static let document: ByteString = "in test/a.txt"

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an owner that is not mounted is an error with a reason, until it is mounted again`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            try both.ownerContainer.unmount()
            let there = try both.appAgent()
            // Nothing was seen of it yet: what there is nobody knows.
            #expect(there.names(".") == ["in test"])
            #expect(there.names("in test") == [])
            #expect(
                there.attribute("in test", "user.shapeedit.error")
                    == "the container test is not mounted")
            there.status(Self.document, fails: EIO)
            there.open(Self.document, O_RDONLY, fails: EIO)
            try both.owner.remountAfterCrash()
            #expect(there.content(Self.document) == "one")
            // Once seen it stays where it is.
            let file = there.open(Self.document, O_RDONLY)
            #expect(try both.app.command("unmount", both.ownerContainer.mountPoint).status != 0)
            there.close(file)
            try both.ownerContainer.unmount()
            there.status(Self.document)
            there.open(Self.document, O_RDONLY, fails: EIO)
            there.truncate(Self.document, size: 0, fails: EIO)
            there.attribute(Self.document, "user.shapeedit.id", fails: EIO)
            #expect(
                there.attribute(Self.document, "user.shapeedit.error")
                    == "the container test is not mounted")
            // Revoked meanwhile it is gone.
            let revoked = try both.app.command("revoke", "test:work/a.txt")
            #expect(revoked.status == 0, "\(revoked)")
            #expect(there.names(".") == [])
            try both.owner.remountAfterCrash()
            there.status(Self.document, fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an owner that was killed is an error, and no wait`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let there = try both.appAgent()
            there.store(Self.document, "two")
            let (reading, writing) = (
                there.open(Self.document, O_RDONLY), there.open(Self.document, O_WRONLY)
            )
            there.write(writing, "three")
            kill(pid_t(try #require(both.ownerContainer.daemon)), SIGKILL)
            there.read(reading, count: 1, fails: EIO)
            there.write(writing, "x", fails: EIO)
            there.truncate(writing, size: 1, fails: EIO)
            there.open(Self.document, O_RDONLY, fails: EIO)
            #expect(there.names(".") == ["in test"])
            there.close(reading)
            // Nobody noted the close.
            there.close(writing, fails: EIO)
            try both.ownerContainer.killDaemon()
            there.open(Self.document, O_RDONLY, fails: EIO)
            try both.owner.remountAfterCrash()
            #expect(there.content(Self.document) == "two")
            there.store(Self.document, "four")
            #expect(try both.owner.agent().content("a.txt") == "four")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `whoever waits for an owner that hangs can be interrupted, and nobody else waits`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (there, other) = (try both.appAgent(), try both.appAgent())
            other.store("own.txt", "own")
            let file = there.open(Self.document, O_RDONLY)
            let daemon = pid_t(try #require(both.ownerContainer.daemon))
            kill(daemon, SIGSTOP)
            defer { kill(daemon, SIGCONT) }
            var waiting: [Agent] = []
            for _ in 0..<24 {
                let agent = try both.appAgent()
                agent.beginOpen(Self.document, O_RDONLY)
                waiting.append(agent)
            }
            there.catchSignal(SIGUSR1)
            there.beginOpen(Self.document, O_RDONLY)
            there.waitUntilBlocked(in: SYS_openat)
            #expect(!there.hasFinished(within: 300))
            there.signal(SIGUSR1)
            there.finish("interrupted open", fails: EINTR)
            // The app's own documents are served by others.
            for _ in 0..<50 { other.store("own.txt", "still there") }
            #expect(other.content("own.txt") == "still there")
            #expect(other.names(".") == ["in test", "own.txt"])
            for agent in waiting.prefix(4) { agent.crash() }
            kill(daemon, SIGCONT)
            for agent in waiting.dropFirst(4) { agent.finish("open of a hanging owner's") }
            #expect(there.readToEnd(file) == "one")
        }
    }

    /// The kernel looks up a name that it has not seen yet, or not since it was told of it anew, with the
    /// directory locked.
    @Test func `the app's own names are free while its way to a hanging owner is looked up`() throws
    {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (there, other) = (try both.appAgent(), try both.appAgent())
            other.store("own.txt", "own")
            let daemon = pid_t(try #require(both.ownerContainer.daemon))
            kill(daemon, SIGSTOP)
            defer { kill(daemon, SIGCONT) }
            usleep(100_000)
            there.beginOpen(Self.document, O_RDONLY)
            there.waitUntilBlocked(in: SYS_openat)
            for _ in 0..<20 {
                other.store("own.txt", "still there")
                other.rename("own.txt", "other.txt")
                other.rename("other.txt", "own.txt")
            }
            #expect(other.content("own.txt") == "still there")
            other.status("in test")
            #expect(!there.hasFinished(within: 0))
            kill(daemon, SIGCONT)
            there.finish("open of a hanging owner's")
        }
    }

    @Test(arguments: [O_TRUNC, O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC, nil])
    func `what was interrupted empties no document when the claim ends that it waited for`(
        _ flags: Int32?
    ) throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let version = here.attribute("a.txt", "user.shapeedit.version")
            there.status(Self.document)
            let claim = try HeldClaim(both.owner, "--write", "a.txt")
            claim.waitUntilGranted()
            there.catchSignal(SIGUSR1)
            if let flags {
                there.beginOpen(Self.document, flags)
            } else {
                there.beginTruncate(Self.document, size: 0)
            }
            there.waitUntilBlocked(in: flags == nil ? SYS_truncate : SYS_openat)
            #expect(!there.hasFinished(within: 100))
            there.signal(SIGUSR1)
            there.finish("interrupted open", fails: EINTR)
            #expect(claim.end().status == 0)
            // The call ends unheard now.
            usleep(500_000)
            #expect(here.content("a.txt") == "one")
            #expect(here.attribute("a.txt", "user.shapeedit.version") == version)
            // Who waits for it gets it.
            if let flags {
                there.close(there.open(Self.document, flags))
            } else {
                there.truncate(Self.document, size: 0)
            }
            #expect(here.content("a.txt") == "")
        }
    }

    @Test func `a document whose renaming to a backup was interrupted stays where it is`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let there = try both.appAgent()
            there.store("in test/a.txt~", "zero")
            let claim = try HeldClaim(both.owner, "--write", "a.txt")
            claim.waitUntilGranted()
            there.catchSignal(SIGUSR1)
            there.beginRename(Self.document, "in test/a.txt~")
            there.waitUntilBlocked(in: SYS_renameat2)
            #expect(!there.hasFinished(within: 100))
            there.signal(SIGUSR1)
            there.finish("interrupted rename", fails: EINTR)
            #expect(claim.end().status == 0)
            usleep(300_000)
            #expect(there.content(Self.document) == "one")
            #expect(there.content("in test/a.txt~") == "zero")
            there.rename(Self.document, "in test/a.txt~")
            there.status(Self.document, fails: ENOENT)
            #expect(there.content("in test/a.txt~") == "one")
        }
    }

    @Test func `what was interrupted while the owner hung is not done when it goes on`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let daemon = pid_t(try #require(both.ownerContainer.daemon))
            let file = there.open(Self.document, O_RDWR | O_APPEND)
            there.catchSignal(SIGUSR1)
            func interrupted(_ number: Int32, _ begin: () -> Void) throws {
                kill(daemon, SIGSTOP)
                defer {
                    kill(daemon, SIGCONT)
                    usleep(300_000)
                }
                // On a busy machine its threads go on for a while.
                let running = "grep -L '^State:.T' /proc/\(daemon)/task/*/status"
                try waitUntil { try run(["sh", "-c", running], directory: "/").text == "" }
                begin()
                there.waitUntilBlocked(in: number)
                there.signal(SIGUSR1)
                there.finish("interrupted call \(number)", fails: EINTR)
            }
            try interrupted(SYS_ftruncate) { there.beginTruncate(file, size: 0) }
            try interrupted(SYS_write) { there.beginWrite(file, "more") }
            try interrupted(SYS_flock) { there.beginLock(file, LOCK_EX) }
            try interrupted(SYS_fcntl) { there.beginFileLock(file, RecordLock(F_WRLCK)) }
            #expect(there.status(file).size == 3)
            let other = here.open("a.txt", O_RDWR)
            here.lock(other, LOCK_EX | LOCK_NB)
            here.lock(other, F_OFD_SETLK, RecordLock(F_WRLCK))
            here.close(other)
            there.close(file)
            #expect(here.content("a.txt") == "one")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `two containers that grant to one another do not stand in each other's way`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let container = try #require(volume.container)
            let second = try Container(
                name: "notes", user: container.user, dataHome: container.dataHome)
            defer { second.remove() }
            // Both as apps.
            try container.unmount()
            try container.mount(asApp: true)
            try second.mount(asApp: true)
            let (here, there) = (
                try Agent(in: container.mountPoint, user: container.user),
                try Agent(in: second.mountPoint, user: second.user)
            )
            here.store("a.txt", "first")
            there.store("b.txt", "second")
            for words in [
                ["\(container.mountPoint)/a.txt", "--to", "notes", "--write"],
                ["\(second.mountPoint)/b.txt", "--to", "test", "--write"],
            ] {
                let result = try container.command(["grant"] + words)
                #expect(result.status == 0, "\(result)")
            }
            // Many at once, each in the other's documents and its own.
            let line = """
                for i in $(seq 12); do (for j in $(seq 8); do
                    printf "$i $j" > "$1" && cat "$1" > /dev/null && ls -lR . > /dev/null &&
                    printf "$i $j" > "$2" && cat "$2" > /dev/null || exit 1
                done) & pids="$pids $!"; done; for p in $pids; do wait $p || exit 1; done
                """
            let (left, right) = try (
                RunningProgram(
                    ["sh", "-c", line, "sh", "in notes/b.txt", "a.txt"].map { Array($0.utf8) },
                    directory: container.mountPoint),
                RunningProgram(
                    ["sh", "-c", line, "sh", "in test/a.txt", "b.txt"].map { Array($0.utf8) },
                    directory: second.mountPoint)
            )
            let ends = [left.wait(seconds: 300), right.wait(seconds: 300)]
            for end in ends { #expect(end.status == 0, "\(end)") }
            #expect(here.content("a.txt") == there.content("in test/a.txt"))
            #expect(there.content("b.txt") == here.content("in notes/b.txt"))
            #expect(here.names(".").contains("in notes"))
            here.end()
            there.end()
            try second.unmount()
        }
    }
}

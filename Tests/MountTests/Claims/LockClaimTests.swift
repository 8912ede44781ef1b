import CKernel
import Glibc
import TestSupport
import Testing

/// File locks and claims: one is the other's.
@Suite(.oneAtATime) struct LockClaimTests {
    @Test(arguments: DataPath.mounts)
    func `a claim waits for locks of others, and says who holds them`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let file = agent.open("file", O_RDONLY)
            agent.lock(file, LOCK_EX)
            let reading = try HeldClaim(volume, "--read", "file", "--timeout", "0.3")
            let refused = reading.result()
            #expect(
                refused.status == 75 && refused.errorText.contains("file locked since"),
                "\(refused)")
            // One that waits gets it when the lock goes; others may read under a shared lock.
            let waiting = try HeldClaim(volume, "--write", "file")
            #expect(!waiting.isGranted(within: 200))
            agent.lock(file, LOCK_SH)
            #expect(!waiting.isGranted(within: 100))
            agent.lock(file, LOCK_UN)
            waiting.waitUntilGranted()
            #expect(waiting.end().status == 0)
            agent.lock(file, LOCK_SH)
            let shared = try HeldClaim(volume, "--read", "file")
            shared.waitUntilGranted()
            #expect(shared.end().status == 0)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a lock waits for claims of others`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let first = a.open("file", O_RDONLY)
            let reading = try HeldClaim(volume, "--read", "file")
            reading.waitUntilGranted()
            a.lock(first, LOCK_SH | LOCK_NB)
            a.lock(first, LOCK_UN)
            a.lock(first, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
            a.beginLock(first, LOCK_EX)
            #expect(!a.hasFinished(within: 200))
            #expect(reading.end().status == 0)
            a.finish("lock after the claim")
            a.lock(first, LOCK_UN)
            let second = b.open("file", O_RDWR)
            let writing = try HeldClaim(volume, "--write", "file", "--timeout", "1")
            // The second one has it open to write: nothing is granted before that ends.
            #expect(writing.result().status == 75)
            b.close(second)
            let alone = try HeldClaim(volume, "--write", "file")
            alone.waitUntilGranted()
            a.lock(first, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
            a.catchSignal(SIGUSR1)
            a.beginLock(first, LOCK_SH)
            a.waitUntilBlocked(in: SYS_flock)
            #expect(!a.hasFinished(within: 100))
            a.signal(SIGUSR1)
            a.finish("interrupted lock", fails: EINTR)
            #expect(alone.end().status == 0)
        }
    }

    /// It waits before anybody claims, or goes to the end of those that claim first.
    @Test(arguments: [false, true])
    func `a lock that has waited for others waits for claims that came meanwhile`(
        _ isClaimed: Bool
    ) throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            a.store("other", "x")
            let (first, second) = (a.open("file", O_RDONLY), b.open("file", O_RDONLY))
            b.lock(second, LOCK_SH)
            let claim = try isClaimed ? HeldClaim(volume, "--read", "other") : nil
            claim?.waitUntilGranted()
            a.beginLock(first, LOCK_EX)
            a.waitUntilBlocked(in: SYS_flock)
            #expect(!a.hasFinished(within: 200))
            let reading = try HeldClaim(volume, "--read", "file")
            reading.waitUntilGranted()
            b.lock(second, LOCK_UN)
            #expect(!a.hasFinished(within: 300))
            // Nobody has it meanwhile, and nobody who may not waits for it.
            b.lock(second, LOCK_SH | LOCK_NB)
            b.lock(second, LOCK_UN)
            #expect(reading.end().status == 0)
            a.finish("lock after the claim")
            b.lock(second, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
            // A signal ends the waiting for the claim, too.
            a.lock(first, LOCK_UN)
            b.lock(second, LOCK_SH)
            a.catchSignal(SIGUSR1)
            a.beginLock(first, LOCK_EX)
            a.waitUntilBlocked(in: SYS_flock)
            let again = try HeldClaim(volume, "--read", "file")
            again.waitUntilGranted()
            b.lock(second, LOCK_UN)
            #expect(!a.hasFinished(within: 200))
            a.signal(SIGUSR1)
            a.finish("interrupted lock", fails: EINTR)
            #expect(again.end().status == 0)
            claim?.end()
        }
    }

    @Test func `locks among themselves are as on ext4 while others have claims`() throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "0123456789")
            a.store("other", "x")
            let claim = try HeldClaim(volume, "--write", "other")
            claim.waitUntilGranted()
            let (first, second) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            // Two ranges of one file, of two processes.
            a.lock(first, F_SETLK, RecordLock(F_WRLCK, start: 0, length: 5))
            b.lock(second, F_SETLK, RecordLock(F_WRLCK, start: 5, length: 5))
            b.lock(second, F_SETLK, RecordLock(F_WRLCK, start: 0, length: 5), fails: EAGAIN)
            // Who takes no lock does not wait for one.
            #expect(b.content("file") == "0123456789")
            a.lock(first, F_SETLK, RecordLock(F_UNLCK, start: 0, length: 5))
            b.lock(second, F_SETLK, RecordLock(F_WRLCK, start: 0, length: 5))
            #expect(claim.end().status == 0)
        }
    }

    @Test func `a command under a claim takes locks, and one under a lock claims`() throws {
        try withVolume(.passthrough) { volume in
            try volume.agent().store("file", "x")
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                "timeout", "30", "sh", "-ec",
                """
                '\(binary)' coordinate --write file -- flock file echo one
                flock file '\(binary)' coordinate --write file --timeout 5 -- echo two
                # The taker of this lock has ended: the lock counts for nobody.
                exec 9<file
                flock 9
                '\(binary)' coordinate --write file --timeout 5 -- echo three
                """)
            #expect(result.status == 0 && result.text == "one\ntwo\nthree\n", "\(result)")
        }
    }

    /// Who waits for the lock does so before anybody claims, or is one of many that have made operations
    /// since.
    @Test(arguments: [false, true])
    func `a lock that changes hands keeps waiting claims away`(_ isAmongMany: Bool) throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            a.store("other", "x")
            let (first, second) = (a.open("file", O_RDONLY), b.open("file", O_RDONLY))
            a.lock(first, LOCK_EX)
            let claim = try isAmongMany ? HeldClaim(volume, "--read", "other") : nil
            claim?.waitUntilGranted()
            b.beginLock(second, LOCK_EX)
            b.waitUntilBlocked(in: SYS_flock)
            #expect(!b.hasFinished(within: 500))
            let waiting = try HeldClaim(volume, "--write", "file", "--timeout", "300")
            let binary = try BuiltPrograms.shapeedit()
            var listed = ""
            for _ in 0..<600 where !listed.contains("waits for write on work/file") {
                listed = try volume.run(binary, "claims", ".").text
                usleep(50_000)
            }
            if isAmongMany {
                _ = try volume.run("sh", "-c", "for n in $(seq 300); do cat other; done")
            }
            a.lock(first, LOCK_UN)
            b.finish("lock of the one that waited")
            #expect(!waiting.isGranted(within: 200))
            b.lock(second, LOCK_UN)
            waiting.waitUntilGranted()
            #expect(waiting.end().status == 0)
            claim?.end()
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `a program waits with its lock for the claim of one that it has started`() throws {
        try withVolume(.passthrough) { volume in
            try volume.agent().store("file", "x")
            let script = """
                import fcntl, subprocess, sys
                file = open("file")
                line = [sys.argv[1], "coordinate", "--write", "file", "--", "sh", "-c", "echo; read x"]
                child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                child.stdout.readline()
                for take in [fcntl.flock, fcntl.lockf]:
                    try:
                        take(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                        sys.exit(f"{take} did not wait")
                    except BlockingIOError:
                        pass
                child.communicate()
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                # What it starts under its lock claims the document.
                line[3:] = ["file", "--timeout", "5", "--", "true"]
                sys.exit(subprocess.run(line).returncode)
                """
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run("timeout", "60", "python3", "-c", script, binary)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test func `a lock is on the file when names change places`() throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            for name in ["one", "two"] {
                a.makeDirectory(ByteString(name))
                a.store(ByteString("\(name)/file"), "x")
            }
            let other = try HeldClaim(volume, "--write", "other")
            other.waitUntilGranted()
            b.lock(b.open("one/file", O_RDONLY), LOCK_EX)
            func expectLocked(_ locked: String, not free: String) throws {
                let refused = try HeldClaim(volume, "--read", locked, "--timeout", "0.3").result()
                #expect(refused.status == 75, "\(locked): \(refused)")
                let claim = try HeldClaim(volume, "--write", free, "--timeout", "5")
                claim.waitUntilGranted()
                #expect(claim.end().status == 0)
            }
            try expectLocked("one/file", not: "two/file")
            a.rename("one/file", "two/file", flags: RENAME_EXCHANGE)
            try expectLocked("two/file", not: "one/file")
            // And so when the folders do.
            a.rename("one", "two", flags: RENAME_EXCHANGE)
            try expectLocked("one/file", not: "two/file")
            #expect(other.end().status == 0)
        }
    }

    @Test func `a killed process leaves neither lock nor claim`() throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            b.lock(b.open("file", O_RDONLY), LOCK_EX)
            let waiting = try HeldClaim(volume, "--write", "file")
            #expect(!waiting.isGranted(within: 200))
            b.crash()
            waiting.waitUntilGranted()
            #expect(waiting.end().status == 0)
        }
    }
}

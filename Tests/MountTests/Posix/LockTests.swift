import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct LockTests {
    private static var tellsOwnLocks: Bool {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        var lock = Glibc.flock()
        lock.l_type = Int16(F_UNLCK)
        return fcntl(descriptor, F_OFD_GETLK, &lock) == 0
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `flock excludes other processes until it is released`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            // Whether the descriptors read or write must not matter.
            for (flagsA, flagsB) in [
                (O_RDONLY, O_RDONLY), (O_RDWR, O_RDWR), (O_RDONLY, O_RDWR), (O_RDWR, O_RDONLY),
            ] {
                let (fileA, fileB) = (a.open("file", flagsA), b.open("file", flagsB))
                a.lock(fileA, LOCK_EX)
                b.lock(fileB, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
                b.lock(fileB, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
                a.lock(fileA, LOCK_SH)
                b.lock(fileB, LOCK_SH | LOCK_NB)
                a.lock(fileA, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
                b.lock(fileB, LOCK_UN)
                a.lock(fileA, LOCK_EX | LOCK_NB)
                a.lock(fileA, LOCK_UN)
                b.lock(fileB, LOCK_EX | LOCK_NB)
                // Two opens in one process exclude each other as well.
                let second = b.open("file", O_RDONLY)
                b.lock(second, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
                // Closing releases.
                b.close(fileB)
                b.lock(second, LOCK_EX | LOCK_NB)
                b.close(second)
                a.lock(fileA, LOCK_EX | LOCK_NB)
                a.close(fileA)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a flock is the open file's, not the descriptor's`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let file = a.open("file", O_RDWR)
            let other = b.open("file", O_RDWR)
            let copy = a.duplicate(file)
            a.lock(file, LOCK_EX)
            a.close(file)
            b.lock(other, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
            let child = a.fork()
            a.close(copy)
            b.lock(other, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
            a.endChild(child)
            b.lock(other, LOCK_EX)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `flock waits for its turn, and a signal ends the waiting`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let (fileA, fileB) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            a.lock(fileA, LOCK_EX)
            b.beginLock(fileB, LOCK_EX)
            #expect(!b.hasFinished(within: 150))
            a.lock(fileA, LOCK_UN)
            b.finish("flock after its turn came")
            b.lock(fileB, LOCK_UN)
            a.lock(fileA, LOCK_EX)
            b.catchSignal(SIGUSR1)
            b.beginLock(fileB, LOCK_SH)
            b.waitUntilBlocked(in: SYS_flock)
            #expect(!b.hasFinished(within: 150))
            b.signal(SIGUSR1)
            b.finish("interrupted flock", fails: EINTR)
            // Who gave up does not get it later.
            a.lock(fileA, LOCK_UN)
            a.lock(fileA, LOCK_EX | LOCK_NB)
            // The end of a process releases what it held.
            b.beginLock(fileB, LOCK_EX)
            #expect(!b.hasFinished(within: 100))
            a.crash()
            b.finish("flock after a crash")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a killed process stops waiting for a lock`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b, c) = (try volume.agent(), try volume.agent(), try volume.agent())
            a.store("file", "x")
            let fileA = a.open("file", O_RDWR)
            let fileB = b.open("file", O_RDWR)
            let fileC = c.open("file", O_RDWR)
            a.lock(fileA, LOCK_EX)
            b.beginLock(fileB, LOCK_EX)
            #expect(!b.hasFinished(within: 100))
            b.crash()
            a.lock(fileA, LOCK_UN)
            c.lock(fileC, LOCK_EX | LOCK_NB)
            c.lock(fileC, F_SETLK, RecordLock(F_WRLCK))
            a.beginLock(fileA, RecordLock(F_WRLCK))
            #expect(!a.hasFinished(within: 100))
            a.crash()
            c.lock(fileC, F_SETLK, RecordLock(F_UNLCK))
            c.lock(fileC, F_SETLK, RecordLock(F_WRLCK))
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `record locks exclude by ranges`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", ByteString(repeating: "x", count: 1000))
            let (fileA, fileB) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            func lock(_ kind: Int32, _ start: Int, _ length: Int) -> RecordLock {
                RecordLock(kind, start: start, length: length)
            }
            a.lock(fileA, F_SETLK, lock(F_WRLCK, 100, 100))
            b.lock(fileB, F_SETLK, lock(F_WRLCK, 0, 100))
            b.lock(fileB, F_SETLK, lock(F_WRLCK, 200, 0))
            for (start, length) in [(100, 1), (199, 1), (0, 0), (50, 51), (150, 500)] {
                b.lock(fileB, F_SETLK, lock(F_WRLCK, start, length), fails: EAGAIN, EACCES)
                b.lock(fileB, F_SETLK, lock(F_RDLCK, start, length), fails: EAGAIN, EACCES)
                #expect(b.holder(fileB, of: lock(F_RDLCK, start, length)) == a.process)
            }
            #expect(a.holder(fileA, of: lock(F_WRLCK, 5000, 1)) == b.process)
            #expect(b.holder(fileB, of: lock(F_WRLCK, 0, 100)) == nil)
            // Splitting, joining and weakening.
            a.lock(fileA, F_SETLK, lock(F_UNLCK, 140, 20))
            b.lock(fileB, F_SETLK, lock(F_RDLCK, 140, 20))
            b.lock(fileB, F_SETLK, lock(F_RDLCK, 139, 1), fails: EAGAIN, EACCES)
            a.lock(fileA, F_SETLK, lock(F_RDLCK, 100, 100))
            b.lock(fileB, F_SETLK, lock(F_RDLCK, 100, 100))
            a.lock(fileA, F_SETLK, lock(F_WRLCK, 100, 10), fails: EAGAIN, EACCES)
            // A shared lock needs a reading descriptor, an exclusive one a writing one.
            let reading = a.open("file", O_RDONLY)
            let writing = a.open("file", O_WRONLY)
            a.lock(reading, F_SETLK, lock(F_WRLCK, 300, 1), fails: EBADF)
            a.lock(writing, F_SETLK, lock(F_RDLCK, 300, 1), fails: EBADF)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `any close releases a process's record locks, and a child has none`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let (fileA, fileB) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            let whole = RecordLock(F_WRLCK)
            a.lock(fileA, F_SETLK, whole)
            b.lock(fileB, F_SETLK, whole, fails: EAGAIN, EACCES)
            let second = a.open("file", O_RDWR)
            a.close(second)
            b.lock(fileB, F_SETLK, whole)
            b.lock(fileB, F_SETLK, RecordLock(F_UNLCK))
            a.lock(fileA, F_SETLK, whole)
            let child = a.fork()
            a.close(fileA)
            b.lock(fileB, F_SETLK, whole)
            a.endChild(child)
            #expect(try volume.agent().content("file") == "x")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `record locks wait, are interrupted, and find deadlocks`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "xx")
            let (fileA, fileB) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            let first = RecordLock(F_WRLCK, start: 0, length: 1)
            let second = RecordLock(F_WRLCK, start: 1, length: 1)
            a.lock(fileA, F_SETLK, first)
            b.lock(fileB, F_SETLK, second)
            b.beginLock(fileB, first)
            b.waitUntilBlocked(in: SYS_fcntl)
            #expect(!b.hasFinished(within: 150))
            a.lock(fileA, F_SETLKW, second, fails: EDEADLK)
            a.lock(fileA, F_SETLK, RecordLock(F_UNLCK))
            b.finish("F_SETLKW after its turn came")
            a.catchSignal(SIGUSR1)
            a.beginLock(fileA, first)
            a.waitUntilBlocked(in: SYS_fcntl)
            #expect(!a.hasFinished(within: 150))
            a.signal(SIGUSR1)
            a.finish("interrupted F_SETLKW", fails: EINTR)
            a.beginLock(fileA, first)
            #expect(!a.hasFinished(within: 100))
            b.crash()
            a.finish("F_SETLKW after a crash")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `open file description locks are the open file's`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let one = a.open("file", O_RDWR)
            let two = a.open("file", O_RDWR)
            let theirs = b.open("file", O_RDWR)
            a.lock(one, F_OFD_SETLK, RecordLock(F_WRLCK))
            a.lock(two, F_OFD_SETLK, RecordLock(F_RDLCK), fails: EAGAIN)
            b.lock(theirs, F_OFD_SETLK, RecordLock(F_RDLCK), fails: EAGAIN)
            // Closing another descriptor of the same file releases nothing.
            a.close(two)
            b.lock(theirs, F_OFD_SETLK, RecordLock(F_RDLCK), fails: EAGAIN)
            // FUSE tells of this close only in the background, so the lock may need a moment.
            a.close(one)
            b.beginFileLock(theirs, RecordLock(F_WRLCK))
            b.finish("F_OFD_SETLKW after the close")
        }
    }

    @Test(
        .enabled(if: Self.tellsOwnLocks, "Linux tells an open file's own locks since 6.6"),
        arguments: DataPath.posixOfAllUsers)
    func `an open file can be asked for the locks that it holds itself`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let (one, two) = (agent.open("file", O_RDWR), agent.open("file", O_RDWR))
            agent.lock(one, F_OFD_SETLK, RecordLock(F_RDLCK, start: 10, length: 5))
            agent.lock(two, F_OFD_SETLK, RecordLock(F_WRLCK, start: 20))
            #expect(
                agent.ownLock(one, in: RecordLock(F_UNLCK, start: 12, length: 1))
                    == RecordLock(F_RDLCK, start: 10, length: 5))
            #expect(agent.ownLock(one, in: RecordLock(F_UNLCK, start: 15)) == nil)
            #expect(
                agent.ownLock(two, in: RecordLock(F_UNLCK)) == RecordLock(F_WRLCK, start: 20))
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a lock on one hard link is a lock on the other`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("one", "x")
            a.link("one", "two")
            let (fileA, fileB) = (a.open("one", O_RDWR), b.open("two", O_RDWR))
            a.lock(fileA, LOCK_EX)
            b.lock(fileB, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
            a.lock(fileA, F_SETLK, RecordLock(F_WRLCK))
            b.lock(fileB, F_SETLK, RecordLock(F_WRLCK), fails: EAGAIN, EACCES)
        }
    }

    /// The kernel tells of every close, of whatever file, who the owner of its locks is.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `a close ends the record locks on its file, and on no other`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            for name in ["file", "other"] { a.store(ByteString(name), "x") }
            let (file, waiting) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            a.lock(file, F_SETLK, RecordLock(F_WRLCK))
            a.close(a.open("other", O_RDWR))
            a.close(a.open("other", O_RDONLY))
            b.lock(waiting, F_SETLK, RecordLock(F_WRLCK), fails: EAGAIN, EACCES)
            a.close(file)
            b.lock(waiting, F_SETLK, RecordLock(F_WRLCK))
        }
    }

    /// The kernel calls the owner of a flock by the address of the open file, which the next one gets
    /// before the daemon has read that the last was closed.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.posixOfAllUsers)
    func `a file opened again right after its close takes a lock of its own`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let script = """
                import fcntl, os, sys
                for i in range(300):
                    file = os.open("lock", os.O_RDWR | os.O_CREAT)
                    getattr(fcntl, sys.argv[1])(file, fcntl.LOCK_EX)
                    os.close(os.open("inside", os.O_CREAT | os.O_EXCL))
                    os.unlink("inside")
                    os.close(file)
                """
            agent.store("take.py", ByteString(script))
            agent.shell(
                """
                for kind in flock lockf; do
                    jobs=
                    for i in 1 2 3; do python3 take.py $kind & jobs="$jobs $!"; done
                    for job in $jobs; do wait $job || exit 1; done
                done
                """)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `twenty processes count together under a lock`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("counter", "0\n")
            let script = """
                import fcntl, os, sys
                for i in range(15):
                    with open("counter", "r+") as f:
                        (fcntl.flock if int(sys.argv[1]) else fcntl.lockf)(f, fcntl.LOCK_EX)
                        n = int(f.read()); f.seek(0); f.write(f"{n + 1}\\n"); f.truncate(); f.flush()
                """
            agent.store("count.py", ByteString(script))
            for kind in ["0", "1"] {
                agent.shell(
                    "for i in $(seq 20); do python3 count.py \(kind) & done; wait")
            }
            #expect(agent.content("counter") == "600\n")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a lock holds against who opened an earlier version`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "first")
            let old = a.open("file", O_RDONLY)
            b.store("file", "second")
            #expect(a.read(old, count: 9) == "first")
            let new = b.open("file", O_RDONLY)
            #expect(b.read(new, count: 9) == "second")
            for (one, other) in [((a, old), (b, new)), ((b, new), (a, old))] {
                one.0.lock(one.1, LOCK_EX)
                other.0.lock(other.1, LOCK_SH | LOCK_NB, fails: EWOULDBLOCK)
                other.0.lock(other.1, LOCK_EX | LOCK_NB, fails: EWOULDBLOCK)
                one.0.lock(one.1, LOCK_UN)
                other.0.lock(other.1, LOCK_EX | LOCK_NB)
                other.0.lock(other.1, LOCK_UN)
            }
        }
    }
}

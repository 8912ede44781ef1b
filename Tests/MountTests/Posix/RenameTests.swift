import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct RenameTests {
    /// What rename(2) of the first over the second has to fail with; nil where it replaces it.
    static func failure(from: FileKind, over to: FileKind) -> Int32? {
        if from == .directory && to != .directory { return ENOTDIR }
        if from != .directory && to == .directory { return EISDIR }
        return nil
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `everything keeps its inode and attributes under a new name`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("a")
            agent.makeDirectory("b")
            for kind in FileKind.possible(for: agent) {
                kind.make("a/x", by: agent, mode: 0o640)
                let before = agent.status("a/x", following: false)
                for (from, to) in [("a/x", "a/y"), ("a/y", "b/z"), ("b/z", "top")] {
                    letTimePass()
                    agent.rename(ByteString(from), ByteString(to))
                    agent.status(ByteString(from), following: false, fails: ENOENT)
                    var after = agent.status(ByteString(to), following: false)
                    #expect(after.changed > before.changed, "\(kind)")
                    after.changed = before.changed
                    #expect(after == before, "\(kind)")
                }
                kind.remove("top", by: agent)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `replacing works among non-directories and empty directories`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for from in FileKind.possible(for: agent) {
                for to in FileKind.possible(for: agent) {
                    from.make("from", by: agent)
                    to.make("to", by: agent)
                    let source = agent.status("from", following: false)
                    let target = agent.status("to", following: false)
                    if let error = Self.failure(from: from, over: to) {
                        agent.rename("from", "to", fails: error)
                        #expect(agent.status("from", following: false) == source)
                        #expect(agent.status("to", following: false) == target)
                        from.remove("from", by: agent)
                        to.remove("to", by: agent)
                    } else {
                        agent.rename("from", "to")
                        agent.status("from", following: false, fails: ENOENT)
                        #expect(agent.status("to", following: false).inode == source.inode)
                        from.remove("to", by: agent)
                    }
                }
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `RENAME_NOREPLACE never replaces`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for from in FileKind.possible(for: agent) {
                for to in FileKind.possible(for: agent) {
                    from.make("from", by: agent)
                    to.make("to", by: agent)
                    agent.rename("from", "to", flags: RENAME_NOREPLACE, fails: EEXIST)
                    to.remove("to", by: agent)
                    agent.rename("from", "to", flags: RENAME_NOREPLACE)
                    from.remove("to", by: agent)
                }
            }
            agent.store("file", "x")
            agent.rename("file", "file", flags: RENAME_NOREPLACE, fails: EEXIST)
            agent.rename(
                "file", "other", flags: RENAME_NOREPLACE | RENAME_EXCHANGE, fails: EINVAL)
            agent.rename("file", "other", flags: 64, fails: EINVAL)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `RENAME_EXCHANGE swaps any two`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            for from in FileKind.possible(for: agent) {
                for to in FileKind.possible(for: agent) {
                    for target: ByteString in ["to", "dir/to"] {
                        from.make("from", by: agent)
                        to.make(target, by: agent)
                        let first = agent.status("from", following: false)
                        let second = agent.status(target, following: false)
                        agent.rename("from", target, flags: RENAME_EXCHANGE)
                        #expect(agent.status("from", following: false).inode == second.inode)
                        #expect(agent.status(target, following: false).inode == first.inode)
                        #expect(agent.status("from", following: false).kind == second.kind)
                        to.remove("from", by: agent)
                        from.remove(target, by: agent)
                    }
                }
            }
            agent.store("one", "1")
            agent.rename("one", "missing", flags: RENAME_EXCHANGE, fails: ENOENT)
            agent.rename("missing", "one", flags: RENAME_EXCHANGE, fails: ENOENT)
            agent.store("two", "22")
            agent.rename("one", "two", flags: RENAME_EXCHANGE)
            #expect(agent.content("one") == "22" && agent.content("two") == "1")
            agent.makeDirectory("dir/deep")
            agent.rename("dir", "dir/deep", flags: RENAME_EXCHANGE, fails: EINVAL)
            agent.rename("dir/deep", "dir", flags: RENAME_EXCHANGE, fails: EINVAL)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `impossible moves are refused`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.makeDirectory("dir/sub")
            agent.makeDirectory("dir/sub/deep")
            agent.rename("dir", "dir/x", fails: EINVAL)
            agent.rename("dir", "dir/sub/x", fails: EINVAL)
            agent.rename("dir", "dir/sub/deep/x", fails: EINVAL)
            agent.rename("dir", "dir/sub", fails: EINVAL)
            agent.rename("dir/sub/deep", "dir", fails: ENOTEMPTY, EEXIST)
            agent.makeDirectory("full")
            agent.store("full/file", "x")
            agent.rename("dir", "full", fails: ENOTEMPTY, EEXIST)
            agent.rename("missing", "x", fails: ENOENT)
            agent.rename("missing", "full", fails: ENOENT)
            agent.rename("dir", "missing/x", fails: ENOENT)
            agent.rename("full/file/x", "y", fails: ENOTDIR)
            agent.rename("dir", "full/file/x", fails: ENOTDIR)
            agent.rename("dir/.", "x", fails: EBUSY, EINVAL)
            agent.rename("dir/..", "x", fails: EBUSY, EINVAL)
            agent.rename("dir", "full/.", fails: EBUSY, EINVAL)
            agent.rename("full/file", "new/", fails: ENOTDIR)
            agent.rename("dir", "renamed/")
            #expect(agent.status("renamed/sub/deep").isDirectory)
            agent.rename("renamed", "renamed")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `renaming one name of a file over another does nothing`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("a", "x")
            agent.link("a", "b")
            agent.rename("a", "b")
            #expect(agent.status("a").links == 2 && agent.status("b").links == 2)
            agent.rename("a", "a")
            #expect(agent.content("a") == "x")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a replaced file stays with those who have it open`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.store("old", "old content")
            agent.store("new", "new")
            let reading = other.open("old", O_RDONLY)
            let writing = agent.open("old", O_RDWR)
            agent.rename("new", "old")
            #expect(other.read(reading) == "old content")
            #expect(other.status(reading).links == 0 && agent.status(writing).links == 0)
            agent.write(writing, "OLD", offset: 0)
            #expect(agent.read(writing, offset: 0) == "OLD content")
            #expect(agent.content("old") == "new" && other.content("old") == "new")
            agent.close(writing)
            other.close(reading)
            #expect(agent.content("old") == "new")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `an open file follows its new name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            let file = agent.open("a", O_CREAT | O_RDWR)
            agent.write(file, "one")
            agent.rename("a", "dir/b")
            agent.write(file, " two")
            #expect(agent.status("dir/b").size == 7)
            agent.close(file)
            #expect(agent.content("dir/b") == "one two")
            agent.status("a", fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a directory moves with all below it`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("mkdir -p a/b/c && echo deep > a/b/c/file && mkdir target")
            let inode = agent.status("a/b/c/file").inode
            let file = agent.open("a/b/c/file", O_RDONLY)
            agent.rename("a/b", "target/b")
            #expect(agent.content("target/b/c/file") == "deep\n")
            #expect(agent.status("target/b/c/file").inode == inode)
            #expect(agent.read(file) == "deep\n")
            #expect(agent.names("a") == [])
            agent.open("a/b/c/file", O_RDONLY, fails: ENOENT)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `moving a directory to another parent needs write permission on it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            for name: ByteString in ["one", "two"] {
                root.makeDirectory(name)
                root.changeMode(name, 0o777)
            }
            root.makeDirectory("one/theirs")
            agent.makeDirectory("one/own", mode: 0o555)
            agent.rename("one/theirs", "two/theirs", fails: EACCES)
            agent.rename("one/theirs", "one/renamed")
            agent.rename("one/own", "two/own", fails: EACCES)
            agent.rename("one/own", "one/mine")
        }
    }

    /// A writer that is sent round may find another file under the name.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.posixOfAllUsers)
    func `names that change hands while they are opened for writing lead to a file or to none`(
        _ dataPath: DataPath
    ) throws {
        let seed = Seed.next("names that change hands while they are opened")
        try withVolume(dataPath) { volume in
            let script = """
                import os, random, sys
                random.seed(\(seed) + int(sys.argv[1]))
                for i in range(1000):
                    a, b = (f"n{random.randrange(8)}" for _ in range(2))
                    try:
                        match random.randrange(6):
                            case 0 | 1: open(a, "w").write("x" * random.randrange(9000))
                            case 2: os.rename(a, b)
                            case 3: os.link(a, b)
                            case 4: os.unlink(a)
                            case 5:
                                with open(a, "r+") as file:
                                    file.truncate(random.randrange(9000))
                                    file.write("x" * random.randrange(9000))
                    except (FileNotFoundError, FileExistsError): pass
                """
            try runThrice(script, volume)
        }
    }

    /// The kernel looks a name up three times before it opens for the second time, and each time the name
    /// led to another file, or to none for a moment: one open in some thousand failed with ESTALE.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.posixOfAllUsers)
    func `a file is opened to write however often its name changes hands`(_ dataPath: DataPath)
        throws
    {
        let seed = Seed.next("names that change hands again and again")
        try withVolume(dataPath) { volume in
            let script = """
                import os, random, sys, time
                random.seed(\(seed) + int(sys.argv[1]))
                end = time.time() + 3
                while time.time() < end:
                    a, b = random.sample(("a", "b", "c"), 2)
                    if random.randrange(2):
                        with open(a, "w") as file: file.write("x" * random.randrange(5000))
                    else:
                        try: os.rename(a, b)
                        except FileNotFoundError: pass
                """
            try runThrice(script, volume)
        }
    }

    /// Runs a Python script in three processes at once, which are told their number.
    private func runThrice(_ script: String, _ volume: Volume) throws {
        let agent = try volume.agent()
        agent.store("change.py", ByteString(script))
        agent.shell(
            """
            for i in 1 2 3; do python3 change.py $i & jobs="$jobs $!"; done
            for job in $jobs; do wait $job || exit 1; done
            """)
    }
}

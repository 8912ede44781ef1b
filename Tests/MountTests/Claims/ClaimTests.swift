import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Claims and the programs that know nothing of them.
@Suite(.oneAtATime) struct ClaimTests {
    @Test(arguments: DataPath.mounts)
    func `an open waits for a write claim of others`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "old")
            let claim = try HeldClaim(volume, "--write", "file")
            claim.waitUntilGranted()
            a.beginOpen("file", O_RDONLY)
            b.beginOpen("file", O_WRONLY | O_TRUNC)
            #expect(!a.hasFinished(within: 200))
            #expect(!b.hasFinished(within: 10))
            #expect(claim.end().status == 0)
            a.finish("open for reading")
            b.finish("open for writing")
            b.end()
            // Nobody else waits.
            let c = try volume.agent()
            c.store("file", "new")
            #expect(c.content("file") == "new")
        }
    }

    @Test func `a signal and death end the waiting for a claim`() throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let claim = try HeldClaim(volume, "--write", "file")
            claim.waitUntilGranted()
            a.catchSignal(SIGUSR1)
            for flags in [O_RDONLY, O_RDWR] {
                a.beginOpen("file", flags)
                a.waitUntilBlocked(in: SYS_openat)
                #expect(!a.hasFinished(within: 100))
                a.signal(SIGUSR1)
                a.finish("interrupted open", fails: EINTR)
            }
            b.beginOpen("file", O_RDWR)
            #expect(!b.hasFinished(within: 100))
            b.crash()
            _ = a.open("file", O_RDONLY | O_NONBLOCK, fails: EWOULDBLOCK)
            #expect(claim.end().status == 0)
            a.store("file", "y")
        }
    }

    @Test func `readers are let in under a claim to read, writers wait`() throws {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "x")
            let claim = try HeldClaim(volume, "--read", "file")
            claim.waitUntilGranted()
            #expect(a.content("file") == "x")
            _ = a.open("file", O_WRONLY | O_NONBLOCK, fails: EWOULDBLOCK)
            b.beginOpen("file", O_WRONLY)
            #expect(!b.hasFinished(within: 150))
            #expect(claim.end().status == 0)
            b.finish("open for writing")
            b.end()
            // Names change under readers, as they do under open files.
            let reading = try HeldClaim(volume, "--read", "file")
            reading.waitUntilGranted()
            a.rename("file", "other")
            a.rename("other", "file")
            #expect(reading.end().status == 0)
        }
    }

    @Test func `names under a write claim of others are busy`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["file", "other"] { agent.store(name, "x") }
            agent.makeDirectory("folder")
            let claim = try HeldClaim(
                volume, "--write", "file", "--write", "vacant", "--delete", "folder")
            claim.waitUntilGranted()
            agent.unlink("file", fails: EBUSY)
            agent.rename("file", "else", fails: EBUSY)
            agent.rename("other", "file", fails: EBUSY)
            agent.link("other", "vacant", fails: EBUSY)
            agent.makeDirectory("vacant", fails: EBUSY)
            _ = agent.open("vacant", O_CREAT | O_WRONLY, fails: EBUSY)
            agent.removeDirectory("folder", fails: EBUSY)
            _ = agent.open("folder/new", O_CREAT | O_WRONLY, fails: EBUSY)
            agent.rename("other", "folder/new", fails: EBUSY)
            // What does not change them works.
            #expect(agent.names(".") == ["file", "folder", "other"])
            agent.rename("other", "third")
            #expect(claim.end().status == 0)
            agent.unlink("file")
            agent.removeDirectory("folder")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a command works under the claim it was started with`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "old")
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                binary, "coordinate", "--write", "file", "--timeout", "20", "--", "sh", "-ec",
                """
                echo one >file
                (echo two >temporary && mv temporary file)
                test "$(cat file)" = two
                '\(binary)' coordinate --read file --timeout 20 -- cat file
                # Not behind somebody who waits for this claim either.
                path=$PWD/file
                (cd / && exec '\(binary)' coordinate --write "$path" --purpose other -- true) &
                until '\(binary)' claims . | grep -q 'waits for write'; do sleep 0.05; done
                rm file; echo three >file
                exit 7
                """)
            #expect(result.status == 7 && result.text == "two\n", "\(result)")
            #expect(agent.content("file") == "three\n")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `commands of one purpose write what each of them has claimed, others wait`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            try volume.agent().store("file", "old")
            let held = try HeldClaim(volume, "--write", "file", "--purpose", "line")
            held.waitUntilGranted()
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                binary, "coordinate", "--write", "file", "--purpose", "line", "--", "sh", "-ec",
                "echo new >file; cat file; exec 9<file; flock -n 9; mv file other; mv other file")
            #expect(result.status == 0 && result.text == "new\n", "\(result)")
            let other = try volume.run("sh", "-c", "exec 9<file; flock -n 9")
            #expect(other.status == 1, "\(other)")
            #expect(held.end().status == 0)
        }
    }

    @Test func `a folder that is not there is no input, what cannot be claimed is wrong usage`()
        throws
    {
        try withVolume(.passthrough) { volume in
            for path in ["@none/file", "/nowhere/file"] {
                let missing = try volume.shapeedit(
                    "coordinate", "--write", path, "--", "true", fails: EX_NOINPUT)
                #expect(missing.errorText.contains("there is no folder"), "\(missing)")
            }
            try volume.agent().store("file", "")
            for (path, reason) in [
                ("", "'': No such file or directory"), ("@file/x", "file/x: Not a directory"),
                ("@\(String(repeating: "x", count: 256))", "File name too long"),
                ("/dev/null/x", "Not a directory"),
            ] {
                for option in ["--read", "--write", "--delete"] {
                    let refused = try volume.shapeedit(
                        "coordinate", option, path, "--", "true", fails: EX_NOINPUT)
                    #expect(refused.errorText.contains(reason), "\(option) \(refused)")
                }
            }
            let own = try volume.shapeedit(
                "coordinate", "--write", "@../.shapeedit/x", "--", "true", fails: EX_USAGE)
            #expect(own.errorText.contains("cannot be claimed"), "\(own)")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a claim waits until what is being written is published`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "old")
            let file = agent.open("file", O_RDWR)
            agent.write(file, "new")
            let binary = try BuiltPrograms.shapeedit()
            for option in ["--read", "--write"] {
                let result = try volume.run(
                    binary, "coordinate", option, "file", "--timeout", "0.3", "--", "true")
                #expect(result.status == 75, "\(result)")
                #expect(result.errorText.contains("(process \(agent.process)) is writing"))
            }
            let claim = try HeldClaim(volume, "--read", "file")
            #expect(!claim.isGranted(within: 200))
            agent.close(file)
            claim.waitUntilGranted()
            #expect(agent.content("file") == "new")
            #expect(claim.end().status == 0)
        }
    }

    @Test func `a claim waits for all that write a document, and for nobody that has closed it`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let (a, b, c) = (try volume.agent(), try volume.agent(), try volume.agent())
            a.store("file", "old")
            let binary = try BuiltPrograms.shapeedit()
            /// Whether just these are in the way, as soon as the daemon knows of all closes.
            func isWritten(by writers: Agent...) throws -> Bool {
                for _ in 0..<100 {
                    let refused = try volume.run(
                        binary, "coordinate", "--read", "file", "--timeout", "0.1", "--", "true")
                    let named = [a, b, c].filter {
                        refused.errorText.contains("(process \($0.process)) is writing")
                    }
                    if named.map(\.process) == writers.map(\.process) { return true }
                }
                return false
            }
            let (first, second) = (a.open("file", O_RDWR), b.open("file", O_RDWR))
            a.write(first, "a")
            b.write(second, "b")
            #expect(try isWritten(by: a, b))
            a.close(first)
            #expect(try isWritten(by: b))
            // While nobody claims.
            let third = c.open("file", O_RDWR)
            #expect(try isWritten(by: b, c))
            b.close(second)
            #expect(try isWritten(by: c))
            c.close(third)
            let claim = try HeldClaim(volume, "--read", "file")
            claim.waitUntilGranted()
            #expect(a.content("file") == "bld")
            #expect(claim.end().status == 0)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who writes on in a file that was removed or replaced keeps nobody from its name`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, agent) = (try volume.agent(), try volume.agent())
            let names: [ByteString] = ["removed", "replaced", "moved"]
            for name in names {
                agent.store(name, "old")
                writer.write(writer.open(name, O_RDWR), "x")
            }
            let binary = try BuiltPrograms.shapeedit()
            func claim(_ name: String) throws -> ProgramResult {
                try volume.run(
                    binary, "coordinate", "--write", name, "--timeout", "0.3", "--", "true")
            }
            // It counts as a claim from the first one on.
            for name in ["removed", "replaced", "moved"] {
                #expect(try claim(name).status == 75)
            }
            agent.unlink("removed")
            agent.store("removed", "new")
            agent.store("temporary", "new")
            agent.rename("temporary", "replaced")
            agent.link("moved", "other")
            agent.unlink("moved")
            agent.store("moved", "new")
            for name in ["removed", "replaced", "moved"] {
                let free = try HeldClaim(volume, "--write", name)
                free.waitUntilGranted()
                #expect(free.end().status == 0)
            }
            // The name that is left is still written.
            #expect(try claim("other").status == 75)
            writer.end()
        }
    }

    @Test func `a claim ends with the process that holds it`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let first = try HeldClaim(volume, "--write", "file")
            first.waitUntilGranted()
            let second = try HeldClaim(volume, "--write", "file", "--timeout", "60")
            let third = try HeldClaim(volume, "--read", "file", "--timeout", "60")
            #expect(!second.isGranted(within: 150))
            first.kill()
            var next: HeldClaim?
            for _ in 0..<300 where next == nil {
                next = [second, third].first { $0.isGranted(within: 50) }
            }
            // The one that got it is killed as well: the other gets it.
            try #require(next).kill()
            let last = next === second ? third : second
            last.waitUntilGranted()
            #expect(last.end().status == 0)
            agent.store("file", "y")
        }
    }

    @Test func `claims on several names, links and packages are one`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            agent.link("file", "link")
            agent.makeDirectory("note.rtfd")
            agent.store("note.rtfd/text", "x")
            agent.store("note.rtfd/image", "x")
            for (claimed, met) in [("file", "link"), ("note.rtfd/text", "note.rtfd/image")] {
                let claim = try HeldClaim(volume, "--write", claimed)
                claim.waitUntilGranted()
                _ = agent.open(ByteString(met), O_RDONLY | O_NONBLOCK, fails: EWOULDBLOCK)
                #expect(claim.end().status == 0)
                #expect(agent.content(ByteString(met)) == "x")
            }
        }
    }

    @Test func `a deadlock is refused, and those who wait go on`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["a", "b"] { agent.store(name, "x") }
            let one = try HeldClaim(volume, "--write", "a", "--purpose", "one")
            let two = try HeldClaim(volume, "--write", "b", "--purpose", "two")
            one.waitUntilGranted()
            two.waitUntilGranted()
            let waits = try HeldClaim(
                volume, "--write", "b", "--purpose", "one", "--timeout", "100")
            // It is known to wait when the list says so.
            let binary = try BuiltPrograms.shapeedit()
            var listed = ""
            for _ in 0..<600 where !listed.contains("waits for write on work/b") {
                listed = try volume.run(binary, "claims", ".").text
                usleep(50_000)
            }
            let refused = try volume.run(
                binary, "coordinate", "--write", "a", "--purpose", "two", "--timeout", "100",
                "--", "true")
            #expect(refused.status == 75, "\(refused)")
            #expect(refused.errorText.contains("would wait for one that waits for it"))
            #expect(refused.errorText.contains("work/b"))
            #expect(!waits.isGranted(within: 100))
            #expect(two.end().status == 0)
            waits.waitUntilGranted()
            #expect(waits.end().status == 0 && one.end().status == 0)
        }
    }

    @Test func `who waits longer than opens do goes ahead to read and is refused to write`() throws
    {
        try withVolume(.passthrough) { volume in
            let (a, b) = (try volume.agent(), try volume.agent())
            a.store("file", "old")
            let claim = try HeldClaim(volume, "--write", "file")
            claim.waitUntilGranted()
            b.beginOpen("file", O_WRONLY | O_TRUNC)
            #expect(a.content("file") == "old")
            b.finish("open for writing", fails: EBUSY)
            #expect(claim.end().status == 0)
        }
    }

    @Test func `the end of a mount ends claims and those who wait for them`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let held = try HeldClaim(volume, "--write", "file")
            held.waitUntilGranted()
            let waits = try HeldClaim(volume, "--write", "file", "--timeout", "300")
            let binary = try BuiltPrograms.shapeedit()
            #expect(
                try waitUntil {
                    let list = try volume.run(binary, "claims", ".").text
                    return list.contains("has write") && list.contains("waits for write")
                })
            volume.endAgents()
            let container = try #require(volume.container)
            let daemon = try #require(container.daemon)
            kill(pid_t(daemon), SIGTERM)
            #expect(waits.result().status == 69)
            let ended = held.end()
            #expect(ended.status == 75 && ended.errorText.contains("the claim ended before"))
            container.waitForEnd(of: daemon)
            try volume.remountAfterCrash()
        }
    }
}

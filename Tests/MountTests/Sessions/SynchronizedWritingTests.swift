import Glibc
import Probing
import TestSupport
import Testing

/// What fsync() and synchronous writes do to a session: what they returned for is kept, and shown when
/// it has been quiet.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct SynchronizedWritingTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `fsync shows nothing before the last close while writing goes on`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for dataOnly in [false, true] {
                writer.store("file", "old")
                let file = writer.open("file", O_WRONLY | O_TRUNC)
                for piece in 0..<5 {
                    writer.write(file, "piece \(piece),")
                    writer.synchronize(file, dataOnly: dataOnly)
                    #expect(reader.content("file") == "old" && reader.status("file").size == 3)
                    usleep(200_000)
                    #expect(reader.content("file") == "old")
                }
                writer.close(file)
                #expect(reader.content("file").count == 40)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `two quiet seconds after fsync show what was written`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", "old")
            let file = writer.open("file", O_RDWR)
            writer.write(file, "synced", offset: 0)
            let start = nanosecondsNow()
            writer.synchronize(file)
            while reader.content("file") == "old", nanosecondsNow() - start < 25_000_000_000 {
                usleep(50_000)
            }
            let waited = nanosecondsNow() - start
            #expect(reader.content("file") == "synced" && reader.status("file").size == 6)
            #expect(waited > 1_500_000_000 && waited < 20_000_000_000, "after \(waited) ns")
            // The session goes on.
            writer.write(file, " and more", offset: 6)
            #expect(writer.status("file").size == 15)
            #expect(reader.content("file") == "synced")
            writer.close(file)
            #expect(reader.content("file") == "synced and more")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `many that are quiet at once are shown with a few threads`() throws {
        let lines = """
            import glob, os, sys, time
            files = [os.open(f"{number}", os.O_CREAT | os.O_RDWR) for number in range(60)]
            for file in files: os.write(file, b"x" * (4 << 20))
            os.sync()
            for file in files: os.fsync(file)
            def threads():
                count = 0
                for path in glob.glob(f"/proc/{sys.argv[1]}/task/*/comm"):
                    try: count += open(path).read().strip() == "quiet publish"
                    except OSError: pass
                return count
            # A process of its own sees by their names what is published.
            if os.fork() == 0:
                end = time.monotonic() + 30
                most = 0
                while time.monotonic() < end:
                    for _ in range(50):
                        most = max(most, threads())
                        time.sleep(0.001)
                    if all(os.path.getsize(f"{number}") for number in range(60)): break
                print(most, [n for n in range(60) if not os.path.getsize(f"{n}")], flush=True)
                os._exit(0)
            os.wait()
            """
        try withVolume(.passthrough) { volume in
            let daemon = try #require(volume.container?.daemon)
            let result = try volume.run("python3", "-c", lines, "\(daemon)", seconds: 60)
            let most = result.text.split(separator: " ").first.flatMap { Int($0) }
            #expect(result.text.hasSuffix(" []\n"), "\(result)")
            #expect((most ?? 60) <= 4, "\(result)")
        }
    }

    /// As it writes them out the disk takes more blocks for the list of many pieces.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `two quiet seconds show a file in many pieces, too`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", "old")
            let file = writer.open("file", O_RDWR)
            for piece in 0..<20 { writer.write(file, "piece", offset: piece << 20) }
            let start = nanosecondsNow()
            writer.synchronize(file)
            while reader.status("file").size == 3, nanosecondsNow() - start < 25_000_000_000 {
                usleep(50_000)
            }
            #expect(reader.status("file").size == (19 << 20) + 5)
            writer.close(file)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a crash after the close of what was shown by fsync misses nothing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", "old")
            let file = writer.open("file", O_RDWR)
            writer.write(file, "synced", offset: 0)
            writer.synchronize(file)
            let start = nanosecondsNow()
            while reader.content("file") == "old", nanosecondsNow() - start < 25_000_000_000 {
                usleep(50_000)
            }
            #expect(reader.content("file") == "synced")
            // Nothing was written since: the session ends without another version.
            writer.close(file)
            volume.endAgents()
            let status = "\(volume.root.text)/.shapeedit/status.json"
            #expect(try waitUntil { try volume.run("grep", "\"sessions\": 0", status).status == 0 })
            try container.killDaemon()
            let check = try container.check()
            #expect(check.status == 0, "\(check)")
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("file") == "synced")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what was written to be on the disk at once is there after a crash`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let writer = try volume.agent()
            let ways = [
                O_RDWR | O_SYNC, O_WRONLY | O_DSYNC, O_WRONLY | O_TRUNC | O_SYNC,
                O_WRONLY | O_APPEND | O_DSYNC, O_RDWR | O_CREAT | O_SYNC,
                O_WRONLY | O_CREAT | O_DSYNC,
            ]
            for (number, flags) in ways.enumerated() {
                let path = ByteString("file\(number)")
                if flags & O_CREAT == 0 { writer.store(path, "old") }
                // Never closed before the daemon is gone.
                writer.write(writer.open(path, flags), "new")
            }
            try container.killDaemon()
            volume.endAgents()
            try volume.remountAfterCrash()
            let reader = try volume.agent()
            for (number, flags) in ways.enumerated() {
                #expect(
                    reader.content(ByteString("file\(number)"))
                        == (flags & O_APPEND != 0 ? "oldnew" : "new"), "\(number)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what was written on a mount with sync is there after a crash`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath, options: ["sync"]) { volume in
            let container = try #require(volume.container)
            let writer = try volume.agent()
            let sizes = [3, 100_000, 300_000]
            for size in sizes {
                writer.store("old\(size)", ByteString(repeating: "o", count: 4096))
                for name in ["old", "new"] {
                    // Never closed before the daemon is gone.
                    let file = writer.open("\(name)\(size)", O_WRONLY | O_CREAT | O_TRUNC)
                    writer.write(file, ByteString(repeating: "n", count: size))
                }
            }
            try container.killDaemon()
            volume.endAgents()
            try volume.remountAfterCrash()
            let reader = try volume.agent()
            for size in sizes {
                for name in ["old", "new"] {
                    let found = reader.content("\(name)\(size)")
                    let isWhole = found == ByteString(repeating: "n", count: size)
                    #expect(isWhole, "\(name)\(size): \(found.count) bytes")
                }
            }
        }
    }
}

import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct TimeTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `utimensat sets nanoseconds of every kind`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) {
                kind.make("x", by: agent, mode: 0o755)
                for (seconds, nanoseconds) in [
                    (1_500_000_000, 123_456_789), (0, 0), (1, 1), (1_700_000_000, 999_999_999),
                    (4_000_000_000, 5), (-1, 500_000_000), (-86_400, 0),
                ] {
                    letTimePass()
                    let before = nanosecondsNow()
                    letTimePass()
                    agent.setTimes(
                        "x", accessed: .at(seconds: seconds, nanoseconds: nanoseconds),
                        modified: .at(seconds: seconds + 1, nanoseconds: nanoseconds),
                        following: false)
                    let status = agent.status("x", following: false)
                    let expected = seconds * 1_000_000_000 + nanoseconds
                    #expect(status.accessed == expected, "\(kind)")
                    #expect(status.modified == expected + 1_000_000_000, "\(kind)")
                    #expect(status.changed > before)
                }
                kind.remove("x", by: agent)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `fsync changes no time`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let files = [10, 300_000].map { size in
                let file = agent.open("\(size)", O_CREAT | O_RDWR, mode: 0o644)
                agent.write(file, ByteString(repeating: "f", count: size))
                return (file, agent.status(file))
            }
            // Until the kernel asks for the attributes again.
            usleep(1_100_000)
            for (file, written) in files {
                agent.synchronize(file)
                let status = agent.status(file)
                #expect(status.size == written.size)
                #expect(status.modified == written.modified, "\(status.size)")
                #expect(status.changed == written.changed, "\(status.size)")
            }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what comes back after the daemon's death has the time of its last write`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open("file", O_CREAT | O_RDWR, mode: 0o644)
            agent.write(file, ByteString(repeating: "f", count: 300_000))
            agent.synchronize(file)
            usleep(1_100_000)
            agent.write(file, "second", offset: 0)
            agent.changeMode(file, 0o600)
            let written = agent.status(file)
            try #require(volume.container).killDaemon()
            try volume.remountAfterCrash()
            let after = try volume.agent()
            #expect(after.content("file").bytes.prefix(6).elementsEqual("second".utf8))
            #expect(after.status("file").modified == written.modified)
        }
    }

    /// The kernel stamps a file finer than its clock ticks when somebody has looked at it.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `what is changed later is not older, however short the time between`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            var older = 0
            for round in 0..<40 {
                let file = agent.open("large", O_CREAT | O_RDWR | O_TRUNC)
                agent.write(file, ByteString(repeating: "l", count: 100_000))
                agent.status(file)
                agent.write(file, "and more")
                agent.close(file)
                let before = agent.status("large").modified
                switch round % 4 {
                case 0: agent.store("later\(round)", "small")
                case 1: agent.makeDirectory("later\(round)")
                case 2: agent.symlink(to: "large", "later\(round)")
                default:
                    agent.store("later\(round)", "")
                    agent.setTimes("later\(round)", accessed: nil, modified: nil)
                }
                if agent.status("later\(round)", following: false).modified < before { older += 1 }
            }
            #expect(older == 0)
        }
    }

    /// Who remembers size and times of what he read looks at nothing else to see that it is another.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `a version is younger than the one before, though both are of one tick`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "one")
            var last = agent.status("file")
            var older = 0
            for round in 0..<200 {
                agent.store("file", round % 2 == 0 ? "two" : "six")
                let status = agent.status("file")
                #expect(status.inode == last.inode && status.size == last.size)
                if status.changed <= last.changed { older += 1 }
                last = status
            }
            #expect(older == 0)
            // What who made a file saw of it before the close stays.
            let file = agent.open("new", O_CREAT | O_WRONLY)
            agent.write(file, "all of it")
            let written = agent.status(file)
            agent.close(file)
            #expect(agent.status("new").changed == written.changed)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `UTIME_NOW and UTIME_OMIT are obeyed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let old = FileTime.at(seconds: 1000, nanoseconds: 7)
            let expected = 1_000_000_000_007
            agent.setTimes("file", accessed: old, modified: old)
            let start = nanosecondsNow() - 50_000_000
            agent.setTimes("file", accessed: .now, modified: .unchanged)
            #expect(agent.status("file").accessed > start)
            #expect(agent.status("file").modified == expected)
            agent.setTimes("file", accessed: old, modified: .now)
            #expect(agent.status("file").accessed == expected)
            #expect(agent.status("file").modified > start)
            agent.setTimes("file", accessed: nil, modified: nil)
            #expect(agent.status("file").accessed > start)
            agent.setTimes("file", accessed: .unchanged, modified: old)
            let before = agent.status("file")
            letTimePass()
            agent.setTimes("file", accessed: .unchanged, modified: .unchanged)
            #expect(agent.status("file") == before)
            agent.setTimes(
                "file", accessed: .at(seconds: 0, nanoseconds: 1_000_000_000), modified: .now,
                fails: EINVAL)
            agent.setTimes("missing", accessed: old, modified: old, fails: ENOENT)
            let file = agent.open("file", O_RDONLY)
            agent.setTimes(file, accessed: old, modified: old)
            #expect(agent.status(file).modified == expected)
        }
    }

    /// Within a tick of the clock a change was a nanosecond later than what it set: find -used took a new file
    /// for one that was changed after it had been used.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `what is set to now is set to the time of that change`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<20 {
                let name: ByteString = "file\(number)"
                agent.close(agent.open(name, O_CREAT | O_WRONLY))
                agent.setTimes(name, accessed: nil, modified: nil)
                let status = agent.status(name)
                #expect(status.accessed == status.changed && status.modified == status.changed)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a time that another process sets while a file is being written stays`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, other) = (try volume.agent(), try volume.agent())
            let old = FileTime.at(seconds: 1000, nanoseconds: 7)
            for size in [10, 400_000] {
                writer.store("file", ByteString(repeating: 120, count: size))
                let file = writer.open("file", O_RDWR)
                writer.write(file, "new")
                letTimePass()
                other.setTimes("file", accessed: .unchanged, modified: old)
                #expect(other.status("file").modified == 1_000_000_000_007, "\(size)")
                writer.close(file)
                #expect(other.status("file").modified == 1_000_000_000_007, "\(size)")
                // What is written afterwards counts.
                let again = writer.open("file", O_RDWR)
                other.setTimes("file", accessed: .unchanged, modified: old)
                writer.write(again, "newer")
                writer.close(again)
                #expect(other.status("file").modified > 1_000_000_000_007, "\(size)")
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `what was before all times is the first second, which has no parts`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let first = -(1 << 31)
            agent.store("file", "content")
            agent.makeDirectory("directory")
            for name: ByteString in ["file", "directory"] {
                for seconds in [first, first - 1, -(1 << 40)] {
                    let time = FileTime.at(seconds: seconds, nanoseconds: 999_999_999)
                    agent.setTimes(name, accessed: time, modified: time)
                    #expect(agent.status(name).accessed == first * 1_000_000_000)
                    #expect(agent.status(name).modified == first * 1_000_000_000)
                }
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a time that was set survives writing handles and their close`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            let time = FileTime.at(seconds: 1_234_567_890, nanoseconds: 123_456_789)
            let expected = 1_234_567_890_123_456_789
            // As cp -p and rsync do: write, set the times, close.
            let file = agent.open("file", O_CREAT | O_WRONLY)
            agent.write(file, "content")
            agent.setTimes(file, accessed: time, modified: time)
            #expect(agent.status(file).modified == expected)
            agent.close(file)
            #expect(agent.status("file").modified == expected)
            #expect(other.status("file").modified == expected)
            // By name, before and after the write.
            let second = agent.open("file", O_WRONLY)
            agent.write(second, "CONTENT")
            agent.setTimes("file", accessed: time, modified: time)
            agent.close(second)
            #expect(other.status("file").modified == expected)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `setting times needs the owner, and now needs write permission`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody)
            let other = try volume.agent(user: somebody)
            root.store("file", "x")
            root.changeOwner("file", user: nobody)
            let time = FileTime.at(seconds: 5, nanoseconds: 5)
            root.changeMode("file", 0)
            owner.setTimes("file", accessed: time, modified: time)
            owner.setTimes("file", accessed: nil, modified: nil)
            other.setTimes("file", accessed: nil, modified: nil, fails: EACCES)
            other.setTimes("file", accessed: time, modified: time, fails: EPERM)
            other.setTimes("file", accessed: .now, modified: .unchanged, fails: EPERM)
            root.changeMode("file", 0o666)
            other.setTimes("file", accessed: nil, modified: nil)
            other.setTimes("file", accessed: .now, modified: .now)
            other.setTimes("file", accessed: time, modified: time, fails: EPERM)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `changing a directory's names changes its times and not theirs`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.makeDirectory("away")
            agent.store("file", "x")
            let steps: [(String, [ByteString], () -> Void)] = [
                ("create", ["dir"], { agent.store("dir/new", "") }),
                ("mkdir", ["dir"], { agent.makeDirectory("dir/sub") }),
                ("symlink", ["dir"], { agent.symlink(to: "x", "dir/symlink") }),
                ("link", ["dir"], { agent.link("file", "dir/link") }),
                (
                    "mknod", ["dir"],
                    { agent.makeNode("dir/fifo", mode: FileKind.fifo.modeBits | 0o600) }
                ),
                ("rename inside", ["dir"], { agent.rename("dir/new", "dir/newer") }),
                ("rename out", ["dir", "away"], { agent.rename("dir/newer", "away/newer") }),
                ("rename in over", ["dir", "away"], { agent.rename("away/newer", "dir/link") }),
                (
                    "exchange", ["dir", "away"],
                    {
                        agent.store("away/x", "")
                        agent.rename("away/x", "dir/link", flags: RENAME_EXCHANGE)
                    }
                ),
                ("unlink", ["dir"], { agent.unlink("dir/link") }),
                ("rmdir", ["dir"], { agent.removeDirectory("dir/sub") }),
            ]
            for (name, changed, step) in steps {
                let before = changed.map { agent.status($0) }
                let fileBefore = agent.status("file")
                letTimePass()
                step()
                for (index, directory) in changed.enumerated() {
                    let after = agent.status(directory)
                    #expect(after.modified > before[index].modified, "\(name): mtime \(directory)")
                    #expect(after.changed > before[index].changed, "\(name): ctime \(directory)")
                }
                #expect(agent.status("file").modified == fileBefore.modified, "\(name)")
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `failing calls change no times`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("mkdir -p dir/full/x other && echo > dir/file")
            let before = [".", "dir", "dir/file", "dir/full", "other"].map {
                agent.status(ByteString($0))
            }
            letTimePass()
            agent.makeDirectory("dir/file", fails: EEXIST)
            agent.removeDirectory("dir/full", fails: ENOTEMPTY)
            agent.unlink("dir/none", fails: ENOENT)
            agent.link("dir/file", "dir/full", fails: EEXIST)
            agent.symlink(to: "x", "dir/file", fails: EEXIST)
            agent.rename("other", "dir/full", fails: ENOTEMPTY, EEXIST)
            agent.rename("dir/file", "dir/full", fails: EISDIR)
            agent.open("dir/file", O_CREAT | O_EXCL | O_WRONLY, fails: EEXIST)
            agent.truncate("dir/file", size: -1, fails: EINVAL)
            let after = [".", "dir", "dir/file", "dir/full", "other"].map {
                agent.status(ByteString($0))
            }
            #expect(before == after)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `writing changes modification, and its times stay after the close`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.store("file", "content")
            for action in ["write", "ftruncate", "same size", "truncate", "fallocate"] {
                let before = agent.status("file")
                letTimePass()
                let file = agent.open("file", O_RDWR)
                #expect(agent.status(file).modified == before.modified, "open before \(action)")
                switch action {
                case "write": agent.write(file, "x")
                case "ftruncate": agent.truncate(file, size: 20)
                case "same size": agent.truncate(file, size: agent.status(file).size)
                case "truncate": agent.truncate("file", size: 10)
                default: agent.allocate(file, offset: 0, length: 5000)
                }
                let written = agent.status(file)
                #expect(written.modified > before.modified, "\(action)")
                #expect(written.changed > before.changed, "\(action)")
                letTimePass()
                letTimePass()
                agent.close(file)
                #expect(agent.status("file").modified == written.modified, "\(action), closed")
                #expect(other.status("file").modified == written.modified, "\(action), other")
            }
            // No bytes, no change.
            let before = agent.status("file")
            letTimePass()
            let file = agent.open("file", O_WRONLY)
            agent.write(file, "")
            agent.close(file)
            #expect(agent.status("file").modified == before.modified)
        }
    }
}

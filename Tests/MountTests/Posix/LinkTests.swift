import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct LinkTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `hard links are one item with several names`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            for kind in FileKind.possible(for: agent) where kind != .directory {
                kind.make("a", by: agent, mode: 0o640)
                let before = agent.status("a", following: false)
                letTimePass()
                agent.link("a", "b")
                agent.link("b", "dir/c")
                let status = agent.status("dir/c", following: false)
                #expect(status.links == 3 && status.inode == before.inode, "\(kind)")
                #expect(status.kind == kind.modeBits && status.changed > before.changed)
                #expect(status.modified == before.modified)
                agent.changeOwner("b", group: agent.user, following: false)
                if kind != .symbolicLink {
                    agent.changeMode("b", 0o604)
                    #expect(agent.status("a").permissions == 0o604)
                }
                agent.unlink("a")
                #expect(agent.status("b", following: false).links == 2)
                agent.unlink("dir/c")
                let last = agent.status("b", following: false)
                #expect(last.links == 1 && last.changed > status.changed)
                agent.unlink("b")
            }
        }
    }

    /// The kernel cuts its pages to the size that it is told with the link.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `a link to a file that is being written loses nothing`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            for size in [5, 200_000, 600_000] {
                agent.store("a", "old")
                let bytes = ByteString(repeating: 120, count: size)
                let file = agent.open("a", O_RDWR)
                agent.write(file, bytes)
                agent.link("a", "b")
                #expect(agent.status(file).size == size && agent.status("b").size == size)
                #expect(agent.content("a") == bytes, "\(size)")
                agent.close(file)
                for name: ByteString in ["a", "b"] {
                    #expect(other.content(name) == bytes, "\(size)")
                    agent.unlink(name)
                }
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `content written by one name is read by the other`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.store("a", "first")
            agent.link("a", "b")
            #expect(other.content("b") == "first")
            agent.store("b", "second content")
            #expect(other.content("a") == "second content")
            #expect(other.status("a") == other.status("b"))
            agent.unlink("a")
            #expect(other.content("b") == "second content")
            other.store("b", "third")
            #expect(agent.content("b") == "third")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `link refuses directories, taken names and missing ones`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.store("file", "x")
            agent.link("dir", "x", fails: EPERM)
            agent.link(".", "x", fails: EPERM)
            agent.link("missing", "x", fails: ENOENT)
            agent.link("file", "missing/x", fails: ENOENT)
            agent.link("file", "file/x", fails: ENOTDIR)
            agent.link("file/x", "y", fails: ENOTDIR)
            for kind in FileKind.possible(for: agent) {
                let name: ByteString = "taken\(kind.rawValue)"
                kind.make(name, by: agent)
                agent.link("file", name, fails: EEXIST)
            }
            agent.link("file", "file", fails: EEXIST)
            #expect(agent.status("file").links == 1)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `link to a symbolic link follows it only on request`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            agent.symlink(to: "file", "link")
            agent.link("link", "same")
            #expect(agent.status("same", following: false).isLink)
            agent.link("link", "followed", following: true)
            #expect(agent.status("followed", following: false).inode == agent.status("file").inode)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a thousand links are counted`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            for number in 1...1000 { agent.link("file", "link\(number)") }
            #expect(agent.status("file").links == 1001)
            for number in 1...1000 { agent.unlink("link\(number)") }
            #expect(agent.status("file").links == 1)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `symbolic links keep any target up to 4,095 bytes`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for target: ByteString in [
                "x", "/", "..", "a/b/../c", "/no/such/place", ByteString([0xff, 0xfe, 0x20, 0x0a]),
                ByteString(repeating: "a", count: 255), ByteString(repeating: "b", count: 4095),
            ] {
                agent.symlink(to: target, "link")
                #expect(agent.readLink("link") == target)
                let status = agent.status("link", following: false)
                #expect(status.isLink && status.size == target.count && status.links == 1)
                #expect(status.permissions == 0o777)
                #expect(agent.readLink("link", count: 3).count == min(3, target.count))
                agent.unlink("link")
            }
            agent.symlink(to: ByteString(repeating: "c", count: 4096), "link", fails: ENAMETOOLONG)
            agent.symlink(to: "", "link", fails: ENOENT)
            agent.store("file", "")
            agent.symlink(to: "x", "file", fails: EEXIST)
            agent.symlink(to: "x", "missing/link", fails: ENOENT)
            agent.symlink(to: "x", "file/link", fails: ENOTDIR)
            agent.readLink("file", fails: EINVAL)
            agent.readLink("missing", fails: ENOENT)
            agent.readLink(".", fails: EINVAL)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `links lead through directories and out of the mount`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("mkdir -p a/b && echo inside > a/b/file && ln -s a/b short")
            #expect(agent.content("short/file") == "inside\n")
            agent.symlink(to: "../short/file", "a/up")
            #expect(agent.content("a/up") == "inside\n")
            agent.symlink(to: "/etc/passwd", "out")
            #expect(agent.content("out").text.contains("root"))
            for depth in 1...39 {
                agent.symlink(to: depth == 1 ? "a/b/file" : "chain\(depth - 1)", "chain\(depth)")
            }
            #expect(agent.content("chain39") == "inside\n")
            agent.symlink(to: "chain39", "chain40")
            agent.symlink(to: "chain40", "chain41")
            agent.open("chain41", O_RDONLY, fails: ELOOP)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `only the owner of a file links it where hard links are protected`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.makeDirectory("open")
            root.changeMode("open", 0o777)
            root.store("open/file", "x")
            let isProtected = root.shell("cat /proc/sys/fs/protected_hardlinks") == "1\n"
            if isProtected {
                agent.link("open/file", "open/link", fails: EPERM)
            } else {
                agent.link("open/file", "open/link")
            }
        }
    }
}

import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct DirectoryTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `mkdir makes an empty directory with the mode less the umask`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for (mask, mode, found) in [
                (0o022, 0o777, 0o755), (0, 0o777, 0o777), (0, 0o151, 0o151), (0o077, 0o755, 0o700),
                (0, 0o1777, 0o1777), (0o022, 0o070, 0o050),
            ] {
                agent.setMask(mask)
                let name: ByteString = "d\(mask)-\(mode)"
                agent.makeDirectory(name, mode: mode)
                let status = agent.status(name)
                #expect(status.isDirectory && status.permissions == found)
                #expect(status.links == 2 && status.user == agent.user)
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `mkdir fails where the name is taken or the way is not`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) {
                let name = ByteString(kind.rawValue)
                kind.make(name, by: agent)
                agent.makeDirectory(name, fails: EEXIST)
            }
            agent.makeDirectory("missing/dir", fails: ENOENT)
            agent.makeDirectory("file/dir", fails: ENOTDIR)
            agent.makeDirectory(".", fails: EEXIST)
            agent.makeDirectory("..", fails: EEXIST)
            agent.makeDirectory("", fails: ENOENT)
            agent.makeDirectory("slash/")
            agent.removeDirectory("slash/")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `rmdir removes empty directories only`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) {
                agent.makeDirectory("dir")
                kind.make("dir/x", by: agent, mode: 0o755)
                agent.removeDirectory("dir", fails: ENOTEMPTY)
                kind.remove("dir/x", by: agent)
                agent.removeDirectory("dir")
                agent.status("dir", fails: ENOENT)
                if kind != .directory {
                    kind.make("x", by: agent)
                    agent.removeDirectory("x", fails: ENOTDIR)
                    kind.remove("x", by: agent)
                }
            }
            agent.makeDirectory("dir")
            agent.removeDirectory("dir/.", fails: EINVAL)
            agent.removeDirectory("dir/..", fails: ENOTEMPTY)
            agent.removeDirectory("missing", fails: ENOENT)
            agent.removeDirectory("missing/dir", fails: ENOENT)
            agent.store("file", "")
            agent.removeDirectory("file/dir", fails: ENOTDIR)
            agent.unlink("dir", fails: EISDIR)
            agent.unlink("dir/", fails: EISDIR)
            agent.unlink("file/", fails: ENOTDIR)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a directory counts its subdirectories in its links`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.makeDirectory("away")
            for count in 1...5 {
                agent.makeDirectory("dir/sub\(count)")
                #expect(agent.status("dir").links == 2 + count)
            }
            agent.store("dir/file", "")
            agent.symlink(to: "sub1", "dir/link")
            #expect(agent.status("dir").links == 7)
            agent.rename("dir/sub1", "away/sub1")
            #expect(agent.status("dir").links == 6 && agent.status("away").links == 3)
            agent.rename("dir/sub2", "dir/sub6")
            #expect(agent.status("dir").links == 6)
            // Over an empty directory: one less.
            agent.rename("dir/sub3", "dir/sub4")
            #expect(agent.status("dir").links == 5)
            agent.rename("dir/sub5", "dir/file", flags: RENAME_EXCHANGE)
            #expect(agent.status("dir").links == 5)
            agent.rename("dir/sub5", "away/sub1", flags: RENAME_EXCHANGE)
            #expect(agent.status("dir").links == 6 && agent.status("away").links == 2)
            agent.removeDirectory("dir/sub4")
            #expect(agent.status("dir").links == 5)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a removed directory lives on without names while it is open`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.makeDirectory("dir")
            let directory = agent.open("dir", O_RDONLY | O_DIRECTORY)
            agent.changeDirectory("dir")
            other.removeDirectory("dir")
            #expect(agent.status(directory).links == 0)
            #expect(agent.status(".").isDirectory)
            agent.open("file", O_CREAT | O_WRONLY, fails: ENOENT)
            agent.makeDirectory("sub", fails: ENOENT)
            agent.symlink(to: "x", "link", fails: ENOENT)
            _ = agent.nextEntries(directory, fails: ENOENT)
            agent.changeDirectory(ByteString(volume.directory))
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `dot and dot-dot are what they should be at every depth`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("a")
            agent.makeDirectory("a/b")
            agent.makeDirectory("c")
            let top = agent.status(".").inode
            #expect(agent.status("a/b/../..").inode == top)
            #expect(agent.status("a/b/.").inode == agent.status("a/b").inode)
            let directory = agent.open("a/b", O_RDONLY | O_DIRECTORY)
            let dots = agent.nextEntries(directory)
            #expect(Set(dots.map(\.name)) == [".", ".."])
            agent.rename("a/b", "c/b")
            #expect(agent.status("c/b/..").inode == agent.status("c").inode)
            let moved = agent.open("c/b", O_RDONLY | O_DIRECTORY)
            let parent = agent.nextEntries(moved).first { $0.name == ".." }
            #expect(parent.map { Int($0.inode) } == agent.status("c").inode)
        }
    }
}

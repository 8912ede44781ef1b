import Glibc
import Probing
import TestSupport
import Testing

/// Files that are opened with O_TMPFILE.
@Suite(
    .oneAtATime,
    .enabled(if: KernelVersion.isAtLeast(6, 2), "FUSE has O_TMPFILE since Linux 6.2"))
struct UnnamedFileTests {
    private static let unnamed = __O_TMPFILE | O_DIRECTORY

    private func path(of file: Descriptor) -> ByteString {
        ByteString("/proc/self/fd/\(file.number)")
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a file without a name is seen by nobody and gets one when it is whole`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            agent.makeDirectory("dir")
            for size in [5, 200_000, 600_000] {
                let bytes = ByteString(repeating: 120, count: size)
                let before = agent.status("dir")
                let file = agent.open("dir", O_RDWR | Self.unnamed, mode: 0o640)
                #expect(agent.status(file).links == 0)
                #expect(agent.status(file).permissions == 0o640)
                agent.write(file, bytes)
                #expect(agent.read(file, offset: 0) == bytes)
                #expect(agent.names("dir") == other.names("dir") && other.names("dir") == [])
                let after = agent.status("dir")
                #expect(after.modified == before.modified && after.changed == before.changed)
                agent.link(path(of: file), "dir/a", following: true)
                #expect(agent.status(file).links == 1 && agent.status("dir/a").size == size)
                #expect(agent.status("dir/a").inode == agent.status(file).inode)
                agent.close(file)
                #expect(other.content("dir/a") == bytes, "\(size)")
                #expect(other.names("dir") == ["a"] && other.status("dir/a").links == 1)
                agent.unlink("dir/a")
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `what gets no name is gone with its last close`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open(".", O_WRONLY | Self.unnamed, mode: 0o600)
            let second = agent.open(path(of: file), O_RDWR)
            agent.write(file, "text")
            agent.close(file)
            #expect(agent.read(second, offset: 0) == "text")
            agent.close(second)
            #expect(agent.names(".").filter { $0 != ".shapeedit" } == [])
            // The check at the end finds what is left.
        }
    }

    /// A document without a name waits 15 s for a program that makes it again; programs make large temporary
    /// files one after the other.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what gets no name takes no room for long`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for size in [100, 1 << 20, 5 << 20] {
                let file = agent.open(".", O_RDWR | Self.unnamed)
                agent.write(file, ByteString(repeating: 120, count: size))
                agent.close(file)
            }
            let container = try #require(volume.container)
            let isGone = {
                try container.command("status", "--json").text.contains("\"unlinked\": 0,")
            }
            try waitUntil(seconds: 3) { try isGone() }
            #expect(try isGone())
            let files = try run(
                ["find", "blobs", "staging", "-type", "f", "-size", "+0"],
                directory: container.folder)
            #expect(files.status == 0 && files.text == "", "\(files)")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a name that is taken is not replaced, and O_EXCL means never to have one`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("a", "old")
            let file = agent.open(".", O_WRONLY | Self.unnamed)
            agent.write(file, "new")
            agent.link(path(of: file), "a", following: true, fails: EEXIST)
            #expect(agent.content("a") == "old")
            agent.link(path(of: file), "b", following: true)
            agent.rename("b", "a")
            agent.close(file)
            #expect(agent.content("a") == "new")
            let alone = agent.open(".", O_WRONLY | Self.unnamed | O_EXCL)
            agent.link(path(of: alone), "c", following: true, fails: ENOENT)
            agent.close(alone)
            agent.open(".", O_RDONLY | Self.unnamed, fails: EINVAL)
            agent.open("missing", O_RDWR | Self.unnamed, fails: ENOENT)
            agent.open("a", O_RDWR | Self.unnamed, fails: ENOTDIR)
            agent.makeDirectory("dir")
            agent.changeDirectory("dir")
            try volume.agent().removeDirectory("dir")
            agent.open(".", O_RDWR | Self.unnamed, fails: EPERM)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `what lost its last name gets no new one`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            agent.store("a", "text")
            let named = agent.open("a", O_RDWR)
            other.unlink("a")
            agent.link(path(of: named), "b", following: true, fails: ENOENT)
            let file = agent.open(".", O_RDWR | Self.unnamed)
            agent.write(file, "text")
            agent.link(path(of: file), "c", following: true)
            agent.link(path(of: file), "d", following: true)
            agent.unlink("c")
            other.unlink("d")
            agent.link(path(of: file), "e", following: true, fails: ENOENT)
            #expect(agent.read(file, offset: 0) == "text" && agent.status(file).links == 0)
        }
    }

    @Test(arguments: DataPath.posix)
    func `the group is the directory's where its set-group-id bit says so`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            agent.changeOwner("dir", group: 4711)
            agent.changeMode("dir", 0o2775)
            let file = agent.open("dir", O_RDWR | Self.unnamed, mode: 0o660)
            #expect(agent.status(file).group == 4711)
            agent.close(file)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a crash keeps what was synced and has a name, and nothing of what has none`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let named = agent.open(".", O_RDWR | Self.unnamed)
            let lost = agent.open(".", O_RDWR | Self.unnamed)
            for file in [named, lost] {
                agent.write(file, "text")
                agent.synchronize(file)
            }
            agent.link(path(of: named), "a", following: true)
            try #require(volume.container).killDaemon()
            volume.endAgents()
            try volume.remountAfterCrash()
            let reader = try volume.agent()
            #expect(reader.content("a") == "text")
            #expect(reader.names(".").filter { $0 != ".shapeedit" } == ["a"])
        }
    }

    /// Its content is a version two seconds after it was synchronized, while no name tells of what type it is.
    @Test func `what was written long before it gets a name is found by its words`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let file = agent.open(".", O_RDWR | Self.unnamed)
            agent.write(file, "twelve sheep")
            agent.synchronize(file)
            usleep(3_000_000)
            agent.link(path(of: file), "a.txt", following: true)
            agent.close(file)
            let shapeedit = try BuiltPrograms.shapeedit()
            let find = {
                try volume.run(shapeedit, "find", "--text", "sheep", volume.directory).text
            }
            let expected = "\(volume.directory)/a.txt\n"
            try waitUntil(seconds: 10) { try find() == expected }
            #expect(try find() == expected)
        }
    }

    /// As programs do that save by making room for the new file first.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a file that takes the name of a document that just went away is that document`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("a.txt", "first")
            let identity = agent.attribute("a.txt", "user.shapeedit.id")
            let file = agent.open(".", O_RDWR | Self.unnamed, mode: 0o644)
            agent.write(file, "second")
            agent.unlink("a.txt")
            agent.link(path(of: file), "a.txt", following: true)
            agent.close(file)
            #expect(agent.content("a.txt") == "second")
            #expect(agent.attribute("a.txt", "user.shapeedit.id") == identity)
        }
    }
}

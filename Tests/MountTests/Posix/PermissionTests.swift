import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: DataPath.isPrivileged, "acts as several users"))
struct PermissionTests {
    /// Who asks, compared with the file's owner and group.
    private enum Role: CaseIterable {
        case owner, group, supplementaryGroup, other
        var shift: Int {
            switch self {
            case .owner: 6
            case .group, .supplementaryGroup: 3
            case .other: 0
            }
        }
    }

    private static func agents(_ volume: Volume) throws -> [(Role, Agent)] {
        [
            (.owner, try volume.agent(user: nobody, group: nobody)),
            (.group, try volume.agent(user: 1001, group: 2000)),
            (.supplementaryGroup, try volume.agent(user: 1002, group: 1002, groups: [7, 2000, 9])),
            (.other, try volume.agent(user: 1003, group: 1003)),
        ]
    }

    @Test(arguments: DataPath.posix)
    func `opening follows the bits of exactly one class`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agents = try Self.agents(volume)
            root.store("file", "x")
            root.changeOwner("file", user: nobody, group: 2000)
            for (role, agent) in agents {
                for bits in 0..<8 {
                    // The other classes may do the contrary, which shall not matter.
                    let others = 7 & ~bits
                    let mode = [6, 3, 0].reduce(0) {
                        $0 | ($1 == role.shift ? bits : others) << $1
                    }
                    root.changeMode("file", mode)
                    let (read, write) = (bits & 4 != 0, bits & 2 != 0)
                    for (flags, allowed) in [
                        (O_RDONLY, read), (O_WRONLY, write), (O_RDWR, read && write),
                        (O_RDONLY | O_TRUNC, read && write), (O_WRONLY | O_TRUNC, write),
                        (O_WRONLY | O_APPEND, write), (O_WRONLY | O_CREAT, write),
                    ] {
                        if allowed {
                            agent.close(agent.open("file", flags))
                        } else {
                            agent.open("file", flags, fails: EACCES)
                        }
                    }
                    for (wanted, allowed) in [
                        (R_OK, read), (W_OK, write), (X_OK, bits & 1 != 0),
                        (R_OK | W_OK, bits & 6 == 6),
                    ] {
                        if allowed {
                            agent.access("file", wanted)
                        } else {
                            agent.access("file", wanted, fails: EACCES)
                        }
                    }
                    if write {
                        agent.truncate("file", size: 1)
                    } else {
                        agent.truncate("file", size: 1, fails: EACCES)
                    }
                }
            }
        }
    }

    @Test(arguments: DataPath.posix)
    func `a directory's bits govern searching, listing and changing it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agents = try Self.agents(volume)
            root.makeDirectory("dir")
            root.setMask(0)
            root.store("dir/file", "x", mode: 0o666)
            root.changeOwner("dir", user: nobody, group: 2000)
            for (role, agent) in agents {
                for bits in 0..<8 {
                    root.changeMode("dir", bits << role.shift)
                    let list = bits & 4 != 0, search = bits & 1 != 0
                    let change = bits & 3 == 3
                    if search {
                        agent.close(agent.open("dir/file", O_RDWR))
                        agent.status("dir/file")
                        agent.changeDirectory("dir")
                        agent.changeDirectory(ByteString(volume.directory))
                    } else {
                        agent.open("dir/file", O_RDWR, fails: EACCES)
                        agent.status("dir/file", fails: EACCES)
                        agent.changeDirectory("dir", fails: EACCES)
                    }
                    if list {
                        #expect(agent.names("dir") == ["file"])
                    } else {
                        agent.open("dir", O_RDONLY | O_DIRECTORY, fails: EACCES)
                    }
                    if change {
                        agent.store("dir/new", "y")
                        agent.link("dir/new", "dir/link")
                        agent.rename("dir/new", "dir/newer")
                        agent.unlink("dir/newer")
                        agent.unlink("dir/link")
                        agent.makeDirectory("dir/sub")
                        agent.removeDirectory("dir/sub")
                        agent.symlink(to: "x", "dir/symlink")
                        agent.unlink("dir/symlink")
                        agent.makeNode("dir/fifo", mode: FileKind.fifo.modeBits | 0o644)
                        agent.unlink("dir/fifo")
                    } else {
                        agent.open("dir/new", O_CREAT | O_WRONLY, fails: EACCES)
                        agent.makeDirectory("dir/sub", fails: EACCES)
                        agent.symlink(to: "x", "dir/symlink", fails: EACCES)
                        agent.makeNode(
                            "dir/fifo", mode: FileKind.fifo.modeBits | 0o644, fails: EACCES)
                        agent.unlink("dir/file", fails: EACCES)
                        agent.rename("dir/file", "dir/other", fails: EACCES)
                        agent.link("dir/file", "dir/link", fails: EACCES)
                    }
                }
            }
        }
    }

    @Test(arguments: DataPath.posix)
    func `in a sticky directory only owners remove and rename`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody)
            let other = try volume.agent(user: somebody)
            root.makeDirectory("sticky")
            root.changeMode("sticky", 0o1777)
            root.makeDirectory("others")
            root.changeOwner("others", user: somebody, group: somebody)
            root.changeMode("others", 0o1777)
            for kind in FileKind.possible(for: owner) {
                kind.make("sticky/x", by: owner, mode: 0o777)
                if kind == .directory {
                    other.removeDirectory("sticky/x", fails: EPERM)
                } else {
                    other.unlink("sticky/x", fails: EPERM)
                }
                other.rename("sticky/x", "sticky/y", fails: EPERM)
                // Nor may it be replaced.
                kind.make("sticky/own", by: other, mode: 0o777)
                other.rename("sticky/own", "sticky/x", fails: EPERM)
                kind.remove("sticky/own", by: other)
                owner.rename("sticky/x", "sticky/y")
                kind.remove("sticky/y", by: owner)
                // The owner of the directory may.
                kind.make("others/x", by: owner, mode: 0o777)
                other.rename("others/x", "others/y")
                kind.remove("others/y", by: other)
            }
        }
    }

    @Test(arguments: DataPath.posix)
    func `what is made belongs to who made it`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            root.makeDirectory("dir")
            root.changeMode("dir", 0o777)
            for (user, group) in [(nobody, nobody), (1001, 2001), (1002, 2002)] {
                let agent = try volume.agent(user: user, group: group)
                for kind in FileKind.possible(for: agent) {
                    let name: ByteString = "dir/\(user)\(kind.rawValue)"
                    kind.make(name, by: agent)
                    let status = root.status(name, following: false)
                    #expect(status.user == user && status.group == group, "\(kind)")
                    #expect(status.kind == kind.modeBits)
                }
                agent.makeNode(
                    "dir/device", mode: FileKind.characterDevice.modeBits | 0o644, device: 0x103,
                    fails: EPERM)
            }
        }
    }

    @Test(arguments: DataPath.posix)
    func `an open descriptor keeps its rights`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.store("file", "abc")
            root.changeMode("file", 0o666)
            let file = agent.open("file", O_RDWR)
            root.changeMode("file", 0)
            agent.write(file, "ABC", offset: 0)
            #expect(agent.read(file, offset: 0) == "ABC")
            agent.truncate(file, size: 2)
            agent.close(file)
            agent.open("file", O_RDONLY, fails: EACCES)
            #expect(root.content("file") == "AB")
        }
    }
}

import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct ExtendedAttributeTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `attributes are set, read, listed and removed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            agent.makeDirectory("dir")
            agent.store("file", "x")
            for path: ByteString in ["file", "dir"] {
                #expect(agent.ownAttributeNames(path) == [])
                for (name, value): (ByteString, ByteString) in [
                    ("user.a", "value"), ("user.empty", ""), ("user.ünï", "ü"),
                    ("user.binary", ByteString([0, 1, 255, 0])),
                    ("user.long", ByteString(repeating: "v", count: 2000)),
                    ("user." + ByteString(repeating: "n", count: 250), "longest name"),
                ] {
                    letTimePass()
                    let before = agent.status(path)
                    agent.setAttribute(path, name, value)
                    #expect(other.attribute(path, name) == value)
                    #expect(agent.attributeSize(path, name) == value.count)
                    let after = agent.status(path)
                    #expect(after.changed > before.changed && after.modified == before.modified)
                    agent.setAttribute(path, name, value + "+")
                    #expect(agent.attribute(path, name) == value + "+")
                    #expect(other.ownAttributeNames(path) == [name.text])
                    agent.removeAttribute(path, name)
                    agent.attribute(path, name, fails: ENODATA)
                    agent.removeAttribute(path, name, fails: ENODATA)
                }
            }
            agent.setAttribute("file", "user.z", "1")
            agent.setAttribute("file", "user.y", "2")
            #expect(agent.ownAttributeNames("file") == ["user.y", "user.z"])
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `an attribute that is set to the value it has changes no time`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            agent.setAttribute("file", "user.a", "1")
            let before = agent.status("file")
            letTimePass()
            agent.setAttribute("file", "user.a", "1")
            #expect(agent.status("file").changed == before.changed)
            agent.setAttribute("file", "user.a", "2")
            #expect(agent.status("file").changed > before.changed)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `XATTR_CREATE and XATTR_REPLACE are obeyed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            agent.setAttribute("file", "user.a", "1", flags: XATTR_REPLACE, fails: ENODATA)
            agent.setAttribute("file", "user.a", "1", flags: XATTR_CREATE)
            agent.setAttribute("file", "user.a", "2", flags: XATTR_CREATE, fails: EEXIST)
            #expect(agent.attribute("file", "user.a") == "1")
            agent.setAttribute("file", "user.a", "3", flags: XATTR_REPLACE)
            #expect(agent.attribute("file", "user.a") == "3")
            agent.setAttribute("file", "user.a", "4", flags: 99, fails: EINVAL)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `sizes that do not fit are errors`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            agent.setAttribute("file", "user.a", "12345")
            agent.attribute("file", "user.a", count: 4, fails: ERANGE)
            #expect(agent.attribute("file", "user.a", count: 5) == "12345")
            agent.attributeNames("file", count: 3, fails: ERANGE)
            // The kernel's own limits.
            agent.setAttribute(
                "file", "user.big", ByteString(repeating: "v", count: 65_537), fails: E2BIG)
            agent.setAttribute(
                "file", "user." + ByteString(repeating: "n", count: 251), "x", fails: ERANGE)
            agent.setAttribute("file", "user.", "x", fails: EINVAL)
            agent.attribute("file", "user.", fails: EINVAL)
            agent.setAttribute("file", "", "x", fails: ERANGE)
            agent.setAttribute("file", "nothing", "x", fails: EOPNOTSUPP)
            agent.attribute("missing", "user.a", fails: ENOENT)
            agent.setAttribute("missing", "user.a", "", fails: ENOENT)
        }
    }

    /// ext4 takes this much only with large attributes switched on.
    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"),
        arguments: DataPath.mountsOfAllUsers, [60_000, 65_536])
    func `values of up to 64 KiB are kept`(_ dataPath: DataPath, size: Int) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "x")
            let value = ByteString((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            agent.setAttribute("file", "user.big", value)
            #expect(agent.attribute("file", "user.big") == value)
            try volume.remount()
            #expect(try volume.agent().attribute("file", "user.big") == value)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `attributes stay through writing, renaming and linking`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let other = try volume.agent()
            let file = agent.open("file", O_CREAT | O_RDWR)
            agent.setAttribute(file, "user.a", "early")
            agent.write(file, "content")
            agent.setAttribute("file", "user.b", "during")
            #expect(agent.attribute(file, "user.b") == "during")
            agent.close(file)
            #expect(other.ownAttributeNames("file") == ["user.a", "user.b"])
            agent.store("file", "new content")
            #expect(other.attribute("file", "user.a") == "early")
            agent.rename("file", "renamed")
            agent.link("renamed", "linked")
            agent.setAttribute("linked", "user.a", "late")
            #expect(other.attribute("renamed", "user.a") == "late")
            agent.store("plain", "other")
            #expect(other.ownAttributeNames("plain") == [])
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `trusted attributes are root's, and others are not told of them`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.store("file", "x")
            root.setAttribute("file", "user.a", "1")
            root.setAttribute("file", "trusted.b", "2")
            #expect(root.attributeNames("file") == ["trusted.b", "user.a"])
            #expect(root.attribute("file", "trusted.b") == "2")
            #expect(agent.attributeNames("file") == ["user.a"])
            agent.attribute("file", "trusted.b", fails: ENODATA)
            root.setAttribute("file", "trusted.", "3", fails: EINVAL)
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "acts as several users"),
        arguments: DataPath.mounts.prefix(1))
    func `what is looked for is told to the owner of the mount alone`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let owner = try volume.agent()
            let other = try volume.agent(user: nobody)
            let name: ByteString = "user.shapeedit.query.mine"
            owner.setAttribute(volume.root, name, "title=secret")
            #expect(owner.attribute(volume.root, name) == "title=secret&sort=path")
            other.attribute(volume.root, name, fails: EACCES)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "acts as several users"), arguments: DataPath.posix)
    func `attributes follow the file's permissions`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.store("file", "x")
            root.setAttribute("file", "user.a", "1")
            root.changeMode("file", 0o644)
            #expect(agent.attribute("file", "user.a") == "1")
            agent.setAttribute("file", "user.a", "2", fails: EACCES)
            agent.removeAttribute("file", "user.a", fails: EACCES)
            root.changeMode("file", 0o600)
            agent.attribute("file", "user.a", fails: EACCES)
            root.changeMode("file", 0o666)
            agent.setAttribute("file", "user.a", "3")
            // Links and special files have no user attributes.
            root.symlink(to: "nowhere", "link")
            root.setAttribute("link", "user.a", "1", following: false, fails: EPERM)
            root.makeNode("fifo", mode: FileKind.fifo.modeBits | 0o666)
            root.setAttribute("fifo", "user.a", "1", fails: EPERM)
            // Of a sticky directory only its owner.
            root.makeDirectory("sticky")
            root.changeMode("sticky", 0o1777)
            agent.setAttribute("sticky", "user.a", "1", fails: EPERM)
        }
    }
}

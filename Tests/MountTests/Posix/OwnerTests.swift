import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: DataPath.isPrivileged, "acts as several users"))
struct OwnerTests {
    @Test(arguments: DataPath.posix)
    func `only the owner and root change the mode`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody)
            let other = try volume.agent(user: somebody)
            root.makeDirectory("dir")
            root.changeMode("dir", 0o777)
            for kind in FileKind.possible(for: owner) where kind != .symbolicLink {
                kind.make("dir/x", by: owner)
                for mode in [0o111, 0o777, 0, 0o640, 0o1755] {
                    letTimePass()
                    let before = owner.status("dir/x")
                    owner.changeMode("dir/x", mode)
                    let after = owner.status("dir/x")
                    #expect(after.permissions == mode && after.kind == kind.modeBits)
                    #expect(after.changed > before.changed && after.modified == before.modified)
                    other.changeMode("dir/x", 0o777, fails: EPERM)
                    root.changeMode("dir/x", 0o700)
                }
                kind.remove("dir/x", by: owner)
            }
            owner.changeMode("missing", 0o777, fails: ENOENT)
            root.symlink(to: "target", "dir/link")
            root.changeMode("dir/link", 0o600, fails: ENOENT)
            root.store("dir/target", "")
            root.changeMode("dir/link", 0o600)
            #expect(root.status("dir/target").permissions == 0o600)
            #expect(root.status("dir/link", following: false).permissions == 0o777)
        }
    }

    @Test(arguments: DataPath.posix, [true, false])
    func `who lost a file changes nothing of it by what they have open`(
        _ dataPath: DataPath, writes: Bool
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let former = try volume.agent(user: nobody, group: nobody, groups: [2000])
            root.store("x", "program")
            root.changeOwner("x", user: nobody, group: nobody)
            root.changeMode("x", 0o755)
            let open = former.open("x", writes ? O_RDWR : O_RDONLY)
            former.status(open)
            if writes { former.write(open, "another") } else { root.store("x", "another") }
            root.changeOwner("x", user: somebody, group: somebody)
            let before = root.status("x")
            let old = FileTime.at(seconds: 1000, nanoseconds: 7)
            former.changeMode(open, 0o4777, fails: EPERM)
            former.changeOwner(open, group: 2000, fails: EPERM)
            former.setTimes(open, accessed: old, modified: old, fails: EPERM)
            former.status(open)
            former.changeMode(open, 0o4777, fails: EPERM)
            let after = root.status("x")
            #expect(after.permissions == 0o755 && after.group == somebody)
            #expect(after.accessed == before.accessed)
        }
    }

    @Test(arguments: DataPath.posix)
    func `who has a file open gives it no privileges of a group that it was given to`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody, groups: [2000])
            root.store("x", "program")
            root.changeOwner("x", user: nobody, group: nobody)
            let open = owner.open("x", O_RDONLY)
            root.store("x", "another")
            root.changeOwner("x", group: 3000)
            owner.changeMode(open, 0o2755)
            #expect(root.status("x").permissions == 0o755)
            root.store("x", "a third")
            root.changeOwner("x", group: 2000)
            owner.status(open)
            owner.changeMode(open, 0o2755)
            #expect(root.status("x").permissions == 0o2755)
        }
    }

    @Test(arguments: DataPath.posix)
    func `a new group takes a program's capabilities`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody, groups: [2000])
            root.store("x", "program")
            root.changeOwner("x", user: nobody, group: nobody)
            // CAP_NET_BIND_SERVICE, of the second version.
            let capability = ByteString([
                1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ])
            root.setAttribute("x", "security.capability", capability)
            #expect(root.attribute("x", "security.capability") == capability)
            owner.changeOwner("x", group: 2000)
            root.attribute("x", "security.capability", fails: ENODATA, EOPNOTSUPP)
            #expect(root.status("x").group == 2000)
        }
    }

    @Test(arguments: DataPath.posix)
    func `ordinary users give files only to groups of theirs`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody, groups: [2000])
            let other = try volume.agent(user: somebody)
            for kind in FileKind.allCases {
                kind.make("x", by: root)
                letTimePass()
                root.changeOwner("x", user: nobody, group: nobody, following: false)
                let made = root.status("x", following: false)
                #expect(made.user == nobody && made.group == nobody)
                owner.changeOwner("x", group: 2000, following: false)
                #expect(root.status("x", following: false).group == 2000)
                owner.changeOwner("x", group: nobody, following: false)
                owner.changeOwner("x", user: nobody, group: 2000, following: false)
                owner.changeOwner("x", group: 3000, following: false, fails: EPERM)
                owner.changeOwner("x", user: somebody, following: false, fails: EPERM)
                other.changeOwner("x", user: somebody, following: false, fails: EPERM)
                other.changeOwner("x", group: somebody, following: false, fails: EPERM)
                other.changeOwner("x", following: false)
                let after = root.status("x", following: false)
                #expect(after.user == nobody && after.group == 2000, "\(kind)")
                #expect(after.modified == made.modified)
                kind.remove("x", by: root)
            }
            root.changeOwner("missing", user: 1, fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.posix)
    func `chown follows links and lchown does not`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            root.store("file", "")
            root.symlink(to: "file", "link")
            root.changeOwner("link", user: 5, group: 6)
            #expect(root.status("file").user == 5 && root.status("file").group == 6)
            #expect(root.status("link", following: false).user == 0)
            root.changeOwner("link", user: 7, group: 8, following: false)
            #expect(root.status("file").user == 5)
            #expect(root.status("link", following: false).group == 8)
            let file = root.open("file", O_RDONLY)
            root.changeOwner(file, user: 9)
            #expect(root.status("file").user == 9 && root.status("file").group == 6)
            // The largest numbers there are.
            root.changeOwner("file", user: 0xffff_fffe, group: 0xffff_fffe)
            #expect(root.status("file").user == 0xffff_fffe)
        }
    }

    @Test(arguments: DataPath.posix)
    func `chown takes setuid and setgid away`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody, groups: [2000])
            // (before, after): setgid without group execution is not privilege and stays.
            for (mode, after) in [
                (0o6755, 0o755), (0o4711, 0o711), (0o2775, 0o775), (0o2644, 0o2644),
                (0o6644, 0o2644), (0o7777, 0o1777), (0o755, 0o755),
            ] {
                root.store("file", "")
                root.changeOwner("file", user: nobody, group: nobody)
                root.changeMode("file", mode)
                owner.changeOwner("file", group: 2000)
                #expect(
                    root.status("file").permissions == after, "\(String(mode, radix: 8)) by owner")
                root.changeMode("file", mode)
                root.changeOwner("file", user: somebody)
                #expect(
                    root.status("file").permissions == after, "\(String(mode, radix: 8)) by root")
                root.unlink("file")
            }
            // A directory keeps them.
            root.makeDirectory("dir")
            root.changeMode("dir", 0o6755)
            root.changeOwner("dir", user: nobody, group: 2000)
            #expect(root.status("dir").permissions == 0o6755)
        }
    }

    @Test(arguments: DataPath.posix)
    func `chown takes setuid and setgid away though it names nobody`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody)
            let other = try volume.agent(user: somebody)
            root.store("file", "content")
            root.changeOwner("file", user: nobody, group: nobody)
            for agent in [root, owner] {
                for (mode, left) in [
                    (0o6755, 0o755), (0o4711, 0o711), (0o7777, 0o1777), (0o2644, 0o2644),
                    (0o755, 0o755),
                ] {
                    root.changeMode("file", mode)
                    letTimePass()
                    let before = root.status("file")
                    agent.changeOwner("file")
                    let after = root.status("file")
                    #expect(after.permissions == left, "\(String(mode, radix: 8))")
                    #expect(after.changed > before.changed && after.modified == before.modified)
                    #expect(after.user == nobody && after.group == nobody)
                }
            }
            root.makeDirectory("dir")
            root.changeMode("dir", 0o6755)
            root.changeOwner("dir")
            #expect(root.status("dir").permissions == 0o6755)
            // ext4 refuses this to others. In a mount the kernel does not, and nothing happens.
            if DataPath.isPlain { return }
            root.changeMode("file", 0o6755)
            other.changeOwner("file")
            #expect(root.status("file").permissions == 0o6755)
        }
    }

    @Test(arguments: DataPath.posix)
    func `chmod drops setgid for a group the owner is not in`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody, groups: [2000])
            root.store("file", "")
            root.changeOwner("file", user: nobody, group: 3000)
            owner.changeMode("file", 0o2755)
            #expect(root.status("file").permissions == 0o755)
            root.changeOwner("file", group: 2000)
            owner.changeMode("file", 0o6755)
            #expect(root.status("file").permissions == 0o6755)
            root.changeOwner("file", group: 3000)
            root.changeMode("file", 0o6755)
            #expect(root.status("file").permissions == 0o6755)
        }
    }

    @Test(arguments: DataPath.posix)
    func `writing and truncating take setuid and setgid away`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let other = try volume.agent(user: nobody)
            for mode in [0o4777, 0o2777, 0o6777] {
                for action in ["write", "truncate", "ftruncate", "open", "fallocate"] {
                    root.store("file", "content")
                    root.changeOwner("file", user: somebody, group: somebody)
                    root.changeMode("file", mode)
                    let file = other.open("file", O_RDWR)
                    #expect(other.status(file).permissions == mode)
                    switch action {
                    case "write": other.write(file, "x")
                    case "truncate": other.truncate("file", size: 3)
                    case "ftruncate": other.truncate(file, size: 3)
                    case "fallocate": other.allocate(file, offset: 0, length: 100)
                    default: other.close(other.open("file", O_WRONLY | O_TRUNC))
                    }
                    let found = other.status(file).permissions
                    #expect(found == 0o777, "\(action) of 0\(String(mode, radix: 8))")
                    other.close(file)
                    #expect(root.status("file").permissions == 0o777, "\(action), closed")
                    root.unlink("file")
                }
            }
            // By a descriptor that reads, where no path leads to the file.
            root.store("file", "content")
            root.changeOwner("file", user: somebody, group: somebody)
            root.changeMode("file", 0o6777)
            let reading = other.open("file", O_RDONLY)
            other.close(other.open("/proc/self/fd/\(reading.number)", O_WRONLY | O_TRUNC))
            other.close(reading)
            #expect(root.status("file").permissions == 0o777)
            // Root may, and keeps the bits.
            root.store("file", "content")
            root.changeMode("file", 0o6777)
            let file = root.open("file", O_WRONLY)
            root.write(file, "x")
            root.close(file)
            #expect(root.status("file").permissions == 0o6777)
        }
    }

    @Test(arguments: DataPath.posix)
    func `what an ordinary user writes by root's descriptor takes setuid away`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            root.store("file", ByteString(repeating: 65, count: 100_000))
            root.changeMode("file", 0o4755)
            root.shell("setpriv --reuid=65534 --clear-groups sh -c 'printf x >&3' 3<> file")
            #expect(root.status("file").permissions == 0o755)
            #expect(root.content("file").bytes.prefix(2) == Array("xA".utf8)[...])
            // Set when the descriptor is there already.
            let writing = "setpriv --reuid=65534 --clear-groups sh -c 'printf y >&3'"
            let file = "/proc/self/fd/3"
            let modes = root.shell(
                "exec 3<> file; for i in 1 2 3; do chmod 4755 \(file); \(writing); stat -L -c %a \(file); done; "
                    + "exec 3>&-; stat -c %a file")
            #expect(modes == "755\n755\n755\n755\n")
        }
    }

    /// As `cp -p`, tar and install do it.
    @Test(arguments: DataPath.posix)
    func `setuid and setgid stay when they are set after writing`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let owner = try volume.agent(user: nobody, group: nobody)
            root.makeDirectory("dir")
            root.changeMode("dir", 0o777)
            for size in [10, 500_000] {
                for mode in [0o4755, 0o2755] {
                    let file = owner.open("dir/file", O_CREAT | O_RDWR, mode: 0o644)
                    owner.write(file, ByteString(repeating: 65, count: size))
                    owner.changeMode(file, mode)
                    owner.setTimes(
                        file, accessed: .at(seconds: 5, nanoseconds: 0),
                        modified: .at(seconds: 7, nanoseconds: 0))
                    owner.close(file)
                    #expect(root.status("dir/file").permissions == mode, "\(size)")
                    // Written again they go.
                    let again = owner.open("dir/file", O_RDWR)
                    owner.changeMode("dir/file", mode)
                    owner.write(again, "x")
                    #expect(owner.status(again).permissions == 0o755, "\(size)")
                    // By who looks it up as others do.
                    root.changeMode("dir/file", mode)
                    owner.write(again, "y")
                    #expect(owner.status(again).permissions == 0o755, "\(size)")
                    owner.close(again)
                    #expect(root.status("dir/file").permissions == 0o755, "\(size)")
                    owner.unlink("dir/file")
                }
            }
        }
    }

    @Test(arguments: DataPath.posix)
    func `a setgid directory gives its group to what is made in it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let root = try volume.agent()
            let agent = try volume.agent(user: nobody)
            root.makeDirectory("dir")
            root.changeOwner("dir", group: 2000)
            root.changeMode("dir", 0o2777)
            agent.setMask(0)
            for kind in FileKind.possible(for: agent) {
                let name: ByteString = "dir/\(kind.rawValue)"
                kind.make(name, by: agent, mode: 0o755)
                let status = root.status(name, following: false)
                #expect(status.group == 2000 && status.user == nobody, "\(kind)")
                if kind == .directory { #expect(status.permissions == 0o2755) }
                if kind == .file { #expect(status.permissions == 0o755) }
            }
            // A file's own setgid bit is dropped for somebody not in the group.
            agent.close(agent.open("dir/setgid", O_CREAT | O_WRONLY, mode: 0o2755))
            #expect(root.status("dir/setgid").permissions == 0o755)
            agent.makeDirectory("dir/directory/deep")
            #expect(root.status("dir/directory/deep").group == 2000)
            #expect(root.status("dir/directory/deep").permissions & 0o2000 != 0)
            // Moving something in changes nothing.
            root.makeDirectory("plain")
            root.changeMode("plain", 0o777)
            agent.store("plain/file", "")
            agent.rename("plain/file", "dir/moved")
            #expect(root.status("dir/moved").group == nobody)
        }
    }
}

import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// The document id follows the name when a program saves by renaming.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct IdentityTests {
    private static let id: ByteString = "user.shapeedit.id"

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `every document has an id of its own that stays`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            var ids: Set<ByteString> = []
            for number in 0..<20 {
                agent.store("file\(number)", "x")
                let id = agent.attribute("file\(number)", Self.id)
                #expect(id.count >= 8)
                ids.insert(id)
            }
            #expect(ids.count == 20)
            let before = agent.attribute("file0", Self.id)
            let inode = agent.status("file0").inode
            agent.store("file0", "rewritten")
            #expect(agent.attribute("file0", Self.id) == before)
            #expect(agent.status("file0").inode == inode)
            agent.makeDirectory("dir")
            agent.rename("file0", "dir/moved")
            #expect(agent.attribute("dir/moved", Self.id) == before)
            agent.link("dir/moved", "linked")
            #expect(agent.attribute("linked", Self.id) == before)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.attribute("dir/moved", Self.id) == before)
            #expect(after.status("dir/moved").inode == inode)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saving by a temporary file renamed over keeps the id`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("letter.shape", "first")
            let id = agent.attribute("letter.shape", Self.id)
            for temporary: ByteString in [
                ".goutputstream-AB12C3", "letter.shape.x8Yz1Q", ".letter.shape.swp2",
                ".xdp-letter.shape-Q1w2E3", "letter.tmp",
            ] {
                let file = agent.open(temporary, O_CREAT | O_EXCL | O_RDWR, mode: 0o600)
                agent.write(file, "saved by " + temporary)
                agent.synchronize(file)
                agent.close(file)
                agent.rename(temporary, "letter.shape")
                #expect(agent.attribute("letter.shape", Self.id) == id, "\(temporary)")
                #expect(agent.content("letter.shape") == "saved by " + temporary)
            }
            try volume.remount()
            #expect(try volume.agent().attribute("letter.shape", Self.id) == id)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saving by renaming the old one away keeps the id at the name`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("letter.shape", "first")
            let id = agent.attribute("letter.shape", Self.id)
            // As vim: backup, new file, backup removed.
            agent.rename("letter.shape", "letter.shape~")
            agent.store("letter.shape", "second")
            #expect(agent.attribute("letter.shape", Self.id) == id)
            agent.unlink("letter.shape~")
            #expect(agent.attribute("letter.shape", Self.id) == id)
            // As emacs: the backup stays, and is another document.
            agent.rename("letter.shape", "letter.shape~")
            agent.store("letter.shape", "third")
            #expect(agent.attribute("letter.shape", Self.id) == id)
            #expect(agent.attribute("letter.shape~", Self.id) != id)
            #expect(agent.content("letter.shape~") == "second")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.attribute("letter.shape", Self.id) == id)
            #expect(after.attribute("letter.shape~", Self.id) != id)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `unlinking and creating by one process keeps the id, by another not`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            agent.store("file", "first")
            let id = agent.attribute("file", Self.id)
            agent.unlink("file")
            agent.store("file", "second")
            #expect(agent.attribute("file", Self.id) == id)
            agent.unlink("file")
            other.store("file", "third")
            #expect(other.attribute("file", Self.id) != id)
            // A move alone takes the id along.
            let moved = other.attribute("file", Self.id)
            agent.rename("file", "elsewhere")
            #expect(agent.attribute("elsewhere", Self.id) == moved)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a copy is another document`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "content")
            agent.setAttribute("file", "user.tag", "red")
            let id = agent.attribute("file", Self.id)
            for command in [
                "cp file copy", "cp -p file copy", "cp -a file copy", "cp --reflink=auto file copy",
                "cat file > copy", "ln file l && cp l copy && rm l",
            ] {
                agent.shell(command)
                #expect(agent.attribute("copy", Self.id) != id, "\(command)")
                #expect(agent.content("copy") == "content")
                #expect(agent.attribute("file", Self.id) == id)
                agent.unlink("copy")
            }
            agent.shell("cp -a file copy")
            #expect(agent.attribute("copy", "user.tag") == "red")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `real editors keep the id`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "first line\n")
            let id = agent.attribute("file", Self.id)
            var commands = ["sed -i s/first/second/ file"]
            if isInstalled("vim") {
                for setup in ["", "set backup", "set backupcopy=no", "set backupcopy=yes"] {
                    commands.append(
                        "vim -es -u NONE -c '\(setup)' -c 's/line/LINE/e' -c 'wq' file || test $? = 1"
                    )
                }
            }
            commands.append(
                "python3 -c 'import os; open(\"t\",\"w\").write(\"x\"); os.replace(\"t\",\"file\")'"
            )
            for command in commands {
                agent.shell(command)
                #expect(agent.attribute("file", Self.id) == id, "\(command)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `inode numbers are never used again and stay over remounts`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            var used: Set<Int> = []
            for round in 0..<100 {
                agent.store("file", "\(round)")
                let inode = agent.status("file").inode
                #expect(used.insert(inode).inserted)
                agent.unlink("file")
            }
            agent.store("kept", "x")
            agent.makeDirectory("dir")
            let kept = ["kept", "dir", "."].map { agent.status($0).inode }
            try volume.remount()
            let after = try volume.agent()
            #expect(["kept", "dir", "."].map { after.status($0).inode } == kept)
            after.store("new", "x")
            #expect(!used.contains(after.status("new").inode))
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `names of other kinds lend no id`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) where kind != .file {
                let name = ByteString(kind.rawValue)
                kind.make(name, by: agent)
                kind.remove(name, by: agent)
                agent.store(name, "removed")
                kind.make(name + "2", by: agent)
                agent.rename(name + "2", name + "3")
                agent.store(name + "2", "moved away")
                agent.store("temp", "replaced")
                kind.make(name + "4", by: agent)
                if kind == .directory { agent.removeDirectory(name + "4") }
                agent.rename("temp", name + "4")
            }
            try volume.remount()
            let after = try volume.agent()
            for kind in FileKind.possible(for: after) where kind != .file {
                let name = ByteString(kind.rawValue)
                #expect(after.content(name) == "removed")
                #expect(after.content(name + "2") == "moved away")
                #expect(after.content(name + "4") == "replaced")
            }
        }
    }
}

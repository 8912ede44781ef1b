import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// The document id follows the name when a program saves by renaming.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct IdentityTests {
    private static let id: ByteString = "user.shapeedit.id"

    /// What the document with the id is called, from the root of the mount.
    private static func place(
        _ id: ByteString, _ volume: Volume, _ agent: Agent
    ) -> ByteString {
        let target = agent.readLink(volume.root + "/.shapeedit/documents/" + id)
        return ByteString(Array(target.bytes.dropFirst("../../".utf8.count)))
    }

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

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a backup that replaces the one before takes neither id nor versions along`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let author = try volume.agent()
            author.store("letter.shape", "one")
            let id = author.attribute("letter.shape", Self.id)
            var backup: ByteString = ""
            for (old, new): (ByteString, ByteString) in [
                ("one", "two"), ("two", "three"), ("three", "four"), ("four", "five"),
            ] {
                // Saves less than two seconds apart count as one.
                usleep(2_060_000)
                let agent = try volume.agent()
                agent.rename("letter.shape", "letter.shape.bak")
                if new == "four" {
                    // As sed -i.bak, the others as emacs and cp -b.
                    agent.store("temp", new)
                    agent.rename("temp", "letter.shape")
                } else {
                    agent.store("letter.shape", new)
                }
                #expect(agent.attribute("letter.shape", Self.id) == id, "\(new)")
                #expect(agent.content("letter.shape") == new)
                #expect(agent.content("letter.shape.bak") == old)
                // The backup is one document from its first replacement on.
                if old == "one" { backup = agent.attribute("letter.shape.bak", Self.id) }
                #expect(agent.attribute("letter.shape.bak", Self.id) == backup, "\(new)")
                #expect(backup != id)
            }
            for round in 0..<2 {
                if round == 1 { try volume.remount() }
                let agent = try volume.agent()
                #expect(agent.attribute("letter.shape", Self.id) == id)
                #expect(Self.place(id, volume, agent) == "work/letter.shape")
                #expect(Self.place(backup, volume, agent) == "work/letter.shape.bak")
                let versions = volume.root + "/.shapeedit/versions/work/letter.shape"
                let contents = agent.names(versions).map {
                    agent.content(versions + "/" + ByteString($0))
                }
                let wanted: Set<ByteString> = ["one", "two", "three"]
                #expect(wanted.isSubset(of: contents), "\(contents)")
            }
            // Moving a file over another one, whatever it is called, is no backup.
            let mover = try volume.agent()
            mover.store("other", "six")
            let other = try volume.agent()
            let target = other.attribute("letter.shape.bak", Self.id)
            other.rename("other", "letter.shape.bak")
            other.store("other", "seven")
            #expect(other.attribute("letter.shape.bak", Self.id) == target)
            #expect(other.attribute("other", Self.id) != target)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saving with a hard link as backup keeps the id at the name`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let author = try volume.agent()
            author.store("letter.shape", "one")
            let id = author.attribute("letter.shape", Self.id)
            var known: Set<ByteString> = [id]
            // As GLib does it, the second time after a remount.
            for (old, new): (ByteString, ByteString) in [("one", "two"), ("two", "three")] {
                let agent = try volume.agent()
                agent.store("new.shape", new)
                agent.link("letter.shape", "backup.shape")
                agent.rename("new.shape", "letter.shape")
                #expect(agent.attribute("letter.shape", Self.id) == id)
                let backup = agent.attribute("backup.shape", Self.id)
                #expect(known.insert(backup).inserted)
                try volume.remount()
                let after = try volume.agent()
                #expect(after.attribute("letter.shape", Self.id) == id)
                #expect(Self.place(id, volume, after) == "work/letter.shape")
                #expect(after.content("letter.shape") == new)
                #expect(after.attribute("backup.shape", Self.id) == backup)
                #expect(Self.place(backup, volume, after) == "work/backup.shape")
                #expect(after.content("backup.shape") == old)
                after.unlink("backup.shape")
            }
            // The name goes before the new file comes.
            let editor = try volume.agent()
            editor.link("letter.shape", "backup.shape")
            editor.unlink("letter.shape")
            #expect(editor.attribute("backup.shape", Self.id) == id)
            editor.store("letter.shape", "four")
            #expect(editor.attribute("letter.shape", Self.id) == id)
            #expect(known.insert(editor.attribute("backup.shape", Self.id)).inserted)
            #expect(editor.content("backup.shape") == "three")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a document goes by its oldest name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("backup")
            agent.store("m", "content")
            let id = agent.attribute("m", Self.id)
            agent.link("m", "backup/m")
            agent.link("m", "b")
            #expect(Self.place(id, volume, agent) == "work/m")
            // Neither the order of the names nor a rename makes another one the oldest.
            agent.rename("b", "a")
            #expect(Self.place(id, volume, agent) == "work/m")
            agent.rename("m", "z")
            #expect(Self.place(id, volume, agent) == "work/z")
            try volume.remount()
            let second = try volume.agent()
            #expect(Self.place(id, volume, second) == "work/z")
            second.unlink("z")
            #expect(Self.place(id, volume, second) == "work/backup/m")
            second.link("a", "0")
            #expect(Self.place(id, volume, second) == "work/backup/m")
            try volume.remount()
            let third = try volume.agent()
            #expect(Self.place(id, volume, third) == "work/backup/m")
            // Another's file: what a program has made itself it puts there to save the document.
            try volume.agent().store("other", "another")
            third.rename("other", "backup/m", flags: RENAME_EXCHANGE)
            #expect(Self.place(id, volume, third) == "work/other")
            try volume.remount()
            let last = try volume.agent()
            #expect(Self.place(id, volume, last) == "work/other")
            last.unlink("other")
            #expect(Self.place(id, volume, last) == "work/a")
            last.unlink("a")
            #expect(Self.place(id, volume, last) == "work/0")
            #expect(last.attribute("0", Self.id) == id)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a later hard link neither takes a document along nor loses it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("first", "one")
            let id = agent.attribute("first", Self.id)
            // Saved at the later name by renaming over it, and by renaming it away.
            agent.link("first", "later")
            agent.store("temp", "two")
            let other = agent.attribute("temp", Self.id)
            agent.rename("temp", "later")
            agent.link("first", "third")
            agent.rename("third", "third~")
            agent.store("third", "three")
            // As "ln -f later replaced".
            agent.store("replaced", "four")
            agent.link("later", "link")
            agent.rename("link", "replaced")
            for round in 0..<2 {
                if round == 1 { try volume.remount() }
                let agent = try volume.agent()
                #expect(agent.attribute("first", Self.id) == id)
                #expect(agent.attribute("third~", Self.id) == id)
                #expect(Self.place(id, volume, agent) == "work/first")
                #expect(agent.content("first") == "one")
                #expect(agent.attribute("later", Self.id) == other)
                #expect(agent.attribute("replaced", Self.id) == other)
                #expect(Self.place(other, volume, agent) == "work/later")
                #expect(agent.content("replaced") == "two")
                #expect(![id, other].contains(agent.attribute("third", Self.id)))
            }
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

import TestSupport
import Testing

/// What an edit leaves of the file that it changes.
@Suite(.oneAtATime) struct FileKindTests {
    @Test(arguments: Desk.places)
    func `a symlink stays and its target is edited`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("mkdir real")
            try desk.run("new", "real/s.shape")
            try desk.shell("ln -s real/s.shape link.shape && ln -s link.shape second.shape")
            try desk.run("set", "second.shape", "title=Linked")
            #expect(try desk.shell("readlink link.shape") == "real/s.shape\n")
            #expect(try desk.get("real/s.shape", "title") == "Linked")
            try desk.run("undo", "link.shape")
            try desk.fail(65, "get", "real/s.shape", "title")
            #expect(try desk.shell("ls -A real") == "s.shape\n")
        }
    }

    @Test(arguments: Desk.places)
    func `mode and extended attributes stay`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            try desk.shell("chmod 640 s.shape && setfattr -n user.note -v mine s.shape")
            let facts = "stat -c '%a %u %g' s.shape; getfattr --only-values -n user.note s.shape"
            let before = try desk.shell(facts)
            try desk.run("set", "s.shape", "title=New")
            #expect(try desk.shell(facts) == before)
            try desk.run("undo", "s.shape")
            #expect(try desk.shell(facts) == before)
            #expect(try desk.names() == ["s.shape"])
        }
    }

    @Test(.enabled(if: isInstalled("setfacl"), "needs setfacl"))
    func `an edit lets nobody in whom the folder lets into new files`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir shared")
            try desk.run("new", "shared/s.shape")
            try desk.run("new", "shared/t.shape")
            try desk.shell("chmod 640 shared/*.shape")
            let given = try desk.shell(
                "setfacl -m u:\(nobody):r shared/t.shape && setfacl -d -m u:\(nobody):rw shared "
                    + "|| echo none")
            if given == "none\n" { try Test.cancel("the disk has no such lists") }
            let lists = "getfacl -cE shared/s.shape shared/t.shape"
            let before = try desk.shell(lists)
            #expect(before.contains("user:"))
            try desk.run("set", "shared/s.shape", "title=New")
            try desk.run("set", "shared/t.shape", "title=New")
            #expect(try desk.shell(lists) == before)
            #expect(try desk.shell("stat -c %a shared/s.shape") == "640\n")
        }
    }

    /// As over NFS.
    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `a file that has to be open for writing to be locked is edited`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let program = try BuiltPrograms.shapeedit()
            let held = "strace -f -o /dev/null -e trace=flock -e inject=flock:error=EBADF:when=1"
            for (edit, title) in [
                ("set s.shape title=New", "New"), ("title s.shape Newer", "Newer"),
            ] {
                try desk.shell("\(held) '\(program)' \(edit)")
                #expect(try desk.get("s.shape", "title") == title)
            }
            try desk.shell("\(held) '\(program)' undo s.shape")
            #expect(try desk.get("s.shape", "title") == "New")
        }
    }

    @Test(arguments: Desk.places)
    func `all names of a hard-linked file show the edit`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "one.shape")
            let made = try desk.shapeedit(["get", "one.shape"])
            try #require(made.status == 0)
            try desk.shell("ln one.shape two.shape")
            try desk.run("set", "one.shape", "title=A much longer title than before")
            #expect(desk.bytes("one.shape") == desk.bytes("two.shape"))
            try desk.run("set", "two.shape", "title=B")
            #expect(try desk.get("one.shape", "title") == "B")
            #expect(try desk.shell("stat -c %h one.shape") == "2\n")
        }
    }

    /// Its owner could not read it any more where only they could.
    @Test(.enabled(if: DataPath.isPrivileged, "needs another user"))
    func `a file of another user stays theirs when it is edited`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.shell(
                "mkdir own && mv s.shape own && chmod 666 own/s.shape && chown -R \(nobody) . && "
                    + "chown 12345:12345 own/s.shape && chmod 777 '\(desk.stateHome)'")
            let edited = try desk.shapeedit(["set", "own/s.shape", "title=New"], user: nobody)
            #expect(edited.status == 0, "\(edited)")
            #expect(try desk.get("own/s.shape", "title") == "New")
            #expect(
                try desk.shell("stat -c '%u %g %a' own/s.shape; ls -A own")
                    == "12345 12345 666\ns.shape\n")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `a file that is mounted by itself is edited`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.slide")
            try desk.shell("touch bound.slide && mount --bind s.slide bound.slide")
            defer { _ = try? desk.shell("umount -l bound.slide") }
            for title in ["A title that is longer than before", "B"] {
                try desk.run("title", "bound.slide", title)
                #expect(try desk.get("s.slide", "title") == title)
            }
            try desk.run("undo", "bound.slide")
            #expect(desk.bytes("bound.slide") == desk.bytes("s.slide"))
            #expect(try desk.names() == ["bound.slide", "s.slide"])
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `a file that is written in place is what it was if there is no room for the edit`()
        throws
    {
        try withDesk(.plain) { desk in
            // Room for a part of the edit.
            try desk.shell("mkdir small && mount -t tmpfs -o size=16k none small")
            defer { _ = try? desk.shell("umount -l small") }
            try desk.run("new", "small/one.slide")
            try desk.shell("ln small/one.slide small/two.slide")
            let before = try #require(desk.bytes("small/one.slide"))
            let words = String(repeating: "x", count: 20_000)
            try desk.write("set description='\(words)'\n", to: "long")
            let binary = try BuiltPrograms.shapeedit()
            let said = try desk.shell("'\(binary)' apply small/one.slide long 2>&1 || echo $?")
            #expect(said == "shapeedit: small/one.slide: No space left on device\n74\n")
            #expect(desk.bytes("small/one.slide") == before)
            #expect(desk.bytes("small/two.slide") == before)
            try desk.shell("mount -o remount,size=1m small")
            try desk.run("apply", "small/one.slide", "long")
            #expect(try desk.get("small/two.slide", "description") == words)
        }
    }

    @Test(arguments: Desk.places)
    func `an edit beyond the bound on the size of files changes nothing`(_ place: DataPath)
        throws
    {
        try withDesk(place) { desk in
            try desk.run("new", "s.slide")
            let before = try #require(desk.bytes("s.slide"))
            try desk.write(
                "set description='\(String(repeating: "x", count: 20_000))'\n", to: "long")
            let binary = try BuiltPrograms.shapeedit()
            let said = try desk.shell(
                "ulimit -f 8; '\(binary)' apply s.slide long 2>&1 || echo $?")
            #expect(said == "shapeedit: s.slide: File too large\n74\n")
            #expect(desk.bytes("s.slide") == before)
            #expect(try desk.shell("ls -A") == "long\ns.slide\n")
            // One with more names is written in place.
            try desk.shell("ln s.slide other.slide")
            let again = try desk.shell(
                "ulimit -f 8; '\(binary)' apply s.slide long 2>&1 || echo $?")
            #expect(again == "shapeedit: s.slide: File too large\n74\n")
            #expect(desk.bytes("other.slide") == before)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `a file that can be written in a folder that cannot`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir fixed; chmod 777 '\(desk.stateHome)'")
            try desk.run("new", "fixed/s.shape")
            try desk.shell("chown \(nobody) fixed/s.shape && chmod 755 fixed")
            for title in ["A long title", "B"] {
                let result = try desk.shapeedit(
                    ["set", "fixed/s.shape", "title=\(title)"], user: nobody)
                #expect(result.status == 0, "\(result)")
                #expect(try desk.get("fixed/s.shape", "title") == title)
            }
            #expect(try desk.shell("ls -A fixed") == "s.shape\n")
            let undone = try desk.shapeedit(["undo", "fixed/s.shape"], user: nobody)
            #expect(undone.status == 0, "\(undone)")
            #expect(try desk.get("fixed/s.shape", "title") == "A long title")
        }
    }
}

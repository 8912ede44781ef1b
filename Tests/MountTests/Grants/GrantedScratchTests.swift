import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Files that an app makes beside granted documents: what may be made, and what may become of it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedScratchTests {
    private static let document: ByteString = "in test/a.txt"
    private static let temporary: ByteString = "in test/.goutputstream-Q7K2PD"

    @Test(arguments: DataPath.mounts.prefix(1))
    func `editors find a place for their locks, swap files and backups`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            here.store("a.txt", "one\n")
            // It says nothing: permissions are kept, and there are no ACLs to keep.
            #expect(there.shell("sed -i s/one/two/ 'in test/a.txt' 2>&1") == "")
            #expect(here.content("a.txt") == "two\n")
            // LibreOffice's, Python's, Rust's, and what many others do.
            for name in ["lu81922x4f.tmp", "tmpa_b3c4d5", ".tmpAb12Cd", "a.txt.tmp"] {
                there.store("in test/\(name)", "by \(name)")
                there.rename("in test/\(name)", "in test/a.txt")
                #expect(here.content("a.txt") == "by \(name)")
            }
            // Qt's and rsync's, half of which look like words.
            for name in ["a.txt.qWdfgh", "a.txt.Backup", ".a.txt.keoaxl"] {
                let file = there.open(
                    "in test/\(name)", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                there.write(file, "by \(name)")
                there.close(file)
                #expect(there.names("in test") == [name, "a.txt"].sorted())
                there.rename("in test/\(name)", "in test/a.txt")
                #expect(here.content("a.txt") == "by \(name)")
            }
            // Those of no document, and what somebody calls something, stay out.
            for name in ["b.txt.qWdfgh", "..a.txt.lozacB", "a.txt.signed", "a.txt.261224"] {
                there.open(
                    "in test/\(name)", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600, fails: EROFS)
            }
            there.open("in test/a.txt.qWdfgh", O_WRONLY | O_CREAT, mode: 0o600, fails: EROFS)
            // The time goes with it, as everywhere.
            there.store("in test/a.txt.tmp", "of old")
            let day = 86_400 * 1_000_000_000
            there.shell("touch -d @86400 'in test/a.txt.tmp'")
            there.rename("in test/a.txt.tmp", "in test/a.txt")
            #expect(here.status("a.txt").modified == day)
            #expect(there.status("in test/a.txt").modified == day)
            there.store("in test/.~lock.a.txt#", "me")
            there.open("in test/.~lock.a.txt#", O_WRONLY | O_CREAT | O_EXCL, fails: EEXIST)
            // Its mode is what the program asked for, by its own mask.
            _ = there.setMask(0)
            there.close(there.open("in test/.b.txt.swp", O_RDWR | O_CREAT, mode: 0o666))
            #expect(there.status("in test/.b.txt.swp").mode & 0o7777 == 0o666)
            there.unlink("in test/.b.txt.swp")
            there.store("in test/a.txt~", "two\n")
            there.rename("in test/a.txt~", "in test/.a.txt.swp")
            there.changeMode("in test/.a.txt.swp", 0o600)
            #expect(there.status("in test/.a.txt.swp").mode & 0o7777 == 0o600)
            there.setAttribute("in test/.a.txt.swp", "user.tag", "blue")
            #expect(there.attribute("in test/.a.txt.swp", "user.tag") == "blue")
            let open = there.open("in test/.a.txt.swp", O_RDWR)
            there.unlink("in test/.a.txt.swp")
            there.write(open, "goes on")
            #expect(there.status(open).size == 7)
            there.close(open)
            // They are there after a crash, and no documents.
            try both.app.killDaemon()
            both.endAppAgents()
            try both.mountApp()
            let later = try both.appAgent()
            #expect(later.names("in test") == [".~lock.a.txt#", "a.txt"])
            #expect(later.content("in test/.~lock.a.txt#") == "me")
            #expect(here.names(".") == ["a.txt", "secret.txt"])
            later.unlink("in test/.~lock.a.txt#")
            later.status("in test/.~lock.a.txt#", fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `who made up a name that looks like somebody's own makes up another one`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let there = try both.appAgent()
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            // patch's, Qt's and mkstemp's; in one of a hundred there are small letters alone.
            let names: [(ByteString, Int32)] = [
                ("a.txt.oabcdef", O_WRONLY), ("a.txt.r123456", O_WRONLY), ("a.txt.abcdef", O_RDWR),
                ("a.txt.123456", O_RDWR),
            ]
            for (name, access) in names {
                let flags = access | O_CREAT
                there.open("in test/" + name, flags | O_EXCL, mode: 0o600, fails: EEXIST)
                // Who gives a name that stays is told why it cannot be had.
                there.open("in test/" + name, flags, mode: 0o600, fails: EROFS)
            }
            for name: ByteString in ["b.txt.oabcdef", "a.txt.oabcdefg", "a.txt.oabc.def"] {
                there.open(
                    "in test/" + name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600, fails: EROFS)
            }
            #expect(there.names("in test") == ["a.txt"])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `nothing else gets into the folder or out of it`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes")
            there.store(Self.temporary, "two")
            // The grant is for reading.
            there.rename(Self.temporary, Self.document, fails: EACCES)
            there.open("in test/new.txt", O_WRONLY | O_CREAT, fails: EROFS)
            there.rename(Self.temporary, "in test/new.txt", fails: EXDEV)
            there.rename(Self.temporary, "own.txt", fails: EXDEV)
            there.rename(Self.document, "in test/a.txt~", fails: EXDEV)
            there.unlink(Self.document, fails: EROFS)
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            there.rename(Self.temporary, Self.document, flags: 1, fails: EEXIST)
            #expect(there.content(Self.temporary) == "two")
            #expect(here.content("a.txt") == "one")
            try both.run("revoke", "a.txt")
            there.rename(Self.temporary, Self.document, fails: ENOENT, EXDEV)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document that is called like a temporary file is a document`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let (grant, name): (ByteString, ByteString) = ("user.shapeedit.grant.notes", "a.txt~")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            // The app's own file of the name is behind it, and stays.
            there.store("in test/" + name, "the app's")
            here.store(name, "the owner's")
            here.setAttribute(name, grant, "write")
            #expect(there.names("in test") == ["a.txt", "a.txt~"])
            #expect(there.content("in test/" + name) == "the owner's")
            there.unlink("in test/" + name, fails: EROFS)
            there.rename("in test/" + name, Self.document, fails: EXDEV)
            there.rename("in test/" + name, "in test/b.txt~", fails: EXDEV)
            there.store("in test/" + name, "two")
            #expect(here.content(name) == "two")
            here.removeAttribute(name, grant)
            #expect(there.content("in test/" + name) == "the app's")
            #expect(here.content("a.txt") == "one")
        }
    }
}

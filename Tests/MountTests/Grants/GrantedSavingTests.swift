import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Programs that save a granted document by renaming a new file over it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedSavingTests {
    private static let document: ByteString = "in test/a.txt"
    private static let temporary: ByteString = "in test/.goutputstream-Q7K2PD"

    @Test(arguments: DataPath.mounts)
    func `saving by renaming is the document's next version`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let id = here.attribute("a.txt", "user.shapeedit.id")
            here.changeMode("a.txt", 0o640)
            here.setAttribute("a.txt", "user.tag", "blue")
            let reader = here.open("a.txt", O_RDONLY)
            for text: ByteString in ["two", "and three", ""] {
                let file = there.open(Self.temporary, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
                there.write(file, text)
                // Only this mount shows it, and nobody sees the document change.
                #expect(there.names("in test") == [".goutputstream-Q7K2PD", "a.txt"])
                #expect(there.status(Self.temporary).size == text.count)
                #expect(here.names(".") == ["a.txt", "secret.txt"])
                there.synchronize(file)
                there.close(file)
                there.rename(Self.temporary, Self.document)
                #expect(here.content("a.txt") == text)
                #expect(there.content(Self.document) == text)
                #expect(there.names("in test") == ["a.txt"])
            }
            #expect(here.readToEnd(reader) == "one")
            here.close(reader)
            #expect(here.attribute("a.txt", "user.shapeedit.id") == id)
            #expect(here.attribute("a.txt", "user.tag") == "blue")
            #expect(here.status("a.txt").mode & 0o7777 == 0o640)
            #expect(here.names(".") == ["a.txt", "secret.txt"])
        }
    }

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
    func `what is saved by renaming is a version before it has the document's name`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let there = try both.appAgent()
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let status = "\(both.owner.root.text)/.shapeedit/status.json"
            let last = #"s/.*"lastChange": \([0-9]*\).*/\1/p"#
            let start = try both.owner.run("sed", "-n", last, status).text.filter(\.isNumber)
            there.store(Self.temporary, "two")
            there.rename(Self.temporary, Self.document)
            // Else who reads between the renaming and the close finds it empty.
            var kinds: [Substring] = []
            for count in 3...8 where !kinds.contains("renamed") {
                let told = try both.ownerContainer.command(
                    "watch", both.owner.directory, "--since", start, "--count", "\(count)")
                kinds = told.text.split(separator: "\n").map { $0.split(separator: " ")[1] }
            }
            #expect(kinds.suffix(2) == ["published", "renamed"], "\(kinds)")
        }
    }

    @Test(
        .enabled(if: isInstalled("patch") && isInstalled("perl"), "needs patch and perl"),
        arguments: DataPath.mounts.prefix(1))
    func `programs that keep a backup beside the document save it`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let id = here.attribute("a.txt", "user.shapeedit.id")
            let patch = #"printf -- '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n'"#
            there.store("src", "two\n")
            // What each leaves beside the document.
            let programs: [(String, backup: String)] = [
                ("\(patch) | patch a.txt", ""), ("\(patch) | patch -b a.txt", "a.txt.orig"),
                ("perl -i -pe s/one/two/ a.txt", ""),
                ("perl -i.bak -pe s/one/two/ a.txt", "a.txt.bak"),
                ("sed -i.bak s/one/two/ a.txt", "a.txt.bak"),
                ("sed -i'old_*' s/one/two/ a.txt", "old_a.txt"),
                ("cp -b ../src a.txt", "a.txt~"),
                ("cp --backup=numbered ../src a.txt", "a.txt.~1~"),
                ("cp ../src /dev/shm/two && mv -b /dev/shm/two a.txt", "a.txt~"),
                ("sed s/one/two/ a.txt > a.txt.new && mv a.txt.new a.txt", ""),
            ]
            for (program, backup) in programs {
                here.store("a.txt", "one\n")
                there.shell("cd 'in test' && { \(program); } > /dev/null")
                #expect(here.content("a.txt") == "two\n", "\(program)")
                #expect(there.content(Self.document) == "two\n", "\(program)")
                #expect(there.names("in test") == ["a.txt", backup].filter { $0 != "" }.sorted())
                if backup.isEmpty { continue }
                let file = ByteString("in test/\(backup)")
                #expect(there.content(file) == "one\n", "\(program)")
                there.unlink(file)
            }
            #expect(here.attribute("a.txt", "user.shapeedit.id") == id)
            #expect(here.names(".") == ["a.txt", "secret.txt"])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document that was renamed to a backup is away for that process alone`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let other = try both.appAgent()
            let backup: ByteString = "in test/a.txt~"
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            here.shell("touch -d @86400 a.txt")
            there.rename(Self.document, backup)
            there.status(Self.document, fails: ENOENT)
            #expect(there.content(backup) == "one")
            #expect(there.status(backup).modified == 86_400 * 1_000_000_000)
            #expect(other.content(Self.document) == "one")
            #expect(here.content("a.txt") == "one")
            other.open(Self.document, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600, fails: EEXIST)
            let file = there.open(Self.document, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            #expect(here.content("a.txt") == "one")
            there.write(file, "two")
            there.close(file)
            #expect(here.content("a.txt") == "two")
            #expect(there.content(Self.document) == "two")
            // And back, as who could not make it anew.
            there.rename(Self.document, backup)
            #expect(there.content(backup) == "two")
            there.rename(backup, Self.document)
            #expect(here.content("a.txt") == "two")
            // Not to a name that hides what it is, nor to be gone, nor what may only be read.
            there.rename(Self.document, "in test/b.txt~", fails: EXDEV)
            there.rename(Self.document, backup, flags: 1, fails: EXDEV)
            there.unlink(Self.document, fails: EROFS)
            try both.run("grant", "a.txt", "--to", "notes")
            there.rename(Self.document, backup, fails: EXDEV)
            #expect(there.names("in test") == ["a.txt"])
            // A backup of an old document is no old backup.
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            here.shell("touch -d @86400 a.txt")
            there.rename(Self.document, backup)
            both.endAppAgents()
            try both.app.unmount()
            try both.mountApp()
            #expect(try both.appAgent().content(backup) == "two")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a link under a backup's name is a copy`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            there.link(Self.document, "in test/a.txt~")
            there.store(Self.document, "two")
            #expect(there.content("in test/a.txt~") == "one")
            there.link(Self.document, "in test/a.txt~", fails: EEXIST)
            there.link(Self.document, "in test/new.txt", fails: EXDEV)
            there.link("in test/a.txt~", "in test/b.txt~", fails: EXDEV)
            there.store("own", "x")
            there.link("own", "in test/own~", fails: EXDEV)
            #expect(there.names("in test") == ["a.txt", "a.txt~"])
            if isInstalled("gio") {
                there.shell("printf three | gio save -b 'in test/a.txt'")
                #expect(there.content("in test/a.txt~") == "two")
                #expect(here.content("a.txt") == "three")
            }
            #expect(here.names(".") == ["a.txt", "secret.txt"])
            // It is the app's, so it stays when the document is not.
            try both.run("grant", "a.txt", "--to", "notes")
            there.unlink("in test/a.txt~")
            there.link(Self.document, "in test/a.txt~")
            #expect(there.content("in test/a.txt~") == here.content("a.txt"))
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
    func `what is written to a file after it was renamed over a document is the document's`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let id = here.attribute("a.txt", "user.shapeedit.id")
            // A program whose words are in a buffer still when it renames.
            for (early, late): (ByteString, ByteString) in [("", "two"), ("thr", "ee"), ("", "")] {
                let file = there.open(Self.temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                there.write(file, early)
                there.rename(Self.temporary, Self.document)
                there.write(file, late)
                there.close(file)
                #expect(here.content("a.txt") == early + late)
                #expect(there.content(Self.document) == early + late)
                #expect(here.names(".") == ["a.txt", "secret.txt"])
            }
            #expect(here.attribute("a.txt", "user.shapeedit.id") == id)
            // Not over what others have saved, nor what is revoked by then.
            let files = [true, false].map { isSaved in
                let file = there.open(Self.temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                there.rename(Self.temporary, Self.document)
                there.write(file, "late")
                if isSaved { here.store("a.txt", "the owner's") }
                return file
            }
            there.close(files[0])
            #expect(here.content("a.txt") == "")
            try both.run("revoke", "a.txt")
            there.close(files[1], fails: EACCES)
            #expect(here.content("a.txt") == "")
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

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document that is revoked or moved while it is saved by renaming is not replaced`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let grant: ByteString = "user.shapeedit.grant.notes"
            here.setAttribute("a.txt", grant, "write")
            try both.whileSaving(Self.temporary, Self.document, there, here) {
                here.removeAttribute("a.txt", grant)
            }
            there.finish("rename over what was revoked", fails: EACCES)
            #expect(here.content("a.txt") == "one")
            #expect(here.names(".") == ["a.txt", "secret.txt"])
            // Another document under its name is another document.
            here.setAttribute("a.txt", grant, "write")
            let id = here.attribute("a.txt", "user.shapeedit.id")
            // Renamed by the same process it would be the same one, and the other its backup.
            let other = try both.owner.agent()
            try both.whileSaving(Self.temporary, Self.document, there, here) {
                here.rename("a.txt", "b.txt")
                other.rename("secret.txt", "a.txt")
            }
            there.finish("rename over what was moved")
            #expect(here.content("a.txt") == "nobody's business")
            #expect(here.names(".") == ["a.txt", "b.txt"])
            #expect(here.status("b.txt").size == OwnerAndApp.largeSize)
            #expect(here.attribute("b.txt", "user.shapeedit.id") == id)
        }
    }
}

extension OwnerAndApp {
    fileprivate static let largeSize = 64 << 20

    /// Begins to save a large file by renaming, and does something while the app's daemon is about it.
    fileprivate func whileSaving(
        _ temporary: ByteString, _ document: ByteString, _ there: Agent, _ here: Agent,
        _ change: () -> Void
    ) throws {
        let daemon = pid_t(try #require(app.daemon))
        let content = here.content("a.txt")
        for _ in 0..<20 {
            there.store(temporary, "")
            there.truncate(temporary, size: Self.largeSize)
            there.begin(
                "rename",
                .call(
                    number: Int(SYS_renameat2),
                    arguments: [
                        .integer(Int(AT_FDCWD)), .input(temporary.bytes), .integer(Int(AT_FDCWD)),
                        .input(document.bytes), .integer(0),
                    ], onNewThread: false))
            // What it writes stands beside the document.
            func isSaving() -> Bool { here.names(".").contains { $0.hasPrefix(".gout") } }
            while !isSaving(), !there.hasFinished(within: 0) {}
            kill(daemon, SIGSTOP)
            defer { kill(daemon, SIGCONT) }
            if isSaving() { return change() }
            kill(daemon, SIGCONT)
            // It was faster.
            there.finish("rename")
            here.store("a.txt", content)
        }
        Issue.record("saving was never seen")
    }
}

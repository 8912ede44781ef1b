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

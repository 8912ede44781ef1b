import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// Open documents whose file others have their hands on, and what happens in just that moment.
@Suite(.oneAtATime) struct DocumentRaceTests {
    @Test func `what is changed while a document is closing is saved`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            let document = Document<HookedText>(path, quietTime: nil)
            try document.open(creating: HookedText("new"))
            try document.change { $0.text = "first" }
            HookedText.onSaving { _ = try? document.change { $0.text = "second" } }
            try document.close()
            #expect(document.state == [.closed, .editingDisabled])
            #expect(text(of: path) == "second")
        }
    }

    @Test func `what is changed while a conflict is ended is kept too`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            let document = Document<HookedText>(path, quietTime: nil)
            try document.open(creating: HookedText("new"))
            try document.change { $0.text = "mine" }
            try volume.agent().store("note", "theirs")
            expectSoon { document.conflict?.theirs?.text == "theirs" }
            HookedText.onSaving { _ = try? document.change { $0.text = "later" } }
            try document.resolve(.both)
            #expect(document.contents?.text == "theirs" && document.state == [])
            let copies = try Directories.names(in: volume.directory).filter { $0 != "note" }
            let kept = copies.map { text(of: "\(volume.directory)/\($0)") ?? "" }
            #expect(Set(kept) == ["mine", "later"], "\(copies)")
            try document.close()
            #expect(text(of: path) == "theirs")
        }
    }

    @Test func `a file with more than one name shows what is saved under each`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            try store(path, "a longer text than what is saved")
            try #require(link(path, path + "-too") == 0)
            let opened = try OpenedDocument(path)
            for saved in ["first", "and second"] {
                try opened.set(saved)
                try opened.document.save()
                #expect(text(of: path) == saved && text(of: path + "-too") == saved)
            }
            // What others write under the other name is seen.
            try store(path + "-too", "theirs")
            expectSoon { opened.text == "theirs" }
            try opened.document.close()
        }
    }

    @Test func `what others write in the moment of a save is not taken for it`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("new"))
            for number in 10..<40 {
                try opened.set("a\(number)")
                try opened.document.save()
                try opened.set("c\(number)")
                // As long, and often of the same time.
                try store(path, "b\(number)")
                #expect(throws: DocumentProblem.inConflict) { try opened.document.save() }
                expectSoon { (try? opened.document.resolve(.mine)) != nil }
                #expect(text(of: path) == "c\(number)")
            }
            try opened.document.close()
        }
    }

    @Test(arguments: places)
    func `a file that is renamed in the moment of a save is saved where it is`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let (path, moved) = ("\(volume.directory)/note", "\(volume.directory)/renamed")
            let document = Document<HookedText>(path, quietTime: nil)
            try document.open(creating: HookedText("old"))
            try document.change { $0.text = "new" }
            HookedText.onSaving { rename(path, moved) }
            try document.save()
            #expect(document.path == moved && document.conflict == nil)
            #expect(text(of: moved) == "new" && text(of: path) == nil)
            // What is removed then is a conflict as ever.
            try document.change { $0.text = "newer" }
            HookedText.onSaving { unlink(moved) }
            #expect(throws: DocumentProblem.inConflict) { try document.save() }
            #expect(document.conflict?.isDeleted == true)
            try document.resolve(.mine)
            #expect(text(of: moved) == "newer")
            try document.close()
        }
    }

    @Test(arguments: places)
    func `what happens is told also while a save waits for others`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(
                path, quietTime: .milliseconds(20), creating: Text("new"))
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                try opened.set("mine")
                // By then it waits for the claim.
                usleep(300_000)
                try opened.set("more")
                expectSoon { opened.count("contents") == 3 }
                #expect(opened.document.hasUnsavedChanges && opened.document.error == nil)
            }
            try opened.document.close()
            #expect(text(of: path) == "more")
        }
    }

    @Test func `a pipe in the place of the file keeps nobody waiting`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("new"))
            try opened.set("mine")
            #expect(mkfifo("\(volume.directory)/.pipe", 0o600) == 0)
            #expect(rename("\(volume.directory)/.pipe", path) == 0)
            #expect(throws: DocumentProblem.self) { try opened.document.save() }
            #expect(opened.text == "mine" && opened.document.hasUnsavedChanges)
            unlink(path)
            try opened.document.close()
            expectSoon { opened.count("copy") == 1 }
        }
    }

    @Test func `a document whose mount goes away in the moment of a save is not taken for deleted`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let daemon = try #require(container.daemon)
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(
                path, quietTime: .milliseconds(50), creating: Text("new"))
            // The daemon serves who waits for a claim as long as something is open in its mount.
            let kept = open(volume.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                try opened.set("mine")
                try expectSoon {
                    try FileCoordinator.claims(around: path).list.contains {
                        $0.claimant.state == .waiting
                    }
                }
                MountTable.detach(container.mountPoint)
            }
            expectSoon { opened.document.error != nil }
            #expect(opened.document.conflict == nil && opened.text == "mine")
            close(kept)
            #expect(container.waitForEnd(of: daemon))
            try container.mount()
            expectSoon { !opened.document.hasUnsavedChanges }
            #expect(opened.document.conflict == nil && text(of: path) == "mine")
            try opened.document.close()
        }
    }

    @Test(arguments: [false, true])
    func `a document that is moved while its mount is away is followed`(
        _ isChanged: Bool
    ) throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(
                path, quietTime: .milliseconds(50), creating: Text("one"))
            try container.killDaemon()
            if isChanged {
                try opened.set("two")
                expectSoon { opened.document.error != nil }
            }
            try container.mount()
            // It has not noticed yet, or tries to save.
            let other = "\(volume.directory)/other"
            #expect(rename(path, other) == 0)
            expectSoon { opened.document.path == other }
            expectSoon { !opened.document.hasUnsavedChanges }
            #expect(opened.document.state == [] && text(of: other) == (isChanged ? "two" : "one"))
            // It is told of what others do to it there.
            expectSoon { opened.document.error == nil }
            try volume.agent().store("other", "three")
            expectSoon { opened.text == "three" }
            try opened.document.close()
        }
    }

    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `a save that went through though its daemon was killed is no conflict`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let path = "\(volume.directory)/note"
            let (trace, output) = ("\(container.base)/trace", "\(container.base)/output")
            try store(path, "begin\n")
            // The daemon has kept what is closed; the program is held before it goes on.
            let line = """
                cd /
                { echo one; until [ -e '\(trace).end' ]; do sleep 0.1; done; echo two; } |
                    stdbuf -oL strace -f -qq -o '\(trace)' -P '\(path)' -e trace=fsetxattr,close \
                    -e inject=close:delay_exit=2000000 '\(try BuiltPrograms.noteTaker())' '\(path)' \
                    > '\(output)'
                """
            let program = try volume.start(["sh", "-c", line])
            expectSoon { text(of: trace)?.contains("end quietly") == true }
            usleep(500_000)
            try container.killDaemon()
            expectSoon { text(of: output)?.contains("cannot be saved") == true }
            try container.mount()
            #expect(text(of: path) == "begin\none\n")
            try store(trace + ".end", "")
            let result = program.wait(seconds: 60)
            #expect(result.status == 0 && result.errorText == "", "\(result)")
            let told = text(of: output) ?? ""
            #expect(text(of: path) == "begin\none\ntwo\n" && !told.contains("others"), "\(told)")
        }
    }

    /// Where there is that file, the next answer of the daemon to the kernel that says nothing but that something
    /// is done comes late.
    private static let lateAnswers = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/sysmacros.h>
        #include <sys/uio.h>
        #include <unistd.h>
        ssize_t writev(int file, const struct iovec *parts, int count) {
            struct stat status;
            const char *path = getenv("LATE_ANSWERS");
            const int *header = parts[0].iov_base;
            if (path && !fstat(file, &status) && status.st_rdev == makedev(10, 229)
                && header[0] == 16 && header[1] == 0 && !unlink(path)) usleep(500000);
            return syscall(SYS_writev, file, parts, count);
        }
        """

    /// The kernel knows the file by its name until the removal has been answered.
    @Test(.enabled(if: isInstalled("cc"), "needs cc"))
    func `a removal that is told before it was answered is one all the same`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let late = "\(container.base)/late"
            try container.preload(Self.lateAnswers)
            container.additionalEnvironment["LATE_ANSWERS"] = late
            try volume.remount()
            let agent = try volume.agent()
            agent.store("note", "x")
            let (opened, second) = (
                try OpenedDocument("\(volume.directory)/note"),
                try OpenedDocument("\(volume.directory)/note")
            )
            try opened.set("unsaved")
            try store(late, "")
            agent.unlink("note")
            #expect(access(late, F_OK) != 0)
            expectSoon { second.document.state.contains(.closed) }
            expectSoon { opened.document.conflict?.isDeleted == true }
            try opened.document.resolve(.theirs)
        }
    }

    @Test func `many documents on one file open at once`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/note"
            try store(path, "x")
            let start = MonotonicClock.now
            let left = Monitor(4)
            let problems = Lock([String]())
            for _ in 0..<4 {
                Threads.start("opens") {
                    do { try OpenedDocument(path).document.close() } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                    left.signal { $0 -= 1 }
                }
            }
            let _: Bool? = left.wait { $0 == 0 ? true : nil }
            #expect(problems.withLock { $0 } == [])
            // Nobody waited for the lease of another, which is five seconds.
            #expect(MonotonicClock.now - start < 4_000_000_000)
        }
    }

    @Test func `an edit of another program is made on what an app has not saved yet`() throws {
        try withVolume(.passthrough) { volume in
            let binary = try BuiltPrograms.shapeedit()
            func shapeedit(_ words: String...) throws -> String {
                let result = try volume.run(
                    "sh", "-c", "'\(binary)' " + words.joined(separator: " "))
                #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result)")
                return result.text
            }
            _ = try shapeedit("new Ball.shape && '\(binary)' title Ball.shape saved")
            let opened = try OpenedDocument("\(volume.directory)/Ball.shape")
            for (number, edit) in ["set Ball.shape background=red", "undo Ball.shape"].enumerated()
            {
                let text = try #require(opened.text)
                let title = number == 0 ? "saved" : "unsaved 0"
                let parts = text.split(separator: title)
                #expect(parts.count == 2, "\(text)")
                try opened.set(parts.joined(separator: "unsaved \(number)"))
                _ = try shapeedit(edit)
                #expect(opened.document.conflict == nil)
                if number == 0 {
                    #expect(try shapeedit("get Ball.shape title") == "unsaved 0\n")
                    expectSoon { opened.text?.contains("ff0000") == true }
                    #expect(opened.text?.contains("unsaved 0") == true)
                } else {
                    // What it saved is what is taken back.
                    #expect(try shapeedit("get Ball.shape title") == "unsaved 0\n")
                    _ = try shapeedit("redo Ball.shape")
                    #expect(try shapeedit("get Ball.shape title") == "unsaved 1\n")
                }
            }
            // Under a claim of its own, and with one for a restored version.
            _ = try shapeedit(
                "coordinate --write Ball.shape -- '\(binary)' set Ball.shape background=blue")
            _ = try shapeedit("restore Ball.shape")
            try opened.document.close()
        }
    }

    @Test func `a granted document is edited in the app's mount, alone`() throws {
        try withVolume(.passthrough) { volume in
            let owner = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("document", "x")
            let app = try Container(name: "notes", user: owner.user, dataHome: owner.dataHome)
            defer { app.remove() }
            try app.mount(asApp: true)
            let original = "\(volume.directory)/document"
            let granting = try app.command("grant", original, "--to", "notes", "--write")
            #expect(granting.status == 0, "\(granting)")
            let opened = try OpenedDocument("\(app.mountPoint)/in test/document")
            try opened.set("of the app")
            try opened.document.save()
            #expect(text(of: original) == "of the app")
            agent.store("document", "of its owner")
            expectSoon { opened.text == "of its owner" }
            // Either keeps the other out.
            let paths = [original, opened.document.path]
            for (mine, theirs) in [(paths[0], paths[1]), (paths[1], paths[0])] {
                try FileCoordinator().coordinate([FileIntent(mine, .write)]) { _ in
                    let error = #expect(throws: CoordinationError.self) {
                        try FileCoordinator().coordinate(
                            [FileIntent(theirs, .write)], waiting: .milliseconds(200)
                        ) { _ in }
                    }
                    if case .timedOut = error {
                    } else {
                        Issue.record("\(String(describing: error))")
                    }
                }
            }
            try opened.set("unsaved")
            agent.store("document", "meanwhile")
            expectSoon { opened.document.conflict?.theirs?.text == "meanwhile" }
            try opened.document.resolve(.mine)
            try opened.document.close()
            #expect(text(of: original) == "unsaved")
            volume.endAgents()
            try app.unmount()
        }
    }
}

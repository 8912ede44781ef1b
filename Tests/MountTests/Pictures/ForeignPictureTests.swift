import Glibc
import Probing
import TestSupport
import Testing

private let canSandbox =
    (try? run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]).status) == 0

/// Documents that programs of the machine draw, and what happens where they cannot.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ForeignPictureTests {
    /// A desk whose machine has one program, a line of shell for files called as `pattern` has it: $1
    /// is the document, $2 where the picture goes.
    private func withProgram(
        _ line: String, pattern: String = "*.test", path: String? = nil, store: String? = nil,
        temporary: String? = nil, _ body: (PictureDesk) throws -> Void
    ) throws {
        try withPictures(store: store) { desk in
            let data = desk.container.dataHome
            try desk.remount {
                mkdir(data + "/thumbnailers", 0o755)
                mkdir(data + "/mime", 0o755)
                try PictureDesk.write(
                    Array("50:image/x-test:\(pattern)\n".utf8), to: data + "/mime/globs2")
                let entry = """
                    [Thumbnailer Entry]
                    TryExec=/bin/sh
                    Exec=/bin/sh -c "\(line)" name %i %o %s
                    MimeType=image/x-test;
                    """
                try PictureDesk.write(Array(entry.utf8), to: data + "/thumbnailers/t.thumbnailer")
                desk.container.additionalEnvironment["PATH"] = path
                desk.container.additionalEnvironment["TMPDIR"] = temporary
            }
            try body(desk)
        }
    }

    private func state(_ agent: Agent, _ name: ByteString) -> String {
        var state = ""
        for _ in 0..<3_000 {
            state = agent.attribute(name, "user.shapeedit.thumbnail.state").text
            if state == "ready" || state == "none" || state.hasPrefix("failed") { break }
            usleep(10_000)
        }
        return state
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `while a program draws there is nothing that a crash could leave behind`() throws {
        let temporary = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(temporary) }
        chmod(temporary, 0o777)
        let mark = "86398.\(getpid())"
        try withProgram("sleep \(mark)", temporary: temporary) { desk in
            desk.agent.store("a.test", "content")
            #expect(desk.state("a.test") == "pending")
            let isDrawn = try waitUntil { try run(["pgrep", "-f", "^sleep \(mark)"]).status == 0 }
            #expect(isDrawn)
            let left = try run(["ls", "-A", temporary]).text
            #expect(left.isEmpty)
        }
    }

    /// In the place of one stands what bubblewrap is for a moment: it goes with its parent, and the process
    /// that it has just started waits for it, and does not ask for that yet.
    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `a crash while bubblewrap is being started leaves no process behind`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        chmod(folder, 0o755)
        let (drawing, waiting) = ("86396.\(getpid())", "86397.\(getpid())")
        func isAsleep(_ mark: String) throws -> Bool {
            try run(["pgrep", "-f", "^sleep \(mark)"]).status == 0
        }
        defer { _ = try? run(["pkill", "-KILL", "-f", "^sleep \(waiting)"]) }
        let slow = try sandbox(
            in: folder, where: "slow",
            "exec setpriv --pdeathsig KILL sh -c 'sleep \(waiting) & wait'")
        try withProgram("sleep \(drawing)", path: folder + ":/usr/bin:/bin") { desk in
            desk.agent.store("a.test", "content")
            #expect(desk.state("a.test") == "pending")
            #expect(try waitUntil { try isAsleep(drawing) })
            try PictureDesk.write([], to: slow)
            desk.agent.store("b.test", "content")
            #expect(desk.state("b.test") == "pending")
            #expect(try waitUntil { try isAsleep(waiting) })
            try desk.container.killDaemon()
            #expect(try waitUntil { try !isAsleep(waiting) && !isAsleep(drawing) })
            try desk.mount()
        }
    }

    @Test(.enabled(if: canSandbox && geteuid() == 0, "needs bubblewrap and root"))
    func `where temporary files have no room documents are drawn all the same`() throws {
        let temporary = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(temporary) }
        let words = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", temporary]
        try #require(try run(words).status == 0)
        defer { umount2(temporary, Int32(MNT_DETACH)) }
        try PictureDesk.write([UInt8](repeating: 1, count: 16 << 10), to: temporary + "/full")
        try withProgram("cp $1 $2", temporary: temporary) { desk in
            let picture = try desk.reference(PictureDesk.slide(1), "slide", 128)
            desk.agent.store("a.test", picture)
            #expect(state(desk.agent, "a.test") == "ready")
        }
    }

    /// Also of photos, whose previews are not looked for then.
    @Test(.enabled(if: canSandbox, "needs bubblewrap"), arguments: ["test", "jpg"])
    func `a listing brings the pictures of promises from the store, and nothing of their contents`(
        _ end: String
    ) throws {
        try withProgram("cp $1 $2", pattern: "*." + end, store: "folder") { desk in
            let name = "a." + end
            let content = try desk.reference(PictureDesk.slide(1), "slide", 128)
            desk.agent.store(ByteString(name), content)
            for size in PictureDesk.sizes { _ = desk.picture(name, size) }
            #expect(state(desk.agent, ByteString(name)) == "ready")
            for field in ["notYetDurable", "uploads", "pictureUploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            let path = "\(desk.container.mountPoint)/\(name)"
            #expect(try waitUntil { try desk.container.command("evict", path).status == 0 })
            #expect(waitUntil { desk.count("pictureUploads") == 0 })
            try desk.remount {
                _ = try run(["rm", "-rf", desk.container.folder + "/pictures", desk.cache])
            }
            _ = try run(["ls", desk.container.mountPoint])
            #expect(try waitUntil { try desk.entries().count == 4 })
            #expect(desk.count("fetchedBytes") == 0)
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `what a program draws is told by both ends of a name`() throws {
        let line = "case $1 in *.long.test) cp $1 $2;; esac"
        try withProgram(line, pattern: "*.long.test") { desk in
            let picture = try desk.reference(PictureDesk.slide(1), "slide", 128)
            // That nothing draws this one says nothing of the others that end so.
            for (name, expected) in [("a.test", "none"), ("b.long.test", "ready")] {
                desk.agent.store(ByteString(name), picture)
                _ = desk.picture(name, 128)
                #expect(state(desk.agent, ByteString(name)) == expected, "\(name)")
            }
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"), arguments: [false, true])
    func `a document that is evicted before it is drawn, or meanwhile, has its picture`(
        isLookedAt: Bool
    ) throws {
        try withProgram("sleep 0.3; cp $1 $2", store: "folder") { desk in
            let picture = try desk.reference(PictureDesk.slide(1), "slide", 128)
            desk.agent.store("a.test", picture)
            for field in ["notYetDurable", "uploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            if isLookedAt { #expect(desk.state("a.test") == "pending") }
            let path = desk.container.mountPoint + "/a.test"
            #expect(try waitUntil { try desk.container.command("evict", path).status == 0 })
            // It did not have to be drawn for that.
            #expect(desk.agent.attribute("a.test", "user.shapeedit.state") == "promise")
            #expect(desk.settle("a.test") == "ready")
            for size in PictureDesk.sizes {
                let shown = desk.picture("a.test", size)
                #expect(shown.count > 100 && shown.bytes.starts(with: [0x89, 0x50]))
            }
            #expect(desk.agent.attribute("a.test", "user.shapeedit.state") == "promise")
            #expect(desk.count("fetchedBytes") == 0)
            // It goes after the picture is there.
            let names = ["ls", desk.container.folder + "/drawing"]
            #expect(try waitUntil { try run(names).text.isEmpty })
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `a program of the machine draws in the sandbox, once for a version`() throws {
        try withProgram("ls /root && exit 1; cp $1 $2") { desk in
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            let picture = try desk.reference(PictureDesk.slide(1), "slide", 128)
            agent.store("a.test", picture)
            #expect(state(agent, "a.test") == "ready")
            for size in PictureDesk.sizes {
                let shown = agent.content(desk.path("a.test", size))
                #expect(shown.count > 100 && shown.bytes.starts(with: [0x89, 0x50]))
            }
            agent.store("bad.test", "no picture")
            #expect(state(agent, "bad.test").hasPrefix("failed"))
            agent.store("a.nothing", picture)
            #expect(state(agent, "a.nothing") == "none")
        }
    }

    /// As they write them that take the size for the width of a page, which is higher.
    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `a picture that is larger than asked is shown in all sizes`() throws {
        try withProgram("cp $1 $2") { desk in
            desk.agent.store("a.test", try desk.reference(PictureDesk.slide(1), "slide", 1_024))
            #expect(state(desk.agent, "a.test") == "ready")
            for size in PictureDesk.sizes {
                let shown = desk.picture("a.test", size).bytes
                #expect(shown.count > 100)
                // The width of a PNG file, in its first chunk.
                #expect(shown[16..<20].reduce(0) { $0 << 8 | Int($1) } == size)
            }
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `what cannot be drawn in a large size is shown in the largest that can`() throws {
        try withProgram("[ $3 -le 256 ] && cp $1 $2") { desk in
            desk.agent.store("a.test", try desk.reference(PictureDesk.slide(1), "slide", 1_024))
            #expect(state(desk.agent, "a.test") == "ready")
            let small = desk.picture("a.test", 128)
            let medium = desk.picture("a.test", 256)
            #expect(small != medium)
            for size in [512, 1_024] { #expect(desk.picture("a.test", size) == medium) }
        }
    }

    /// Which it draws by its own plugins, so that a listing would fetch them.
    @Test func `promises that nothing but tumbler draws have entries, where it is installed`()
        throws
    {
        try withProgram("cp $1 $2", store: "folder") { desk in
            try desk.remount {
                let data = desk.container.dataHome
                _ = try run(["mkdir", "-p", data + "/dbus-1/services"])
                let service = data + "/dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service"
                try PictureDesk.write([], to: service)
                let globs =
                    "50:audio/x-tune:*.tune\n50:application/vnd.oasis.opendocument.x:*.page\n"
                try PictureDesk.write(Array(globs.utf8), to: data + "/mime/globs2")
            }
            let names = ["a.tune", "b.page"]
            for name in names { desk.agent.store(ByteString(name), "content") }
            for field in ["notYetDurable", "uploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            let paths = names.map { "\(desk.container.mountPoint)/\($0)" }
            for path in paths {
                #expect(try waitUntil { try desk.container.command("evict", path).status == 0 })
            }
            _ = try run(["ls", desk.container.mountPoint])
            #expect(try waitUntil { try desk.entries().count == 8 })
            #expect(desk.count("fetchedBytes") == 0)
            // What is here it can draw.
            _ = try run(["cat"] + paths)
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    /// Puts a bwrap into a folder that runs a line of shell first as long as there is a file beside it.
    ///
    /// - Returns: the path of that file, which is not there yet.
    private func sandbox(
        in folder: String, where condition: String, _ line: String
    ) throws -> String {
        let real = try run(["sh", "-c", "command -v bwrap"]).text.filter { !$0.isNewline }
        let lines = """
            #!/bin/sh
            if [ -e "$0.\(condition)" ]; then \(line); fi
            exec '\(real)' "$@"
            """
        try PictureDesk.write(Array(lines.utf8), to: folder + "/bwrap")
        chmod(folder + "/bwrap", 0o755)
        return folder + "/bwrap." + condition
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs root"),
        .enabled(if: canSandbox, "needs bubblewrap"))
    func `a sandbox that fails is no failure of a document, and the status says so`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let broken = try sandbox(in: folder, where: "broken", "exit 1")
        try withProgram("cp $1 $2", path: folder + ":/usr/bin:/bin") { desk in
            let picture = try desk.reference(PictureDesk.slide(1), "slide", 128)
            desk.agent.store("a.test", picture)
            #expect(desk.settle("a.test") == "ready")
            try PictureDesk.write([], to: broken)
            desk.agent.store("b.test", picture)
            #expect(state(desk.agent, "b.test") == "none")
            #expect(desk.count("picturesFailed") == 0)
            let status = try desk.container.command("status")
            #expect(status.text.contains("no pictures of other types: bubblewrap"), "\(status)")
            // Ours do not suffer.
            desk.agent.store("c.slide", PictureDesk.slide(1))
            #expect(desk.settle("c.slide") == "ready")
            // The next mount is the first to try again here: nothing was written down.
            try desk.remount { unlink(broken) }
            #expect(desk.settle("b.test") == "ready")
            #expect(desk.agent.content(".shapeedit/status.json").text.contains("picturesDrawn"))
            #expect(!desk.agent.content(".shapeedit/status.json").text.contains("foreignPicture"))
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"))
    func `a program that ends itself as if it was told to has failed in the end`() throws {
        try withProgram("kill -TERM $$; sleep 60") { desk in
            desk.agent.store("a.test", "content")
            #expect(desk.settle("a.test").hasPrefix("failed: "))
            #expect(desk.count("picturesFailed") == 1)
        }
    }

    @Test(.enabled(if: canSandbox, "needs bubblewrap"), arguments: ["a.test", "a.md"])
    func `a document that had entries in the desktop's cache gets others when it is saved`(
        _ name: String
    ) throws {
        try #require(isInstalled("gio"))
        try withProgram("cp $1 $2") { desk in
            let agent = desk.agent
            func content(_ number: Int) throws -> ByteString {
                name == "a.md"
                    ? ByteString("# Number \(number)\n")
                    : try desk.reference(PictureDesk.slide(number), "slide", 128)
            }
            let path = "\(desk.container.mountPoint)/\(name)"
            /// The entry that GIO takes for right.
            func entry() throws -> [UInt8]? {
                let said = try run(
                    ["gio", "info", "-a", "thumbnail::*", path],
                    environment: desk.container.environment
                ).text
                guard said.contains("thumbnail::is-valid: TRUE") else { return nil }
                let line = said.split(separator: "\n").first { $0.contains("thumbnail::path: ") }
                // It may have gone since.
                return line.flatMap { PictureDesk.readIfThere(String($0.drop { $0 != "/" })) }
            }
            let (document, other) = (ByteString(name), ByteString(name + "~"))
            agent.store(document, try content(0))
            #expect(desk.settle(name) == "ready")
            var before: [UInt8]?
            #expect(
                try waitUntil {
                    before = try entry()
                    return before != nil
                })
            // Nobody looks at its picture from here on. Saved in place, by a temporary file in its place,
            // by a new file in the place of a backup; and all at once.
            let ways: [(Int) throws -> Void] = [
                { agent.store(document, try content($0)) },
                {
                    agent.store(".t.tmp", try content($0))
                    agent.rename(".t.tmp", document)
                },
                {
                    agent.rename(document, other)
                    agent.store(document, try content($0))
                    agent.unlink(other)
                },
            ]
            var number = 0
            for way in ways + [{ for way in ways { try way($0) } }] {
                number += 1
                try way(number)
                #expect(
                    try waitUntil {
                        let now = try entry()
                        if now != nil, now != before {
                            before = now
                            return true
                        }
                        return false
                    }, "\(number)")
            }
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `without bubblewrap ours are drawn and the status says what is missing`() throws {
        try withProgram("cp $1 $2", path: "/nonexistent") { desk in
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            agent.store("a.test", PictureDesk.slide(1))
            #expect(state(agent, "a.test") == "none")
            agent.store("a.slide", PictureDesk.slide(1))
            #expect(state(agent, "a.slide") == "ready")
            let status = try desk.container.command("status")
            #expect(status.text.contains("no pictures of other types: "), "\(status)")
        }
    }
}

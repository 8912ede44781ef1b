import Glibc
import Probing
import SystemCalls
import Testing

@testable import Thumbnailing

/// Programs of the machine in their sandbox. Where bubblewrap does not work it must say why.
@Suite(.serialized) struct ForeignThumbnailerTests {
    private static let missing = ForeignThumbnailers(folders: []).unavailability
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try Surroundings.run("mkdir -p '\(folder.path)/thumbnailers' '\(folder.path)/mime'")
        try Surroundings.write(
            Array("50:image/x-test:*.test\n50:image/x-other:*.long.test\n".utf8),
            to: folder.path + "/mime/globs2")
        try Surroundings.write(
            Array("image/x-old-test image/x-test\n".utf8), to: folder.path + "/mime/aliases")
        try Surroundings.write(Array("content".utf8), to: folder.path + "/input")
        // What a program can copy as its picture.
        let worker = ThumbnailWorker(program: Surroundings.program)
        try Surroundings.write(
            try worker.picture(DrawingRequest(type: .text, size: 64, bytes: Array("A".utf8))),
            to: folder.path + "/picture")
    }

    /// Installs a program of one shell line; its picture.
    private func picture(
        _ line: String, of input: String = "input", called name: String = "a.test",
        wallLimit: UInt64 = 15_000, cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> [UInt8] {
        let entry = """
            [Thumbnailer Entry]
            TryExec=sh
            Exec=/bin/sh -c "\(line)" name %i %o %s %u
            MimeType=image/x-old-test;
            """
        let path = folder.path
        _ = try? Surroundings.write(Array(entry.utf8), to: path + "/thumbnailers/t.thumbnailer")
        return try ForeignThumbnailers(folders: [path]).picture(
            ofFileAt: "\(path)/\(input)", fileName: name, size: 64, wallLimit: wallLimit,
            cancellation: cancellation)
    }

    private func failure(
        _ line: String, of input: String = "input", wallLimit: UInt64 = 15_000
    ) -> ThumbnailFailure? {
        #expect(throws: ThumbnailFailure.self) {
            try picture(line, of: input, wallLimit: wallLimit)
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program sees its file and its picture is taken`() throws {
        #expect(PNGFile(try picture("cp $1 $2", of: "picture")) != nil)
        #expect(PNGFile(try picture("test $3 = 64 && cp $1 $2", of: "picture")) != nil)
        #expect(PNGFile(try picture("test $4 = file://$1 && cp $1 $2", of: "picture")) != nil)
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a document with a long name is no failure of the sandbox`() throws {
        let name = "a." + String(repeating: "b", count: 248) + ".test"
        #expect(name.utf8.count == 255)
        func drawn(_ name: String, as shown: String) throws -> PNGFile? {
            let line = "test $1 = /tmp/\(shown) && cp $1 $2"
            return PNGFile(try picture(line, of: "picture", called: name))
        }
        #expect(try drawn(name, as: "document.test") != nil)
        #expect(try drawn("a.middle.test", as: "document.middle.test") != nil)
    }

    /// Whether the picture is drawn by one of the entries of the folder.
    private func isDrawn() throws -> Bool {
        let thumbnailers = ForeignThumbnailers(folders: [folder.path])
        return PNGFile(
            try thumbnailers.picture(
                ofFileAt: folder.path + "/picture", fileName: "a.test", size: 64, wallLimit: 15_000,
                cancellation: nil)) != nil
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program of the user's own is shown in the sandbox, and nothing beside it`() throws {
        let program = folder.path + "/draw"
        let script = "#!/bin/sh\ntest ! -e '\(folder.path)/input' && cp \"$1\" \"$2\"\n"
        try Surroundings.write(Array(script.utf8), to: program)
        chmod(program, 0o755)
        let entry = """
            [Thumbnailer Entry]
            Exec=\(program) %i %o
            MimeType=image/x-test;
            """
        try Surroundings.write(
            Array(entry.utf8), to: folder.path + "/thumbnailers/t.thumbnailer")
        #expect(try isDrawn())
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `blanks around the words of an entry say nothing`() throws {
        let entry = "[Thumbnailer Entry] \t\n  Exec =\tcp %i %o \n\tMimeType= image/x-test;\n"
        try Surroundings.write(
            Array(entry.utf8), to: folder.path + "/thumbnailers/t.thumbnailer")
        #expect(try isDrawn())
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program of the user's own, which may need more, hides none of the machine`() throws {
        let program = folder.path + "/draw"
        try Surroundings.write(Array("#!/bin/sh\nexit 1\n".utf8), to: program)
        chmod(program, 0o755)
        // A folder can be "executed", and is no program.
        for (name, command) in [("a", folder.path), ("b", program), ("c", "cp")] {
            let entry = "[Thumbnailer Entry]\nExec=\(command) %i %o\nMimeType=image/x-test;\n"
            try Surroundings.write(
                Array(entry.utf8), to: folder.path + "/thumbnailers/\(name).thumbnailer")
        }
        #expect(try isDrawn())
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a namesake in a folder that the sandbox does not show hides no program`() throws {
        let before = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        setenv("PATH", folder.path + ":" + before, 1)
        defer { setenv("PATH", before, 1) }
        try Surroundings.write(Array("#!/bin/sh\nexit 1\n".utf8), to: folder.path + "/cp")
        chmod(folder.path + "/cp", 0o755)
        let entry = """
            [Thumbnailer Entry]
            TryExec=cp
            Exec=cp %i %o
            MimeType=image/x-test;
            """
        try Surroundings.write(
            Array(entry.utf8), to: folder.path + "/thumbnailers/t.thumbnailer")
        let found = ForeignThumbnailers(folders: [folder.path])
        #expect(
            PNGFile(
                try found.picture(
                    ofFileAt: folder.path + "/picture", fileName: "a.test", size: 64,
                    wallLimit: 15_000, cancellation: nil)) != nil)
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program reaches nothing else`() throws {
        // Each line makes a picture only if the program can do what it must not.
        for line in [
            "echo x >> $1 && cp $1 $2", "ls \(folder.path) && cp $1 $2", "ls /home && cp $1 $2",
            "grep -v lo: /proc/net/dev | grep : && cp $1 $2", "touch /usr/x && cp $1 $2",
            "test -n \\\"$XDG_RUNTIME_DIR$USER\\\" && cp $1 $2",
        ] {
            #expect(throws: ThumbnailFailure.self, "\(line)") { try picture(line, of: "picture") }
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `bombs, hangs and crashes cost one failure`() throws {
        #expect(failure("kill -SEGV $$") == .died("signal 11 (Segmentation fault)"))
        #expect(failure("exit 3") == .died("exit code 3"))
        // What programs that return -1 have: no signal has such a number.
        #expect(failure("exit 255") == .died("exit code 255"))
        #expect(failure("sleep 60", wallLimit: 500) == .timedOut(milliseconds: 500))
        #expect(failure("true") == .died("no picture"))
        #expect(failure("echo x > $2") == .died("something that is no picture"))
        #expect(failure("ln -s /etc/passwd $2") != nil)
        #expect(failure("mkfifo $2") == .died("something that is no picture"))
        // 32 MiB of file and 2 GiB of memory.
        #expect(failure("head -c 32000000 /dev/zero > $2") != nil)
        #expect(failure("head -c 2000000000 /dev/zero | tail | cp $1 $2") != nil)
    }

    /// As when somebody ends all programs of a name.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program that is told to end in its sandbox says nothing of the document`() throws {
        #expect(failure("kill -TERM $$; sleep 60") == .ended("signal 15 (Terminated)"))
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a sandbox that fails says nothing of the document`() throws {
        // As bubblewrap ends where it cannot make namespaces, or cannot show the document.
        #expect(failure("cp $1 $2", of: "missing") == .unavailable("bubblewrap ended with code 1"))
        let before = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        setenv("PATH", folder.path + ":" + before, 1)
        defer { setenv("PATH", before, 1) }
        let real = try Surroundings.run("PATH='\(before)'; command -v bwrap").output.filter {
            !$0.isNewline
        }
        let lines = "#!/bin/sh\n[ -e \"$0.broken\" ] && exit 1\nexec '\(real)' \"$@\"\n"
        try Surroundings.write(Array(lines.utf8), to: folder.path + "/bwrap")
        chmod(folder.path + "/bwrap", 0o755)
        #expect(PNGFile(try picture("cp $1 $2", of: "picture")) != nil)
        let found = ForeignThumbnailers(folders: [folder.path])
        try Surroundings.write([], to: folder.path + "/bwrap.broken")
        #expect(throws: ThumbnailFailure.unavailable("bubblewrap ended with code 1")) {
            try found.picture(ofFileAt: folder.path + "/picture", fileName: "a.test", size: 64)
        }
        #expect(
            ForeignThumbnailers(folders: [folder.path]).unavailability
                == "bubblewrap does not work: bubblewrap ended with code 1")
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program cannot pass off its failure as one of the sandbox`() throws {
        let closing = "for f in /proc/1/fd/* /proc/$PPID/fd/*; do echo x > $f; done; exit 1"
        #expect(failure(closing) == .died("exit code 1"))
        #expect(failure("kill -KILL 1; kill -KILL $PPID; exit 1") != nil)
        guard case .died? = failure("kill -KILL $PPID; exit 1") else {
            Issue.record("it is none of the document")
            return
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `what a program writes has a limit in all, wherever it writes`() throws {
        // 80 MB in /tmp and beside the picture, 30 MB in /dev/shm, in files that are allowed alone.
        let numbers = "1 2 3 4 5 6 7 8"
        for (folder, numbers) in [
            ("/tmp/", numbers), ("$2.", numbers), ("/dev/shm/", "1 2 3"),
        ] {
            let fill = "head -c 10000000 /dev/zero > \(folder)$i || exit 9"
            #expect(
                failure("for i in \(numbers); do \(fill); done; cp $1 $2", of: "picture")
                    == .died("exit code 9"), "\(folder)")
        }
        // Nowhere else, and in no namespace of its own, where it could make room.
        for line in ["touch /x", "touch /dev/x", "unshare -U true"] {
            #expect(failure("\(line) && cp $1 $2", of: "picture") != nil, "\(line)")
        }
        let modest = "head -c 10000000 /dev/zero > /tmp/x && echo x > /dev/shm/x && cp $1 $2"
        #expect(PNGFile(try picture(modest, of: "picture")) != nil)
    }

    /// As root it owns the files of `/proc/sys`: with `core_pattern` it could run anything outside.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program changes nothing of the kernel's settings`() throws {
        #expect(
            PNGFile(try picture("test -r /proc/sys/vm/swappiness && cp $1 $2", of: "picture"))
                != nil)
        for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness"] {
            // What it says already, so that nothing is changed where this fails.
            let line = "cat \(path) > /tmp/value && cat /tmp/value > \(path) && cp $1 $2"
            #expect(failure(line, of: "picture") != nil, "\(path)")
        }
    }

    /// Who opens a file of which another has a lease waits for that one's end: to read, where it is a lease
    /// for writing.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program can take no lease of its document`() throws {
        func line(_ command: Int, _ argument: Int) -> String {
            "perl -e 'exit !fcntl(STDIN, \(command), \(argument))' < $1 && cp $1 $2"
        }
        // F_GETFD, so that it can call at all; then F_SETLEASE with F_RDLCK and F_WRLCK.
        #expect(PNGFile(try picture(line(1, 0), of: "picture")) != nil)
        #expect(failure(line(1_024, 0), of: "picture") == .died("exit code 1"))
        #expect(failure(line(1_024, 1), of: "picture") == .died("exit code 1"))
    }

    /// What the user can reach of the kernel's keys opens file systems and servers. No namespace has its own.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program reaches no keys of the user's`() throws {
        func line(_ call: Int, _ arguments: String) -> String {
            "perl -e 'exit(syscall(\(call), \(arguments)) < 0)' && cp $1 $2"
        }
        #if arch(x86_64)
        let (getpid, keyctl) = (39, 250)
        #else
        let (getpid, keyctl) = (172, 219)
        #endif
        // For its number, so that it can call at all; then for those of keyrings, which everybody has.
        #expect(PNGFile(try picture(line(getpid, "0"), of: "picture")) != nil)
        #expect(failure(line(keyctl, "0, -4, 1"), of: "picture") == .died("exit code 1"))
        #expect(failure(line(keyctl, "0, -3, 1"), of: "picture") == .died("exit code 1"))
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `what a program takes in many processes has bounds too`() throws {
        let first = "test $(cat /proc/self/oom_score_adj) = 1000"
        // Nor can it take that back.
        #expect(failure("echo 0 > /proc/self/oom_score_adj && cp $1 $2", of: "picture") != nil)
        #expect(PNGFile(try picture("\(first) && cp $1 $2", of: "picture")) != nil)
        // Root's are not counted.
        if geteuid() == 0 { return }
        func start(_ count: Int) -> String {
            "i=0; while test $i -lt \(count); do sleep 9 & i=$((i+1)); done; cp $1 $2; exit 0"
        }
        #expect(failure(start(600), of: "picture") != nil)
        #expect(PNGFile(try picture(start(50), of: "picture")) != nil)
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `what a program starts ends with it`() throws {
        let mark = "86399.\(getpid())"
        #expect(failure("sleep \(mark) & sleep \(mark)", wallLimit: 500) != nil)
        func left() throws -> String {
            try Surroundings.run("ps -eo args | grep '[s]leep \(mark)'").output
        }
        try waitUntil(seconds: 10) { try left() == "" }
        #expect(try left() == "")
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `cancelled work does not start`() throws {
        let cancellation = try Cancellation()
        cancellation.cancel()
        #expect(throws: ThumbnailFailure.cancelled) {
            try picture("cp $1 $2", of: "picture", cancellation: cancellation)
        }
    }

    @Test(
        .enabled(
            if: missing == nil && access("/usr/bin/gdk-pixbuf-thumbnailer", X_OK) == 0,
            "no sandbox or no gdk-pixbuf-thumbnailer"))
    func `the machine's own program draws an image`() throws {
        let foreign = ForeignThumbnailers()
        try #require(foreign.canDraw(fileName: "photo.png"))
        let picture = try foreign.picture(
            ofFileAt: folder.path + "/picture", fileName: "photo.png", size: 32)
        #expect(PNGFile(picture)?.height == 32)
    }

    @Test func `without a sandbox there is a reason and no picture`() throws {
        let path = getenv("PATH").map { String(cString: $0) }
        setenv("PATH", "/nonexistent", 1)
        defer { if let path { setenv("PATH", path, 1) } }
        let foreign = ForeignThumbnailers(folders: [folder.path])
        #expect(foreign.unavailability == "bubblewrap (bwrap) is not installed")
        #expect(!foreign.canDraw(fileName: "a.test"))
        #expect(throws: ThumbnailFailure.unavailable("bubblewrap (bwrap) is not installed")) {
            try foreign.picture(ofFileAt: "/dev/null", fileName: "a.test", size: 64)
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `what cannot be looked up for want of descriptors is not taken for not installed`() throws
    {
        #expect(PNGFile(try picture("cp $1 $2", of: "picture")) != nil)
        var call = 0
        var isOver = false
        while !isOver, call < 100 {
            call += 1
            FaultInjection.arm(after: call, error: EMFILE)
            let found = ForeignThumbnailers(folders: [folder.path])
            isOver = FaultInjection.left != 0
            FaultInjection.arm(after: 0, error: 0)
            #expect(
                found.unavailability != nil || found.canDraw(fileName: "a.test"),
                "call \(call) failed")
        }
        #expect(call > 5)
    }

    @Test func `names tell types as the shared database says`() {
        let types = FileNameTypes(folders: [folder.path])
        #expect(types.types(ofFileName: "a.test") == ["image/x-test"])
        #expect(types.types(ofFileName: "A.TEST") == ["image/x-test"])
        #expect(types.types(ofFileName: "a.long.test") == ["image/x-other"])
        #expect(types.types(ofFileName: "test") == [])
        #expect(types.canonical("image/x-old-test") == "image/x-test")
    }

    @Test func `commands are split as shells do and filled in`() {
        #expect(
            ThumbnailerEntry.split(#"a 'b c' "d \" e" f\ g ''"#) == [
                "a", "b c", "d \" e", "f g", "",
            ])
        #expect(ThumbnailerEntry.split("a 'b") == nil)
        #expect(ThumbnailerEntry.split("") == nil)
        let text =
            "[Thumbnailer Entry]\nExec=x -s %s %u %o %%\nMimeType=a/b;c/d;\n[Other]\nExec=y %o"
        let entry = ThumbnailerEntry(text: text) { $0 == "x" }
        #expect(entry?.mimeTypes == ["a/b", "c/d"])
        #expect(
            entry?.arguments(input: "/i n", output: "/o", size: 9)
                == ["x", "-s", "9", "file:///i%20n", "/o", "%"])
        #expect(ThumbnailerEntry(text: text) { _ in false } == nil)
        // The key file has its own backslashes, the command has what they leave.
        let quoting = #"""
            [Thumbnailer Entry]
            Exec=x "c\\"d" "\\$HOME"\sy %o
            """#
        #expect(
            ThumbnailerEntry(text: quoting) { $0 == "x" }?.command
                == ["x", #"c"d"#, "$HOME", "y", "%o"])
    }
}

import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct StandardStreamTests {
    @Test func `documents come from standard input and go to standard output`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let bytes = try #require(desk.bytes("s.shape"))
            #expect(try desk.run("get", "-", "Sphere.shape", input: bytes) == "sphere\n")
            #expect(try desk.run("show", "-", input: bytes).hasPrefix("scene of 1 solid\n"))
            #expect(try desk.run("validate", "-", input: bytes) == "-: sound (shape)\n")
            #expect(try desk.run("diff", "-", "s.shape", input: bytes) == "")
            #expect(try desk.run("diff", "s.shape", "-", input: bytes) == "")
            try desk.fail(64, "diff", "-", "-", input: bytes)
            let png = try desk.shapeedit(
                ["render", "-", "-o", "-", "--format", "png", "--size", "64x64"], input: bytes)
            #expect(png.output.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            let converted = try desk.shapeedit(
                ["convert", "-", "-", "--to", "shapeFile", "--lossy"], input: bytes)
            #expect(converted.output.starts(with: Array("bplist00".utf8)))
            let message = try desk.fail(65, "get", "-", input: Array("junk".utf8))
            #expect(message.contains("standard input"))
        }
    }

    @Test func `a message is one line whatever the name holds`() throws {
        try withDesk(.plain) { desk in
            let message = try desk.fail(66, "show", "a\nb\u{1b}.shape")
            #expect(message.contains(#"a\nb\x1b.shape"#), "\(message)")
            #expect(message.split(separator: "\n").count == 1, "\(message)")
        }
    }

    @Test func `what is said of a file is one line whatever its name holds`() throws {
        try withDesk(.plain) { desk in
            let name = "a\nb.slide"
            let made = try desk.run("new", name)
            #expect(made == "made a\\nb.slide\n")
            #expect(try desk.run("validate", name) == "a\\nb.slide: sound (slide)\n")
            let same = try desk.run("background", name, "#ffffff")
            #expect(same == "a\\nb.slide: nothing to change\n")
            #expect(try desk.run("convert", name, "c\nd.slide") == "made c\\nd.slide\n")
            #expect(try desk.fail(66, "show", "").contains("''"))
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `what is told in lines stays one line whatever names hold`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf x > 'a\nforged'")
            let binary = try BuiltPrograms.shapeedit()
            let version = try #require(try desk.versionNames("a\nforged").last)
            for words in [
                ["watch", "--since", "0", "--count", "1", "a\nforged"], ["recents", "."],
                ["restore", "a\nforged", version], ["pin-version", "a\nforged", version],
                ["grant", "a\nforged", "--to", "reader"],
                ["revoke", "a\nforged"],
                ["coordinate", "--write", "a\nforged", "--", binary, "claims", "."],
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 0, "\(words): \(result)")
                #expect(result.text.contains(#"a\nforged"#), "\(words): \(result)")
                #expect(!result.text.contains("\nforged"), "\(words): \(result)")
            }
        }
    }

    /// Also when nothing happens that they would tell.
    @Test(
        .enabled(if: !DataPath.isPlain && isInstalled("timeout"), "needs a mount and timeout"),
        arguments: DataPath.mounts.prefix(1))
    func `commands that go on end when nobody reads them any more`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let binary = try BuiltPrograms.shapeedit()
            // What is written to the mount is told.
            let outside = try #require(desk.volume.container).base
            for words in ["status --watch", "watch", "find --watch --name nothing"] {
                for (trap, status) in [("", "141"), ("trap '' PIPE;", "74")] {
                    let told = try desk.shell(
                        """
                        { \(trap) timeout 20 '\(binary)' \(words); echo $? >&3; } \
                            3> \(outside)/told 2> \(outside)/problem | :
                        cat \(outside)/told
                        """)
                    #expect(told == "\(status)\n", "\(words)")
                }
                let problem = try desk.shell("cat \(outside)/problem")
                #expect(problem.contains("standard output: Broken pipe"), "\(words): \(problem)")
            }
        }
    }

    @Test func `a byte order mark before text is no part of it`() throws {
        try withDesk(.plain) { desk in
            let lines = Array("\u{feff}milk\n".utf8)
            try desk.write(lines, to: "b.txt")
            try desk.run("convert", "b.txt", "b.list")
            #expect(try desk.run("list", "copy", "b.list") == "milk\n")
            try desk.run("convert", "-", "c.list", "--type", "text", input: lines)
            try desk.run("list", "paste", "c.list", input: lines)
            #expect(try desk.run("list", "copy", "c.list") == "milk\nmilk\n")
            try desk.run("new", "s.shape")
            let script = Array("\u{feff}title Marked\n".utf8)
            try desk.run("apply", "s.shape", "-", input: script)
            #expect(try desk.get("s.shape", "title") == "Marked")
        }
    }

    @Test func `a picture goes to a pipe that is named by its descriptor`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.slide")
            try desk.run("render", "a.slide", "-o", "a.png")
            let binary = try BuiltPrograms.shapeedit()
            for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
                try desk.shell(
                    "'\(binary)' render a.slide -o \(name) --format png | cat > piped.png")
                #expect(desk.bytes("piped.png") == desk.bytes("a.png"))
            }
        }
    }

    @Test func `a converted document goes to a descriptor, a pipe or a device by its path`() throws
    {
        try withDesk(.plain) { desk in
            try desk.run("new", "l.list")
            try desk.run("list", "add", "l.list", "milk")
            let list = try #require(desk.bytes("l.list"))
            let text = Array("- [ ] milk\n".utf8)
            let convert = "'\(try BuiltPrograms.shapeedit())' convert l.list"
            for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
                // Nothing else is said there.
                try desk.shell("\(convert) \(name) | cat > piped; \(convert) \(name) --json > file")
                #expect(desk.bytes("piped") == list && desk.bytes("file") == list)
                try desk.shell("(echo first; \(convert) \(name) --to text) > file")
                #expect(desk.bytes("file") == Array("first\n".utf8) + text)
            }
            try desk.shell("\(convert) /dev/fd/7 --to text 7> file > said")
            #expect(desk.bytes("file") == text)
            #expect(try desk.shell("cat said") == "made /dev/fd/7\n")
            try desk.shell("mkfifo pipe; cat pipe > file & \(convert) pipe --to text; wait")
            #expect(desk.bytes("file") == text)
            #expect(try desk.shell("test -p pipe && \(convert) /dev/null") == "made /dev/null\n")
            try desk.fail(74, "convert", "l.list", "/dev/full")
            try desk.fail(74, "convert", "l.list", "/dev/fd/77", "--to", "text")
            try desk.fail(73, "convert", "l.list", "file", "--to", "text")
        }
    }

    @Test func `a document comes from a removed file that only a descriptor leads to`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let get = "'\(try BuiltPrograms.shapeedit())' get /dev/fd/7 Sphere.shape"
            #expect(try desk.shell("exec 7< s.shape; rm s.shape; \(get)") == "sphere\n")
        }
    }

    @Test func `a document comes from a pipe that is named by its descriptor`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let binary = try BuiltPrograms.shapeedit()
            for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
                let line = "cat s.shape | '\(binary)'"
                #expect(try desk.shell("\(line) get \(name) Sphere.shape") == "sphere\n")
                #expect(try desk.shell("\(line) diff \(name) s.shape") == "")
                // It is read only, and that is said.
                let refused = "\(line) set \(name) title=T 2> said; echo $?"
                #expect(try desk.shell(refused) == "66\n")
                #expect(try desk.shell("cat said").contains("\(name): not a regular file"))
            }
            // A pipe with a name may have nobody who writes to it.
            try desk.shell("mkfifo named")
            try desk.fail(66, "get", "named")
        }
    }

    @Test func `standard input may be a socket`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let result = try Probing.run(
                [
                    "python3", "-c",
                    """
                    import socket, subprocess, sys
                    ours, theirs = socket.socketpair()
                    ours.sendall(open(sys.argv[2], "rb").read())
                    ours.shutdown(socket.SHUT_WR)
                    sys.exit(subprocess.run(
                        [sys.argv[1], "get", "-", "Sphere.shape"], stdin=theirs).returncode)
                    """, try BuiltPrograms.shapeedit(), desk.path("s.shape"),
                ])
            #expect(result.status == 0 && result.text == "sphere\n", "\(result)")
        }
    }

    @Test func `an answer that cannot be written is an error`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let binary = try BuiltPrograms.shapeedit()
            for words in [
                "get s.shape", "show s.shape --json", "convert s.shape -", "help", "--help",
                "--version", "help get", "get --help", "completions bash", "",
            ] {
                let line = "'\(binary)' \(words) > /dev/full; echo $?"
                #expect(try desk.shell("(\(line)) 2> said") == "74\n")
                #expect(try desk.shell("cat said").contains("standard output"))
            }
        }
    }

    @Test func `help of the thumbnailer that cannot be written is an error`() throws {
        try withDesk(.plain) { desk in
            let binary = try BuiltPrograms.shapeedit() + "-thumbnailer"
            let line = "'\(binary)' --help > /dev/full; echo $?"
            #expect(try desk.shell("(\(line)) 2> said") == "74\n")
            #expect(try desk.shell("cat said").contains("standard output"))
            #expect(try desk.shell("'\(binary)' --help").contains("USAGE:"))
        }
    }

    @Test func `no escape ever goes into a pipe`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let shown = try desk.shapeedit(["show", "s.shape"])
            #expect(!shown.output.contains(0x1b))
            // Not by name either; that is said.
            for name in ["blocks", "kitty", "sixel", "iterm"] {
                let asked = try desk.shapeedit(["show", "s.shape", "--graphics=\(name)"])
                #expect(asked.output == shown.output)
                #expect(asked.errorText.contains("--graphics \(name)"))
            }
            try desk.fail(64, "show", "s.shape", "--graphics", "crayons")
        }
    }
}

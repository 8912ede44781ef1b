import Glibc
import Probing
import TestSupport
import Testing

/// Exit codes are those of sysexits.h, and each error names the place and what would be right.
@Suite(.oneAtATime) struct ExitStatusTests {
    @Test func `wrong use is 64`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            #expect(try desk.fail(64, "nosuch").contains("--help"))
            try desk.fail(64, "get")
            try desk.fail(64, "get", "s.shape", "--nosuch")
            #expect(try desk.fail(64, "set", "s.shape", "nope").contains("PATH=VALUE"))
            #expect(try desk.fail(64, "camera", "fly", "s.shape").contains("fly"))
            #expect(try desk.fail(64, "render", "s.shape", "-o", "a.xyz").contains(".png"))
            try desk.fail(64, "render", "s.shape", "-o", "a.png", "--size", "0x9")
            try desk.fail(64, "render", "s.shape", "-o", "a.png", "--mode", "neither")
            let message = try desk.fail(64, "render", "s.shape", "-o", "a.png", "--mode", "web")
            #expect(message.contains("s.shape: --mode web is for slides"))
            try desk.fail(64, "convert", "s.shape", "thing")
            // With the usage of that command, and before anything is claimed.
            for wrong in [["--timeout", "nan", "--read", "s.shape"], ["--timeout", "1"]] {
                let result = try desk.shapeedit(["coordinate"] + wrong + ["--", "true"])
                #expect(result.status == 64, "\(wrong)")
                #expect(result.errorText.contains("Usage: shapeedit coordinate "), "\(wrong)")
            }
            #expect(try desk.names() == ["s.shape"])
        }
    }

    @Test func `an option that has one value is refused where it is given twice`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            for (words, option) in [
                (["find", "--name", "a", "--sort", "name", "--name=b"], "--name"),
                (["find", "-l", "1", "--limit", "2"], "--limit"),
                (["grant", "s.shape", "--to", "notes", "--to", "mail"], "--to"),
                (["render", "s.shape", "-o", "a.png", "--output", "b.png"], "--output"),
                (["set", "s.shape", "title=x", "--type", "shape", "--type", "list"], "--type"),
                (["list", "today", "--in", "a", "--in", "b"], "--in"),
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 64, "\(words): \(result)")
                #expect(result.errorText.contains("\(option) is there twice"), "\(result)")
            }
            #expect(try desk.names() == ["s.shape"])
            // Those that name several, what has no value, and what comes behind the options.
            try desk.run("new", "t.shape", "--json", "--json")
            try desk.run(
                "coordinate", "--read", "s.shape", "--read", "t.shape", "--timeout", "9", "--",
                "printf", "--timeout", "--timeout")
        }
    }

    @Test func `a folder outside of mounts is refused once, and not each file in it`() throws {
        try withDesk(.plain) { desk in
            for name in ["a", "b", "c"] { try desk.run("new", name + ".list") }
            for command in ["evict", "materialize", "cancel", "pin"] {
                let message = try desk.fail(64, command, desk.folder)
                #expect(
                    message == "shapeedit: \(desk.folder): it is not in a mounted container\n")
            }
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain && DataPath.isPrivileged, "needs a mount, and root"),
        arguments: DataPath.mounts.prefix(1))
    func `what others may not do in a mount is 77, and says so`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell(
                "chmod 755 . && printf x > note.txt && printf x > own.txt && chmod 600 own.txt")
            for words in [
                ["find", "--watch"], ["claims", "."], ["conflicts", "."], ["recents", "."],
            ] {
                let result = try desk.shapeedit(words, user: nobody)
                #expect(result.status == 77, "\(words): \(result)")
                #expect(result.errorText.contains("only the owner of the mount"), "\(result)")
            }
            for words in [["versions", "own.txt"], ["restore", "own.txt"]] {
                let result = try desk.shapeedit(words, user: nobody)
                #expect(result.status == 77, "\(words): \(result)")
                #expect(result.errorText.contains("Permission denied"), "\(result)")
            }
            let allowed = [
                ["versions", "note.txt"], ["coordinate", "--read", "note.txt", "--", "true"],
            ]
            for words in allowed {
                let result = try desk.shapeedit(words, user: nobody)
                #expect(result.status == 0 && result.errorText.isEmpty, "\(words): \(result)")
            }
        }
    }

    @Test func `wrong words are named, with the form that is right`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("new", "l.list")
            for words in [["spin", "s.shape"], ["s.shape", "spin"]] {
                let message = try desk.fail(64, "camera", words[0], words[1], "3")
                #expect(message.contains("'spin'") && message.contains("orbit"), "\(message)")
            }
            #expect(try desk.fail(64, "list", "show", "l.list", "more").contains("'more'"))
            try desk.run("list", "add", "l.list", "thing")
            let form = try desk.fail(64, "list", "edit", "l.list", "1", "new", "text")
            #expect(form.contains("usage: list edit TARGET TEXT\n"), "\(form)")
            let target = try desk.fail(64, "convert", "s.shape", "-", "--to", "nope")
            #expect(target.contains("--to nope") && target.contains("text"), "\(target)")
            #expect(try desk.fail(64, "set", "s.shape", "--type", "nope").contains("--type nope"))
            #expect(try desk.fail(64, "new", "").contains("empty"))
            let format = try desk.fail(64, "render", "s.shape", "-o", "a.png", "--format", "bmp")
            #expect(format.contains("--format bmp: it is one of png"), "\(format)")
            for (words, form) in [
                (["thumbnail", "s.shape", "-o", "a.png", "--size", "large"], "1 to 1024"),
                (["find", "--min-size", "5x"], "500, 50k, 2M or 1GB"),
                (["find", "--days", "-1"], "at most so many days ago"),
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 64 && result.errorText.contains(form), "\(result)")
            }
        }
    }

    @Test func `an empty word is shown as two quotes`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.slide")
            for words in [
                ["completions", ""], ["convert", "s.slide", ""], ["render", "s.slide", "-o", ""],
                ["list", "", "s.list"],
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 64, "\(words): \(result)")
                #expect(result.errorText.contains("'': "), "\(words): \(result)")
            }
        }
    }

    @Test func `in a folder that was deleted nothing can be claimed, as nothing is there`() throws {
        try withDesk(.plain) { desk in
            let line =
                #"mkdir gone; cd gone; rmdir ../gone; "$0" coordinate --write x -- true; echo $?"#
            let result = try Probing.run(
                ["sh", "-c", line, try BuiltPrograms.shapeedit()], directory: desk.folder)
            #expect(result.text == "66\n", "\(result)")
        }
    }

    @Test func `a place that is no folder for containers is told, and is not empty`() throws {
        try withDesk(.plain) { desk in
            try desk.write("", to: "file")
            let program = try BuiltPrograms.shapeedit()
            for (variables, reason) in [
                ("XDG_DATA_HOME=\(desk.path("file"))", "containers: Not a directory"),
                ("XDG_DATA_HOME= HOME=relative", "HOME is relative, which does not begin with /"),
            ] {
                let result = try Probing.run(
                    ["sh", "-c", "\(variables) exec \"$0\" container list", program],
                    directory: desk.folder)
                #expect(result.status == Int(EX_CONFIG), "\(result)")
                #expect(result.errorText.contains(reason), "\(result)")
            }
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `what is no document and no mount of its own is told`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            for command in ["claims", "conflicts", "recents"] {
                let message = try desk.fail(64, command, desk.volume.root.text + "/.shapeedit")
                #expect(message.contains("no documents in .shapeedit"), "\(message)")
            }
            try desk.shell("mkdir folder")
            let message = try desk.fail(64, "unmount", "folder")
            #expect(
                message.contains("`shapeedit unmount \(desk.volume.root.text)`"), "\(message)")
        }
    }

    @Test func `help on what is no command is 64`() throws {
        try withDesk(.plain) { desk in
            #expect(try desk.fail(64, "help", "nosuch").contains("'nosuch'"))
            #expect(try desk.fail(64, "help", "container", "nosuch").contains("'nosuch'"))
            // Actions are told of with their command.
            let list = try desk.run("list", "--help")
            #expect(try desk.run("help", "list", "add") == list)
            for words in [[], ["help"], ["slide", "import-bulk"]] {
                #expect(try desk.shapeedit(["help"] + words).status == 0, "\(words)")
            }
        }
    }

    @Test func `a name that begins with a minus sign is no wish for help`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("touch ./-dash.shape")
            for words in [
                ["set", "-dash.shape", "title=x"], ["show", "-dash.shape"], ["new", "-hey.shape"],
                ["validate", "-dash.shape"], ["undo", "-dash.shape"],
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 64 && result.output.isEmpty, "\(words): \(result)")
                #expect(result.errorText.contains("write ./-"), "\(words): \(result)")
            }
            for words in [["set", "-h"], ["set", "x.shape", "--help"], ["help", "set"]] {
                #expect(try desk.shapeedit(words).text.contains("PATH=VALUE"), "\(words)")
            }
        }
    }

    @Test func `an option that is mistyped is no text, and nothing is done`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("new", "l.list")
            let before = [desk.bytes("s.shape"), desk.bytes("l.list")]
            for words in [
                ["add", "s.shape", "cube"], ["title", "s.shape"], ["rename", "s.shape", "1"],
                ["list", "add", "l.list", "tea"], ["list", "today", "add", "tea"],
                ["camera", "reset", "s.shape"],
            ] {
                for option in ["--dryrun", "-dry-run"] {
                    let result = try desk.shapeedit(words + [option])
                    #expect(result.status == 64 && result.output.isEmpty, "\(words): \(result)")
                    #expect(result.errorText.contains("did you mean --dry-run?"), "\(result)")
                    #expect(result.errorText.contains("write -- before it"), "\(result)")
                }
            }
            #expect([desk.bytes("s.shape"), desk.bytes("l.list")] == before)
            #expect(try desk.names() == ["l.list", "s.shape"])
            // What can be none is a text as it is, and so is everything after --.
            try desk.run("list", "add", "l.list", "-nh", "--- cut ---", "--", "--dryrun", "-n")
            #expect(
                try desk.run("list", "copy", "l.list") == "-nh\n--- cut ---\n--dryrun\n-n\n")
            let history = try desk.run("history", "l.list")
            #expect(history.hasSuffix("list add -nh -- '--- cut ---' --dryrun -n\n"), "\(history)")
        }
    }

    @Test func `half a command is 64, and the other halves are named`() throws {
        try withDesk(.plain) { desk in
            var halves: [String: [String]] = [:]
            for name in try CommandTree().commands.map(\.name) {
                let words = name.split(separator: " ").map(String.init)
                if words.count == 2 { halves[words[0], default: []].append(words[1]) }
            }
            #expect(Set(halves.keys).isSuperset(of: ["slide", "container", "bookmark"]))
            for (first, seconds) in halves {
                let message = try desk.fail(64, first)
                for second in seconds { #expect(message.contains(second), "\(message)") }
                #expect(try desk.run(first, "--help").contains("USAGE: shapeedit \(first)"))
            }
        }
    }

    @Test(arguments: Desk.places)
    func `bad data is 65`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            let before = desk.bytes("s.shape")
            for (edit, right) in [
                ("Sphere.colr=#fff", "color"), ("Sphere.color=redd", "red"),
                ("camera.fieldOfView=500", "1 to 179"), ("Sphere.radius=wide", "number"),
                ("Spere.radius=1", "Sphere"),
            ] {
                let message = try desk.fail(65, "set", "s.shape", edit)
                #expect(message.contains("s.shape: ") && message.contains(right), "\(message)")
            }
            #expect(desk.bytes("s.shape") == before)
            try desk.write("{\n  \"version\": 1,,\n}", to: "broken.shape")
            #expect(try desk.fail(65, "show", "broken.shape").contains("line 2"))
            try desk.fail(65, "set", "broken.shape", "title=x")
            try desk.write("hello", to: "letter")
            #expect(try desk.fail(65, "show", "letter").contains("--type"))
            try desk.shell("truncate -s 3G huge.shape huge.list")
            for file in ["huge.shape", "huge.list"] {
                #expect(try desk.fail(65, "show", file).contains("at most 16 MiB"))
            }
        }
    }

    @Test func `no input is 66`() throws {
        try withDesk(.plain) { desk in
            for words in [["show"], ["get"], ["validate"], ["undo"], ["history"]] {
                let result = try desk.shapeedit(words + ["missing.shape"])
                #expect(result.status == 66, "\(words)")
                #expect(result.errorText.contains("missing.shape"))
            }
            try desk.fail(66, "set", "missing.shape", "title=x")
            try desk.fail(66, "show", ".")
            #expect(try desk.names() == [])
            try desk.shell("mkfifo pipe.shape")
            for words in [["show", "pipe.shape"], ["thumbnail", "pipe.shape", "-o", "a.png"]] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 66, "\(result)")
                #expect(result.errorText.contains("pipe.shape: not a regular file"), "\(result)")
            }
        }
    }

    @Test(arguments: Desk.places)
    func `a command that is not there is 127, and one that cannot be run 126`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.list")
            for (command, status) in [
                ("nosuch", 127), ("./nosuch", 127), ("./s.list", 126), (".", 126),
            ] {
                let message = try desk.fail(
                    Int32(status), "coordinate", "--write", "s.list", "--", command)
                #expect(message.hasPrefix("shapeedit: \(command): "))
            }
            // Nothing is held afterwards. A script need not say by what it is run.
            try desk.shell("echo 'echo \"$0 $2\"; exit 3' > plainscript; chmod +x plainscript")
            for path in ["", "."] {
                let command = path.isEmpty ? "./plainscript" : "plainscript"
                let result = try desk.shell(
                    "PATH=$PATH:\(path); '\(BuiltPrograms.shapeedit())' coordinate --write s.list "
                        + "--timeout 0 -- \(command) 'a b' 'c d' || echo $?")
                #expect(result.hasSuffix("plainscript c d\n3\n"), "\(result)")
            }
        }
    }

    @Test func `what cannot be made is 73`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("convert", "s.shape", "t.shape")
            try desk.fail(73, "convert", "s.shape", "t.shape")
            let long = String(repeating: "x", count: 250)
            try desk.fail(73, "new", "\(long).shape")
            try desk.fail(73, "convert", "s.shape", "\(long).shape")
            try desk.fail(73, "convert", "s.shape", "no/t.shape")
            try desk.fail(73, "render", "s.shape", "-o", "no/t.png")
            try desk.fail(73, "render", "s.shape", "-o", ".", "--format", "png")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `what is not permitted is 77`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let before = desk.bytes("s.shape")
            try desk.fail(77, "set", "s.shape", "title=x", user: nobody)
            try desk.fail(77, "new", "t.shape", user: nobody)
            // A file that may not be written is not replaced either, though its folder allows it.
            try desk.shell("chown \(nobody) . s.shape && chmod 444 s.shape")
            try desk.fail(77, "set", "s.shape", "title=x", user: nobody)
            try desk.fail(77, "convert", "s.shape", "s.shape", "--force", user: nobody)
            #expect(desk.bytes("s.shape") == before)
            try desk.shell("chmod 000 s.shape")
            for command in ["show", "undo", "history"] {
                let message = try desk.fail(77, command, "s.shape", user: nobody)
                #expect(message.hasPrefix("shapeedit: s.shape: "), "\(message)")
            }
            #expect(try desk.names() == ["s.shape"])
        }
    }
}

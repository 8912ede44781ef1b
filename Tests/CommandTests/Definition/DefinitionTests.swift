import FoundationEssentials
import Glibc
import Probing
import TestSupport
import Testing

/// Help, the manual page and the schema of the output all tell of the same commands.
@Suite(.oneAtATime) struct DefinitionTests {
    @Test func `the commands are all there`() throws {
        let names = Set(try CommandTree().commands.map(\.name))
        #expect(names.count > 40)
        #expect(names.isSuperset(of: ["mount", "container check", "set", "list", "undo", "apply"]))
    }

    @Test func `help of edits explains the words of their usage, and no others`() throws {
        try withDesk(.plain) { desk in
            var explained = 0
            for command in try CommandTree().commands {
                let words = command.name.split(separator: " ").map(String.init)
                let help = try desk.shapeedit(["help"] + words).text
                let parts = help.split(separator: "USAGE: ", maxSplits: 1)
                guard parts.count == 2, parts[1].contains(" FILE") else { continue }
                let told = parts[0].split(whereSeparator: \.isWhitespace).joined(separator: " ")
                for word in ["TARGET", "PATH"] {
                    let isUsed = parts[1].contains(word)
                    #expect(told.contains("A \(word) ") == isUsed, "\(command.name): \(word)")
                    explained += isUsed ? 1 : 0
                }
            }
            #expect(explained > 12)
        }
    }

    @Test func `help tells of every command`() throws {
        try withDesk(.plain) { desk in
            let overview = try desk.run("--help")
            for command in try CommandTree().commands {
                let words = command.name.split(separator: " ").map(String.init)
                #expect(overview.contains("\n  \(words[0]) "), "\(command.name)")
                let help = try desk.shapeedit(["help"] + words)
                #expect(help.status == 0 && help.text.contains("USAGE: shapeedit \(command.name)"))
                for option in command.options {
                    #expect(help.text.contains(option), "\(command.name) \(option)")
                }
                for line in help.text.split(separator: "\n") {
                    #expect(!line.hasSuffix(" "), "\(command.name): '\(line)'")
                }
            }
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "python3 is not installed"))
    func `the manual page says what the program says`() throws {
        let root = OutputSchema.packageRoot
        let result = try run(
            ["python3", "\(root)/Scripts/man", "--check", try BuiltPrograms.shapeedit()])
        #expect(result.status == 0, "\(result)")
        let page = try String(
            contentsOf: URL(filePath: "\(root)/Mount/man/shapeedit.1"), encoding: .utf8)
        for command in try CommandTree().commands {
            let name = command.name.split(separator: "-").joined(separator: "\\-")
            let isThere = page.contains(".Ss \"\(name)\"\n")
            #expect(isThere, "\(command.name)")
        }
        // An argument may be called as an option that all commands have.
        let sections = page.split(separator: "\n.Ss ")
        let restore = try #require(sections.first { $0.hasPrefix("\"restore\"\n") })
        #expect(restore.contains("\n.It Ar version\n"))
    }

    @Test func `the manual page tells of the options of addresses and of the environment`() throws {
        let root = OutputSchema.packageRoot
        let page = try String(
            contentsOf: URL(filePath: "\(root)/Mount/man/shapeedit.1"), encoding: .utf8)
        // What the sources take from an address, and the variables whose names they have.
        func found(_ pattern: String, in folders: String) throws -> Set<Substring> {
            let line =
                "cd '\(root)/Sources' && grep -rhoE '\(pattern)' \(folders) | cut -d '\"' -f 2"
            return Set(try run(["sh", "-c", line]).text.split(separator: "\n"))
        }
        let taken = try found(#"take\("[a-z-]+"\)"#, in: "Stores")
        #expect(taken.count >= 8)
        for option in taken {
            let isThere = page.contains("Cm \(option) Ns = Ns Ar ")
            #expect(isThere, "\(option)")
        }
        let variables = try found(
            #""(SHAPEEDIT|AWS|XDG)_[A-Z_]+""#, in: "Stores Programs/shapeedit DocumentKit")
        #expect(variables.contains("SHAPEEDIT_STORE_PASSWORD"))
        for variable in variables {
            let isThere = page.contains(variable)
            #expect(isThere, "\(variable)")
        }
    }

    @Test func `the schema has every command that prints JSON and no other`() throws {
        let schema = try OutputSchema.load()
        let described = Set((schema["properties"]?.members ?? [:]).keys)
        let printing = Set(try CommandTree().commands.filter(\.printsJSON).map(\.name))
        #expect(described == printing)
    }

    @Test func `commands print JSON unless their output is something else`() throws {
        let silent = try CommandTree().commands.filter { !$0.printsJSON }.map(\.name)
        #expect(Set(silent) == ["edit", "browse", "coordinate", "completions"])
        let page = try String(
            contentsOf: URL(filePath: "\(OutputSchema.packageRoot)/Mount/man/shapeedit.1"),
            encoding: .utf8)
        let told = try #require(
            page.split(separator: "\nAll commands know").first?
                .split(separator: "\nThe commands whose standard output").last)
        for name in silent { #expect(told.contains("\n.Cm \(name)"), "\(name)") }
    }

    @Test func `the schema finds what is wrong`() throws {
        let right = #"{"file": "a", "dryRun": false, "changes": []}"#
        #expect(try OutputSchema.faults(of: Array(right.utf8), printedBy: ["set"]).isEmpty)
        for wrong in [
            #"{"file": "a", "changes": []}"#, #"{"file": 1, "dryRun": false, "changes": []}"#,
            #"{"file": "a", "dryRun": false, "changes": [{}]}"#, "[]", "{",
            #"{"file": "a", "dryRun": false, "changes": [], "more": 1}"#,
        ] {
            let faults = try OutputSchema.faults(of: Array(wrong.utf8), printedBy: ["set"])
            #expect(!faults.isEmpty, "\(wrong)")
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `each line of a status that goes on is JSON as the schema says`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let container = try #require(desk.volume.container)
            // Of a mount into which nothing can come there is nothing to tell.
            let source = container.base + "/source"
            try desk.shell("mkdir \(source) && printf one > \(source)/one")
            try desk.run("import", "--promise", source, "in", "--json")
            let told = container.base + "/told"
            let binary = try BuiltPrograms.shapeedit()
            let program = try RunningProgram(
                ["sh", "-c", "exec '\(binary)' status --watch --json > '\(told)'"]
                    .map { Array($0.utf8) }, environment: container.environment)
            func lines() -> [[UInt8]] {
                (desk.bytes(told) ?? []).split(separator: UInt8(ascii: "\n")).map(Array.init)
            }
            func isTold(_ words: String) {
                waitUntil {
                    lines().contains {
                        let line = String(decoding: $0, as: UTF8.self)
                        return line.contains("\"\(container.mountPoint)\"") && line.contains(words)
                    }
                }
            }
            isTold("\"downloads\"")
            try container.unmount()
            isTold("\"mounted\"")
            program.kill(signal: SIGTERM)
            _ = program.wait()
            try container.mount()
            let documents = [
                #"{"file": "a", "state": "downloading", "bytes": 9, "doneBytes": 3, "percent": 33}"#,
                #"{"file": "a", "state": "promise", "problem": "the store does not answer"}"#,
            ].map { Array($0.utf8) }
            for line in lines() + documents {
                let faults = try OutputSchema.faults(
                    of: line, printedBy: ["status", "--watch", "--json"])
                #expect(faults.isEmpty, "\(String(decoding: line, as: UTF8.self)): \(faults)")
            }
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `a status that goes on is JSON whatever is wrong with a store`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let container = try #require(desk.volume.container)
            let (store, point) = (container.base + #"/a"b\c"#, container.base + "/other")
            try desk.shell("mkdir '\(point)'")
            for words in [
                ["container", "create", "other", "--store", "folder:" + store],
                ["mount", "other", point, "-o", "store_timeout=1"],
            ] { #expect(try container.command(words).status == 0) }
            defer { _ = try? container.command("unmount", point) }
            try desk.shell("rm -r '\(store)' && printf x > '\(store)' && printf x > '\(point)/doc'")
            let told = container.base + "/told"
            let binary = try BuiltPrograms.shapeedit()
            let program = try RunningProgram(
                ["sh", "-c", "exec '\(binary)' status --watch --json > '\(told)'"]
                    .map { Array($0.utf8) }, environment: container.environment)
            func line() -> ArraySlice<UInt8>? {
                (desk.bytes(told) ?? []).split(separator: UInt8(ascii: "\n")).first {
                    String(decoding: $0, as: UTF8.self).contains("Not a directory")
                }
            }
            waitUntil { line() != nil }
            program.kill(signal: SIGTERM)
            _ = program.wait()
            let faults = try OutputSchema.faults(
                of: Array(try #require(line())), printedBy: ["status", "--watch", "--json"])
            #expect(faults.isEmpty, "\(faults)")
        }
    }

    @Test func `a word that is no command is said to be none`() throws {
        try withDesk(.plain) { desk in
            let file = desk.path("s.shape")
            for (words, meant) in [
                (["sett", "s.shape", "title=x"], "did you mean 'set'?"),
                (["sett", file, "title=x"], "did you mean 'set'?"),
                (["valdate", file], "did you mean 'validate'?"),
                (["umount", file], "did you mean 'unmount'?"),
                (["qqqqqqqq", "s.shape"], "`shapeedit --help`"),
            ] {
                let result = try desk.shapeedit(words)
                #expect(result.status == 64, "\(result)")
                #expect(
                    result.errorText
                        == "shapeedit: there is no command '\(words[0])'; \(meant)"
                        + (meant.hasSuffix("?") ? "" : " lists them") + "\n")
            }
            // What is nearly called as a command may be a container.
            #expect(try desk.fail(66, "vallidata-x", "/nowhere").contains("no container"))
        }
    }

    @Test func `no command can be taken for a container to mount`() throws {
        try withDesk(.plain) { desk in
            let names = Set(
                try CommandTree().commands.compactMap { $0.name.split(separator: " ").first })
            for name in names {
                #expect(
                    try desk.fail(64, "container", "create", String(name)).contains("is a command"))
            }
            try desk.run("new", "s.shape")
            try desk.run("rename", desk.path("s.shape"), "Sphere", "Ball")
            #expect(try desk.get("s.shape", "solid.1.name") == "Ball")
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `a name that is empty is told, as any other that is not there`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("container", "create", "other")
            for words in [["show", ""], ["unmount", ""], ["mount", "other", ""]] {
                let result = try desk.shapeedit(words)
                #expect(result.status == Int(EX_NOINPUT), "\(words): \(result)")
                #expect(result.errorText.hasPrefix("shapeedit: '': "), "\(words): \(result)")
            }
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain && DataPath.isPrivileged, "needs a mount of root"),
        arguments: DataPath.mounts.prefix(1))
    func `containers that may not be listed are not said to be none`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let list = try desk.run("container", "list")
            #expect(list.contains("test"))
            let refusal = try desk.fail(77, "container", "list", user: 61_234)
            #expect(refusal.contains("Permission denied"))
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `who makes, mounts, unmounts and deletes a container may ask for JSON`(
        _ place: DataPath
    ) throws {
        try withDesk(place) { desk in
            let container = try #require(desk.volume.container)
            // A name with quotation marks is itself again for who reads the JSON.
            let name = "the \"other\"\\one".replacing(" ", with: "-")
            let point = container.base + "/other"
            func say(_ words: String...) throws -> JSONValue {
                try JSONValue.read(Array(try desk.shapeedit(words + ["--json"]).text.utf8))
            }
            let made = try say("container", "create", name)
            #expect(made["name"] == .string(name) && made["store"] == .null)
            try desk.shell("mkdir \(point)")
            let mounted = try say("mount", name, point)
            defer { _ = try? desk.shapeedit(["unmount", point]) }
            #expect(mounted["mountPoint"] == .string(point))
            #expect(mounted["container"] == .string(name))
            let status = try say("status").elements.first { $0["mountPoint"] == .string(point) }
            #expect(mounted["pid"] != nil && mounted["pid"] == status?["pid"])
            #expect(try desk.run("status").contains("\(point): container \(name), "))
            let gone = try say("unmount", point)
            #expect(gone["mountPoint"] == .string(point) && gone["container"] == .string(name))
            let deleted = try say("container", "delete", name, "--force")
            #expect(deleted["name"] == .string(name) && deleted["folder"] == made["folder"])
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `commands of containers print JSON as the schema says`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("status", "--json")
            try desk.run("container", "list", "--json")
            try desk.run("container", "info", "test", "--json")
            let source = try #require(desk.volume.container).base + "/source"
            try desk.shell("mkdir \(source) && printf one > \(source)/one")
            try desk.run("import", "--promise", source, "in", "--json")
            try desk.run("import", "--refresh", "in", "--json")
            for verb in ["pin", "unpin"] {
                // Not possible without a store, which is told as JSON, too.
                let result = try desk.shapeedit([verb, "in", "in/one", "--json"])
                #expect(result.text.contains("\"in/one\""), "\(result)")
            }
            let container = try #require(desk.volume.container)
            try container.unmount()
            let report = try container.command("container", "check", "test", "--json")
            #expect(
                try OutputSchema.faults(
                    of: report.output, printedBy: ["container", "check", "test", "--json"]
                ).isEmpty)
            let words = ["container", "move-store", "test", "none", "--json"]
            let moved = try container.command(words)
            #expect(try OutputSchema.faults(of: moved.output, printedBy: words).isEmpty)
            try container.mount()
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// What an app finds of the documents that were granted to it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedQueryTests {
    /// The paths of what `find` finds in the app's mount, below its root.
    private static func found(
        _ both: OwnerAndApp, below folder: String = "", _ words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let root = both.app.mountPoint
        let result = try both.app.command(["find", root + folder] + words)
        #expect(
            result.status == 0 && result.errorText.isEmpty, "\(words): \(result)",
            sourceLocation: location)
        return result.text.split(separator: "\n").map { String($0.dropFirst(root.count + 1)) }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `queries find what is granted, and nothing else of the owner`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            there.store("own.txt", "mine")
            here.makeDirectory("d")
            here.store("d/quince.md", "# Quince jam\n\nsugar\n")
            here.store("d/secret quince.md", "# Quince jam of others\n\nsugar\n")
            for name: ByteString in ["d/quince.md", "d/secret quince.md", "secret.txt"] {
                here.setAttribute(name, "user.xdg.tags", "kitchen")
            }
            #expect(try Self.found(both) == ["own.txt"])
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            try both.run("grant", "d/quince.md", "--to", "notes")
            let (text, jam) = ("in test/a.txt", "in test/quince.md")
            #expect(try Self.found(both) == [text, jam, "own.txt"])
            #expect(try Self.found(both, below: "/in test") == [text, jam])
            #expect(try Self.found(both, "--hidden") == [text, jam, "own.txt"])
            #expect(try Self.found(both, "--name", "*quince*") == [jam])
            #expect(try Self.found(both, "--name", "secret") == [])
            #expect(try Self.found(both, "--text", "sugar") == [jam])
            #expect(try Self.found(both, "--title", "quince") == [jam])
            #expect(try Self.found(both, "--tag", "kitchen") == [jam])
            #expect(try Self.found(both, "--max-size", "3") == [text])
            #expect(try Self.found(both, "--kind", "folders") == ["in test"])
            #expect(try Self.found(both, below: "/in test", "--kind", "all") == [text, jam])
            #expect(
                try Self.found(both, "--sort", "name", "--reverse", "--limit", "2")
                    == [jam, "own.txt"])
            let listed = try both.app.command("find", both.app.mountPoint, "--json", "--hidden")
            #expect(listed.text.contains("quince") && !listed.text.contains("secret"))
            // A saved query.
            _ = try Self.found(both, "--type", "md", "--save", "jam")
            #expect(there.content(".shapeedit/queries/jam/quince.md") == "# Quince jam\n\nsugar\n")
            here.rename("d/quince.md", "medlar.md")
            #expect(there.names(".shapeedit/queries/jam") == ["medlar.md"])
            // As everywhere in the folder: what is revoked is gone.
            try both.run("revoke", "medlar.md")
            #expect(there.names(".shapeedit/queries/jam") == [])
            #expect(try Self.found(both, "--text", "sugar") == [])
            // Why something may be missing is said.
            let stars = String(repeating: "*", count: 5_000)
            let long = try both.app.command("find", both.app.mountPoint, "--name", stars)
            #expect(long.text == "\(both.app.mountPoint)/own.txt\n")
            #expect(long.errorText.contains("too long for the container test"), "\(long)")
            both.owner.endAgents()
            try both.ownerContainer.unmount()
            let result = try both.app.command("find", both.app.mountPoint)
            #expect(result.text == "\(both.app.mountPoint)/own.txt\n")
            #expect(result.errorText.contains("the container test is not mounted"), "\(result)")
            try both.owner.remountAfterCrash()
        }
    }

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(1))
    func `at the app's socket nobody gets a claim on what others have`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let lines = """
                import json, socket, sys
                status = json.load(open(sys.argv[1] + "/.shapeedit/status.json"))
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(30)
                connection.connect(status["control"])
                for path in ["in test/a.txt", "in test/none", "in test", "own.txt", "in nowhere"]:
                    call = {
                        "method": "org.shapeedit.Control.Claim",
                        "parameters": {"targets": [{"path": path, "access": "write"}]},
                    }
                    connection.sendall(json.dumps(call).encode() + b"\\0")
                    reply = b""
                    while not reply.endswith(b"\\0"):
                        part = connection.recv(65536)
                        assert part, path
                        reply += part
                    print(json.loads(reply[:-1]).get("error", "granted"))
                """
            let result = try Probing.run(["python3", "-c", lines, both.app.mountPoint])
            let failed = "org.shapeedit.Control.Failed\n"
            #expect(result.text == failed + failed + failed + "granted\ngranted\n", "\(result)")
            // Nor is it told whether there is a container that grants nothing.
            try both.run("revoke", "a.txt")
            let later = try Probing.run(["python3", "-c", lines, both.app.mountPoint])
            #expect(later.text == String(repeating: "granted\n", count: 5), "\(later)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a live query follows what the owner grants and changes`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let here = try both.owner.agent()
            try both.appAgent().store("own.txt", "mine")
            let told = both.app.base + "/told"
            let binary = try BuiltPrograms.shapeedit()
            let program = try RunningProgram(
                ["sh", "-c", "exec '\(binary)' find '\(both.app.mountPoint)' --watch > '\(told)'"]
                    .map { Array($0.utf8) }, environment: both.app.environment)
            /// Waits until these lines were told in this order, some perhaps more than once.
            func expect(_ lines: String..., at location: SourceLocation = #_sourceLocation) throws {
                var found: [Substring] = []
                for _ in 0..<1200 where found.count < lines.count {
                    usleep(50_000)
                    let text = try run(["cat", told]).text
                    found = []
                    for line in text.split(separator: "\n") where line != found.last {
                        found.append(line)
                    }
                }
                let root = both.app.mountPoint + "/"
                let wanted = lines.map { "\($0.prefix(2))\(root)\($0.dropFirst(2))" }
                #expect(found.map(String.init) == wanted, sourceLocation: location)
            }
            try expect("+ own.txt")
            try both.run("grant", "a.txt", "--to", "notes")
            try expect("+ own.txt", "+ in test/a.txt")
            // What is not granted rings no bell, and would not be told if it did.
            here.store("secret.txt", "still nobody's business")
            here.store("a.txt", "longer")
            try expect("+ own.txt", "+ in test/a.txt", "~ in test/a.txt")
            here.rename("a.txt", "b.txt")
            try expect("+ own.txt", "+ in test/a.txt", "~ in test/a.txt", "~ in test/b.txt")
            // The end of a grant comes by itself, and an owner that is unmounted shows nothing.
            try both.run("grant", "secret.txt", "--to", "notes", "--until", "5s")
            try expect(
                "+ own.txt", "+ in test/a.txt", "~ in test/a.txt", "~ in test/b.txt",
                "+ in test/secret.txt", "- in test/secret.txt")
            both.owner.endAgents()
            try both.ownerContainer.unmount()
            try expect(
                "+ own.txt", "+ in test/a.txt", "~ in test/a.txt", "~ in test/b.txt",
                "+ in test/secret.txt", "- in test/secret.txt", "- in test/b.txt")
            try both.owner.remountAfterCrash()
            program.kill(signal: SIGINT)
            #expect(program.wait().status == 130)
        }
    }
}

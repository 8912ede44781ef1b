import Glibc
import Probing
import TestSupport
import Testing

/// Documents of WebDAV and S3 servers that are shown as promises.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct ServerImportTests {
    private func withServer(
        _ kind: FaultyServer.Kind, _ name: String, _ body: (Volume, FaultyServer) throws -> Void
    ) throws {
        let server = try FaultyServer(kind, name: "\(name)-\(kind)")
        defer { server.stop() }
        try withVolume(.passthrough, options: ["store_timeout=2"]) { volume in
            try body(volume, server)
            try server.plan()
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"), arguments: FaultyServer.Kind.allCases)
    func `a server's tree is shown from its listing alone, and followed`(_ kind: FaultyServer.Kind)
        throws
    {
        try withServer(kind, "import") { volume, server in
            let agent = try volume.agent()
            agent.shell(
                "mkdir ../made; head -c 5000000 /dev/urandom > ../made/large; echo first > ../made/a"
            )
            let made = "\(volume.root)/made"
            if kind == .webDAV {
                try server.request("MKCOL", "/")
                try server.request("MKCOL", "/sub%20folder/")
            } else {
                // The bucket.
                try server.request("PUT", nil)
            }
            try server.request("PUT", "/a%20%C3%A4.txt", "\(made)/a")
            try server.request("PUT", "/sub%20folder/large", "\(made)/large")
            try server.plan("GET none")
            try volume.shapeedit("import", "--promise", server.address, "@in")
            #expect(try volume.fetchedBytes() == 0)
            #expect(
                agent.shell("cd in; find . -type f -printf '%p %s\\n' | sort")
                    == "./a ä.txt 6\n./sub folder/large 5000000\n")
            #expect(agent.content("in/a ä.txt") == "first\n")
            agent.shell("head -c 1000 'in/sub folder/large' | cmp -n 1000 - ../made/large")
            #expect(try volume.fetchedBytes() <= 6 + 2 << 20)
            agent.shell("cmp 'in/sub folder/large' ../made/large")

            // Changed there: never the other bytes under the listed version.
            agent.shell("echo second > ../made/b; echo third > ../made/c")
            try server.request("PUT", "/b", "\(made)/b")
            try volume.shapeedit("import", "--refresh", "@in")
            // Longer than a server's clock ticks: some have etags of seconds.
            sleep(1)
            try server.request("PUT", "/b", "\(made)/c")
            try server.request("DELETE", "/a%20%C3%A4.txt")
            _ = agent.open("in/b", O_RDONLY, fails: EIO)
            let reason = try volume.run(
                "getfattr", "--only-values", "-n", "user.shapeedit.error", "in/b")
            #expect(reason.text.contains("has changed there"), "\(reason)")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.content("in/b") == "third\n")
            // It came before it vanished there.
            #expect(agent.content("in/a ä.txt") == "first\n")

            // A server that fails: an error with the reason, and nothing is removed for it; what passes
            // does no harm.
            try server.request("PUT", "/c", "\(made)/a")
            try volume.shapeedit("import", "--refresh", "@in")
            try server.plan("* status=403")
            let denied = try volume.shapeedit("import", "--refresh", "@in", fails: EX_NOPERM)
            #expect(denied.errorText.contains("403"), "\(denied)")
            _ = agent.open("in/c", O_RDONLY, fails: EIO)
            #expect(agent.names("in").count == 4)
            for fault in ["status=500", "reset", "truncate"] {
                try server.plan("* \(fault) 1")
                let told = try volume.shapeedit("import", "--refresh", "@in")
                #expect(told.text.contains(" 0 new, 0 changed, 0 removed"), "\(fault): \(told)")
            }
            #expect(agent.content("in/c") == "first\n")
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `who reads from one source does not wait behind others that do not answer`() throws {
        let server = try FaultyServer(.webDAV, name: "silent")
        defer { server.stop() }
        try withVolume(.passthrough, options: ["store_timeout=60"]) { volume in
            let agent = try volume.agent()
            let other = "\(try #require(volume.container).base)/home/other"
            agent.shell("mkdir \(other); echo here > \(other)/file")
            try server.request("MKCOL", "/")
            for number in 1...9 {
                try server.request("PUT", "/\(number)", "\(other)/file")
            }
            try volume.shapeedit("import", "--promise", server.address, "@in")
            try volume.shapeedit("import", "--promise", other, "@out")
            try server.plan("* hang")
            let waiting = try (1...9).map { number in
                try RunningProgram(
                    ["cat", "in/\(number)"].map { Array($0.utf8) }, directory: volume.directory)
            }
            try waitUntil { try server.requests()["GET hang"] == 8 }
            agent.shell("timeout 20 cat out/file")
            // They are read as ever when it answers again.
            try server.plan()
            for program in waiting { #expect(program.wait(seconds: 60).status == 0) }
        }
    }

    /// Runs `body` while somebody reads "in/large", which the server does not give.
    private func withReader(_ name: String, _ body: (Volume) throws -> Void) throws {
        try withServer(.webDAV, name) { volume, server in
            let agent = try volume.agent()
            agent.shell("mkdir ../made; head -c 5000000 /dev/urandom > ../made/large")
            try server.request("MKCOL", "/")
            try server.request("PUT", "/large", "\(volume.root)/made/large")
            try volume.shapeedit("import", "--promise", server.address, "@in")
            try server.plan("GET hang")
            let reader = try RunningProgram(
                ["tail", "-c", "1", "in/large"].map { Array($0.utf8) }, directory: volume.directory)
            try body(volume)
            try server.plan()
            _ = reader.wait(seconds: 60)
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `how far a content is that comes from a source is told to those who follow`() throws {
        try withReader("progress") { volume in
            let line = #""kind": "progress".*"path": "work/in/large""#
            let events = "\(volume.root.text)/.shapeedit/events"
            let told = try run(["timeout", "60", "grep", "-qm1", line, events])
            #expect(told.status == 0, "\(told)")
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `that a content does not come any more is told to those who follow`() throws {
        try withReader("cancelled") { volume in
            let script = """
                import json
                for line in open("\(volume.root.text)/.shapeedit/events"):
                    event = json.loads(line)
                    if event["kind"] != "progress" or event["path"] != "work/in/large": continue
                    if event["state"] == "downloading": open("\(volume.directory)/told", "w").close()
                    if event["state"] == "promise": break
                """
            let follower = try RunningProgram(
                ["timeout", "60", "python3", "-c", script].map { Array($0.utf8) })
            let agent = try volume.agent()
            agent.shell("timeout 60 sh -c 'until [ -e told ]; do sleep 0.1; done'")
            try volume.shapeedit("cancel", "@in/large")
            let result = follower.wait(seconds: 60)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs another user"),
        .enabled(if: isInstalled("curl"), "needs curl"))
    func `which documents are on their way is told to the owner of the mount alone`() throws {
        try withReader("transfers") { volume in
            let status = "cat '\(volume.root.text)/.shapeedit/status.json'"
            let (owner, other) = (try volume.agent(), try volume.agent(user: nobody))
            waitUntil { owner.shell(status).contains("work/in/large") }
            let told = other.shell(status)
            #expect(told.contains("\"transfers\": []") && !told.contains("large"), "\(told)")
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `names on a server that are not UTF-8 are shown and read, and what is in them`() throws {
        try withServer(.webDAV, "bytes") { volume, server in
            let agent = try volume.agent()
            agent.shell("echo text > ../made")
            for folder in ["/", "/d%FF/"] { try server.request("MKCOL", folder) }
            for file in ["/caf%E9", "/d%FF/in"] {
                try server.request("PUT", file, "\(volume.root)/made")
            }
            try volume.shapeedit("import", "--promise", server.address, "@in")
            agent.shell("cd in && cat \"$(printf 'caf\\351')\" \"$(printf 'd\\377/in')\"")
            #expect(agent.shell("find in -type f | wc -l") == "2\n")
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// Imports from servers whose listings cannot be understood in every part.
@Suite(.enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct UnclearSourceTests {
    /// Answers a request for a listing with what the file `listing` has, and any other with `content`; does not
    /// say how long that is before it sends it.
    private static let server = """
        import http.server, os, sys
        folder = sys.argv[1]
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, name):
                body = open(folder + "/" + name, "rb").read()
                self.send_response(status)
                self.send_header("ETag", '"e"')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_PROPFIND(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.answer(207, "listing")
            def do_HEAD(self):
                self.send_response(200)
                self.end_headers()
            def do_GET(self):
                self.answer(200, "listing" if "list-type" in self.path else "content")
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open(folder + "/port.new", "w") as file: file.write(str(server.server_port))
        os.rename(folder + "/port.new", folder + "/port")
        server.serve_forever()
        """

    /// Runs `body` with a volume, the address of a server that lists what the files in a folder say, and that
    /// folder.
    private func withServer(
        _ isS3: Bool, _ body: (Volume, Agent, _ address: String, _ folder: String) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        chmod(folder, 0o755)
        try withVolume(.passthrough, options: ["store_timeout=2"]) { volume in
            let agent = try volume.agent()
            let server = try RunningProgram(
                ["python3", "-c", Self.server, folder].map { Array($0.utf8) })
            defer {
                server.kill(signal: SIGKILL)
                _ = server.wait(seconds: 60)
            }
            let credentials = "[default]\naws_access_key_id=a\naws_secret_access_key=b\n"
            try Self.write(credentials, "\(folder)/credentials")
            try Self.write("first\n", "\(folder)/content")
            waitUntil { access("\(folder)/port", F_OK) == 0 }
            let port = try run(["cat", "\(folder)/port"]).text
            try body(
                volume, agent,
                isS3
                    ? "s3://bucket?endpoint=http://127.0.0.1:\(port)&style=path&region=us-east-1"
                        + "&credentials=\(folder)/credentials"
                    : "dav://127.0.0.1:\(port)/x?netrc=/nonexistent", folder)
        }
    }

    private static func write(_ text: String, _ path: String) throws {
        let written = try run(["sh", "-c", "printf %s \"$1\" > \"$0\"", path, text])
        #expect(written.status == 0)
    }

    private static func listing(_ isS3: Bool, _ sizes: [(path: String, size: String)]) -> String {
        if isS3 {
            let keys = sizes.map {
                "<Contents><Key>\($0.path)</Key><ETag>\"e\"</ETag><Size>\($0.size)</Size></Contents>"
            }
            return "<ListBucketResult>\(keys.joined())<IsTruncated>false</IsTruncated>"
                + "</ListBucketResult>"
        }
        let files = sizes.map {
            "<response><href>/x/\($0.path)</href><propstat><prop><resourcetype/><getetag>e</getetag>"
                + "<getcontentlength>\($0.size)</getcontentlength></prop>"
                + "<status>HTTP/1.1 200 OK</status></propstat></response>"
        }
        let folder = "<resourcetype><collection/></resourcetype>"
        return
            "<multistatus xmlns=\"DAV:\"><response><href>/x/</href><propstat><prop>\(folder)</prop>"
            + "<status>HTTP/1.1 200 OK</status></propstat></response>\(files.joined())</multistatus>"
    }

    @Test(arguments: [false, true])
    func `a file whose size is not understood any more stays as it is at a refresh`(_ isS3: Bool)
        throws
    {
        try withServer(isS3) { volume, agent, address, folder in
            func list(_ sizes: (String, String)...) throws {
                try Self.write(
                    Self.listing(isS3, sizes.map { ($0.0, $0.1) }), folder + "/listing")
            }
            try list(("a", "6"), ("b", "6"), ("c", "6"))
            try volume.shapeedit("import", "--promise", address, "@in")
            agent.shell("setfattr -n user.tag -v mine in/a")
            try list(("a", "six"), ("b", "6"))
            let told = try volume.shapeedit("import", "--refresh", "@in")
            #expect(
                told.text
                    == "1 listed, 0 new, 0 changed, 1 removed, 1 cannot be shown here: \"a\"\n",
                "\(told)")
            #expect(agent.names("in").sorted() == ["a", "b"])
            // All of them, and nothing else: it is no empty source.
            try list(("a", "-1"), ("b", ""))
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.names("in").sorted() == ["a", "b"])
            #expect(agent.content("in/a") == "first\n")
            try list(("a", "6"))
            let last = try volume.shapeedit("import", "--refresh", "@in")
            #expect(last.text == "1 listed, 0 new, 0 changed, 1 removed\n", "\(last)")
            #expect(agent.shell("getfattr --only-values -n user.tag in/a") == "mine")
        }
    }

    @Test(arguments: [false, true])
    func `a file of another size is another content, also where its etag is the same`(
        _ isS3: Bool
    ) throws {
        try withServer(isS3) { volume, agent, address, folder in
            func list(_ size: String) throws {
                try Self.write(Self.listing(isS3, [("a", size), ("b", "6")]), folder + "/listing")
            }
            try list("3")
            try volume.shapeedit("import", "--promise", address, "@in")
            let inode = agent.shell("stat -c %i in/a")
            try list("6")
            let told = try volume.shapeedit("import", "--refresh", "@in")
            #expect(told.text == "2 listed, 0 new, 1 changed, 0 removed\n", "\(told)")
            #expect(agent.content("in/a") == "first\n")
            #expect(agent.shell("stat -c %i in/a") == inode)
            // What is here, or the user's own, stays; nothing has changed of what is as it was.
            agent.store("in/b", "mine")
            let again = try volume.shapeedit("import", "--refresh", "@in")
            #expect(again.text == "2 listed, 0 new, 0 changed, 0 removed\n", "\(again)")
            #expect(agent.content("in/b") == "mine")
        }
    }

    @Test func `what is below a file that cannot be shown is removed if it is gone`() throws {
        try withServer(true) { volume, agent, address, folder in
            func list(_ keys: (String, String)...) throws {
                try Self.write(Self.listing(true, keys.map { ($0.0, $0.1) }), folder + "/listing")
            }
            try list(("a/b", "6"), ("a/c", "6"), ("d", "6"))
            try volume.shapeedit("import", "--promise", address, "@in")
            // The folder is a file now of which nothing more is told, beside what is left in the folder.
            try list(("a", "six"), ("a/c", "6"), ("d", "6"))
            let told = try volume.shapeedit("import", "--refresh", "@in")
            let counts = "3 listed, 0 new, 0 changed, 1 removed"
            #expect(told.text == counts + ", 1 cannot be shown here: \"a\"\n", "\(told)")
            #expect(agent.shell("find in | sort") == "in\nin/a\nin/a/c\nin/d\n")
        }
    }

    /// Writes the element that holds an @ 28,000 times, with another number in its place each.
    private static let repetition = """
        import re, sys
        text = open(sys.argv[1]).read()
        many = lambda found: "".join(found[0].replace("@", str(n)) for n in range(28000))
        open(sys.argv[1], "w").write(re.sub("<response>[^@]*?@.*?</response>", many, text))
        """

    @Test func `a source of which more cannot be shown than can be noted loses nothing here`()
        throws
    {
        try withServer(false) { volume, agent, address, folder in
            func list(_ files: (String, String)...) throws {
                let text = Self.listing(false, files.map { ($0.0, $0.1) })
                try Self.write(text, folder + "/listing")
            }
            try list(("a", "6"), ("b", "6"))
            try volume.shapeedit("import", "--promise", address, "@in")
            // 8.5 MB of paths and what they take else, of things that are larger than any file.
            try list((String(repeating: "n", count: 240) + "@", "99999999999999999"), ("c", "6"))
            #expect(
                try run(["python3", "-c", Self.repetition, folder + "/listing"]).status == 0)
            let told = try volume.shapeedit("import", "--refresh", "@in", fails: 65)
            #expect(told.text.contains("1 listed, 1 new, 0 changed, 0 removed, 28000 cannot be"))
            #expect("\(told)".contains("nothing was removed here, as there is more there"))
            #expect(agent.names("in").sorted() == ["a", "b", "c"])
            // When it is in order again it is followed.
            try list(("c", "6"))
            let last = try volume.shapeedit("import", "--refresh", "@in")
            #expect(last.text == "1 listed, 0 new, 0 changed, 2 removed\n", "\(last)")
        }
    }

    @Test func `a key that is an object and holds others takes neither of them away`() throws {
        try withServer(true) { volume, agent, address, folder in
            func list(_ keys: String...) throws {
                try Self.write(Self.listing(true, keys.map { ($0, "6") }), folder + "/listing")
            }
            func follow(_ words: String...) throws -> String {
                try #require(volume.container).command(["import"] + words).text
            }
            let place = "\(volume.directory)/in"
            // An object first, that holds others then.
            try list("a", "b/c")
            #expect(try follow("--promise", address, place) == "3 listed, 3 new\n")
            try list("a", "a/d", "b", "b/c")
            let told = try follow("--refresh", place)
            let both = ", 2 names are taken, the first is "
            #expect(told.hasPrefix("6 listed, 0 new, 0 changed, 0 removed\(both)"), "\(told)")
            #expect(agent.shell("cat in/a in/b/c") == "first\nfirst\n")
            #expect(agent.shell("find in | sort") == "in\nin/a\nin/b\nin/b/c\n")
            // One or the other is left.
            try list("a/d", "b")
            let last = try follow("--refresh", place)
            #expect(last == "3 listed, 3 new, 0 changed, 0 removed, 2 stay as they are here\n")
            #expect(agent.shell("cat in/b in/a/d 'in/a (kept)'") == "first\nfirst\nfirst\n")
        }
    }
}

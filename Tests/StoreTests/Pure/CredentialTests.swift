import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// Where credentials come from, and that they do not get out.
@Suite struct CredentialTests {
    private let expected = Credentials(identity: "me", secret: "geheim")

    @Test func `a profile file`() {
        let text = """
            # comment
            [default]
            aws_access_key_id=other
            [ work ]
            aws_access_key_id = me
            AWS_SECRET_ACCESS_KEY = geheim
            aws_session_token = t/o=k
            """
        let found = ProfileFile.credentials(in: text, profile: "work")
        #expect(found == Credentials(identity: "me", secret: "geheim", sessionToken: "t/o=k"))
        #expect(ProfileFile.credentials(in: text, profile: "default") == nil)
        #expect(ProfileFile.credentials(in: text, profile: "none") == nil)
    }

    @Test func `a netrc file`() {
        let text = """
            machine a login x password y
            machine b
              login me
              password geheim
            machine b login you password other
            default login any password one
            """
        #expect(NetrcFile.credentials(in: text, host: "b", user: nil) == expected)
        #expect(NetrcFile.credentials(in: text, host: "b", user: "you")?.secret == "other")
        #expect(NetrcFile.credentials(in: text, host: "c", user: nil)?.secret == "one")
        #expect(NetrcFile.credentials(in: "machine b login", host: "b", user: nil) == nil)
    }

    @Test func `what is in quotes in a netrc file is one word, and hosts have no case`() {
        let text = #"""
            machine Files.Example login "an na" password "se \"c\" r\\t #1" machine b
            machine c login me password se"c"
            """#
        #expect(
            NetrcFile.credentials(in: text, host: "files.example", user: nil)
                == Credentials(identity: "an na", secret: #"se "c" r\t #1"#))
        #expect(NetrcFile.credentials(in: text, host: "c", user: "me")?.secret == #"se"c""#)
        let open = #"machine b login me password "geheim"#
        #expect(NetrcFile.credentials(in: open, host: "b", user: nil) == expected)
    }

    @Test(arguments: ["::1", "[::1]"])
    func `an address of IPv6 has brackets in a netrc file, or none`(_ machine: String) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let file = folder + "/netrc"
        try StoreUnderTest.write("machine \(machine) login me password geheim", to: file)
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "dav://[::1]:8080/x?netrc=\(file)")
        else { return }
        #expect(try CredentialSource(for: address).current(StoreCall()) == expected)
    }

    @Test func `what commands print`() {
        #expect(CredentialText.parse("username=me\npassword=geheim\n") == expected)
        let json = """
            {"Version": 1, "AccessKeyId": "me", "SecretAccessKey": "g\\u0065heim",
             "SessionToken": "t", "Expiration": null}
            """
        #expect(
            CredentialText.parse(json)
                == Credentials(identity: "me", secret: "geheim", sessionToken: "t"))
        for text in ["", "{", "{\"a\":}", "[1]", "{\"a\": {\"b\": 1}}", "username=me"] {
            #expect(CredentialText.parse(text) == nil)
        }
    }

    @Test func `a command is run without a shell`() throws {
        let source = CredentialSource(
            [.command(["printf", "username=me\\npassword=geheim$HOME;x\\n"])], address: "here")
        #expect(try source.current(StoreCall())?.secret == "geheim$HOME;x")
    }

    @Test func `a command has the signals that new processes have`() throws {
        // As in a daemon.
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        let script = "echo username=me; sed -n 's/SigIgn:./password=/p' /proc/self/status"
        let source = CredentialSource([.command(["sh", "-c", script])], address: "here")
        let ignored = try source.current(StoreCall())?.secret
        let bits = try #require(ignored.flatMap { UInt64($0, radix: 16) })
        // Those of the C library's own do not count.
        #expect(bits & 0x7fff_ffff == 0, "\(String(bits, radix: 16))")
    }

    @Test func `a command has printed all when it has ended, whatever it has started`() throws {
        // As an agent that it starts, which keeps its output.
        let script = "sleep 45 & echo username=me; echo password=geheim; echo session_token=$!"
        let source = CredentialSource([.command(["sh", "-c", script])], address: "here")
        let short = Cancellation(deadline: MonotonicClock.after(milliseconds: 30_000))
        let found = try source.current(StoreCall(cancellation: short))
        #expect(found?.secret == "geheim")
        let agent = try #require(found?.sessionToken.flatMap { pid_t($0) })
        // It is wanted yet.
        #expect(kill(agent, SIGTERM) == 0)
    }

    @Test func `a command that fails, hangs or does not exist`() throws {
        func problem(_ words: [String], _ cancellation: Cancellation) -> StoreError.Kind? {
            kind { () throws(StoreError) in
                _ = try CredentialSource([.command(words)], address: "here")
                    .current(StoreCall(cancellation: cancellation))
            }
        }
        #expect(problem(["false"], Cancellation()) == .denied)
        #expect(problem(["/nonexistent/program"], Cancellation()) == .denied)
        #expect(problem(["echo", "hello"], Cancellation()) == .denied)
        #expect(problem(["yes"], Cancellation()) == .denied)
        let short = Cancellation(deadline: MonotonicClock.after(milliseconds: 200))
        #expect(problem(["sleep", "20"], short) == .timedOut)
    }

    @Test func `a command is run once for all who wait for what it prints`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let script = "\(folder)/credentials"
        // Ends when all have come, and tells who runs it.
        try StoreUnderTest.write(
            """
            #!/bin/sh
            echo >> \(folder)/runs
            while [ ! -e \(folder)/all ]; do sleep 0.01; done
            echo username=me
            echo password=$(wc -l < \(folder)/runs)

            """, to: script)
        chmod(script, 0o700)
        let source = CredentialSource([.command([script])], address: "here")
        func ask(_ ask: @escaping @Sendable () throws -> String?) throws -> [String?] {
            unlink("\(folder)/all")
            let answers = Monitor<(begun: Int, found: [String?])>((0, []))
            for _ in 0..<8 {
                Threads.start("asker") {
                    answers.signal { $0.begun += 1 }
                    let found = try? ask()
                    answers.signal { $0.found.append(found) }
                }
            }
            let _: Bool? = answers.wait { $0.begun == 8 ? true : nil }
            usleep(100_000)
            try StoreUnderTest.write("", to: "\(folder)/all")
            return answers.wait { $0.found.count == 8 ? $0.found : nil } ?? []
        }
        let first = try ask { try source.current(StoreCall())?.secret }
        #expect(first == Array(repeating: "1", count: 8))
        let old = Credentials(identity: "me", secret: "1")
        let second = try ask {
            try source.refresh(rejecting: old, StoreCall())
                ? source.current(StoreCall())?.secret : nil
        }
        #expect(second == Array(repeating: "2", count: 8))
    }

    @Test func `credentials cannot be printed`() {
        var dumped = ""
        dump(expected, to: &dumped)
        for text in ["\(expected)", String(reflecting: expected), dumped, "\([expected])"] {
            #expect(!text.contains("geheim") && !text.contains("me\""))
        }
    }

    @Test func `rejected credentials are looked up again, once`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let file = folder + "/netrc"
        try StoreUnderTest.write("machine 127.0.0.1 login me password old", to: file)
        let server = try HostileServer { connection in
            // "me:new" in base 64.
            if connection.head.contains("Basic bWU6bmV3") {
                connection.answer("207 Multi-Status")
            } else {
                try? StoreUnderTest.write("machine 127.0.0.1 login me password new", to: file)
                connection.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
            }
        }
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "dav://127.0.0.1:\(server.port)/?netrc=\(file)")
        else { return }
        try WebDAVStore(address).prepare(StoreCall())
    }
}

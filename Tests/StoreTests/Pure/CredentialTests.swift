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

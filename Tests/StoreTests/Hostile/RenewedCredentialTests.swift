import Glibc
import Model
import TestSupport
import Testing

@testable import Stores

/// Credentials that run out while a server is used.
@Suite struct RenewedCredentialTests {
    /// A program that prints other credentials each time, and how often it was run.
    private final class Command {
        let folder: String
        var path: String { folder + "/credentials" }

        init() throws {
            folder = try TemporaryDirectory.make()
            try StoreUnderTest.write(
                """
                #!/bin/sh
                echo >> \(folder)/runs
                echo username=me$(wc -l < \(folder)/runs)
                echo password=geheim

                """, to: path)
            chmod(path, 0o700)
        }

        deinit { TemporaryDirectory.remove(folder) }

        func runs() throws -> Int { try #require(try? readFile("\(folder)/runs")).count }

        private func readFile(_ path: String) throws -> [UInt8] {
            let file = open(path, O_RDONLY)
            try #require(file >= 0)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 1_000)
            return Array(bytes[..<read(file, &bytes, bytes.count)])
        }
    }

    enum Kind: CaseIterable { case webDAV, s3 }

    private func connect(_ kind: Kind, _ server: HostileServer, _ command: Command) throws
        -> any ContentStore
    {
        let text =
            switch kind {
            case .webDAV: "dav://127.0.0.1:\(server.port)/?"
            case .s3: "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1&"
            }
        return try StoreAddress(parsing: text + "credential-command=\(command.path)").connect()
    }

    /// Whether it is the login that the command prints when it is run so often.
    private static func isLogin(_ number: Int, _ head: String) -> Bool {
        // "me1:geheim", "me2:geheim" in base 64.
        let basic = ["bWUxOmdlaGVpbQ==", "bWUyOmdlaGVpbQ=="][number - 1]
        return head.contains("Basic \(basic)") || head.contains("Credential=me\(number)/")
    }

    @Test(arguments: Kind.allCases)
    func `a login that has run out is replaced, though the server says so with 403`(_ kind: Kind)
        throws
    {
        let server = try HostileServer { connection in
            if Self.isLogin(2, connection.head) {
                connection.answer("200 OK", [], [9])
            } else if !connection.head.lowercased().contains("authorization:") {
                connection.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
            } else {
                connection.answer("403 Forbidden")
            }
        }
        let command = try Command()
        let store = try connect(kind, server, command)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(try command.runs() == 2)
    }

    @Test(arguments: Kind.allCases)
    func `what is forbidden does not have the command run for each answer`(_ kind: Kind) throws {
        let server = try HostileServer { $0.answer("403 Forbidden") }
        let command = try Command()
        let store = try connect(kind, server, command)
        for _ in 0..<5 {
            do throws(StoreError) {
                _ = try store.bytes(Sample([9]).blob)
                Issue.record("it came")
            } catch {
                #expect(error.kind == .denied)
            }
        }
        #expect(try command.runs() == 2)
    }
}

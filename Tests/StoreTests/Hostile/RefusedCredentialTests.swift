import Model
import TestSupport
import Testing

@testable import Stores

/// What is said of credentials that a server does not take, or that are nowhere.
@Suite struct RefusedCredentialTests {
    private func problem(_ address: String) throws -> String? {
        let store = try StoreAddress(parsing: address).connect()
        do throws(StoreError) {
            try store.prepare(StoreCall())
            return nil
        } catch {
            #expect(error.kind == .denied)
            return error.reason
        }
    }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden"])
    func `an error names the place of credentials that are refused`(_ status: String) throws {
        let server = try HostileServer {
            $0.answer(status, ["WWW-Authenticate: Basic realm=\"x\""])
        }
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let logins = "\(folder)/logins"
        let keys = "\(folder)/keys"
        try StoreUnderTest.write("machine 127.0.0.1 login me password geheim", to: logins)
        try StoreUnderTest.write(
            "[work]\naws_access_key_id = me\naws_secret_access_key = geheim\n", to: keys)
        let s3 = "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1"
        let command = "/usr/bin/printf%20username=me\\npassword=geheim"
        for (address, place) in [
            ("dav://127.0.0.1:\(server.port)/?netrc=\(logins)", "\(logins) (machine 127.0.0.1)"),
            ("\(s3)&credentials=\(keys)&profile=work", "\(keys) (profile work)"),
            ("\(s3)&credential-command=\(command)", "the output of /usr/bin/printf"),
        ] {
            let reason = try #require(try problem(address))
            #expect(reason.contains("the server answers \(status.prefix(3))"), "\(reason)")
            #expect(reason.hasSuffix("does not take the credentials in \(place)"), "\(reason)")
        }
    }

    @Test func `an error names where there are no credentials`() throws {
        let server = try HostileServer {
            $0.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
        }
        let s3 = "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1"
        for (address, words) in [
            (
                "dav://me@127.0.0.1:\(server.port)/?netrc=/none",
                "there are none in /none (machine 127.0.0.1, login me)"
            ),
            (
                "\(s3)&credentials=/none&profile=work",
                "there are no credentials in /none (profile work)"
            ),
        ] {
            let reason = try #require(try problem(address))
            #expect(reason.hasSuffix(words), "\(reason)")
        }
    }
}

import Glibc
import SystemCalls
import Testing

@testable import Stores

/// Servers that are reached through a proxy that the environment names. The servers' names lead nowhere
/// here, so an answer can only have come through the proxy.
@Suite(.serialized) struct ProxyTests {
    private let sample = Sample(size: 100, seed: 3)

    /// Runs `body` with these variables of the environment, and without others that matter.
    private func withEnvironment<Result>(
        _ values: [String: String], _ body: () throws -> Result
    ) throws -> Result {
        let names = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
        let all = names + names.map { $0.uppercased() } + values.keys
        let before = all.map { name in (name, getenv(name).map { String(cString: $0) }) }
        for name in all { unsetenv(name) }
        for (name, value) in values { setenv(name, value, 1) }
        defer {
            for (name, value) in before {
                if let value { setenv(name, value, 1) } else { unsetenv(name) }
            }
        }
        return try body()
    }

    private func size(at address: String) throws -> Int64? {
        try StoreAddress(parsing: address).connect().stat(sample.blob.hash, StoreCall())
    }

    private func answer(_ connection: HostileConnection, size: Int) {
        connection.answer("200 OK", [], [UInt8](repeating: 1, count: size))
    }

    @Test func `an HTTP proxy is asked for the whole address`() throws {
        let asked = Lock("")
        let proxy = try HostileServer { connection in
            asked.withLock { $0 = connection.head }
            answer(connection, size: 100)
        }
        let found = try withEnvironment(["http_proxy": "http://127.0.0.1:\(proxy.port)"]) {
            try size(at: "dav://store.invalid/x?netrc=/nonexistent")
        }
        #expect(found == 100)
        #expect(asked.withLock { $0 }.hasPrefix("HEAD http://store.invalid/x/"))
    }

    @Test func `a server with TLS is reached through a tunnel, and the password stays in it`()
        throws
    {
        let asked = Lock("")
        let proxy = try HostileServer { connection in
            asked.withLock { $0 = connection.head }
            connection.answer("403 Forbidden")
        }
        let problem = try withEnvironment([
            "https_proxy": "http://127.0.0.1:\(proxy.port)", "SHAPEEDIT_STORE_USER": "me",
            "SHAPEEDIT_STORE_PASSWORD": "geheim",
        ]) {
            let address = try StoreAddress(parsing: "davs://store.invalid/x")
            return kind { () throws(StoreError) in
                _ = try address.connect().stat(sample.blob.hash, StoreCall())
            }
        }
        #expect(problem == .unreachable)
        let head = asked.withLock { $0 }
        #expect(head.hasPrefix("CONNECT store.invalid:443 "), "\(head)")
        #expect(!head.contains("Authorization"), "\(head)")
    }

    @Test func `a SOCKS proxy looks the name up`() throws {
        let asked = Lock("")
        let proxy = try HostileServer(isTunnel: true) { connection in
            guard let name = connection.openTunnel(), connection.readHead() else { return }
            asked.withLock { $0 = name }
            answer(connection, size: 100)
        }
        let found = try withEnvironment(["all_proxy": "socks5h://127.0.0.1:\(proxy.port)"]) {
            try size(at: "dav://store.invalid/x?netrc=/nonexistent")
        }
        #expect(found == 100)
        #expect(asked.withLock { $0 } == "store.invalid")
    }

    @Test func `a SOCKS proxy that does not reach the server for now may later`() throws {
        let proxy = try HostileServer(isTunnel: true) { connection in
            guard let methods = connection.take(2).last else { return }
            _ = connection.take(Int(methods))
            connection.send([5, 0])
            guard let length = connection.take(5).last else { return }
            _ = connection.take(Int(length) + 2)
            // The host is unreachable.
            connection.send([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        let problem = try withEnvironment(["all_proxy": "socks5h://127.0.0.1:\(proxy.port)"]) {
            let address = try StoreAddress(parsing: "dav://store.invalid/x?netrc=/nonexistent")
            return kind { () throws(StoreError) in
                _ = try address.connect().stat(sample.blob.hash, StoreCall())
            }
        }
        #expect(problem == .unreachable)
    }

    @Test(arguments: ["odd://me:geheim@proxy.invalid", "http://me:geheim@pro xy.invalid"])
    func `a proxy that cannot be used is not repeated with its password`(_ proxy: String) throws {
        try withEnvironment(["http_proxy": proxy]) {
            let address = try StoreAddress(parsing: "dav://store.invalid/x?netrc=/nonexistent")
            do throws(StoreError) {
                _ = try address.connect().stat(sample.blob.hash, StoreCall())
                Issue.record("there is no such proxy")
            } catch {
                #expect(!error.description.contains("geheim"), "\(error)")
            }
        }
    }

    @Test func `hosts in no_proxy are asked directly`() throws {
        let server = try HostileServer { answer($0, size: 7) }
        let found = try withEnvironment([
            "http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1",
        ]) {
            try size(at: "dav://127.0.0.1:\(server.port)/x?netrc=/nonexistent")
        }
        #expect(found == 7)
    }
}

import TestSupport
import Testing

@testable import Stores

/// Web servers that are no stores are not taken for some.
@Suite struct NoStoreTests {
    private func problem(_ address: String) throws -> StoreError? {
        let store = try StoreAddress(parsing: address).connect()
        do throws(StoreError) { try store.prepare(StoreCall()) } catch { return error }
        return nil
    }

    private func bucket(_ server: HostileServer) -> String {
        "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1"
            + "&credential-command=/usr/bin/printf%20username=me\\npassword=geheim"
    }

    @Test(arguments: ["404 Not Found", "405 Method Not Allowed", "200 OK"])
    func `a server that knows no WebDAV is not made a store`(_ status: String) throws {
        let server = try HostileServer { connection in
            connection.answer(
                connection.method == "MKCOL" ? "405 Method Not Allowed" : status)
        }
        let error = try #require(try problem("dav://127.0.0.1:\(server.port)/pages/store"))
        #expect(error.reason.contains("answers 405"), "\(error)")
        #expect(error.reason.contains("is it one of WebDAV"), "\(error)")
    }

    @Test func `a collection that is there already is a store`() throws {
        let server = try HostileServer { connection in
            connection.answer(
                connection.method == "MKCOL" ? "405 Method Not Allowed" : "207 Multi-Status")
        }
        let problem = try problem("dav://127.0.0.1:\(server.port)/store")
        #expect(problem == nil)
    }

    @Test(arguments: ["<html>Please log in.</html>", "<html><p>Console</html>", ""])
    func `a server that has pages is not taken for a bucket`(_ page: String) throws {
        let server = try HostileServer { $0.answer("200 OK", [], Array(page.utf8)) }
        let error = try #require(try problem(bucket(server)))
        #expect(error.reason.contains("is the endpoint a server of S3?"), "\(error)")
    }

    @Test func `a bucket that may not be listed is a store`() throws {
        let server = try HostileServer { connection in
            connection.answer(connection.method == "HEAD" ? "200 OK" : "403 Forbidden")
        }
        let problem = try problem(bucket(server))
        #expect(problem == nil)
    }
}

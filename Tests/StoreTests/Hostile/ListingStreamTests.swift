import Model
import SystemCalls
import Testing

@testable import Stores

/// Listings of WebDAV collections are shown while they come.
@Suite struct ListingStreamTests {
    private static let opening =
        "<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\">"
    private static let end = "</D:multistatus>\n"

    private static func response(_ name: String) -> String {
        """
        <D:response><D:href>/x/\(name)</D:href><D:propstat><D:prop><D:resourcetype/>
        <D:getcontentlength>5</D:getcontentlength><D:getetag>"e"</D:getetag></D:prop>
        <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
        """
    }

    private func names(
        _ server: HostileServer, _ visit: (String) -> Void = { _ in }
    ) throws -> [String] {
        var found: [String] = []
        let tree = try server.tree()
        try tree.walk(StoreCall()) { (entry) throws(StoreError) in
            let name = String(decoding: entry.path, as: UTF8.self)
            found.append(name)
            visit(name)
        }
        return found
    }

    @Test func `the first entries are shown before the last have come`() throws {
        let shown = Monitor(0)
        let server = try HostileServer { connection in
            connection.send("HTTP/1.1 207 Multi-Status\r\nConnection: close\r\n\r\n")
            connection.send(Self.opening + (0..<100).map { Self.response("a\($0)") }.joined())
            let seen = shown.wait(until: MonotonicClock.after(milliseconds: 30_000)) {
                $0 >= 100 ? true : nil
            }
            if seen == true { connection.send(Self.response("last") + Self.end) }
        }
        let found = try names(server) { _ in shown.signal { $0 += 1 } }
        #expect(found == (0..<100).map { "a\($0)" } + ["last"])
    }

    @Test func `a listing that breaks off is begun anew, and nothing is shown twice`() throws {
        let attempts = Lock(0)
        let server = try HostileServer { connection in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            let all = (0..<50).map { Self.response("a\($0)") }
            let text = Self.opening + all.joined() + Self.end
            let part =
                attempt == 1 ? Array(text.utf8.prefix(text.utf8.count / 2)) : Array(text.utf8)
            connection.send(
                "HTTP/1.1 207 Multi-Status\r\nContent-Length: \(text.utf8.count)\r\n\r\n")
            connection.send(part)
        }
        #expect(try names(server) == (0..<50).map { "a\($0)" })
        #expect(attempts.withLock { $0 } == 2)
    }

    /// A walk through `/x` of a server that lists these responses; what it shows, and passes over.
    private func walk(
        listing responses: [String], head: @escaping HostileServer.Behaviour = { _ in }
    ) throws -> ([SourceEntry], PassedOver) {
        let text = Self.opening + responses.joined() + Self.end
        let server = try HostileServer { connection in
            if connection.method == "HEAD" { return head(connection) }
            connection.answer("207 Multi-Status", [], Array(text.utf8))
        }
        defer { withExtendedLifetime(server) {} }
        let address = "dav://127.0.0.1:\(server.port)/x?netrc=/nonexistent"
        var found: [SourceEntry] = []
        let passedOver = try StoreAddress(parsing: address).openTree().walk(StoreCall()) {
            (entry) throws(StoreError) in found.append(entry)
        }
        return (found, passedOver)
    }

    @Test func `a collection that is called otherwise there is not taken for an empty one`() throws
    {
        for responses in [[], [Self.response("../y/"), Self.response("../y/a")]] {
            #expect(throws: StoreError.self) { _ = try walk(listing: responses) }
        }
        let empty = Self.response("").replacing(
            "<D:resourcetype/>", with: "<D:resourcetype><D:collection/></D:resourcetype>")
        let (found, passedOver) = try walk(listing: [empty])
        #expect(found.isEmpty && passedOver.count == 0)
    }

    @Test func `a file whose size is not listed is asked for it, and not taken for an empty one`()
        throws
    {
        let unsized = ["a", "b"].map { "<D:response><D:href>/x/\($0)</D:href></D:response>" }
        let (found, passedOver) = try walk(listing: unsized) { connection in
            if connection.head.contains("/x/a ") {
                connection.answer("200 OK", [], [UInt8](repeating: 1, count: 7))
            } else {
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            }
        }
        #expect(found.map(\.kind) == [.file(7)])
        #expect(passedOver.count == 1 && passedOver.first == "b")
    }

    @Test func `properties of the server's own are not taken for others of their names`() throws {
        let response = """
            <D:response xmlns:o="urn:own" xmlns:c="http://owncloud.org/ns">
            <D:href>/x/a</D:href><D:propstat><D:prop>
            <o:resourcetype><o:collection/></o:resourcetype><o:getcontentlength>9</o:getcontentlength>
            <o:getetag>"own"</o:getetag><o:fileid>8</o:fileid><D:fileid>7</D:fileid>
            <D:resourcetype><o:collection/></D:resourcetype>
            <D:getcontentlength>5</D:getcontentlength><D:getetag>"a"</D:getetag><c:fileid>6</c:fileid>
            </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            """
        let (found, _) = try walk(listing: [response])
        #expect(found.map(\.kind) == [.file(5)])
        #expect(found.map(\.tag) == [SourceTag.of(etag: "\"a\"", modified: "")])
        #expect(found.map(\.identity) == [Array("6".utf8)])
    }

    @Test
    func `names that hold a slash or lead elsewhere are counted, those that are no text shown`()
        throws
    {
        let (found, passedOver) = try walk(
            listing: ["a", "%E4", "b%2Fc", "%2E%2E"].map(Self.response))
        #expect(found.map(\.path) == [[0x61], [0xe4]])
        #expect(passedOver.count == 2)
    }

    @Test(arguments: [
        opening, opening + response("a"), "<a/>", "", "no XML", opening + "<!DOCTYPE x>" + end,
        opening + "<D:response><D:href>/x/a</D:other></D:response>" + end,
        "<multistatus>" + end, opening + end + opening,
    ])
    func `what is not a whole listing is an error`(_ text: String) throws {
        let server = try HostileServer { $0.answer("207 Multi-Status", [], Array(text.utf8)) }
        #expect(throws: StoreError.self) { _ = try names(server) }
    }

    @Test(arguments: [1, 2, 7, 1_000_000])
    func `however it is cut into parts, the same elements are found`(_ size: Int) throws {
        let text = """
            \u{feff}<?xml version='1.0'?><!-- <a> --><r xmlns="u" xmlns:p='v>"'><?x ?>
            <one>1 &lt; 2</one> <!-- </r> --><p:two a="/>"/><three><three><![CDATA[</three>]]></three></three>
            </r><!-- end -->
            """
        let bytes = Array(text.utf8)
        var stream = XMLStream()
        var found: [XMLElement] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let part = Array(bytes[start..<min(start + size, bytes.count)])
            found += try part.withUnsafeBytes { try stream.take($0) }
        }
        #expect(stream.isComplete)
        #expect(stream.rootElement?.name == "r" && stream.rootElement?.namespace == "u")
        #expect(found.map(\.name) == ["one", "two", "three"])
        #expect(found.map(\.namespace) == ["u", "v>\"", "u"])
        #expect(found.first?.text == "1 < 2")
        #expect(found.last?.text("three") == "</three>")
    }
}

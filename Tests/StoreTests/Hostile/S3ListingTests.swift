import Model
import TestSupport
import Testing

@testable import Stores

/// Listings of S3 buckets whose keys are not what one is used to.
@Suite struct S3ListingTests {
    private static func contents(_ key: String) -> String {
        let size = key.hasSuffix("/") ? 0 : 5
        return "<Contents><Key>\(key)</Key><ETag>\"1\"</ETag><Size>\(size)</Size></Contents>"
    }

    private static func page(_ inside: String, isLast: Bool = true) -> [UInt8] {
        let end = "<IsTruncated>\(!isLast)</IsTruncated></ListBucketResult>"
        return Array(("<ListBucketResult>" + inside + end).utf8)
    }

    /// A server that lists the keys as S3 does, so many at a time.
    private static func server(_ keys: [String], pageSize: Int = 1_000) throws -> HostileServer {
        let keys = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return try HostileServer { connection in
            // "GET /bucket?list-type=2&start-after=KEY&... HTTP/1.1"
            let query = connection.head.prefix { $0 != "\r\n" }.split(separator: " ")[1]
            let fields = query.split(separator: "?").last?.split(separator: "&") ?? []
            let last = fields.first { $0.hasPrefix("start-after=") }
                .flatMap { PercentEncoding.decode($0.dropFirst("start-after=".utf8.count)) }
            let rest = keys.filter { (last ?? "").utf8.lexicographicallyPrecedes($0.utf8) }
            let body = rest.prefix(pageSize).map(contents).joined()
            connection.answer("200 OK", [], page(body, isLast: rest.count <= pageSize))
        }
    }

    /// A server that lists these keys encoded, if it is asked for that.
    private static func server(encoded keys: [String]) throws -> HostileServer {
        try HostileServer { connection in
            guard connection.head.contains("encoding-type=url") else {
                return connection.answer("400 Bad Request")
            }
            let body = "<EncodingType>url</EncodingType>" + keys.map(contents).joined()
            connection.answer("200 OK", [], page(body))
        }
    }

    /// The paths that a walk shows, folders with a slash.
    private func paths(_ server: HostileServer, without: PassedOver = PassedOver()) throws
        -> [[UInt8]]
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try StoreUnderTest.write(
            "[default]\naws_access_key_id=a\naws_secret_access_key=b\n",
            to: folder + "/credentials")
        let tree = try StoreAddress(
            parsing: "s3://bucket?endpoint=http://127.0.0.1:\(server.port)&style=path"
                + "&region=us-east-1&credentials=\(folder)/credentials"
        ).openTree()
        var found: [[UInt8]] = []
        let passedOver = try tree.walk(StoreCall()) { (entry) throws(StoreError) in
            found.append(entry.path + (entry.kind == .folder ? [0x2f] : []))
        }
        #expect(passedOver == without)
        return found
    }

    private func bytes(_ paths: String...) -> [[UInt8]] { paths.map { Array($0.utf8) } }

    @Test func `pages go on in the order of bytes`() throws {
        // As strings, the first is the last.
        let keys = bytes("e\u{301}0999", "f0999", "g", "\u{e9}")
        let server = try Self.server(
            keys.map { String(decoding: $0, as: UTF8.self) }, pageSize: 1)
        #expect(try paths(server) == keys)
    }

    @Test func `a key that is no text is passed over and keeps nothing else away`() throws {
        let server = try HostileServer { connection in
            let isSecond = connection.head.contains("start-after=a ")
            let body =
                "<EncodingType>url</EncodingType>"
                + (isSecond
                    ? Self.contents("b%FF") + Self.contents("c")
                    : Self.contents("a") + Self.contents("b%FF"))
            connection.answer("200 OK", [], Self.page(body, isLast: isSecond))
        }
        var passedOver = PassedOver()
        passedOver.note("b%FF")
        #expect(try paths(server, without: passedOver) == bytes("a", "c"))
    }

    @Test func `a page without an object is not the end`() throws {
        let server = try HostileServer { connection in
            let isSecond = connection.head.contains("continuation-token=a%2Fb%3D")
            let token = "<NextContinuationToken>a/b=</NextContinuationToken>"
            connection.answer(
                "200 OK", [], Self.page(isSecond ? Self.contents("k") : token, isLast: isSecond))
        }
        #expect(try paths(server) == bytes("k"))
    }

    @Test(arguments: ["", "<NextContinuationToken>a</NextContinuationToken>"])
    func `pages without an object that lead nowhere are an error`(_ token: String) throws {
        let server = try HostileServer { connection in
            connection.answer("200 OK", [], Self.page(token, isLast: false))
        }
        #expect(throws: StoreError.self) { _ = try paths(server) }
    }

    @Test func `what is said to be larger than any file is passed over`() throws {
        let server = try HostileServer { connection in
            let sizes = ["5", "17592186044417", "1152921504606846976", "9223372036854775807"]
            let body = sizes.enumerated().map {
                "<Contents><Key>k\($0)</Key><ETag>\"1\"</ETag><Size>\($1)</Size></Contents>"
            }
            connection.answer("200 OK", [], Self.page(body.joined()))
        }
        var passedOver = PassedOver()
        for key in ["k1", "k2", "k3"] { passedOver.note(key) }
        #expect(try paths(server, without: passedOver) == bytes("k0"))
    }

    @Test(arguments: ["", "<Size></Size>", "<Size>-1</Size>", "<Size>1e3</Size>"])
    func `what has no size is passed over, and counted`(_ size: String) throws {
        let server = try HostileServer { connection in
            let body =
                "<Contents><Key>f/</Key>\(size)</Contents>" + Self.contents("k")
                + "<Contents><Key>l</Key><ETag>\"1\"</ETag>\(size)</Contents>"
            connection.answer("200 OK", [], Self.page(body))
        }
        var passedOver = PassedOver()
        passedOver.note("l")
        #expect(try paths(server, without: passedOver) == bytes("f/", "k"))
    }

    @Test func `names that are equal but for the form of a letter are two`() throws {
        let server = try Self.server(["e\u{301}/b", "\u{e9}/a", "x/\u{301}y"])
        #expect(
            try paths(server)
                == bytes("e\u{301}/", "e\u{301}/b", "x/", "x/\u{301}y", "\u{e9}/", "\u{e9}/a"))
    }

    @Test func `blanks at both ends, and what XML cannot hold, are part of a key`() throws {
        let server = try Self.server(encoded: ["%0D%01", "+a+", "%20b%20c", "d%2B", "e%C3%A9/+f"])
        #expect(
            try paths(server)
                == bytes("\r\u{1}", " a ", " b c", "d+", "e\u{e9}/", "e\u{e9}/ f"))
    }

    @Test(arguments: [1, 1_000])
    func `blanks at both ends are part of a key that is not encoded, too`(_ pageSize: Int) throws {
        let server = try Self.server([" a", "b ", "b", "c/ d "], pageSize: pageSize)
        #expect(try paths(server) == bytes(" a", "b", "b ", "c/", "c/ d "))
    }

    @Test func `a key that ends with a slash and holds something is counted`() throws {
        let body = Self.page("<Contents><Key>folder/</Key><Size>5</Size></Contents>")
        let server = try HostileServer { $0.answer("200 OK", [], body) }
        var without = PassedOver()
        without.note("folder/")
        #expect(try paths(server, without: without) == bytes("folder/"))
    }

    @Test func `keys that cannot be names are counted, and the first is told`() throws {
        let keys = [
            "../up", "a", "folder/", "x//y", "z/..", "z/" + String(repeating: "l", count: 256),
        ]
        var without = PassedOver()
        for key in keys where key != "a" && key != "folder/" { without.note(key) }
        #expect(without.count == 4 && without.first == "../up")
        #expect(
            try paths(Self.server(keys, pageSize: 2), without: without) == bytes("a", "folder/"))
    }
}

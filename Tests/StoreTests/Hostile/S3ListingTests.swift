import Model
import SystemCalls
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
        var found: [[UInt8]] = []
        try withTree(server) { tree in
            let passedOver = try tree.walk(StoreCall()) { (entry) throws(StoreError) in
                found.append(entry.path + (entry.kind == .folder ? [0x2f] : []))
            }
            #expect(passedOver.count == without.count && passedOver.first == without.first)
            #expect(passedOver.hidden.withAllBelow.isEmpty && !passedOver.hasGone)
        }
        return found
    }

    private func withTree(_ server: HostileServer, _ body: (any SourceTree) throws -> Void) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try StoreUnderTest.write(
            "[default]\naws_access_key_id=a\naws_secret_access_key=b\n",
            to: folder + "/credentials")
        var settings = StoreSettings()
        settings.retries.firstWait = 0.01
        let tree = try StoreAddress(
            parsing: "s3://bucket?endpoint=http://127.0.0.1:\(server.port)&style=path"
                + "&region=us-east-1&credentials=\(folder)/credentials"
        ).openTree(settings)
        try body(tree)
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

    @Test(arguments: ["", "<Key/>"])
    func `an object without a key is not left out`(_ key: String) throws {
        let server = try HostileServer { connection in
            let body = Self.contents("a") + "<Contents>\(key)<Size>5</Size></Contents>"
            connection.answer("200 OK", [], Self.page(body))
        }
        if key.isEmpty {
            #expect(throws: StoreError.self) { _ = try paths(server) }
        } else {
            var passedOver = PassedOver()
            passedOver.note("")
            #expect(try paths(server, without: passedOver) == bytes("a"))
        }
    }

    @Test(arguments: [1, 1_000])
    func `a key that is listed twice is shown once, and counted`(_ pageSize: Int) throws {
        let server = try HostileServer { connection in
            let isSecond = connection.head.contains("start-after=a")
            let body =
                isSecond
                ? Self.contents("a") + Self.contents("b")
                : pageSize == 1
                    ? Self.contents("a") : Self.contents("a") + Self.contents("a")
            connection.answer("200 OK", [], Self.page(body, isLast: isSecond || pageSize > 1))
        }
        var passedOver = PassedOver()
        passedOver.note("a")
        #expect(
            try paths(server, without: passedOver) == (pageSize == 1 ? bytes("a", "b") : bytes("a"))
        )
    }

    @Test func `a refusal that comes as a success is one, and told with its words`() throws {
        let refusals = ["SlowDown", "Odd"].map {
            Array("<Error><Code>\($0)</Code><Message>no, \($0)</Message></Error>".utf8)
        }
        let asked = Lock(0)
        let server = try HostileServer { connection in
            let number = asked.withLock { count in
                count += 1
                return count
            }
            connection.answer("200 OK", [], refusals[min(number, 2) - 1])
        }
        let problem = #expect(throws: StoreError.self) { _ = try paths(server) }
        #expect(problem?.reason.contains("no, Odd") == true && asked.withLock { $0 } == 2)
    }

    @Test(arguments: ["", "<NextContinuationToken>t</NextContinuationToken>"])
    func `one page for ever, or pages that go back, are an error`(_ token: String) throws {
        for keys in [["a"], ["a", "b"], ["b", "a"]] {
            let asked = Lock(0)
            let server = try HostileServer { connection in
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                let key = keys[(number - 1) % keys.count]
                connection.answer(
                    "200 OK", [], Self.page(Self.contents(key) + token, isLast: false))
            }
            let problem = #expect(throws: StoreError.self) { _ = try paths(server) }
            #expect(problem?.kind == .corrupt && asked.withLock { $0 } <= 3)
        }
    }

    @Test func `what stands before and around a listing, and what counts it, is no part of it`()
        throws
    {
        let listing = """
            \u{feff}<?xml version="1.0" encoding="UTF-8"?>
            <!-- & --><s:ListBucketResult xmlns:s="urn:other" xmlns="urn:more"><s:KeyCount>7</s:KeyCount>
            <s:IsTruncated> false </s:IsTruncated><s:Name>x</s:Name>
            <Contents><Key>a&amp;b &lt;&#x263A;&#9;&gt;</Key><Size> 5 </Size><Owner><Key>o</Key></Owner>
            </Contents><s:Contents><s:Key><![CDATA[c&d]]></s:Key><s:Size>6</s:Size>
            <s:LastModified>9999-12-31T99:99:99.9Z</s:LastModified></s:Contents>
            <CommonPrefixes><Prefix>e/</Prefix></CommonPrefixes></s:ListBucketResult>

            """
        let server = try HostileServer { $0.answer("200 OK", [], Array(listing.utf8)) }
        #expect(try paths(server) == bytes("a&b <\u{263A}\t>", "c&d"))
    }

    @Test(arguments: ["&who;", "<!DOCTYPE a [<!ENTITY b \"c\">]>"])
    func `what XML lets a server define is not understood`(_ part: String) throws {
        let listing = part.hasPrefix("&") ? Self.page(Self.contents(part)) : Self.page("")
        let server = try HostileServer {
            $0.answer("200 OK", [], part.hasPrefix("&") ? listing : Array(part.utf8) + listing)
        }
        #expect(throws: StoreError.self) { _ = try paths(server) }
    }

    @Test func `a server that wants to be asked later, or elsewhere, is`() throws {
        let other = try HostileServer { connection in
            connection.answer("200 OK", [], Self.page(Self.contents("a")))
        }
        let asked = Lock(0)
        let server = try HostileServer { connection in
            let number = asked.withLock { count in
                count += 1
                return count
            }
            if number == 1 {
                return connection.answer("503 Slow Down", ["Retry-After: 0"])
            }
            let path = connection.head.split(separator: " ")[1]
            connection.answer(
                "307 Temporary Redirect", ["Location: HTTP://127.0.0.1:\(other.port)\(path)"])
        }
        defer { withExtendedLifetime(other) {} }
        #expect(try paths(server) == bytes("a"))
    }

    @Test func `what is an object and holds others is both`() throws {
        let server = try Self.server(["a", "a!", "a/b", "a0"], pageSize: 1)
        #expect(try paths(server) == bytes("a", "a!", "a/", "a/b", "a0"))
    }

    @Test(arguments: ["abc-2", "&quot;abc-2&quot;", "\"abc-2\"", "W/\"abc-2\""])
    func `an etag is the same with quotes and without`(_ etag: String) throws {
        let server = try HostileServer { connection in
            if connection.head.contains("list-type=2") {
                let key = "<Contents><Key>a</Key><ETag>\(etag)</ETag><Size>5</Size></Contents>"
                return connection.answer("200 OK", [], Self.page(key))
            }
            connection.answer("200 OK", ["ETag: \"abc-2\""], Array("bytes".utf8))
        }
        try withTree(server) { tree in
            var tags: [[UInt8]] = []
            try tree.walk(StoreCall()) { (entry) throws(StoreError) in tags.append(entry.tag) }
            let sink = MemorySink()
            let object = SourceObject(
                path: Array("a".utf8), tag: try #require(tags.first),
                blob: Blob(hash: Sample([]).blob.hash, size: 5))
            try tree.read(object, 0..<5, into: sink, StoreCall())
            #expect(sink.bytes == Array("bytes".utf8))
        }
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

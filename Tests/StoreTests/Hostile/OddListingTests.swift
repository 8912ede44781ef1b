import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// Listings of WebDAV collections that change while they are read, or tell little.
@Suite struct OddListingTests {
    private static func listing(_ responses: [String]) -> [UInt8] {
        Array(
            ("<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\">" + responses.joined()
                + "</D:multistatus>\n").utf8)
    }

    private static func folder(_ path: String) -> String {
        """
        <D:response><D:href>\(path)</D:href><D:propstat><D:prop><D:resourcetype><D:collection/>
        </D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
        """
    }

    private static func file(_ path: String, _ size: Int, _ more: String) -> String {
        """
        <D:response><D:href>\(path)</D:href><D:propstat><D:prop><D:resourcetype/>
        <D:getcontentlength>\(size)</D:getcontentlength>\(more)</D:prop>
        <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
        """
    }

    /// What the server's collection shows, what of it cannot be looked at, and why.
    private func walked(_ server: HostileServer) throws -> (
        found: [SourceEntry], closed: [String], problem: StoreError.Kind?
    ) {
        var found: [SourceEntry] = []
        let passedOver = try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in
            found.append(entry)
        }
        let closed = passedOver.hidden.withAllBelow.map { String(decoding: $0, as: UTF8.self) }
        return (found, closed.sorted(), passedOver.problem?.kind)
    }

    private static func paths(_ entries: [SourceEntry]) -> [String] {
        entries.map { String(decoding: $0.path, as: UTF8.self) }
    }

    /// A collection with a folder that is not there any more when it is to be listed itself.
    private func server(rootStays: Bool) throws -> HostileServer {
        try HostileServer { connection in
            let isRoot = connection.head.hasPrefix("PROPFIND /x/ ")
            let isLook = connection.head.contains("Depth: 0")
            guard isRoot, !isLook || rootStays else {
                return connection.answer("404 Not Found")
            }
            let members = [
                Self.folder("/x/gone/"), Self.file("/x/a", 5, "<D:getetag>\"e\"</D:getetag>"),
            ]
            connection.answer(
                "207 Multi-Status", [], Self.listing([Self.folder("/x/")] + (isLook ? [] : members))
            )
        }
    }

    @Test func `a folder that goes while a collection is listed is passed over, not the tree`()
        throws
    {
        let server = try server(rootStays: true)
        defer { withExtendedLifetime(server) {} }
        var found: [String] = []
        let passedOver = try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in
            found.append(String(decoding: entry.path, as: UTF8.self))
        }
        #expect(found.sorted() == ["a", "gone"])
        // So a refresh removes nothing.
        #expect(passedOver.hasGone && passedOver.count == 0)
    }

    @Test func `a folder that is closed to us is told at the end, when the others have been shown`()
        throws
    {
        let server = try HostileServer { connection in
            let path = connection.head.split(separator: " ")[1]
            if path.hasPrefix("/x/closed") { return connection.answer("403 Forbidden") }
            let isLook = connection.head.contains("Depth: 0")
            let members =
                path == "/x/"
                ? ["closed1", "open1", "closed2", "open2"].map { Self.folder("/x/\($0)/") }
                : [Self.file("\(path)a", 5, "<D:getetag>\"e\"</D:getetag>")]
            connection.answer(
                "207 Multi-Status", [],
                Self.listing([Self.folder(String(path))] + (isLook ? [] : members)))
        }
        defer { withExtendedLifetime(server) {} }
        let (found, closed, problem) = try walked(server)
        // Not as if all had been listed: a refresh would remove what is in it.
        #expect(problem == .denied && closed == ["closed1", "closed2"])
        #expect(
            Self.paths(found).sorted() == [
                "closed1", "closed2", "open1", "open1/a", "open2", "open2/a",
            ])
    }

    @Test(arguments: [
        "<D:status>HTTP/1.1 403 Forbidden</D:status>",
        "<D:propstat><D:prop><D:resourcetype/><D:getcontentlength/></D:prop>"
            + "<D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat>",
        "<D:propstat><D:prop><D:displayname>b</D:displayname></D:prop>"
            + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat>",
    ])
    func `what the server lists and does not let us see is told at the end, not passed over`(
        _ told: String
    ) throws {
        let server = try HostileServer { connection in
            if connection.method == "HEAD" { return connection.answer("403 Forbidden") }
            let members = [
                "<D:response><D:href>/x/b</D:href>\(told)</D:response>",
                Self.file("/x/c", 5, "<D:getetag>\"e\"</D:getetag>"),
            ]
            connection.answer(
                "207 Multi-Status", [], Self.listing([Self.folder("/x/")] + members))
        }
        defer { withExtendedLifetime(server) {} }
        let (found, closed, problem) = try walked(server)
        // It is there: a refresh would remove it, with all that is in it.
        #expect(problem == .denied && closed == ["b"])
        #expect(Self.paths(found) == ["c"])
    }

    @Test func `a collection that is closed in its own listing is not an empty one`() throws {
        let server = try HostileServer { connection in
            let path = String(connection.head.split(separator: " ")[1])
            let closed =
                "<D:response><D:href>/x/folder/</D:href><D:status>HTTP/1.1 403 Forbidden</D:status>"
                + "</D:response>"
            connection.answer(
                "207 Multi-Status", [],
                Self.listing(
                    path == "/x/" ? [Self.folder("/x/"), Self.folder("/x/folder/")] : [closed]))
        }
        defer { withExtendedLifetime(server) {} }
        let (_, closed, problem) = try walked(server)
        #expect(problem == .denied && closed == ["folder"])
    }

    @Test func `what the server cannot look at is no file, whatever it says of it otherwise`()
        throws
    {
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                return connection.answer("200 OK", [], Array("index".utf8))
            }
            let members = [
                "<D:response><D:href>/x/folder/</D:href><D:propstat><D:prop><D:resourcetype/>"
                    + "</D:prop><D:status>HTTP/1.1 503 Service Unavailable</D:status></D:propstat>"
                    + "</D:response>",
                Self.folder("/x/other/"),
            ]
            let path = String(connection.head.split(separator: " ")[1])
            connection.answer(
                "207 Multi-Status", [],
                Self.listing([Self.folder(path)] + (path == "/x/" ? members : [])))
        }
        defer { withExtendedLifetime(server) {} }
        let (found, _, problem) = try walked(server)
        #expect(problem == .refused(status: 503))
        #expect(found.map(\.kind) == [.folder])
    }

    @Test func `a store's server is asked for the size of what it lists without one`() throws {
        let samples = [1, 2, 3].map { Sample(size: 10 * $0, seed: UInt64($0)) }
            .sorted { $0.blob.hash.description < $1.blob.hash.description }
        let server = try HostileServer { connection in
            let path = String(connection.head.split(separator: " ")[1])
            if connection.method == "HEAD" {
                let sample = samples.first { path.hasSuffix($0.blob.hash.description) }
                // The last one has gone since.
                guard let sample, sample.blob != samples[2].blob else {
                    return connection.answer("404 Not Found")
                }
                return connection.answer("200 OK", [], sample.bytes)
            }
            let folders = samples.map { Self.folder("/x/\($0.blob.hash.description.prefix(2))/") }
            let files = samples.map(\.blob.hash.description).filter {
                path == "/x/\($0.prefix(2))/"
            }
            .map { name in
                Self.file("\(path)\(name)", 0, "")
                    .replacing("<D:getcontentlength>0</D:getcontentlength>", with: "")
            }
            connection.answer(
                "207 Multi-Status", [],
                Self.listing(
                    [Self.folder(path)] + files
                        + (path == "/x/" ? folders + [Self.folder("/x/incoming/")] : [])))
        }
        defer { withExtendedLifetime(server) {} }
        let store = try StoreAddress(parsing: "dav://127.0.0.1:\(server.port)/x?netrc=/nonexistent")
            .connect()
        let all = try store.list(after: nil, limit: 10, StoreCall())
        #expect(all.blobs == samples[..<2].map(\.blob) && all.isLast)
        let first = try store.list(after: nil, limit: 1, StoreCall())
        #expect(first.blobs == [samples[0].blob] && !first.isLast)
    }

    @Test func `what more is told of than can be kept is passed over, all else is shown`() throws {
        let long = String(repeating: "x", count: 60_000)
        let tags = ["e", long, "e", "e"].map { "<D:getetag>\"\($0)\"</D:getetag>" }
        let identities = ["1", "2", long, "&#0;"].map {
            "<o:fileid xmlns:o=\"http://owncloud.org/ns\">\($0)</o:fileid>"
        }
        let files = zip(tags, identities).enumerated().map {
            Self.file("/x/\($0.offset)", 5, $0.element.0 + $0.element.1)
        }
        let server = try HostileServer { connection in
            connection.answer(
                "207 Multi-Status", [], Self.listing([Self.folder("/x/")] + files))
        }
        defer { withExtendedLifetime(server) {} }
        var found: [String] = []
        let passedOver = try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in
            found.append(String(decoding: entry.path, as: UTF8.self))
        }
        #expect(found == ["0"])
        #expect(passedOver.count == 3 && passedOver.first == "1")
    }

    @Test func `a collection that goes as a whole while it is listed is an error`() throws {
        let server = try server(rootStays: false)
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree()
        let problem = StoreTests.kind { () throws(StoreError) in
            _ = try tree.walk(StoreCall()) { (_) throws(StoreError) in }
        }
        #expect(problem == .absent)
    }

    @Test func `a file that is listed without etag and date is asked for them`() throws {
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                let isDated = connection.head.contains("/x/dated ")
                return connection.answer(
                    "200 OK",
                    [isDated ? "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT" : "ETag: \"abc\""],
                    [1, 2, 3, 4, 5])
            }
            let files = ["dated", "tagged"].map { Self.file("/x/\($0)", 5, "") }
            connection.answer("207 Multi-Status", [], Self.listing([Self.folder("/x/")] + files))
        }
        defer { withExtendedLifetime(server) {} }
        var tags: [[UInt8]] = []
        try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in tags.append(entry.tag) }
        #expect(
            tags == [
                SourceTag.of(etag: "", modified: "Sun, 06 Nov 1994 08:49:37 GMT"),
                SourceTag.of(etag: "abc", modified: ""),
            ])
    }

    @Test func `a file whose size the server cannot tell for a moment is asked for again`() throws {
        let asked = Lock(0)
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { return connection.answer("503 Service Unavailable") }
                return connection.answer("200 OK", ["ETag: \"abc\""], [1, 2, 3, 4, 5])
            }
            let unsized = "<D:response><D:href>/x/a</D:href></D:response>"
            connection.answer(
                "207 Multi-Status", [], Self.listing([Self.folder("/x/"), unsized]))
        }
        defer { withExtendedLifetime(server) {} }
        var kinds: [SourceEntry.Kind] = []
        let passedOver = try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in
            kinds.append(entry.kind)
        }
        #expect(kinds == [.file(5)])
        #expect(passedOver.count == 0)
    }

    @Test func `a file of which only the size is known is read in one answer, and not in parts`()
        throws
    {
        let bytes = [UInt8](repeating: 7, count: 1_000)
        let server = try HostileServer { connection in
            if connection.method == "PROPFIND" {
                let members = [Self.folder("/x/"), Self.file("/x/a", bytes.count, "")]
                return connection.answer("207 Multi-Status", [], Self.listing(members))
            }
            connection.answer("200 OK", [], bytes)
        }
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree()
        var tags: [[UInt8]] = []
        try tree.walk(StoreCall()) { (entry) throws(StoreError) in tags.append(entry.tag) }
        let tag = try #require(tags.first)
        func object(_ size: Int64) -> SourceObject {
            SourceObject(
                path: Array("a".utf8), tag: tag, blob: Blob(hash: Sample([]).blob.hash, size: size))
        }
        let sink = MemorySink()
        try tree.read(object(1_000), 0..<1_000, into: sink, StoreCall())
        #expect(sink.bytes == bytes)
        // Nothing would tell whether the next part is of the same version.
        let part = StoreTests.kind { () throws(StoreError) in
            try tree.read(object(1_000), 0..<500, into: MemorySink(), StoreCall())
        }
        #expect(part == .corrupt)
        // Another size is another version.
        let longer = StoreTests.kind { () throws(StoreError) in
            try tree.read(object(1_001), 0..<1_001, into: MemorySink(), StoreCall())
        }
        #expect(longer == .corrupt)
    }

    @Test func `a folder is asked for at once, not when the server says that it may be`() throws {
        let asked = Lock<[String]>([])
        let server = try HostileServer { connection in
            asked.withLock { $0.append(connection.head.lowercased()) }
            // Never says "100 Continue".
            connection.answer("207 Multi-Status", [], Self.listing([Self.folder("/x/")]))
        }
        defer { withExtendedLifetime(server) {} }
        #expect(try walked(server).problem == nil)
        let heads = asked.withLock { $0 }
        #expect(!heads.isEmpty)
        for head in heads { #expect(!head.contains("\r\nexpect:")) }
    }

    @Test func `names of a server that encodes no percent signs are shown and read`() throws {
        let bytes = [UInt8](repeating: 7, count: 10)
        let server = try HostileServer { connection in
            if connection.method == "PROPFIND" {
                let tag = "<D:getetag>\"e\"</D:getetag>"
                let members = [
                    Self.folder("/x/"), Self.file("/x/100%", 10, tag),
                    Self.file("/x/5% of 20%25", 10, tag), Self.file("/x/b%20c", 10, tag),
                    // It encodes blanks, but no percent signs.
                    Self.file("/x/my%2050%", 10, tag),
                ]
                return connection.answer("207 Multi-Status", [], Self.listing(members))
            }
            let isFirst = connection.head.hasPrefix("GET /x/100%25 ")
            connection.answer(isFirst ? "200 OK" : "404 Not Found", ["ETag: \"e\""], bytes)
        }
        defer { withExtendedLifetime(server) {} }
        let (found, _, problem) = try walked(server)
        #expect(problem == nil)
        #expect(Self.paths(found) == ["100%", "5% of 20%25", "b c", "my 50%"])
        let first = try #require(found.first)
        let object = SourceObject(
            path: first.path, tag: first.tag, blob: Blob(hash: Sample([]).blob.hash, size: 10))
        let sink = MemorySink()
        try server.tree().read(object, 0..<10, into: sink, StoreCall())
        #expect(sink.bytes == bytes)
    }

    @Test func `things that share one refusal in a listing are all closed to us`() throws {
        let closed =
            "<D:response><D:href>/x/a</D:href><D:href>/x/b/</D:href>"
            + "<D:status>HTTP/1.1 403 Forbidden</D:status></D:response>"
        let server = try HostileServer { connection in
            connection.answer(
                "207 Multi-Status", [], Self.listing([Self.folder("/x/"), closed]))
        }
        defer { withExtendedLifetime(server) {} }
        #expect(try walked(server).closed == ["a", "b"])
    }

    @Test(arguments: ["file", "./file", "ftp://127.0.0.1/x/file"])
    func `a member with an address that is no path is not left out`(_ href: String) throws {
        let tag = "<D:getetag>\"e\"</D:getetag>"
        let members = [Self.folder("/x/"), Self.file("/x/a", 5, tag), Self.file(href, 5, tag)]
        let server = try HostileServer { connection in
            connection.answer("207 Multi-Status", [], Self.listing(members))
        }
        defer { withExtendedLifetime(server) {} }
        #expect(throws: StoreError.self) { try walked(server) }
    }

    @Test func `a file is not taken for a collection that is empty`() throws {
        let server = try HostileServer { connection in
            connection.answer("207 Multi-Status", [], Self.listing([Self.file("/x/", 5, "")]))
        }
        defer { withExtendedLifetime(server) {} }
        #expect(throws: StoreError.self) { try walked(server) }
    }
}

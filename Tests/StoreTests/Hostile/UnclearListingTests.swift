import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// Listings of WebDAV collections of which a part cannot be understood, or may mean two things.
@Suite struct UnclearListingTests {
    private static let kind = "<D:resourcetype/>"
    private static let folder = "<D:resourcetype><D:collection/></D:resourcetype>"
    private static let file =
        kind + "<D:getcontentlength>5</D:getcontentlength><D:getetag>\"e\"</D:getetag>"
    private static let found = "<D:status>HTTP/1.1 200 OK</D:status>"

    private static func response(_ href: String, _ properties: String, _ status: String = found)
        -> String
    {
        "<D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop>\(status)"
            + "</D:propstat></D:response>"
    }

    private static func listing(_ responses: [String]) -> [UInt8] {
        Array(
            ("<D:multistatus xmlns:D=\"DAV:\">" + responses.joined() + "</D:multistatus>").utf8)
    }

    /// What a walk through `/x` shows, folders with a slash, and what it passes over.
    private func walked(
        isPatient: Bool = true, _ behaviour: @escaping HostileServer.Behaviour
    ) throws -> (shown: [String], passedOver: PassedOver) {
        let server = try HostileServer(behaviour)
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree(isPatient: isPatient)
        var shown: [String] = []
        let passedOver = try tree.walk(StoreCall()) { (entry) throws(StoreError) in
            shown.append(
                String(decoding: entry.path, as: UTF8.self) + (entry.kind == .folder ? "/" : ""))
        }
        return (shown, passedOver)
    }

    /// The same of a server that lists these members and has nothing else.
    private func walked(listing members: [String]) throws -> (
        shown: [String], passedOver: PassedOver
    ) {
        try walked { connection in
            guard connection.head.hasPrefix("PROPFIND /x/ ") else {
                return connection.answer("404 Not Found")
            }
            connection.answer(
                "207 Multi-Status", [],
                Self.listing([Self.response("/x/", Self.folder)] + members))
        }
    }

    private func bytes(_ texts: String...) -> Set<[UInt8]> { Set(texts.map { Array($0.utf8) }) }

    @Test func `what is there and cannot be shown is told by its path, if a folder can have that`()
        throws
    {
        let sizes = ["1e3", "-1", "99999999999999999"]
        var members = sizes.enumerated().map {
            Self.response("/x/\($0)", Self.file.replacing(">5<", with: ">\($1)<"))
        }
        members += ["b%2F%2F", "%2E%2E", String(repeating: "l", count: 256), "c"].map {
            Self.response("/x/\($0)", Self.file)
        }
        let (shown, passedOver) = try walked(listing: members)
        #expect(shown == ["c"])
        #expect(passedOver.count == 6 && passedOver.hidden.alone == bytes("0", "1", "2"))
        #expect(passedOver.hidden.withAllBelow.isEmpty)
    }

    @Test func `what may be a folder is told from what has nothing below it`() throws {
        let sizeless = "<D:getetag>\"e\"</D:getetag>"
        let long =
            "<D:resource-id><D:href>\(String(repeating: "i", count: 50_000))</D:href></D:resource-id>"
        let (shown, passedOver) = try walked(listing: [
            Self.response("/x/file", Self.kind + sizeless), Self.response("/x/anything", sizeless),
            Self.response("/x/folder", Self.folder + long),
            Self.response("/x/other", Self.file + long), Self.response("/x/c", Self.file),
        ])
        #expect(shown == ["c"] && passedOver.count == 4)
        #expect(passedOver.hidden.alone == bytes("file", "other"))
        #expect(passedOver.hidden.withAllBelow == bytes("anything", "folder"))
    }

    @Test func `what is listed twice is shown once, and counted`() throws {
        let (shown, passedOver) = try walked(listing: [
            Self.response("/x/a%20b", Self.file), Self.response("/x/c", Self.file),
            Self.response("/x/a b", Self.file), Self.response("/x/%63", Self.file),
        ])
        #expect(shown == ["a b", "c"])
        #expect(passedOver.count == 2 && passedOver.first == "a b" && passedOver.hidden.isEmpty)
    }

    @Test func `what an attempt that broke off has shown or hidden is not counted twice`() throws {
        let attempts = Lock(0)
        let (shown, passedOver) = try walked { connection in
            let isFirst = attempts.withLock { count in
                count += 1
                return count == 1
            }
            let body = Self.listing([
                Self.response("/x/", Self.folder), Self.response("/x/a", Self.file),
                Self.response(
                    "/x/b", Self.file.replacing(">5<", with: ">\(isFirst ? "-1" : "5")<")),
                Self.response("/x/c", Self.file.replacing(">5<", with: ">-1<")),
            ])
            guard isFirst else { return connection.answer("207 Multi-Status", [], body) }
            connection.send("HTTP/1.1 207 Multi-Status\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(Array(body.dropLast(5)))
        }
        #expect(attempts.withLock { $0 } > 1)
        #expect(shown == ["a", "b"] && passedOver.count == 1)
        #expect(passedOver.hidden.alone == bytes("c"))
    }

    /// A server that tells the length of what HEAD is answered with, which is none.
    @Test func `a file whose size only the answer with its content tells has that size`() throws {
        let names = ["long", "chunked", "empty", "refused"]
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                return connection.answer("200 OK", ["ETag: \"e\""])
            }
            if connection.head.contains("/long ") {
                connection.answer("200 OK", [], [UInt8](repeating: 7, count: 1 << 20))
            } else if connection.head.contains("/chunked ") {
                connection.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\n0\r\n\r\n")
            } else if connection.head.contains("/empty ") {
                connection.answer("200 OK")
            } else if connection.head.contains("/refused ") {
                connection.answer("406 Not Acceptable")
            } else {
                let members = names.map { Self.response("/x/\($0)", Self.kind) }
                connection.answer(
                    "207 Multi-Status", [],
                    Self.listing([Self.response("/x/", Self.folder)] + members))
            }
        }
        defer { withExtendedLifetime(server) {} }
        var kinds: [SourceEntry.Kind] = []
        let passedOver = try server.tree().walk(StoreCall()) { (entry) throws(StoreError) in
            kinds.append(entry.kind)
        }
        #expect(kinds == [.file(1 << 20), .file(3), .file(0)])
        #expect(passedOver.hidden.alone == bytes("refused"))
    }

    @Test(arguments: ["", "<D:status/>", "<D:status>fine</D:status>"])
    func `what is told without a status is neither a file nor gone`(_ status: String) throws {
        let members = [
            Self.response("/x/folder/", Self.folder, status),
            Self.response("/x/file", Self.file, status), Self.response("/x/c", Self.file),
        ]
        let (shown, passedOver) = try walked { connection in
            // As servers answer for the pages that they make of folders.
            if connection.method == "HEAD" { return connection.answer("200 OK", [], [1, 2, 3]) }
            connection.answer(
                "207 Multi-Status", [],
                Self.listing([Self.response("/x/", Self.folder)] + members))
        }
        #expect(shown == ["c"])
        #expect(passedOver.hidden.withAllBelow == bytes("folder", "file"))
    }

    @Test func `a status of the whole is that of its parts, in whatever form it is written`() throws
    {
        let parts = [
            Self.response("/x/b", Self.file, "").replacing(
                "</D:response>", with: Self.found + "</D:response>"),
            Self.response("/x/c", Self.file, "<D:status>200 OK</D:status>"),
        ]
        let (shown, passedOver) = try walked(listing: parts)
        #expect(shown == ["b", "c"] && passedOver.count == 0)
    }

    @Test func `a listing with something that has no address is not understood`() throws {
        let nameless = "<D:response><D:propstat><D:prop>\(Self.file)</D:prop>\(Self.found)"
        #expect(throws: StoreError.self) {
            try walked(listing: [
                Self.response("/x/a", Self.file), nameless + "</D:propstat></D:response>",
            ])
        }
    }

    @Test func `a question mark is part of a name if it is encoded, or something is called so`()
        throws
    {
        let hrefs = ["/x/a%3Fb", "/x/c?d", "http://127.0.0.1/x/e?session=/1", "/x/?session=1"]
        let (shown, passedOver) = try walked { connection in
            let path = connection.head.split(separator: " ")[1]
            if connection.head.contains("Depth: 0") {
                let isThere = path == "/x/c%3Fd"
                return isThere
                    ? connection.answer(
                        "207 Multi-Status", [],
                        Self.listing([Self.response("/x/c?d", Self.file)]))
                    : connection.answer("404 Not Found")
            }
            let members = hrefs.map {
                Self.response($0, $0.hasPrefix("/x/?") ? Self.folder : Self.file)
            }
            connection.answer("207 Multi-Status", [], Self.listing(members))
        }
        #expect(shown == ["a?b", "c?d", "e"] && passedOver.count == 0)
    }

    @Test(arguments: ["400 Bad Request", "403 Forbidden", "405 Method Not Allowed"])
    func `nothing is called with a question mark that the server refuses to look for`(
        _ refusal: String
    ) throws {
        let looked = Lock<[String]>([])
        let (shown, passedOver) = try walked { connection in
            if connection.head.contains("Depth: 0") {
                let path = String(connection.head.split(separator: " ")[1])
                looked.withLock { $0.append(path) }
                return connection.answer(refusal)
            }
            // Those of another folder are nothing to ask for.
            let hrefs = ["/x/a?b", "/other/c?d", "/x/e/f?g", "/x/?h"]
            connection.answer(
                "207 Multi-Status", [],
                Self.listing(
                    [Self.response("/x/", Self.folder)]
                        + hrefs.map {
                            Self.response($0, $0.hasPrefix("/x/?") ? Self.folder : Self.file)
                        }))
        }
        #expect(shown == ["a"] && passedOver.count == 0)
        #expect(looked.withLock { $0 } == ["/x/a%3Fb", "/x/%3Fh"])
    }

    @Test(arguments: ["401 Unauthorized", "408 Request Timeout", "500 Internal Server Error"])
    func `what a server cannot look for now is not taken for another name`(_ refusal: String) throws
    {
        #expect(throws: StoreError.self) {
            try walked(isPatient: false) { connection in
                if connection.head.contains("Depth: 0") { return connection.answer(refusal) }
                connection.answer(
                    "207 Multi-Status", [],
                    Self.listing([
                        Self.response("/x/", Self.folder), Self.response("/x/a?b", Self.file),
                    ]))
            }
        }
    }

    @Test func `HTTP is HTTP in capitals, too`() throws {
        let (shown, _) = try walked(listing: [
            Self.response("HTTP://127.0.0.1/x/a", Self.file),
            Self.response("Https://127.0.0.1/x/b", Self.file),
        ])
        #expect(shown == ["a", "b"])
    }

    @Test(arguments: ["400 Bad Request", "414 URI Too Long"])
    func `a folder whose name the server lists and does not take keeps us from no other`(
        _ status: String
    ) throws {
        let (shown, passedOver) = try walked { connection in
            let members = [
                Self.response("/x/odd%7F/", Self.folder), Self.response("/x/y/", Self.folder),
            ]
            switch connection.head.split(separator: " ")[1] {
            case "/x/":
                connection.answer(
                    "207 Multi-Status", [],
                    Self.listing([Self.response("/x/", Self.folder)] + members))
            case "/x/y/":
                connection.answer(
                    "207 Multi-Status", [],
                    Self.listing([
                        Self.response("/x/y/", Self.folder), Self.response("/x/y/z", Self.file),
                    ]))
            default: connection.answer(status)
            }
        }
        #expect(Set(shown) == ["odd\u{7f}/", "y/", "y/z"])
        #expect(passedOver.closedCount == 1)
        #expect(passedOver.hidden.contains(Array("odd\u{7f}/a".utf8)))
        // That all of it is refused is another matter.
        #expect(throws: StoreError.self) { try walked { $0.answer(status) } }
    }
}

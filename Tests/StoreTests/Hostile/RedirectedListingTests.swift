import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// Collections that a WebDAV server sends on to another place.
@Suite struct RedirectedListingTests {
    private static func response(_ href: String) -> String {
        let properties =
            href.hasSuffix("/")
            ? "<D:resourcetype><D:collection/></D:resourcetype>"
            : "<D:resourcetype/><D:getcontentlength>5</D:getcontentlength><D:getetag>e</D:getetag>"
        return "<D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop>"
            + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    }

    /// A server with these members of folders, that sends on with what `location` says of a path.
    private func server(
        _ folders: [String: [String]], status: String = "302 Found",
        location: @escaping @Sendable (String) -> String?
    ) throws -> HostileServer {
        try HostileServer { connection in
            let path = String(connection.head.split(separator: " ")[1])
            if let location = location(path) {
                return connection.answer(status, ["Location: \(location)"])
            }
            if connection.method == "GET" {
                return connection.answer("200 OK", ["ETag: e"], Array("bytes".utf8))
            }
            // With and without a slash at its end it is the same.
            guard let folder = folders.keys.first(where: { $0 == path || $0 == path + "/" }) else {
                return connection.answer("404 Not Found")
            }
            let all = [folder] + (folders[folder] ?? []).map { folder + $0 }
            let text = all.map(Self.response).joined()
            connection.answer(
                "207 Multi-Status", [],
                Array("<D:multistatus xmlns:D=\"DAV:\">\(text)</D:multistatus>".utf8))
        }
    }

    private func shown(_ tree: any SourceTree) throws -> [String] {
        var found: [String] = []
        try tree.walk(StoreCall()) { (entry) throws(StoreError) in
            found.append(String(decoding: entry.path, as: UTF8.self))
        }
        return found
    }

    private static let folders = ["/y z/": ["a", "d/"], "/y z/d/": ["b"]]

    @Test(
        arguments: [
            "301 Moved Permanently", "302 Found", "307 Temporary Redirect",
            "308 Permanent Redirect",
        ],
        ["/y%20z", "../y%20z", "/./x/../y%20z", "/y z", "//127.0.0.1:PORT/y%20z"])
    func `a tree that the server has elsewhere is listed, and read, there`(
        _ status: String, _ place: String
    ) throws {
        let port = Lock(0)
        let encoded = Dictionary(
            uniqueKeysWithValues: Self.folders.map {
                ($0.key.replacing(" ", with: "%20"), $0.value)
            })
        let server = try server(encoded, status: status) { path in
            guard path.hasPrefix("/x") else { return nil }
            let place = place.replacing("PORT", with: "\(port.withLock { $0 })")
            // Seen from what is deeper.
            let depth = path.split(separator: "/").count - (path.hasSuffix("/") ? 0 : 1)
            let up = String(repeating: "../", count: depth)
            return (place.hasPrefix("..") ? up + place.dropFirst(3) : place) + path.dropFirst(2)
        }
        port.withLock { $0 = server.port }
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree(isPatient: false)
        #expect(try shown(tree) == ["a", "d", "d/b"])
        let sink = MemorySink()
        let object = SourceObject(
            path: Array("d/b".utf8), tag: Array("ee".utf8),
            blob: Blob(hash: Sample([]).blob.hash, size: 5))
        try tree.read(object, 0..<5, into: sink, StoreCall())
        #expect(sink.bytes == Array("bytes".utf8))
    }

    @Test func `a tree that is sent on more than once is where it is sent on to at last`() throws {
        let server = try server(["/z/": ["a", "d/"], "/z/d/": ["b"]]) { path in
            if path.hasPrefix("/x") { return "/other/y" + path.dropFirst(2) }
            return path.hasPrefix("/other/y") ? "/z" + path.dropFirst(8) : nil
        }
        defer { withExtendedLifetime(server) {} }
        #expect(try shown(server.tree(isPatient: false)) == ["a", "d", "d/b"])
    }

    @Test func `a slash that is added or taken away changes nothing`() throws {
        let server = try server(["/x/": ["a", "d/"], "/x/d/": ["b"]]) { path in
            path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : nil
        }
        defer { withExtendedLifetime(server) {} }
        #expect(try shown(server.tree(isPatient: false)) == ["a", "d", "d/b"])
    }

    @Test(arguments: ["/x/", "/", "/y/gone/", "/x/d/gone"])
    func `a folder that is sent on to another one does not show what is in that`(_ place: String)
        throws
    {
        let folders = [
            "/": ["x/"], "/x/": ["a", "d/", "gone/"], "/x/d/": ["gone/"], "/x/d/gone/": ["b"],
            "/y/gone/": ["c"],
        ]
        let server = try server(folders) { $0 == "/x/gone/" ? place : nil }
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree(isPatient: false)
        let problem = #expect(throws: StoreError.self) { try shown(tree) }
        #expect(problem?.reason.contains("elsewhere on the server: http://") == true)
    }

    @Test(arguments: ["http://127.0.0.2/y/", "ftp://127.0.0.1/y/", "//localhost/y/", "", "#x"])
    func `one that is on another server is not asked for there`(_ location: String) throws {
        let server = try server([:]) { _ in location }
        defer { withExtendedLifetime(server) {} }
        let tree = try server.tree(isPatient: false)
        let problem = #expect(throws: StoreError.self) { try shown(tree) }
        #expect(problem?.reason.contains("the collection is elsewhere") == true)
    }
}

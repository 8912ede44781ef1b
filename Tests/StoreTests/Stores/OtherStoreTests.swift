import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What only folders and only WebDAV servers have.
@Suite(.serialized) struct OtherStoreTests {
    private let sample = Sample(size: 1_000, seed: 4)

    @Test func `a folder whose disk is not mounted is unreachable, its blobs not absent`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        for path in [folder, folder + "/none"] {
            let store = FolderStore(path: path)
            #expect(
                kind { () throws(StoreError) in _ = try store.stat(sample.blob.hash, StoreCall()) }
                    == .unreachable)
            #expect(kind { () throws(StoreError) in try store.put(sample) } == .unreachable)
            #expect(
                kind { () throws(StoreError) in
                    _ = try store.list(after: nil, limit: 1, StoreCall())
                } == .unreachable)
            #expect(access(path + "/incoming", F_OK) != 0)
        }
    }

    @Test func `a blob that was damaged in size is put right by putting it again`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = FolderStore(path: folder)
        try store.prepare(StoreCall())
        try store.put(sample)
        let name = sample.blob.hash.description
        #expect(truncate("\(folder)/\(name.prefix(2))/\(name)", 10) == 0)
        #expect(kind { () throws(StoreError) in _ = try store.bytes(sample.blob) } == .corrupt)
        try store.put(sample)
        #expect(try store.bytes(sample.blob) == sample.bytes)
        #expect(try Directories.names(in: folder + "/incoming") == [])
    }

    /// It has no hard links, nor renames that replace nothing.
    @Test(
        .enabled(if: isInstalled("rclone"), "needs rclone"), arguments: ["off", "writes", "full"])
    func `a mount of rclone holds a store`(_ cache: String) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let mount = folder + "/mount"
        for path in [folder + "/files", mount] { try Directories.make(path) }
        let words = [
            "rclone", "mount", "--config", "/dev/null", "--cache-dir", folder + "/cache",
            "--vfs-cache-mode", cache, folder + "/files", mount,
        ]
        let server = try RunningProgram(words.map { Array($0.utf8) })
        defer {
            MountTable.detach(mount)
            server.kill(signal: SIGKILL)
            _ = server.wait(seconds: 60)
        }
        waitUntil { MountTable.isMounted(mount) }
        let store = FolderStore(path: mount + "/store")
        try store.prepare(StoreCall())
        for _ in 0..<2 { try store.put(sample) }
        #expect(try store.stat(sample.blob.hash, StoreCall()) == sample.blob.size)
        #expect(try store.bytes(sample.blob) == sample.bytes)
        #expect(try Directories.names(in: mount + "/store/incoming") == [])
    }

    @Test func `files of others beside the blobs are passed over`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = FolderStore(path: folder)
        try store.prepare(StoreCall())
        try store.put(sample)
        for name in ["00", "ab", "zz", "note"] {
            try StoreUnderTest.write("x", to: "\(folder)/\(name)")
        }
        let page = try store.list(after: nil, limit: 10, StoreCall())
        #expect(page == BlobPage(blobs: [sample.blob], isLast: true))
    }

    @Test func `a pipe in the place of a picture holds up nobody`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = FolderStore(path: folder)
        try store.prepare(StoreCall())
        let companion = try #require(Companion(sample.blob.hash, kind: "slide-1"))
        try store.put(companion, [1, 2, 3], StoreCall())
        let path = folder + "/" + companion.path
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        // It has nothing, as a file that is empty.
        #expect(try store.get(companion, StoreCall()) == [])
    }

    @Test func `a certificate that nobody vouches for is refused`() throws {
        let words = try ServerProcess.words(ServerProcess.webDAV)
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "davs://127.0.0.1:\(words[1])/basic/x?netrc=/nonexistent")
        else { return }
        #expect(
            kind { () throws(StoreError) in
                _ = try WebDAVStore(address).stat(sample.blob.hash, StoreCall())
            } == .refused(status: 0))
    }

    @Test(arguments: ["basic", "digest"])
    func `a wrong password is denied`(_ scheme: String) throws {
        let words = try ServerProcess.words(ServerProcess.webDAV)
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try StoreUnderTest.write(
            "machine 127.0.0.1 login shape password geheim", to: folder + "/netrc")
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "dav://127.0.0.1:\(words[0])/\(scheme)/x?netrc=\(folder)/netrc")
        else { return }
        let store = WebDAVStore(address)
        for _ in 0..<2 {
            do throws(StoreError) {
                try store.put(sample)
                Issue.record("the server took a wrong password")
            } catch {
                #expect(error.kind == .denied)
                #expect(!error.description.contains("geheim"))
            }
        }
    }

    @Test func `a blob whose size is not told is not an empty one`() throws {
        for (field, expected) in [("Transfer-Encoding: chunked", nil), ("X-Nothing: 1", 0)]
            as [(String, Int64?)]
        {
            let server = try HostileServer {
                $0.send("HTTP/1.1 200 OK\r\n\(field)\r\nConnection: close\r\n\r\n")
            }
            defer { withExtendedLifetime(server) {} }
            let address = "dav://127.0.0.1:\(server.port)/x?netrc=/nonexistent"
            let store = try StoreAddress(parsing: address).connect()
            let found = try? store.stat(sample.blob.hash, StoreCall())
            #expect(found == expected)
        }
    }

    @Test func `a collection that somebody else is making just now is waited for`() throws {
        // As rclone's server does: locked while another request of the same kind is under way.
        let made = Lock(0)
        let server = try HostileServer { connection in
            let isMade = made.withLock { made in
                if connection.method == "MKCOL" { made += 1 }
                return made > 2
            }
            let status =
                switch connection.method {
                case "MKCOL": isMade ? "405 Method Not Allowed" : "423 Locked"
                case "MOVE": isMade ? "201 Created" : "403 Forbidden"
                default: "201 Created"
                }
            connection.answer(status, ["Connection: close"])
        }
        defer { withExtendedLifetime(server) {} }
        let address = "dav://127.0.0.1:\(server.port)/x?netrc=/nonexistent"
        try StoreAddress(parsing: address).connect().put(Sample([]))
        #expect(made.withLock { $0 } == 3)
    }

    @Test func `a collection that is not there is unreachable, its blobs not absent`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        guard case .webDAV(let address) = try StoreUnderTest.davAddress("basic/none", folder) else {
            return
        }
        let store = WebDAVStore(address)
        #expect(
            kind { () throws(StoreError) in _ = try store.stat(sample.blob.hash, StoreCall()) }
                == .unreachable)
        #expect(kind { () throws(StoreError) in _ = try store.bytes(sample.blob) } == .unreachable)
        #expect(kind { () throws(StoreError) in try store.put(sample) } == .unreachable)
    }

    /// Frameworks that make the answer to HEAD without a body give that one's length.
    @Test(arguments: [["Content-Length: 0"], ["Transfer-Encoding: chunked"], []])
    func `the size of a blob is known though the answer to HEAD has none`(_ fields: [String]) throws
    {
        let size = sample.bytes.count
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                let lines = ["HTTP/1.1 200 OK"] + fields + ["", ""]
                connection.send(lines.joined(separator: "\r\n"))
                return
            }
            _ = connection.take(connection.bodySize)
            Self.tellSize(size, connection)
        }
        defer { withExtendedLifetime(server) {} }
        let store = try connected(server)
        #expect(try store.stat(sample.blob.hash, StoreCall()) == sample.blob.size)
    }

    @Test(arguments: ["405 Method Not Allowed", "501 Not Implemented"])
    func `a server that knows no HEAD is asked for sizes otherwise`(_ status: String) throws {
        let sample = sample
        let server = try HostileServer { connection in
            if connection.method == "HEAD" { return connection.answer(status) }
            _ = connection.take(connection.bodySize)
            let path = connection.head.split(separator: " ")[1]
            if path.hasSuffix(Sample([1]).blob.hash.description) {
                return connection.answer("404 Not Found")
            }
            Self.tellSize(sample.bytes.count, connection)
        }
        defer { withExtendedLifetime(server) {} }
        let store = try connected(server)
        #expect(try store.stat(sample.blob.hash, StoreCall()) == sample.blob.size)
        #expect(try store.stat(Sample([1]).blob.hash, StoreCall()) == nil)
    }

    /// Answers what the size of the asked for blob is.
    private static func tellSize(_ size: Int, _ connection: HostileConnection) {
        let path = connection.head.split(separator: " ")[1]
        let listing =
            "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>\(path)</D:href><D:propstat><D:prop>"
            + "<D:getcontentlength>\(size)</D:getcontentlength></D:prop>"
            + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
        connection.answer("207 Multi-Status", [], Array(listing.utf8))
    }

    private func connected(_ server: HostileServer) throws -> WebDAVStore {
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "dav://127.0.0.1:\(server.port)/x")
        else { throw Errno(EINVAL) }
        return WebDAVStore(address, CredentialSource([], address: ""), Timeouts())
    }
}

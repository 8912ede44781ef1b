import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// WebDAV servers whose listings tell the versions of files, and whose answers with their contents do not.
@Suite struct SilentVersionTests {
    private static let size = 9_000_000
    private static let bytes = Sample(size: size, seed: 1).bytes

    /// Such a server, and the object `/x/a` on it as it was when it had the etag `first`.
    private struct Silent {
        let server: HostileServer
        let requests = Lock<[String]>([])
        let tree: any SourceTree

        /// - Parameter etag: the one that it has now, as the server writes it.
        init(etag: String = "\"first\"", knowsRanges: Bool = true) throws {
            let requests = requests
            server = try HostileServer { connection in
                requests.withLock { $0.append(connection.method) }
                if connection.method == "PROPFIND" {
                    _ = connection.take(connection.bodySize)
                    let listing =
                        "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/x/a</D:href><D:propstat>"
                        + "<D:prop><D:getetag>\(etag)</D:getetag></D:prop>"
                        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"
                    return connection.answer("207 Multi-Status", [], Array(listing.utf8))
                }
                let asked = connection.head.split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("range: bytes=") }
                let ends = asked?.split(separator: "=").last?.split(separator: "-")
                    .compactMap { Int($0) }
                guard knowsRanges, let ends, ends.count == 2 else {
                    return connection.answer("200 OK", [], SilentVersionTests.bytes)
                }
                connection.answer(
                    "206 Partial Content",
                    ["Content-Range: bytes \(ends[0])-\(ends[1])/\(SilentVersionTests.size)"],
                    Array(SilentVersionTests.bytes[ends[0]...ends[1]]))
            }
            tree = try server.tree(isPatient: false)
        }

        func read(_ range: Range<Int64>, _ call: StoreCall = StoreCall()) throws(StoreError)
            -> [UInt8]
        {
            let sink = MemorySink(from: range.lowerBound)
            let object = SourceObject(
                path: Array("a".utf8), tag: SourceTag.of(etag: "\"first\"", modified: ""),
                blob: Blob(hash: Sample([]).blob.hash, size: Int64(SilentVersionTests.size)))
            do throws(StoreError) { try tree.read(object, range, into: sink, call) } catch {
                #expect(sink.bytes == [])
                throw error
            }
            return sink.bytes
        }
    }

    @Test func `which version has come is asked for when it has come`() throws {
        let silent = try Silent()
        let counts = Lock<[Int64]>([])
        let call = StoreCall(progress: { count in counts.withLock { $0.append(count) } })
        #expect(try silent.read(0..<Int64(Self.size), call) == Self.bytes)
        #expect(counts.withLock { $0 } == [4 << 20, 8 << 20, Int64(Self.size)])
        let first = silent.requests.withLock { $0 }
        // The first answer was not taken.
        #expect(first == ["GET"] + Array(repeating: ["GET", "PROPFIND"], count: 3).joined())
        #expect(try silent.read(1_000..<5_000) == Array(Self.bytes[1_000..<5_000]))
        #expect(silent.requests.withLock { $0.dropFirst(first.count) } == ["GET", "PROPFIND"])
    }

    @Test func `the mark of a weak etag and quotes make no other version`() throws {
        for etag in ["W/\"first\"", "first"] {
            #expect(try Silent(etag: etag).read(0..<10) == Array(Self.bytes[..<10]))
        }
    }

    @Test func `none of the bytes of another version come, and that it has changed is said`()
        throws
    {
        let silent = try Silent(etag: "\"second\"")
        for range in [0..<10, 0..<Int64(Self.size)] {
            let error = #expect(throws: StoreError.self) { try silent.read(range) }
            #expect(error?.kind == .corrupt)
            #expect(error?.reason.contains("has changed there") == true, "\(range)")
        }
    }

    @Test(arguments: [true, false])
    func `what cannot be found out is not read`(_ knowsRanges: Bool) throws {
        // Without ranges each part would come with all before it.
        let silent = try Silent(etag: knowsRanges ? "" : "\"first\"", knowsRanges: knowsRanges)
        let error = #expect(throws: StoreError.self) { try silent.read(5_000_000..<5_000_010) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.contains("does not say which version") == true)
    }
}

import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What comes of a foreign tree is of the version that was listed, and of no other.
@Suite(.serialized) struct ForeignVersionTests {
    enum Kind: String, CaseIterable { case s3, webDAV }

    private static let size = 2_000_000

    /// Runs `body` with the contents of a tree on a server: all of them are its object `a`, as it was
    /// when it had this etag.
    private func withContents(
        _ kind: Kind, etag: String, _ behaviour: @escaping HostileServer.Behaviour,
        _ body: (any ContentStore) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try StoreUnderTest.write(
            "[default]\naws_access_key_id=a\naws_secret_access_key=b\n",
            to: folder + "/credentials")
        let server = try HostileServer(behaviour)
        defer { withExtendedLifetime(server) {} }
        let tree =
            switch kind {
            case .s3:
                "s3://bucket?endpoint=http://127.0.0.1:\(server.port)&style=path&region=us-east-1"
                    + "&credentials=\(folder)/credentials"
            case .webDAV: "dav://127.0.0.1:\(server.port)?netrc=/nonexistent"
            }
        let place = ForeignContents.Place(
            tree: tree, path: Array("a".utf8), tag: SourceTag.of(etag: etag, modified: ""))
        var settings = StoreSettings()
        settings.retries.firstWait = 0.01
        let contents = ForeignContents(settings: settings) { _ in place }
        try body(Retrying(contents, settings.retries))
    }

    /// What a server answers that knows ranges, or one that does not.
    private static func answer(
        _ connection: HostileConnection, _ bytes: [UInt8], etag: String, knowsRanges: Bool = true
    ) {
        let field = "ETag: \"\(etag)\""
        let asked = connection.head.split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("range: bytes=") }
        let ends = asked?.split(separator: "=").last?.split(separator: "-").compactMap { Int($0) }
        guard knowsRanges, let ends, ends.count == 2 else {
            connection.answer("200 OK", [field], bytes)
            return
        }
        connection.answer(
            "206 Partial Content",
            [field, "Content-Range: bytes \(ends[0])-\(ends[1])/\(bytes.count)"],
            Array(bytes[ends[0]...ends[1]]))
    }

    /// A server that has the first version for so many requests, and another of the same size then.
    private static func changing(after count: Int, knowsRanges: Bool = true)
        -> HostileServer.Behaviour
    {
        let requests = Lock(0)
        return { connection in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            let isFirst = number <= count
            answer(
                connection, [UInt8](repeating: isFirst ? 1 : 2, count: size),
                etag: isFirst ? "first" : "second", knowsRanges: knowsRanges)
        }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `a content that changes between two ranges is told, and none of its bytes come`(
        _ kind: Kind, _ knowsRanges: Bool
    ) throws {
        let behaviour = Self.changing(after: 1, knowsRanges: knowsRanges)
        try withContents(kind, etag: "first", behaviour) { (contents) throws in
            let blob = Blob(hash: Sample([]).blob.hash, size: Int64(Self.size))
            #expect(
                try contents.bytes(blob, 0..<1_000_000) == [UInt8](repeating: 1, count: 1_000_000))
            let sink = MemorySink(from: 1_000_000)
            let problem = StoreTests.kind { () throws(StoreError) in
                try contents.get(blob, 1_000_000..<blob.size, into: sink, StoreCall())
            }
            #expect(problem == .corrupt)
            #expect(sink.bytes == [])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a server that sends less of a range than was asked for is asked for the rest`(
        _ kind: Kind
    )
        throws
    {
        let sample = Sample(size: Self.size, seed: 3)
        let requests = Lock(0)
        let behaviour: HostileServer.Behaviour = { connection in
            requests.withLock { $0 += 1 }
            let asked = connection.head.split(separator: "\r\n")
                .first { $0.lowercased().hasPrefix("range: bytes=") }
            let ends = asked?.split(separator: "=").last?.split(separator: "-")
                .compactMap { Int($0) }
            guard let ends, ends.count == 2 else { return }
            let end = min(ends[1], ends[0] + 299_999)
            connection.answer(
                "206 Partial Content",
                ["ETag: \"first\"", "Content-Range: bytes \(ends[0])-\(end)/\(Self.size)"],
                Array(sample.bytes[ends[0]...end]))
        }
        try withContents(kind, etag: "first", behaviour) { (contents) throws in
            #expect(
                try contents.bytes(sample.blob, 100..<1_000_100)
                    == Array(sample.bytes[100..<1_000_100]))
            #expect(requests.withLock { $0 } == 4)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a content without its etag is not read, and not said to have changed`(_ kind: Kind) throws
    {
        let sample = Sample(size: 1_000, seed: 1)
        let behaviour: HostileServer.Behaviour = { connection in
            let field = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
            connection.answer("200 OK", [field], sample.bytes)
        }
        try withContents(kind, etag: "first", behaviour) { (contents) throws in
            let sink = MemorySink()
            do throws(StoreError) {
                try contents.get(sample.blob, into: sink, StoreCall())
                Issue.record("it was read")
            } catch {
                // A refresh would bring the same.
                #expect(error.kind == .corrupt && error.reason.contains("does not say which"))
            }
            #expect(sink.bytes == [])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a content in another coding is told, and none of its bytes come`(_ kind: Kind) throws {
        let size = 5_000_000
        let requests = Lock(0)
        let behaviour: HostileServer.Behaviour = { connection in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            let fields = ["ETag: \"first\"", "Content-Encoding: gzip"]
            let part = fields + ["Content-Range: bytes 0-999999/\(size)"]
            let own = [UInt8](repeating: 1, count: 1_000_000)
            let coded = [UInt8](repeating: 2, count: 1_100_000)
            switch number {
            // It lies there in that coding.
            case 1: connection.answer("206 Partial Content", part, own)
            case 2: connection.answer("206 Partial Content", part, coded)
            case 3:
                let lines = ["HTTP/1.1 206 Partial Content"] + part
                connection.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
                connection.send(coded)
            default:
                let lines = ["HTTP/1.1 200 OK"] + fields
                connection.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
                connection.send(coded)
            }
        }
        try withContents(kind, etag: "first", behaviour) { contents in
            let blob = Blob(hash: Sample([]).blob.hash, size: Int64(size))
            let part: Range<Int64> = 0..<1_000_000
            let found = try contents.bytes(blob, part)
            #expect(found == [UInt8](repeating: 1, count: 1_000_000))
            for range in [part, part, blob.range] {
                let sink = MemorySink()
                let problem = StoreTests.kind { () throws(StoreError) in
                    try contents.get(blob, range, into: sink, StoreCall())
                }
                #expect(problem == .corrupt, "\(range)")
                #expect(sink.bytes == [], "\(range)")
            }
            #expect(requests.withLock { $0 } == 4)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a content in another coding is not said to have changed or to be too long`(_ kind: Kind)
        throws
    {
        let sample = Sample(size: 1_000, seed: 1)
        let isMeasured = Lock(true)
        let behaviour: HostileServer.Behaviour = { connection in
            let coded = [UInt8](repeating: 2, count: 1_100)
            let fields = ["ETag: \"first\"", "Content-Encoding: gzip"]
            if isMeasured.withLock({ $0 }) { return connection.answer("200 OK", fields, coded) }
            let lines = ["HTTP/1.1 200 OK"] + fields
            connection.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
            connection.send(coded)
        }
        try withContents(kind, etag: "first", behaviour) { (contents) throws in
            for measured in [true, false] {
                isMeasured.withLock { $0 = measured }
                let sink = MemorySink()
                do throws(StoreError) {
                    try contents.get(sample.blob, into: sink, StoreCall())
                    Issue.record("it was read")
                } catch {
                    // A refresh would bring the same.
                    #expect(error.kind == .corrupt, "\(measured)")
                    #expect(error.reason.contains("another coding: gzip"), "\(error.reason)")
                }
                #expect(sink.bytes == [])
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a small content in another coding is not gone on with behind what came of it`(
        _ kind: Kind
    ) throws {
        let size = 1_000_000
        let own = [UInt8](repeating: 1, count: size)
        let requests = Lock(0)
        let behaviour: HostileServer.Behaviour = { connection in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            let lines = ["HTTP/1.1 200 OK", "ETag: \"first\"", "Content-Encoding: gzip"]
            let coded = [UInt8](repeating: 2, count: 400_000)
            switch number {
            case 1:
                connection.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
                connection.send(coded)
            // Breaks off within a chunk.
            case 2:
                let chunked = lines + ["Transfer-Encoding: chunked", "", "f4240"]
                connection.send(chunked.map { $0 + "\r\n" }.joined())
                connection.send(coded)
            // It lies there in that coding.
            default:
                connection.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
                connection.send(own)
            }
        }
        try withContents(kind, etag: "first", behaviour) { contents in
            let blob = Blob(hash: Sample([]).blob.hash, size: Int64(size))
            let sink = MemorySink()
            let problem = StoreTests.kind { () throws(StoreError) in
                try contents.get(blob, blob.range, into: sink, StoreCall())
            }
            #expect(problem == .corrupt)
            #expect(sink.bytes == [])
            let found = try contents.bytes(blob, blob.range)
            #expect(found == own)
            #expect(requests.withLock { $0 } == 3)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a transfer that breaks off does not go on with another version`(_ kind: Kind) throws {
        let changed = Self.changing(after: 0)
        let requests = Lock(0)
        let behaviour: HostileServer.Behaviour = { connection in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            guard number == 1 else { return changed(connection) }
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\nETag: \"first\"\r\n\r\n")
            connection.send([UInt8](repeating: 1, count: 500_000))
        }
        try withContents(kind, etag: "first", behaviour) { contents in
            let blob = Blob(hash: Sample([]).blob.hash, size: Int64(Self.size))
            let sink = MemorySink()
            let problem = StoreTests.kind { () throws(StoreError) in
                try contents.get(blob, into: sink, StoreCall())
            }
            #expect(problem == .corrupt)
            #expect(sink.bytes.allSatisfy { $0 == 1 })
            #expect(requests.withLock { $0 } == 2)
        }
    }

    /// Reads the sample, which is one with this etag, several times from a server of S3 that answers
    /// with these bytes one after the other, and with the last of them from then on.
    private func read(
        _ sample: Sample, times: Int = 1, etag: String, _ answers: [[UInt8]],
        fields: [String] = []
    ) throws -> (results: [[UInt8]?], requests: Int) {
        let requests = Lock(0)
        let behaviour: HostileServer.Behaviour = { connection in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            connection.answer(
                "200 OK", ["ETag: \"\(etag)\""] + fields, answers[min(number, answers.count) - 1])
        }
        var results: [[UInt8]?] = []
        try withContents(.s3, etag: etag, behaviour) { contents in
            for _ in 0..<times {
                do throws(StoreError) { results.append(try contents.bytes(sample.blob)) } catch {
                    #expect(error.kind == .corrupt)
                    results.append(nil)
                }
            }
        }
        return (results, requests.withLock { $0 })
    }

    @Test func `bytes that are not those of an etag that is an MD5 come again`() throws {
        let sample = Sample(size: 100_000, seed: 4)
        let etag = Hexadecimal.text(RunningDigest.of(sample.bytes, .md5))
        var wrong = sample.bytes
        wrong[500] ^= 1
        var other = sample.bytes
        other[700] ^= 1
        let right = try read(sample, times: 2, etag: etag, [sample.bytes])
        #expect(right.results == [sample.bytes, sample.bytes] && right.requests == 2)
        let once = try read(sample, etag: etag, [wrong, sample.bytes])
        #expect(once.results == [sample.bytes] && once.requests == 2)
        let never = try read(sample, etag: etag, [wrong, other])
        #expect(never.results == [nil] && never.requests == 2)
    }

    @Test func `an etag that only looks like an MD5 does no harm`() throws {
        let sample = Sample(size: 100_000, seed: 4)
        let etag = String(repeating: "a", count: 32)
        // It is found out once.
        let found = try read(sample, times: 3, etag: etag, [sample.bytes])
        #expect(found.results == [sample.bytes, sample.bytes, sample.bytes])
        #expect(found.requests == 4)
        let told = try read(
            sample, times: 2, etag: etag, [sample.bytes],
            fields: ["x-amz-server-side-encryption: aws:kms"])
        #expect(told.results == [sample.bytes, sample.bytes] && told.requests == 2)
    }
}

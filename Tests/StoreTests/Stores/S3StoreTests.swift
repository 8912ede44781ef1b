import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What only S3 has, on real servers where there are such.
@Suite(.serialized) struct S3StoreTests {
    private func withStore(
        _ server: S3Server, _ body: (S3Address, String) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        guard
            case .s3(let address) = try StoreUnderTest.s3Address(
                "only\(MonotonicClock.now)", folder, server: server)
        else { return }
        try body(address, folder)
    }

    @Test(arguments: S3Server.allCases)
    func `a wrong secret is denied, and not repeated`(_ server: S3Server) throws {
        try withStore(server) { address, folder in
            let identity = try server.words()[1]
            try StoreUnderTest.write(
                "[default]\naws_access_key_id=\(identity)\naws_secret_access_key=wrong-secret\n",
                to: folder + "/credentials")
            let store = S3Store(address)
            do throws(StoreError) {
                try store.put(Sample(size: 10, seed: 1))
                Issue.record("the server took a wrong signature")
            } catch {
                #expect(error.kind == .denied)
                #expect(!error.description.contains("wrong-secret"))
                #expect(!error.description.contains(identity))
            }
        }
    }

    @Test(arguments: S3Server.allCases)
    func `without credentials it is denied and said why`(_ server: S3Server) throws {
        try withStore(server) { address, _ in
            var address = address
            address.credentialsFile = "/nonexistent/file"
            let found = kind { () throws(StoreError) in
                _ = try S3Store(address).stat(Sample(size: 1, seed: 1).blob.hash, StoreCall())
            }
            #expect(found == .denied)
        }
    }

    @Test(arguments: S3Server.allCases)
    func `a bucket that is not there is unreachable, its blobs not absent`(_ server: S3Server)
        throws
    {
        try withStore(server) { address, _ in
            var address = address
            address.bucket = "no-such-bucket"
            let store = S3Store(address)
            let sample = Sample(size: 10, seed: 1)
            #expect(
                kind { () throws(StoreError) in _ = try store.stat(sample.blob.hash, StoreCall()) }
                    == .unreachable)
            #expect(
                kind { () throws(StoreError) in _ = try store.bytes(sample.blob) }
                    == .unreachable)
            #expect(kind { () throws(StoreError) in try store.put(sample) } == .unreachable)
            #expect(
                kind { () throws(StoreError) in
                    _ = try store.list(after: nil, limit: 1, StoreCall())
                } == .unreachable)
        }
    }

    @Test(arguments: S3Server.allCases)
    func `an upload in parts that was cut off goes on`(_ server: S3Server) throws {
        try withStore(server) { address, _ in
            let store = S3Store(address)
            try store.prepare(StoreCall())
            let sample = Sample(size: 33_000_000, seed: 2)
            let cancellation = Cancellation()
            let call = StoreCall(
                cancellation: cancellation,
                progress: { if $0 > 20_000_000 { cancellation.cancel() } })
            #expect(kind { () throws(StoreError) in try store.put(sample, call) } == .cancelled)
            // As another process would: nothing is remembered here.
            let counts = Lock<[Int64]>([])
            let again = StoreCall(progress: { count in counts.withLock { $0.append(count) } })
            try S3Store(address).put(sample, again)
            // The first two parts of 8 MiB were only compared.
            #expect(counts.withLock { Array($0.prefix(2)) } == [8 << 20, 16 << 20])
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
    }

    @Test func `removing what is not there is no error, whatever the server says of it`() throws {
        for (body, isError) in [
            ("", false), ("<Error><Code>NoSuchKey</Code></Error>", false),
            ("<Error><Code>NoSuchBucket</Code></Error>", true),
        ] {
            let server = try HostileServer { $0.answer("404 Not Found", [], Array(body.utf8)) }
            let store = try connected(server)
            let found = kind { () throws(StoreError) in
                try store.delete(Sample([9]).blob.hash, StoreCall())
            }
            let expected: StoreError.Kind? = isError ? .unreachable : nil
            #expect(found == expected)
        }
    }

    @Test func `a list of parts that does not end is given up`() throws {
        let sample = Sample(size: 17 << 20, seed: 6)
        let key = "\(sample.blob.hash.fanOut)/\(sample.blob.hash)"
        let pages = Lock(0)
        let server = try HostileServer { connection in
            let target = String(connection.head.prefix { $0 != "\r\n" })
            var body = ""
            if target.contains("uploads=") {
                body =
                    "<ListMultipartUploadsResult><Upload><Key>\(key)</Key><UploadId>u</UploadId>"
                    + "</Upload></ListMultipartUploadsResult>"
            } else if target.hasPrefix("GET") {
                let page = pages.withLock { pages in
                    pages += 1
                    return pages
                }
                body =
                    "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>\(page)"
                    + "</NextPartNumberMarker></ListPartsResult>"
            } else if target.hasPrefix("HEAD") {
                // The bucket is there, the blob is not.
                return connection.answer(target.contains(key) ? "404 Not Found" : "200 OK")
            } else {
                return connection.answer("403 Forbidden")
            }
            connection.answer("200 OK", [], Array(body.utf8))
        }
        let store = try connected(server)
        #expect(kind { () throws(StoreError) in try store.put(sample) } != nil)
        #expect((1...3).contains(pages.withLock { $0 }))
    }

    /// A server that has an upload which it never completes, whatever it says of its parts, and completes
    /// others unless told not to.
    private func refusing(
        _ sample: Sample, all: Bool, _ seen: Lock<[String]>
    ) throws -> HostileServer {
        let key = "\(sample.blob.hash.fanOut)/\(sample.blob.hash)"
        let completed = Lock(false)
        return try HostileServer { connection in
            let target = String(connection.head.prefix { $0 != "\r\n" })
            func names(_ upload: String) -> Bool { target.contains("uploadId=\(upload) ") }
            let body: String
            if target.hasPrefix("GET"), target.contains("uploads=") {
                body =
                    "<ListMultipartUploadsResult><Upload><Key>\(key)</Key><UploadId>lost</UploadId>"
                    + "</Upload></ListMultipartUploadsResult>"
            } else if target.hasPrefix("POST"), target.contains("uploads=") {
                body = "<R><UploadId>fresh</UploadId></R>"
            } else if target.hasPrefix("GET") {
                body = "<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>"
            } else if target.hasPrefix("PUT") {
                connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.take(connection.bodySize)
                return connection.answer("200 OK", ["ETag: \"tag\""])
            } else if target.hasPrefix("HEAD") {
                guard target.contains(key) else { return connection.answer("200 OK") }
                guard completed.withLock({ $0 }) else { return connection.answer("404 Not Found") }
                return connection.answer("200 OK", [], sample.bytes)
            } else if target.hasPrefix("POST") {
                _ = connection.take(connection.bodySize)
                seen.withLock { $0.append(names("lost") ? "lost" : "fresh") }
                if names("lost") || all {
                    let problem = "<Error><Code>InvalidPart</Code><Message>Gone.</Message></Error>"
                    return connection.answer("400 Bad Request", [], Array(problem.utf8))
                }
                completed.withLock { $0 = true }
                body = "<CompleteMultipartUploadResult/>"
            } else {
                seen.withLock { $0.append(target.hasPrefix("DELETE") ? "removed" : target) }
                return connection.answer("204 No Content")
            }
            connection.answer("200 OK", [], Array(body.utf8))
        }
    }

    @Test func `an upload in parts that the server does not complete is begun anew`() throws {
        let sample = Sample([UInt8](repeating: 7, count: 17 << 20))
        let seen = Lock<[String]>([])
        let server = try refusing(sample, all: false, seen)
        try connected(server).put(sample)
        #expect(seen.withLock { $0 } == ["lost", "removed", "fresh"])
    }

    @Test func `an upload in parts that is refused anew as well fails by itself, and says why`()
        throws
    {
        let sample = Sample([UInt8](repeating: 7, count: 17 << 20))
        let seen = Lock<[String]>([])
        let server = try refusing(sample, all: true, seen)
        let store = try connected(server)
        do throws(StoreError) {
            try store.put(sample)
            Issue.record("it was put")
        } catch {
            #expect(error.kind == .corrupt)
            #expect(error.reason.contains("InvalidPart"), "\(error)")
        }
        #expect(seen.withLock { $0 } == ["lost", "removed", "fresh"])
    }

    @Test func `a completion that fails after its status was sent is tried again`() throws {
        let server = try HostileServer { connection in
            let problem = "<Error><Code>InternalError</Code><Message>Again.</Message></Error>"
            connection.answer("200 OK", [], Array(problem.utf8))
        }
        let store = try connected(server)
        let large = Blob(hash: Sample([8]).blob.hash, size: 17 << 20)
        do throws(StoreError) {
            // It is not begun: nothing is read.
            try store.put(large, from: MemorySource([]), StoreCall())
            Issue.record("it was put")
        } catch {
            #expect(error.isTransient, "\(error)")
        }
    }

    /// What a server says of a request whose time is too far from its own.
    private static func lateness(_ time: String = "") -> [UInt8] {
        Array(
            "<Error><Code>RequestTimeTooSkewed</Code><Message>too large</Message>\(time)</Error>"
                .utf8
        )
    }

    @Test(arguments: [true, false])
    func `a clock that is wrong is corrected`(_ isInHead: Bool) throws {
        let seen = Lock<[String]>([])
        let server = try HostileServer { connection in
            let line = connection.head.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix("x-amz-date: ")
            }
            let date = String(line?.dropFirst(12) ?? "")
            seen.withLock { $0.append(date) }
            if date.hasPrefix("20330518") {
                connection.answer("200 OK", [], [9])
            } else {
                let field = "Date: Wed, 18 May 2033 12:00:00 GMT"
                let time = "<ServerTime>2033-05-18T12:00:00Z</ServerTime>"
                connection.answer(
                    "403 Forbidden", isInHead ? [field] : [], Self.lateness(isInHead ? "" : time))
            }
        }
        let store = try connected(server)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(seen.withLock { $0.count } == 2)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(seen.withLock { $0.count } == 3)
    }

    @Test func `a clock that cannot be corrected is named, and not the credentials`() throws {
        let server = try HostileServer { $0.answer("403 Forbidden", [], Self.lateness()) }
        let store = try connected(server)
        do throws(StoreError) {
            _ = try store.bytes(Sample([9]).blob)
            Issue.record("it came")
        } catch {
            #expect(error.kind == .denied)
            #expect(error.reason.contains("this machine's clock"), "\(error)")
            #expect(!error.reason.contains("credentials"), "\(error)")
        }
    }

    @Test func `a bucket in another region is followed there`() throws {
        let seen = Lock<[Bool]>([])
        let server = try HostileServer { connection in
            let isRight = connection.head.contains("/eu-west-9/s3/aws4_request")
            seen.withLock { $0.append(isRight) }
            if isRight {
                connection.answer("200 OK", [], [9])
            } else {
                connection.answer("301 Moved Permanently", ["x-amz-bucket-region: eu-west-9"])
            }
        }
        let store = try connected(server)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(seen.withLock { $0 } == [false, true, true])
    }

    @Test func `a token that has run out is replaced, though Amazon says so with 400`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let file = folder + "/credentials"
        func write(_ identity: String) throws {
            try StoreUnderTest.write(
                "[default]\naws_access_key_id=\(identity)\naws_secret_access_key=b\n", to: file)
        }
        let server = try HostileServer { connection in
            if connection.head.contains("Credential=fresh/") {
                return connection.answer("200 OK", [], [9])
            }
            let body = "<Error><Code>ExpiredToken</Code><Message>It has.</Message></Error>"
            connection.answer("400 Bad Request", [], Array(body.utf8))
        }
        let address = try StoreAddress(
            parsing: "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1"
                + "&credentials=\(file)")
        for asksForSize in [false, true] {
            try write("stale")
            let store = address.connect()
            #expect(
                kind { () throws(StoreError) in _ = try store.bytes(Sample([9]).blob) } != nil)
            try write("fresh")
            if asksForSize {
                // Without a body that would tell the reason.
                #expect(try store.stat(Sample([9]).blob.hash, StoreCall()) == 1)
            } else {
                #expect(try store.bytes(Sample([9]).blob) == [9])
            }
        }
    }

    @Test func `where a redirect led is not asked for ever`() throws {
        let isMoved = Lock(true)
        let other = try HostileServer { connection in
            let isRight = isMoved.withLock { $0 }
            if isRight { connection.answer("200 OK", [], [9]) } else { connection.reset() }
        }
        let server = try HostileServer { connection in
            if isMoved.withLock({ $0 }) {
                let path = connection.head.split(separator: " ")[1]
                connection.answer(
                    "307 Temporary Redirect",
                    ["Location: http://127.0.0.1:\(other.port)\(path)"])
            } else {
                connection.answer("200 OK", [], [9])
            }
        }
        let store = try connected(server)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(server.connections == 1)
        isMoved.withLock { $0 = false }
        let problem = kind { () throws(StoreError) in _ = try store.bytes(Sample([9]).blob) }
        #expect(problem == .unreachable)
        #expect(try store.bytes(Sample([9]).blob) == [9])
        #expect(server.connections == 2)
    }

    @Test(arguments: ["path", "virtual"], ["blobs.localhost", "localhost"])
    func `a redirect names the bucket in its host or in its path`(_ style: String, _ host: String)
        throws
    {
        let inHost = host.hasPrefix("blobs.")
        let asked = Lock<[String]>([])
        let other = try HostileServer { connection in
            let path = String(connection.head.split(separator: " ")[1].prefix { $0 != "?" })
            asked.withLock { $0.append(path) }
            guard path.hasPrefix("/blobs") != inHost,
                connection.head.lowercased().contains("\r\nhost: \(host):")
            else { return connection.answer("404 Not Found") }
            let listing = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
            let isObject = path.split(separator: "/").count > (inHost ? 0 : 1)
            connection.answer("200 OK", [], isObject ? [9] : Array(listing.utf8))
        }
        let server = try HostileServer { connection in
            let path = connection.head.split(separator: " ")[1]
            let key = style == "path" ? path.dropFirst("/blobs".utf8.count) : path
            let place = (inHost ? "" : "/blobs") + (key.hasPrefix("?") && inHost ? "/" : "") + key
            connection.answer(
                "307 Temporary Redirect", ["Location: http://\(host):\(other.port)\(place)"])
        }
        defer { withExtendedLifetime((server, other)) {} }
        for asksForBucket in [false, true] {
            let store = try connected(server, style: style)
            if asksForBucket {
                #expect(try store.page(after: nil, StoreCall()).isLast)
            }
            #expect(try store.bytes(Sample([9]).blob) == [9], "\(asked.withLock { $0 })")
            #expect(try store.bytes(Sample([9]).blob) == [9])
        }
        // Each store was sent there once.
        #expect(server.connections == 2)
    }

    private func connected(_ server: HostileServer, style: String = "path") throws -> S3Store {
        let host = style == "path" ? "127.0.0.1" : "localhost"
        let address = try StoreAddress(
            parsing: "s3://blobs?endpoint=http://\(host):\(server.port)&region=us-east-1"
                + "&style=\(style)")
        guard case .s3(let address) = address else { preconditionFailure("not an S3 address") }
        // Any words do: the server does not check them.
        let source = CredentialSource(
            [.environment(identity: "PATH", secret: "PATH", token: nil)], address: "test")
        return S3Store(address, source, Timeouts())
    }
}

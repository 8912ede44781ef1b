import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// Servers that answer nonsense, little, too much, slowly or never.
@Suite(.serialized) struct HostileServerTests {
    private let sample = Sample(size: 100_000, seed: 7)

    /// Bounds small enough to be waited for.
    private static let short: Timeouts = {
        var timeouts = Timeouts()
        timeouts.connect = 5
        timeouts.stall = 0.6
        timeouts.answer = 1
        timeouts.slowest = 100_000
        return timeouts
    }()

    /// Bounds that nothing reaches which goes on, however busy the machine is.
    private static let long: Timeouts = {
        var timeouts = short
        timeouts.stall = 5
        timeouts.answer = 5
        return timeouts
    }()

    private func stores(
        _ server: HostileServer, _ timeouts: Timeouts = Self.long
    ) throws -> [any ContentStore] {
        let source = CredentialSource(
            [.environment(identity: "PATH", secret: "PATH", token: nil)], address: "test")
        let s3 = try StoreAddress(
            parsing: "s3://blobs/x?endpoint=http://127.0.0.1:\(server.port)&region=r-1")
        let dav = try StoreAddress(parsing: "dav://127.0.0.1:\(server.port)/store")
        guard case .s3(let s3) = s3, case .webDAV(let dav) = dav else { return [] }
        return [S3Store(s3, source, timeouts), WebDAVStore(dav, source, timeouts)]
    }

    /// What a get of the sample ends with, for each kind of store.
    private func get(
        within seconds: Double, timeouts: Timeouts = Self.long,
        _ behaviour: @escaping HostileServer.Behaviour
    ) throws -> [StoreError.Kind?] {
        let server = try HostileServer(behaviour)
        return try stores(server, timeouts).map { store in
            let start = MonotonicClock.now
            defer {
                let spent = Double(MonotonicClock.now - start) / 1e9
                #expect(spent < seconds, "\(store.address) took \(spent) s")
            }
            return kind { () throws(StoreError) in
                _ = try Verifying(store).bytes(sample.blob)
            }
        }
    }

    @Test func `a server that does not speak HTTP is unreachable`() throws {
        #expect(
            try get(within: 10) { $0.send("220 smtp ready\r\n\r\n") } == [
                .unreachable, .unreachable,
            ])
        #expect(try get(within: 10) { _ in } == [.unreachable, .unreachable])
        #expect(try get(within: 10) { $0.reset() } == [.unreachable, .unreachable])
    }

    @Test func `nobody there is unreachable at once`() throws {
        let port = try HostileServer({ _ in }).port
        guard
            case .webDAV(let address) = try StoreAddress(parsing: "dav://127.0.0.1:\(port)/x")
        else { return }
        let store = WebDAVStore(address, CredentialSource([], address: ""), Self.long)
        #expect(kind { () throws(StoreError) in _ = try store.bytes(sample.blob) } == .unreachable)
    }

    @Test func `a removal that breaks off is not sent again unless somebody knows`() throws {
        let removals = Lock(0)
        let server = try HostileServer { connection in
            repeat {
                if connection.method == "DELETE" {
                    removals.withLock { $0 += 1 }
                    return
                }
                connection.answer("404 Not Found")
            } while connection.readHead()
        }
        let stores = try stores(server)
        for store in stores {
            // Its connection is kept.
            _ = try? store.stat(sample.blob.hash, StoreCall())
            #expect(
                kind { () throws(StoreError) in
                    try store.delete(sample.blob.hash, StoreCall())
                } == .unreachable)
        }
        #expect(removals.withLock { $0 } == stores.count)
    }

    @Test func `a transfer that is cut off is unreachable, and so may be tried again`() throws {
        let bytes = sample.bytes
        let found = try get(within: 10) { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            connection.send(Array(bytes.prefix(50_000)))
        }
        #expect(found == [.unreachable, .unreachable])
    }

    @Test func `wrong lengths and wrong bytes are corrupt`() throws {
        let bytes = sample.bytes
        #expect(
            try get(within: 10) { $0.answer("200 OK", [], Array(bytes.dropLast())) }
                == [.corrupt, .corrupt])
        #expect(
            try get(within: 10) { $0.answer("200 OK", [], bytes + [0]) } == [.corrupt, .corrupt])
        // Without a length, and more than there should be: stopped, not swallowed.
        #expect(
            try get(within: 10) { connection in
                connection.send("HTTP/1.1 200 OK\r\n\r\n")
                while connection.send(bytes) {}
            } == [.corrupt, .corrupt])
        var wrong = bytes
        wrong[5] ^= 4
        let flipped = wrong
        #expect(try get(within: 10) { $0.answer("200 OK", [], flipped) } == [.corrupt, .corrupt])
        let ranged = { @Sendable (connection: HostileConnection) in
            connection.answer(
                "206 Partial Content", ["Content-Range: bytes 5-99/100000"], Array(bytes[5..<100]))
        }
        #expect(try get(within: 10, ranged) == [.corrupt, .corrupt])
    }

    @Test func `a part in another coding is not taken for the bytes that were asked for`() throws {
        let bytes = sample.bytes
        let server = try HostileServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            connection.send(bytes)
        }
        for store in try stores(server) {
            let problem = kind { () throws(StoreError) in
                _ = try store.bytes(sample.blob, 0..<1_000)
            }
            #expect(problem == .corrupt)
        }
    }

    /// It ignores ranges, or sends more than was asked for and says so.
    @Test(arguments: ["200 OK", "206 Partial Content"])
    func `of an answer that goes on behind the part no more is read`(_ status: String) throws {
        let size: Int64 = 1 << 30
        let blob = Blob(hash: sample.blob.hash, size: size)
        let sent = Lock(0)
        let server = try HostileServer { connection in
            let range = "Content-Range: bytes 0-\(size - 1)/\(size)\r\n"
            connection.send(
                "HTTP/1.1 \(status)\r\nContent-Length: \(size)\r\n"
                    + (status.hasPrefix("206") ? range : "") + "\r\n")
            let bytes = [UInt8](repeating: 7, count: 1 << 16)
            while sent.withLock({ $0 }) < size, connection.send(bytes) {
                sent.withLock { $0 += bytes.count }
            }
        }
        for store in try stores(server) {
            sent.withLock { $0 = 0 }
            let part = try store.bytes(blob, 1_000..<2_000)
            #expect(part == [UInt8](repeating: 7, count: 1_000))
            // What the kernel holds on both sides has gone too.
            #expect(sent.withLock { $0 } < 64 << 20)
        }
    }

    @Test func `a head without end is refused`() throws {
        let found = try get(within: 10) { connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-Filler: \(String(repeating: "x", count: 900))\r\n") {}
        }
        #expect(found == [.refused(status: 200), .refused(status: 200)])
        let heads = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 1_000)
        let interim = try get(within: 10) { connection in while connection.send(heads) {} }
        #expect(interim == [.refused(status: 102), .refused(status: 102)])
    }

    @Test func `redirects in circles end`() throws {
        for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
            let server = try HostileServer { connection in
                let path = connection.head.split(separator: " ")[1]
                let host =
                    connection.head.split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
                connection.answer(status, ["Location: http://\(host)\(path)"])
            }
            for store in try stores(server) {
                let problem = kind { () throws(StoreError) in _ = try store.bytes(sample.blob) }
                #expect(problem == .refused(status: 0))
            }
            #expect(server.connections <= 12)
        }
    }

    @Test func `a server that closes each kept connection at the next request is no dead one`()
        throws
    {
        let server = try HostileServer { connection in
            connection.answer("200 OK", [], [9])
            // The next one gets no answer: it came in the moment of the end.
            _ = connection.readHead()
        }
        for store in try stores(server) {
            for _ in 0..<20 { #expect(try store.bytes(Sample([9]).blob) == [9]) }
        }
        #expect(server.connections >= 40)
    }

    @Test func `a redirect to another server is not followed with the password`() throws {
        let other = try HostileServer { $0.answer("200 OK") }
        let server = try HostileServer { connection in
            connection.answer("302 Found", ["Location: http://127.0.0.1:\(other.port)/"])
        }
        let store = try stores(server)[1]
        #expect(
            kind { () throws(StoreError) in _ = try store.bytes(sample.blob) }
                == .refused(status: 302))
        #expect(other.connections == 0)
    }

    @Test func `silence and drips time out`() throws {
        let timedOut: [StoreError.Kind?] = [.timedOut, .timedOut]
        #expect(
            try get(within: 10, timeouts: Self.short) { $0.pause(milliseconds: 15_000) }
                == timedOut)
        #expect(
            try get(within: 10, timeouts: Self.short) { connection in
                connection.send("HTTP/1.1 200 OK\r\nX: ")
                while connection.send("x") { connection.pause(milliseconds: 100) }
            } == timedOut)
        #expect(
            try get(within: 10, timeouts: Self.short) { connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")
                connection.pause(milliseconds: 15_000)
            } == timedOut)
        #expect(
            try get(within: 10, timeouts: Self.short) { connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while connection.send("x") { connection.pause(milliseconds: 100) }
            } == timedOut)
    }

    @Test func `a put to a server that does not read times out`() throws {
        let server = try HostileServer { $0.pause(milliseconds: 15_000) }
        let large = Sample(size: 12_000_000, seed: 1)
        for store in try stores(server, Self.short) {
            let start = MonotonicClock.now
            #expect(kind { () throws(StoreError) in try store.put(large) } == .timedOut)
            #expect(MonotonicClock.now - start < 10_000_000_000)
        }
    }

    /// As a proxy does that does not pass on the server's answer before the body has come.
    @Test(arguments: [true, false])
    func `a put of what S3 has is done, though the connection is all that ends`(isThere: Bool)
        throws
    {
        let sample = Sample(size: 3_000_000, seed: 2)
        let server = try HostileServer { connection in
            if connection.method == "HEAD" {
                let isObject = isThere && !connection.head.hasPrefix("HEAD /blobs HTTP")
                return connection.answer(
                    isObject ? "200 OK" : "404 Not Found", [],
                    isObject ? sample.bytes : [])
            }
            connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            _ = connection.take(1_000_000)
            connection.reset()
        }
        let store = try #require(try stores(server).first)
        let problem = kind { () throws(StoreError) in try store.put(sample) }
        #expect(problem == (isThere ? nil : .unreachable))
    }

    @Test(arguments: [100_000, 600_000])
    func `a put to a server that reads slowly comes to its end`(size: Int) throws {
        let sample = Sample(size: size, seed: 3)
        let server = try HostileServer { connection in
            repeat {
                if connection.head.contains("100-continue") {
                    connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                }
                // What was put is got back.
                if connection.method == "GET" {
                    connection.answer("200 OK", [], sample.bytes)
                    continue
                }
                var left = connection.bodySize
                while left > 0 {
                    left -= max(connection.take(min(left, size / 25)).count, 1)
                    connection.pause(milliseconds: 100)
                }
                connection.answer("200 OK")
            } while connection.readHead()
        }
        // Longer than either bound, during which the system has taken all that is sent.
        var (call, timeouts) = (StoreCall(), Self.short)
        call.replaces = true
        timeouts.slowest = 10_000
        for store in try stores(server, timeouts) {
            try store.put(sample, call)
        }
    }

    @Test func `cancelling a call that gets no answer takes less than 100 ms`() throws {
        let server = try HostileServer { $0.pause(milliseconds: 15_000) }
        for store in try stores(server) {
            var late: [UInt64] = []
            for _ in 0..<3 {
                let cancellation = Cancellation()
                let cancelledAt = Lock(UInt64(0))
                Threads.start("cancel") {
                    HostileServerTests.pause(milliseconds: 150)
                    cancelledAt.withLock { $0 = MonotonicClock.now }
                    cancellation.cancel()
                }
                let problem = kind { () throws(StoreError) in
                    _ = try store.stat(
                        sample.blob.hash, StoreCall(cancellation: cancellation))
                }
                #expect(problem == .cancelled)
                late.append(MonotonicClock.now - cancelledAt.withLock { $0 })
            }
            #expect(late.min() ?? .max < 100_000_000)
        }
    }

    private static func pause(milliseconds: UInt64) {
        try? Cancellation().sleep(nanoseconds: milliseconds * 1_000_000, at: "")
    }

    @Test func `statuses mean what they should`() throws {
        let meanings: [(String, StoreError.Kind)] = [
            ("403 Forbidden", .denied), ("401 Unauthorized", .denied),
            ("429 Slow", .refused(status: 429)),
            ("500 Oops", .refused(status: 500)), ("503 Busy", .refused(status: 503)),
            ("507 Full", .full), ("418 Teapot", .refused(status: 418)), ("416 Range", .corrupt),
        ]
        for (status, meaning) in meanings {
            #expect(try get(within: 10) { $0.answer(status) } == [meaning, meaning])
        }
    }

    @Test func `a listing that is garbage, endless or a bomb is corrupt`() throws {
        let bomb =
            "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>"
        let deep = String(repeating: "<a>", count: 100_000)
        // It does not say that it is the last page: what is not in it would be taken for removed.
        let endless = "<ListBucketResult></ListBucketResult>"
        for body in ["", "hello", "<multistatus", bomb, deep, "<a></b>", endless] {
            let server = try HostileServer { $0.answer("200 OK", [], Array(body.utf8)) }
            let first = try stores(server)[0]
            #expect(
                kind { () throws(StoreError) in
                    _ = try first.list(after: nil, limit: 10, StoreCall())
                } == .corrupt)
            let dav = try HostileServer { $0.answer("207 Multi-Status", [], Array(body.utf8)) }
            let second = try stores(dav)[1]
            #expect(
                kind { () throws(StoreError) in
                    _ = try second.list(after: nil, limit: 10, StoreCall())
                } == .corrupt)
        }
    }

    /// What a listing with this in it ends with, and how long that takes, in seconds.
    private func list(_ inside: String) throws -> (StoreError.Kind?, Double) {
        let body = Array(
            "<ListBucketResult\(inside)<IsTruncated>false</IsTruncated></ListBucketResult>".utf8)
        let server = try HostileServer { $0.answer("200 OK", [], body) }
        let store = try stores(server)[0]
        let start = MonotonicClock.now
        let problem = kind { () throws(StoreError) in
            _ = try store.list(after: nil, limit: 10, StoreCall())
        }
        return (problem, Double(MonotonicClock.now - start) / 1e9)
    }

    @Test func `a listing that is dear to understand is refused`() throws {
        // Each element has namespaces of its own, and with them a copy of all that are around it.
        let namespaces = (0..<20_000).map { " xmlns:a\($0)=\"u\"" }.joined()
        let elements = String(repeating: "<b xmlns:c=\"\"/>", count: 20_000)
        let (dear, seconds) = try list(namespaces + ">" + elements)
        #expect(dear == .corrupt)
        #expect(seconds < 3, "it took \(seconds) s")
        #expect(try list(">" + String(repeating: "<b/>", count: 1_000_000)).0 == .corrupt)
        // A page as large as there is one.
        let object =
            "<Contents><Key>a</Key>" + String(repeating: "<b>c</b>", count: 13) + "</Contents>"
        #expect(try list(">" + String(repeating: object, count: 1_000)).0 == nil)
    }
}

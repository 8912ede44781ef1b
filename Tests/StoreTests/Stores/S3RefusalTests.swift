import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What S3's servers refuse, and why they say they do.
@Suite struct S3RefusalTests {
    private func connected(_ server: HostileServer) throws -> any ContentStore {
        try StoreAddress(
            parsing: "s3://blobs?endpoint=http://127.0.0.1:\(server.port)&region=us-east-1"
                + "&credential-command=/usr/bin/printf%20username=me\\npassword=geheim"
        ).connect()
    }

    private static func problem(_ code: String, _ more: String = "") -> [UInt8] {
        Array("<Error><Code>\(code)</Code><Message>Words.</Message>\(more)</Error>".utf8)
    }

    /// The answer to HEAD has no body that would tell.
    @Test(arguments: [true, false])
    func `why a HEAD is refused is asked for`(_ isBucket: Bool) throws {
        for (code, words, isCredentials) in [
            ("RequestTimeTooSkewed", "this machine's clock", false),
            ("AccessDenied", "AccessDenied, Words.", true),
            ("InvalidAccessKeyId", "InvalidAccessKeyId, Words.", true),
        ] {
            let server = try HostileServer {
                $0.answer("403 Forbidden", [], Self.problem(code))
            }
            let store = try connected(server)
            do throws(StoreError) {
                if isBucket {
                    try store.prepare(StoreCall())
                } else {
                    _ = try store.stat(Sample([9]).blob.hash, StoreCall())
                }
                Issue.record("it was allowed")
            } catch {
                #expect(error.kind == .denied)
                #expect(error.reason.contains(words), "\(error)")
                #expect(error.reason.contains("credentials") == isCredentials, "\(error)")
            }
        }
    }

    @Test func `a clock that only the answer to GET tells of is corrected for HEAD, too`() throws {
        let server = try HostileServer { connection in
            if connection.head.lowercased().contains("x-amz-date: 20330518") {
                return connection.answer("200 OK", [], [9])
            }
            let time = "<ServerTime>2033-05-18T12:00:00Z</ServerTime>"
            connection.answer("403 Forbidden", [], Self.problem("RequestTimeTooSkewed", time))
        }
        #expect(try connected(server).stat(Sample([9]).blob.hash, StoreCall()) == 1)
    }

    @Test(arguments: ["403 Forbidden", "501 Not Implemented"])
    func `what is put in parts goes where the server does not tell of uploads`(_ status: String)
        throws
    {
        let sample = Sample([UInt8](repeating: 7, count: 17 << 20))
        let isCompleted = Lock(false)
        let seen = Lock<[String]>([])
        let server = try HostileServer { connection in
            let target = String(connection.head.prefix { $0 != "\r\n" })
            let isAboutUploads = target.contains("uploads=")
            switch connection.method {
            case "HEAD":
                guard target.contains(sample.blob.hash.description) else {
                    return connection.answer("200 OK")
                }
                guard isCompleted.withLock({ $0 }) else {
                    return connection.answer("404 Not Found")
                }
                connection.answer("200 OK", [], sample.bytes)
            case "GET": connection.answer(status, [], Self.problem("AccessDenied"))
            case "POST" where isAboutUploads:
                connection.answer("200 OK", [], Array("<R><UploadId>new</UploadId></R>".utf8))
            case "POST":
                _ = connection.take(connection.bodySize)
                seen.withLock { $0.append("completed") }
                isCompleted.withLock { $0 = true }
                connection.answer("200 OK", [], Array("<CompleteMultipartUploadResult/>".utf8))
            case "PUT":
                connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.take(connection.bodySize)
                let isRefused = seen.withLock { seen in
                    seen.append("part")
                    return seen.count == 2
                }
                connection.answer(isRefused ? "503 Slow Down" : "200 OK", ["ETag: \"tag\""])
            default:
                seen.withLock { $0.append("removed") }
                connection.answer("204 No Content")
            }
        }
        let store = try connected(server)
        // Nobody could go on with what was cut off, or would find it to remove it.
        do throws(StoreError) {
            try store.put(sample)
            Issue.record("it was put")
        } catch { #expect(error.isTransient, "\(error)") }
        try store.put(sample)
        #expect(
            seen.withLock { $0 } == [
                "part", "part", "removed", "part", "part", "part", "completed",
            ])
    }

    /// As when the document is saved anew, or the container unmounted: nobody would find the parts.
    @Test func `an upload that nobody sees and that is not wanted any more is taken away`() throws {
        let sample = Sample([UInt8](repeating: 7, count: 17 << 20))
        let cancellation = Cancellation()
        let removed = Lock<[String]>([])
        let server = try HostileServer { connection in
            switch connection.method {
            case "HEAD":
                let isBlob = connection.head.contains(sample.blob.hash.description)
                connection.answer(isBlob ? "404 Not Found" : "200 OK")
            case "GET": connection.answer("403 Forbidden", [], Self.problem("AccessDenied"))
            case "POST":
                connection.answer("200 OK", [], Array("<R><UploadId>new</UploadId></R>".utf8))
            case "PUT":
                connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                cancellation.cancel()
                _ = connection.take(connection.bodySize)
                connection.answer("200 OK", ["ETag: \"tag\""])
            default:
                removed.withLock {
                    $0.append(String(connection.head.prefix { $0 != "\r\n" }.suffix(22)))
                }
                connection.answer("204 No Content")
            }
        }
        let store = try connected(server)
        do throws(StoreError) {
            try store.put(sample, StoreCall(cancellation: cancellation))
            Issue.record("it was put")
        } catch { #expect(error.kind == .cancelled, "\(error)") }
        #expect(removed.withLock { $0 } == ["?uploadId=new HTTP/1.1"])
    }

    /// Who may put parts and list uploads need not be allowed to list parts.
    @Test func `an upload goes on though nobody may see its parts`() throws {
        let sample = Sample([UInt8](repeating: 7, count: 17 << 20))
        let seen = Lock<[String]>([])
        let server = try HostileServer { connection in
            let target = String(connection.head.prefix { $0 != "\r\n" })
            switch connection.method {
            case "HEAD":
                guard target.contains(sample.blob.hash.description) else {
                    return connection.answer("200 OK")
                }
                let isCompleted = seen.withLock { $0.contains("completed") }
                connection.answer(
                    isCompleted ? "200 OK" : "404 Not Found", [], isCompleted ? sample.bytes : [])
            case "GET" where target.contains("uploadId="):
                connection.answer("403 Forbidden", [], Self.problem("AccessDenied"))
            case "GET":
                let name = sample.blob.hash.description
                let key = "\(name.prefix(2))/\(name)"
                connection.answer(
                    "200 OK", [],
                    Array(
                        "<R><Upload><Key>\(key)</Key><UploadId>old</UploadId></Upload></R>".utf8))
            case "PUT":
                connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.take(connection.bodySize)
                seen.withLock { $0.append(target.contains("uploadId=old") ? "part" : "other") }
                connection.answer("200 OK", ["ETag: \"tag\""])
            case "POST" where target.contains("uploadId=old"):
                _ = connection.take(connection.bodySize)
                seen.withLock { $0.append("completed") }
                connection.answer("200 OK", [], Array("<CompleteMultipartUploadResult/>".utf8))
            default:
                seen.withLock { $0.append(connection.method) }
                connection.answer("403 Forbidden", [], Self.problem("AccessDenied"))
            }
        }
        try connected(server).put(sample)
        #expect(seen.withLock { $0 } == ["part", "part", "part", "completed"])
    }

    @Test func `a HEAD is refused though nothing answers who asks why`() throws {
        let server = try HostileServer { connection in
            if connection.method == "HEAD" { connection.answer("403 Forbidden") }
        }
        let store = try connected(server)
        do throws(StoreError) {
            _ = try store.stat(Sample([9]).blob.hash, StoreCall())
            Issue.record("it was allowed")
        } catch {
            #expect(error.kind == .denied, "\(error)")
        }
    }
}

import Content
import Glibc
import Logging
import Model
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// How contents come to those who wait for them.
@Suite struct DownloadWorkerTests {
    @Test func `many contents come to all who wait, at once and one after the other`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = StoreAddress.folder(path: folder + "/store").connect()
        try store.prepare(StoreCall())
        let samples = (1...60).map { Sample(size: $0 * 100, seed: UInt64($0)) }
        for sample in samples { try store.put(sample) }
        let downloads = Downloads(
            .foreign, content: LocalContent(folder: ContainerFolder(path: folder)), store: store,
            patience: 60, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            adopt: { $0.map { _ in .success(()) } }, came: { _ in }, failed: { _, _ in })
        defer { downloads.stop() }
        let told = Monitor<[String?]>([])
        func ask(_ number: Int) {
            let blob = samples[number].blob
            downloads.await(
                blob, blob.range, for: NodeNumber(rawValue: UInt64(number + 1)),
                ticket: downloads.ticket { _ in }
            ) { problem in told.signal { $0.append(problem?.reason) } }
        }
        func answers(_ count: Int) -> [String?]? {
            told.wait(until: MonotonicClock.after(milliseconds: 30_000)) {
                $0.count == count ? $0 : nil
            }
        }
        for number in 0..<40 { ask(number) }
        #expect(try #require(answers(40)).allSatisfy { $0 == nil })
        // By now workers wait for something to do.
        for number in 40..<60 {
            ask(number)
            #expect(try #require(answers(number + 1)).last == .some(nil))
        }
        let size = samples.reduce(0) { $0 + $1.bytes.count }
        #expect(downloads.fetchedBytes == UInt64(size))
    }

    @Test func `a content for which there is no room to come does not count as used`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let places = ContainerFolder(path: folder)
        // No file can be made in it.
        try StoreUnderTest.write("", to: places.incoming)
        let store = StoreAddress.folder(path: folder + "/store").connect()
        let downloads = Downloads(
            .foreign, content: LocalContent(folder: places), store: store, patience: 60,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            adopt: { $0.map { _ in .success(()) } }, came: { _ in }, failed: { _, _ in })
        defer { downloads.stop() }
        let blob = Blob(hash: Sample([1]).blob.hash, size: 5 << 20)
        let node = NodeNumber(rawValue: 1)
        #expect(throws: Errno.self) { try downloads.opened(blob, for: node) }
        #expect(!downloads.isUsed(blob.hash))
        let told = Monitor<Errno?>(nil)
        downloads.await(blob, blob.range, for: node, ticket: downloads.ticket { _ in }) { problem in
            told.signal { $0 = problem?.error }
        }
        let error = told.wait(until: MonotonicClock.after(milliseconds: 10_000)) { $0 }
        #expect(error == Errno(ENOTDIR))
        #expect(!downloads.isUsed(blob.hash))
    }

    @Test func `a server that sends all, whichever part it is asked for, sends it about once`()
        throws
    {
        let size: Int64 = 96 << 20
        let sent = Lock(Int64(0))
        let server = try HostileServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: \(size)\r\n\r\n")
            let mebibyte = 1 << 20
            for number in 0..<Int(size) / mebibyte {
                guard connection.send([UInt8](repeating: UInt8(number), count: mebibyte)) else {
                    return
                }
                sent.withLock { $0 += Int64(mebibyte) }
            }
        }
        defer { withExtendedLifetime(server) {} }
        let place = ForeignContents.Place(
            tree: "dav://127.0.0.1:\(server.port)?netrc=/nonexistent", path: Array("a".utf8),
            tag: Array("ee".utf8))
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        #expect(mkdir(folder + "/incoming", 0o700) == 0)
        let blob = Blob(hash: Sample([]).blob.hash, size: size)
        let node = NodeNumber(rawValue: 1)
        let isWhole = Monitor(false)
        let downloads = Downloads(
            .foreign, content: LocalContent(folder: ContainerFolder(path: folder)),
            store: Retrying(ForeignContents(settings: StoreSettings()) { _ in place }),
            patience: 60, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            adopt: { contents in
                isWhole.signal { $0 = true }
                return contents.map { _ in .success(()) }
            }, came: { _ in }, failed: { _, _ in })
        defer { downloads.stop() }
        try downloads.opened(blob, for: node)
        // As who reads it from the beginning to the end, with a look at its end before.
        for number in [0, 95] + Array(1..<96) {
            let told = Monitor<String??>(nil)
            let range = Int64(number) << 20..<Int64(number + 1) << 20
            downloads.await(blob, range, for: node, ticket: downloads.ticket { _ in }) { problem in
                told.signal { $0 = .some(problem?.reason) }
            }
            let reason = told.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 }
            #expect(reason == .some(nil), "\(number): \(String(describing: reason))")
            guard let (bytes, isHere) = downloads.bytes(blob.hash, range) else {
                // All of it came before it was asked for.
                #expect(isWhole.withLock { $0 }, "\(number)")
                break
            }
            #expect(isHere)
            guard case .range(let file, _, _) = bytes.part(of: blob) else {
                Issue.record("it has no file")
                return
            }
            var byte = [UInt8](repeating: 0, count: 1)
            let count = try byte.withUnsafeMutableBytes { buffer in
                try file.with { (file) throws(Errno) in
                    try file.read(into: buffer, at: range.upperBound - 1)
                }
            }
            #expect(count == 1 && byte == [UInt8(number)])
        }
        let end: Bool? = isWhole.wait(until: MonotonicClock.after(milliseconds: 60_000)) {
            $0 ? true : nil
        }
        #expect(end == true)
        downloads.closed(blob.hash, for: node)
        // What was on its way when it had enough is not read.
        #expect(sent.withLock { $0 } < size * 5 / 4)
    }
}

import Content
import Glibc
import Model
import Stores
import SystemCalls
import TestSupport
import Testing

@testable import Promises

/// The files of contents that are on their way.
@Suite struct IncomingTests {
    @Test func `a map that a death left behind tells of no bytes that never came`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let places = ContainerFolder(path: folder)
        try #require(mkdir(places.incoming, 0o700) == 0)
        let content = LocalContent(folder: places)
        let blob = Blob(hash: Sample([1]).blob.hash, size: 5 << 20)
        let path = places.incoming(blob.hash)
        let map = path + ContainerFolder.mapSuffix
        try StoreUnderTest.write(String(repeating: "\u{1}", count: 5), to: map)
        // A pipe can be opened and gets no size: it ends here as a death at that moment would.
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: Errno.self) { _ = try Incoming(blob, content, .foreign) }
        unlink(path)
        try StoreUnderTest.write("", to: path)
        try #require(truncate(path, off_t(blob.size)) == 0)
        let missing = try Incoming(blob, content, .foreign).map.missing
        #expect(missing == 5)
    }
}

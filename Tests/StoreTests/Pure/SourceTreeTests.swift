import Glibc
import Model
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What tells an object of a foreign tree from what it was.
@Suite struct SourceTreeTests {
    private func matches(_ tag: [UInt8], _ fields: [String: String]) -> Bool {
        var head = HTTPHead()
        head.status = 200
        for (name, value) in fields { head.add("\(name): \(value)\r\n".utf8) }
        return SourceTag.matches(tag, head)
    }

    @Test func `an answer is about the listed object only if it says so`() {
        let strong = SourceTag.of(etag: "\"abc\"", modified: "x")
        #expect(matches(strong, ["etag": "\"abc\""]))
        // Servers put the mark of weakness on and take it away again.
        #expect(matches(strong, ["etag": "W/\"abc\""]))
        #expect(SourceTag.of(etag: "W/\"abc\"", modified: "") == strong)
        #expect(!matches(strong, ["etag": "\"abd\""]))
        #expect(!matches(strong, ["last-modified": "x"]))
        #expect(!matches(strong, [:]))
        let timed = SourceTag.of(etag: "", modified: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(matches(timed, ["last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"]))
        #expect(!matches(timed, ["last-modified": "Sun, 06 Nov 1994 08:49:38 GMT"]))
        #expect(!matches(timed, ["etag": "\"abc\""]))
        // It may be written otherwise in the listing.
        for listed in ["1994-11-06T08:49:37Z", "Sun, 6 Nov 1994 08:49:37 +0000"] {
            let tag = SourceTag.of(etag: "", modified: listed)
            #expect(matches(tag, ["last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"]), "\(listed)")
            #expect(!matches(tag, ["last-modified": "Sun, 06 Nov 1994 08:49:38 GMT"]), "\(listed)")
            #expect(!matches(tag, ["last-modified": "yesterday"]), "\(listed)")
        }
        #expect(!matches(SourceTag.of(etag: "", modified: "today"), ["last-modified": "yesterday"]))
        // Nothing is known of it: nothing is believed.
        #expect(!matches(SourceTag.of(etag: "", modified: ""), ["last-modified": ""]))
    }

    @Test func `dates of listings`() {
        #expect(ISODate.seconds("2024-02-29T10:20:30.000Z") == 1_709_202_030)
        #expect(ISODate.seconds("1970-01-01T00:00:00Z") == 0)
        for wrong in [
            "", "2024-02-29", "2024-02-29T10:20:30", "2024-13-01T00:00:00Z", "T", "TZ",
            "2024-02-29TZ", "2024-02-29T.Z", "2024-02-29T.5Z",
        ] {
            #expect(ISODate.seconds(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `dates of answers, in all forms that HTTP has, and those that servers make of them`()
    {
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000", "1994-11-06T08:49:37Z",
        ] {
            #expect(HTTPDate.seconds(date) == 784_111_777, "\(date)")
        }
        #expect(HTTPDate.seconds("Friday, 29-Feb-08 00:00:00 GMT") == 1_204_243_200)
        for wrong in [
            "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:-7 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Sunday, 06-Nov-1 08:49:37 GMT", "Sun Nov 6 1994",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sunday, -06-Nov-94 08:49:37 GMT",
        ] {
            #expect(HTTPDate.seconds(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `names that no directory can have are passed over`() {
        for name in ["", ".", "..", "a/b", "a\0b", String(repeating: "x", count: 256)] {
            #expect(!SourceEntry.isName(name.utf8), "\(name)")
        }
        for name in ["a", "...", ".hidden", "two words", String(repeating: "x", count: 255)] {
            #expect(SourceEntry.isName(name.utf8), "\(name)")
        }
    }

    /// Keeps what is written to it.
    private final class Memory: BlobSink {
        private(set) var bytes: [UInt8] = []

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) { self.bytes += bytes }
    }

    @Test func `what lies deeper than a path can say is listed and read`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let name = String(repeating: "x", count: 200)
        var parent = try OwnedDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
        for _ in 0..<50 {
            try #require(mkdirat(parent.number, name, 0o700) == 0)
            parent = OwnedDescriptor(
                adopting: openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            let file = openat(parent.number, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(write(file, "deep", 4) == 4)
            close(file)
        }
        let tree = FolderTree(path: folder)
        var files: [SourceEntry] = []
        let passedOver = try tree.walk(StoreCall()) { (entry) throws(StoreError) in
            if case .file = entry.kind { files.append(entry) }
        }
        #expect(passedOver.problem == nil && files.count == 50)
        for file in files {
            let sink = Memory()
            let blob = Blob(hash: Sample([1]).blob.hash, size: 4)
            try tree.read(
                SourceObject(path: file.path, tag: file.tag, blob: blob), 0..<4, into: sink,
                StoreCall())
            #expect(sink.bytes == Array("deep".utf8))
        }
    }

    /// One such folder kept all others from being imported, and from being refreshed.
    @Test func `what lies too deep to be told is passed over, not the tree`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        var parent = try OwnedDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
        let name = String(repeating: "d", count: 250)
        for _ in 0..<300 {
            try #require(mkdirat(parent.number, name, 0o700) == 0)
            parent = try OwnedDescriptor.open(name, at: parent.number, O_RDONLY | O_DIRECTORY)
        }
        try StoreUnderTest.write("x", to: folder + "/file")
        var longest = 0
        var count = 0
        let passedOver = try FolderTree(path: folder).walk(StoreCall()) {
            (entry) throws(StoreError) in
            longest = max(longest, entry.path.count)
            count += 1
        }
        #expect(longest > 40_000 && longest < 60_000)
        #expect(count == longest / 251 + 2)
        #expect(passedOver.count == 1 && passedOver.problem == nil)
    }

    @Test func `a folder that goes while the tree is listed is passed over, not the tree`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let path = folder + "/tree"
        for place in [path, path + "/gone", path + "/stays"] {
            try #require(mkdir(place, 0o700) == 0)
            try StoreUnderTest.write("x", to: place + "/file")
        }
        var shown: Set<String> = []
        let passedOver = try FolderTree(path: path).walk(StoreCall()) {
            (entry) throws(StoreError) in
            let name = String(decoding: entry.path, as: UTF8.self)
            shown.insert(name)
            // What is in it is listed later.
            if name == "gone" { TemporaryDirectory.remove(path + "/gone") }
        }
        #expect(shown == ["file", "gone", "stays", "stays/file"])
        // It may have been moved to where the listing had been.
        #expect(passedOver.hasGone)
        let problem = kind { () throws(StoreError) in
            _ = try FolderTree(path: path).walk(StoreCall()) { (entry) throws(StoreError) in
                if entry.kind == .folder { _ = rename(path, folder + "/elsewhere") }
            }
        }
        #expect(problem == .unreachable)
    }

    @Test func `what a folder has beside folders, files and symlinks is counted`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try StoreUnderTest.write("x", to: folder + "/file")
        try #require(symlink("nowhere", folder + "/link") == 0)
        try #require(mkfifo(folder + "/fifo", 0o600) == 0)
        var shown: Set<String> = []
        let passedOver = try FolderTree(path: folder).walk(StoreCall()) {
            (entry) throws(StoreError) in
            shown.insert(String(decoding: entry.path, as: UTF8.self))
        }
        #expect(shown == ["file", "link"])
        #expect(passedOver.count == 1 && passedOver.first == "fifo")
    }

    private static let tree = Array("/tree".utf8)

    @Test func `members of a collection are told by their paths or URLs`() throws {
        // Each is a member of /tree, or is not.
        let members = [
            ("/tree/a", "a"), ("/tree/a/", "a"), ("http://host/tree/%C3%A4", "ä"),
            ("https://host:1/tree/a%20b", "a b"), ("/tree//a", "a"), ("/tree/%CC%81a", "\u{301}a"),
            ("/tree/b/../a", "a"), ("/x/../tree/./a", "a"),
        ]
        for (href, name) in members {
            #expect(subjects(href) == [.member(name: Array(name.utf8))], "\(href)")
        }
        for href in ["/tree", "/tree/", "//tree//", "http://host/tree/"] {
            #expect(subjects(href) == [.itself], "\(href)")
        }
        for href in ["/tree/a/b", "/other/a", "/treea", "/tree/../a", "http://host"] {
            #expect(subjects(href) == [.other], "\(href)")
        }
        for href in ["%zz", "", "tree", "a", "./a", "ftp://host/tree/a"] {
            #expect(subjects(href) == [.unclear], "\(href)")
        }
        #expect(subjects("/a", from: []) == [.member(name: [0x61])])
        #expect(subjects("/", from: []) == [.itself])
        #expect(subjects("http://host", from: []) == [.itself])
        // What no name can hold, and what is no text, is seen.
        #expect(subjects("/tree/a%2Fb") == [.member(name: Array("a/b".utf8))])
        #expect(subjects("/tree/%E4") == [.member(name: [0xe4])])
    }

    private func subjects(_ href: String, from path: [UInt8] = tree) -> [XMLElement.Subject] {
        let child = XMLElement(namespace: "DAV:", name: "href", text: href, children: [])
        let response = XMLElement(
            namespace: "DAV:", name: "response", text: "", children: [child])
        let found = try? response.subjects(from: path) { (_) throws(StoreError) in false }
        return found ?? []
    }
}

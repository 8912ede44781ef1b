import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// Bookmarks, recent documents and pictures of the library.
@Suite(.oneAtATime) struct WaysBackTests {
    @Test(arguments: places)
    func `a bookmark follows its document`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("d")
            agent.store("a.txt", "one")
            let folder = volume.directory
            let bookmark = Bookmark(token: try Bookmark(of: "\(folder)/a.txt").token)
            func found(at path: String, stale: Bool) throws {
                let found = try bookmark.resolve()
                #expect(found.path == "\(folder)/\(path)" && found.isStale == stale, "\(found)")
            }
            try found(at: "a.txt", stale: false)
            agent.rename("a.txt", "d/b.txt")
            try found(at: "d/b.txt", stale: true)
            agent.rename("d", "e")
            // Another document under the old name is another document.
            agent.store("a.txt", "other")
            try found(at: "e/b.txt", stale: true)
            // Saved by renaming it is the same document.
            let again = try Bookmark(of: "\(folder)/e/b.txt")
            agent.store(".new", "two")
            agent.rename(".new", "e/b.txt")
            #expect(try again.resolve().path == "\(folder)/e/b.txt")
            try found(at: place == .plain ? "a.txt" : "e/b.txt", stale: true)
            agent.unlink("a.txt")
            agent.unlink("e/b.txt")
            #expect(throws: BookmarkProblem.deleted) { try bookmark.resolve() }
        }
    }

    @Test(arguments: places)
    func `a bookmark is for whom it was made`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/a.txt"
            try store(path, "x")
            let bookmark = try Bookmark(of: path, for: "org.example.A")
            #expect(try bookmark.resolve(for: "org.example.A").path == path)
            #expect(throws: BookmarkProblem.otherApplication) { try bookmark.resolve() }
            #expect(
                "\(BookmarkProblem.otherApplication)"
                    == "the token was made for another application")
            #expect(throws: BookmarkProblem.otherApplication) {
                try bookmark.resolve(for: "org.example.B")
            }
            #expect(throws: BookmarkProblem.self) { try Bookmark(of: path, for: "a b") }
            #expect(throws: BookmarkProblem.self) { try Bookmark(of: path + "none") }
            for wrong in ["", "x", "file:", "file:1.2.3", "file:1.2.zz.2f", "test.123"] {
                #expect(throws: BookmarkProblem.malformed, "\(wrong)") {
                    try Bookmark(token: wrong).resolve()
                }
            }
            if place == .plain {
                #expect(throws: BookmarkProblem.self) { try bookmark.revoke() }
            } else {
                #expect(throws: BookmarkProblem.forged) {
                    var token = bookmark.token
                    token.append(token.removeLast() == "0" ? "1" : "0")
                    return try Bookmark(token: token).resolve(for: "org.example.A")
                }
                try bookmark.revoke(for: "org.example.A")
                #expect(throws: BookmarkProblem.revoked) {
                    try bookmark.resolve(for: "org.example.A")
                }
                let other = "elsewhere." + bookmark.token.drop { $0 != "." }.dropFirst()
                #expect(throws: BookmarkProblem.notMounted) {
                    try Bookmark(token: other).resolve()
                }
            }
        }
    }

    @Test func `what was opened last is told, until it is forgotten`() throws {
        try withVolume(.passthrough) { volume in
            let result = try volume.run("sh", "-c", "echo 1 > one; sleep 1.1; echo 2 > two")
            #expect(result.status == 0)
            let folder = volume.directory
            #expect(
                try Recents.documents(below: folder).map(\.path)
                    == ["\(folder)/two", "\(folder)/one"])
            try volume.agent().rename("one", "three")
            #expect(try Recents.documents(below: folder).last?.path == "\(folder)/three")
            try Recents.forget(try #require(Recents.documents(below: folder).first))
            #expect(try Recents.documents().filter { $0.path.hasPrefix(folder) }.count == 1)
            #expect(throws: DocumentProblem.self) { try Recents.documents(below: "\(folder)/no") }
        }
        try withVolume(.plain) { volume in
            try store("\(volume.directory)/file", "x")
            #expect(try Recents.documents(below: volume.directory) == [])
        }
    }

    /// Asks, and waits for the answer.
    private static func picture(_ cache: ThumbnailCache, _ path: String, _ pixels: Int) -> [UInt8]?
    {
        let answer = Monitor<[UInt8]??>(nil)
        cache.thumbnail(of: path, pixels: pixels) { bytes in answer.signal { $0 = .some(bytes) } }
        let found = answer.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 }
        if found == nil { Issue.record("no answer") }
        return found ?? nil
    }

    /// The beginning of every PNG file, and its longer side.
    private static func side(_ bytes: [UInt8]?) -> Int? {
        guard let bytes, bytes.count > 24, bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) else {
            return nil
        }
        return [16, 20].map { bytes[$0..<$0 + 4].reduce(0) { $0 << 8 | Int($1) } }.max()
    }

    @Test func `thumbnails in a mount are of the version that is current`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/Ball.shape"
            let made = try volume.run(try BuiltPrograms.shapeedit(), "new", "Ball.shape")
            #expect(made.status == 0, "\(made)")
            let cache = ThumbnailCache()
            let first = Self.picture(cache, path, 100)
            #expect(Self.side(first) == 128)
            let size = cache.byteCount
            #expect(size == first?.count && Self.picture(cache, path, 128) == first)
            #expect(cache.byteCount == size)
            let edit = try volume.run(
                try BuiltPrograms.shapeedit(), "background", "Ball.shape", "#ff0000")
            #expect(edit.status == 0, "\(edit)")
            let second = Self.picture(cache, path, 128)
            #expect(Self.side(second) == 128 && second != first)
            #expect(Self.picture(cache, "\(volume.directory)/none", 128) == nil)
            // Bounded, and what was cancelled is not answered.
            let small = ThumbnailCache(byteLimit: 10)
            #expect(Self.picture(small, path, 128) == second && small.byteCount == 0)
            let answered = Lock(false)
            let requests = (0..<50).map { _ in
                small.thumbnail(of: path, pixels: 512) { _ in answered.withLock { $0 = true } }
            }
            for request in requests.dropLast() { request.cancel() }
            expectSoon { answered.withLock { $0 } }
        }
    }

    @Test func `a thumbnail that was kept is not that of another type`() throws {
        try withVolume(.passthrough) { volume in
            let (text, markdown) = ("\(volume.directory)/a.txt", "\(volume.directory)/a.md")
            try volume.agent().store("a.txt", "# A heading\n\nand *words*\n")
            let cache = ThumbnailCache()
            let first = Self.picture(cache, text, 256)
            try #require(first != nil && rename(text, markdown) == 0)
            let second = Self.picture(cache, markdown, 256)
            #expect(second != first && second == Self.picture(ThumbnailCache(), markdown, 256))
        }
    }

    @Test func `a thumbnail that was kept is not that of a version that was saved by renaming`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/a.txt"
            let cache = ThumbnailCache()
            for text in ["# One\n", "# Two\n", "# Three, and more\n"] {
                try store(path + ".tmp", text)
                try #require(rename(path + ".tmp", path) == 0)
                let picture = Self.picture(cache, path, 128)
                #expect(picture != nil && picture == Self.picture(ThumbnailCache(), path, 128))
            }
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `thumbnails elsewhere are those of the desktop`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/picture.jpg"
            try store(path, "x")
            let former = getenv("XDG_CACHE_HOME").map { String(cString: $0) }
            setenv("XDG_CACHE_HOME", "\(volume.directory)/cache", 1)
            defer {
                if let former {
                    setenv("XDG_CACHE_HOME", former, 1)
                } else {
                    unsetenv("XDG_CACHE_HOME")
                }
            }
            let cache = ThumbnailCache()
            #expect(Self.picture(cache, path, 256) == nil)
            // As the specification says, by another program.
            let line = """
                import hashlib, os, struct, sys, zlib
                def chunk(kind, data):
                    return struct.pack(">I", len(data)) + kind + data + struct.pack(
                        ">I", zlib.crc32(kind + data))
                path, cache = sys.argv[1:]
                address = "file://" + path
                os.makedirs(cache + "/thumbnails/large")
                texts = {"Thumb::URI": address, "Thumb::MTime": str(int(os.stat(path).st_mtime))}
                with open(f"{cache}/thumbnails/large/{hashlib.md5(address.encode()).hexdigest()}.png", "wb") as f:
                    f.write(b"\\x89PNG\\r\\n\\x1a\\n")
                    f.write(chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0)))
                    for key, value in texts.items():
                        f.write(chunk(b"tEXt", key.encode() + b"\\0" + value.encode()))
                    f.write(chunk(b"IDAT", zlib.compress(b"\\0ab")))
                    f.write(chunk(b"IEND", b""))
                """
            let made = try volume.run("python3", "-c", line, path, "\(volume.directory)/cache")
            #expect(made.status == 0, "\(made)")
            #expect(Self.side(Self.picture(cache, path, 256)) == 2)
            // Not of what the file is by now.
            try OwnedDescriptor.open(path, O_RDONLY).setModified(1_000_000, 0)
            #expect(Self.picture(cache, path, 256) == nil)
        }
    }
}

import Glibc
import Testing
import Thumbnailing

/// The thumbnail cache of file managers, with GIO as the judge where it is installed.
@Suite(.serialized) struct DesktopCacheTests {
    private let folder: TemporaryFolder
    private let cache: DesktopCache
    private let worker = ThumbnailWorker(program: Surroundings.program)

    init() throws {
        folder = try TemporaryFolder()
        cache = DesktopCache(folder: folder.path + "/cache/thumbnails")
    }

    private func pictures() throws -> [DesktopCache.Size: [UInt8]] {
        var pictures: [DesktopCache.Size: [UInt8]] = [:]
        for size in DesktopCache.Size.allCases {
            pictures[size] = try worker.picture(
                DrawingRequest(type: .text, size: UInt16(size.pixels), bytes: Array("Text".utf8)))
        }
        return pictures
    }

    /// A file with its facts.
    private func file(_ name: String) throws -> DesktopCache.Subject {
        let path = "\(folder.path)/\(name)"
        try Surroundings.write(Array("Text".utf8), to: path)
        var status = stat()
        try #require(stat(path, &status) == 0)
        return DesktopCache.Subject(
            path: path, modified: Int64(status.st_mtim.tv_sec), size: Int64(status.st_size),
            mimeType: "text/plain")
    }

    private func entries() throws -> [String] {
        try Surroundings.run("cd '\(cache.folder)' && find . -type f").output
            .split(separator: "\n").map(String.init).sorted()
    }

    /// What GIO says of a file's thumbnail.
    private func judged(_ path: String) throws -> String {
        try Surroundings.run(
            "XDG_CACHE_HOME='\(folder.path)/cache' gio info -a 'thumbnail::*' '\(path)'"
        ).output
    }

    @Test func `entries are private files under the checksum of the address`() throws {
        let subject = try file("a b.txt")
        try cache.write(try pictures(), for: subject)
        let address = "file://\(folder.path)/a%20b.txt"
        let name =
            try Surroundings.run("printf %s '\(address)' | md5sum").output.prefix(32) + ".png"
        #expect(
            try entries() == ["large", "normal", "x-large", "xx-large"].map { "./\($0)/\(name)" })
        // Without set-group-id, which folders have from the one above where that has it.
        let modes = try Surroundings.run(
            "cd '\(cache.folder)' && chmod g-s . normal && stat -c %a . normal normal/*"
        ).output
        #expect(modes == "700\n700\n600\n")
        let texts = PNGFile.texts(of: try Surroundings.contents("\(cache.folder)/normal/\(name)"))
        #expect(
            texts == [
                "Thumb::URI": address, "Thumb::MTime": "\(subject.modified)", "Thumb::Size": "4",
                "Thumb::Mimetype": "text/plain", "Software": "ShapeEdit",
            ])
    }

    @Test(.enabled(if: Surroundings.isInstalled("gio"), "gio is not installed"))
    func `GIO takes an entry for the file it is of, and no other state of it`() throws {
        // Every character that can be typed, and some that are two bytes.
        let typed = String(decoding: (33..<127).filter { $0 != 47 && $0 != 39 }, as: UTF8.self)
        let subject = try file("\(typed) ü.txt")
        try cache.write(try pictures(), for: subject)
        var said = try judged(subject.path)
        #expect(said.contains("thumbnail::path: \(cache.folder)/"))
        #expect(said.contains("thumbnail::is-valid: TRUE"))
        _ = try Surroundings.run("touch -d '2001-01-01' '\(subject.path)'")
        said = try judged(subject.path)
        #expect(said.contains("thumbnail::is-valid: FALSE"))
        var older = subject
        older.modified = 978_307_200
        _ = try Surroundings.run("TZ=UTC touch -d '2001-01-01 00:00:00.9' '\(subject.path)'")
        try cache.write(try pictures(), for: older)
        #expect(try judged(subject.path).contains("thumbnail::is-valid: TRUE"))
    }

    /// The texts of a PNG file in their order, those of both kinds.
    private func texts(of bytes: [UInt8]) -> [(key: String, value: String)] {
        var result: [(key: String, value: String)] = []
        var place = 8
        while place + 12 <= bytes.count {
            let count = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            let data = bytes[place + 8..<place + 8 + count]
            let zeros = ["tEXt": 1, "iTXt": 5][
                String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)]
            if let zeros, let end = data.firstIndex(of: 0) {
                result.append(
                    (
                        String(decoding: data[..<end], as: UTF8.self),
                        String(decoding: data[(end + zeros)...], as: UTF8.self)
                    ))
            }
            place += 12 + count
        }
        return result
    }

    /// tumbler compares microseconds. It goes through the texts until it has found the address and a time, and
    /// takes the last time up to there; Qt takes the last of all.
    @Test(arguments: [false, true])
    func `an entry has the time as tumbler and as Qt compare it, also of a file that was moved`(
        isMoved: Bool
    ) throws {
        var subject = try file("a.txt")
        (subject.modified, subject.microseconds) = (1_000_000, 45)
        subject.version = "version"
        try cache.write(try pictures(), for: subject)
        if isMoved {
            let path = subject.path + ".longer"
            guard case .all = cache.move(path: subject.path, to: path, of: subject) else {
                Issue.record("it was not moved")
                return
            }
            subject.path = path
        }
        for entry in try entries() {
            let bytes = try Surroundings.contents("\(cache.folder)/\(entry)")
            let texts = texts(of: bytes)
            let address = try #require(texts.firstIndex { $0.key == "Thumb::URI" })
            let time = try #require(texts.firstIndex { $0.key == "Thumb::MTime" })
            let seen = texts[...max(address, time)].last { $0.key == "Thumb::MTime" }
            #expect(seen?.value == "1000000.000045")
            #expect(texts.last { $0.key == "Thumb::MTime" }?.value == "1000000")
            #expect(PNGFile(bytes) != nil)
        }
        #expect(cache.isCurrent(.normal, of: subject))
    }

    @Test(.enabled(if: Surroundings.isInstalled("gio"), "gio is not installed"))
    func `GIO finds the entries of files from before 1970`() throws {
        for date in ["1969-12-31 23:59:59.5", "1902-01-01 00:00:00", "1970-01-01 00:00:00"] {
            var subject = try file("a.txt")
            _ = try Surroundings.run("TZ=UTC touch -d '\(date)' '\(subject.path)'")
            var status = stat()
            try #require(stat(subject.path, &status) == 0)
            subject.modified = Int64(status.st_mtim.tv_sec)
            try cache.write(try pictures(), for: subject)
            #expect(try judged(subject.path).contains("thumbnail::is-valid: TRUE"), "\(date)")
            #expect(cache.isCurrent(.normal, of: subject))
        }
    }

    @Test(.enabled(if: Surroundings.isInstalled("gio"), "gio is not installed"))
    func `GIO finds the entries after renames of the file and of its folder`() throws {
        _ = mkdir("\(folder.path)/one", 0o700)
        let subject = try file("one/a.txt")
        try cache.write(try pictures(), for: subject)
        let renamed = "\(folder.path)/one/b.txt"
        #expect(rename(subject.path, renamed) == 0)
        try cache.rename(path: subject.path, to: renamed)
        #expect(try judged(renamed).contains("thumbnail::is-valid: TRUE"))
        #expect(try entries().count == 4)
        let two = "\(folder.path)/two"
        #expect(rename("\(folder.path)/one", two) == 0)
        try cache.rename(path: renamed, to: "\(two)/b.txt")
        #expect(cache.hasOthers(path: "\(two)/b.txt") && !cache.hasOthers(path: renamed))
        #expect(try judged("\(two)/b.txt").contains("thumbnail::is-valid: TRUE"))
        #expect(try entries().count == 4)
        try cache.remove(path: "\(two)/b.txt")
        #expect(try entries().isEmpty)
    }

    @Test func `a file that takes the place of another loses the other's entries`() throws {
        let (old, new) = (try file("old.txt"), try file("new.txt"))
        try cache.write(try pictures(), for: old)
        try cache.rename(path: new.path, to: old.path)
        #expect(try entries().isEmpty)
        try cache.write(try pictures(), for: old)
        #expect(cache.isCurrent(.normal, of: old))
        var later = old
        later.modified += 1
        #expect(!cache.isCurrent(.normal, of: later))
        // Sizes that are not given would show what the file was.
        try cache.write([.large: try #require(try pictures()[.large])], for: later)
        #expect(try entries().count == 1)
    }

    @Test func `an entry of another version is not believed though its time is right`() throws {
        var subject = try file("a.txt")
        try cache.write(try pictures(), for: subject)
        #expect(cache.isCurrent(.normal, of: subject))
        subject.version = "one"
        #expect(!cache.isCurrent(.normal, of: subject))
        try cache.write(try pictures(), for: subject)
        #expect(cache.isCurrent(.normal, of: subject))
        #expect(!cache.hasOthers(path: subject.path))
        subject.version = "two"
        #expect(!cache.isCurrent(.normal, of: subject))
    }

    @Test func `a directory in the place of one entry costs that one at most`() throws {
        let subject = try file("a.txt")
        try cache.write(try pictures(), for: subject)
        let normal = try #require(try entries().first { $0.contains("/normal/") })
        let place = cache.folder + "/" + normal
        #expect(unlink(place) == 0 && mkdir(place, 0o700) == 0 && mkdir(place + "/x", 0o700) == 0)
        #expect(throws: DesktopCache.Failure.self) {
            try cache.write(try pictures(), for: subject)
        }
        #expect(try entries().count == 3 && cache.isCurrent(.doubleExtraLarge, of: subject))
        // An empty one is nobody's.
        #expect(rmdir(place + "/x") == 0)
        try cache.write(try pictures(), for: subject)
        #expect(try entries().count == 4 && cache.isCurrent(.normal, of: subject))
        // Nor does anything wait for what is no file.
        #expect(unlink(place) == 0 && mkfifo(place, 0o600) == 0)
        #expect(!cache.isCurrent(.normal, of: subject))
    }

    @Test func `what cannot be written leaves no entry of what the file was`() throws {
        let (subject, other) = (try file("a.txt"), try file("b.txt"))
        var pictures = try pictures()
        try cache.write(pictures, for: subject)
        let normal = try #require(try entries().first { $0.contains("/normal/") })
        pictures[.large] = [1, 2, 3]
        #expect(throws: DesktopCache.Failure.notAPicture(.large)) {
            try cache.write(pictures, for: subject)
        }
        #expect(try entries().count == 3 && !cache.isCurrent(.large, of: subject))
        // What takes the file's place has all of its own that can be.
        try cache.write(try self.pictures(), for: other)
        let place = cache.folder + "/" + normal
        #expect(unlink(place) == 0 && mkdir(place, 0o700) == 0 && mkdir(place + "/x", 0o700) == 0)
        #expect(throws: DesktopCache.Failure.self) {
            try cache.rename(path: other.path, to: subject.path)
        }
        let facts = DesktopCache.Subject(path: subject.path, modified: other.modified)
        #expect(try entries().count == 3 && cache.isCurrent(.large, of: facts))
    }

    @Test func `what is no picture of the size is refused and leaves nothing`() throws {
        let subject = try file("a.txt")
        let large = try #require(try pictures()[.doubleExtraLarge])
        for bytes in [[], [1, 2, 3], Array(large.dropLast(5)), large] {
            #expect(throws: DesktopCache.Failure.notAPicture(.normal)) {
                try cache.write([.normal: bytes], for: subject)
            }
        }
        var changed = large
        changed[large.count / 2] ^= 1
        #expect(PNGFile(changed) == nil)
        #expect(
            try Surroundings.run("find '\(cache.folder)' -type f").output.contains(".png") == false)
    }
}

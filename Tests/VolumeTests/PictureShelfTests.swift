import Glibc
import Model
import SystemCalls
import Testing

@testable import Pictures

/// Pictures of versions on the disk and in memory.
@Suite struct PictureShelfTests {
    private let type = PictureType(fileName: "a.slide".utf8)

    /// Runs `body` with a shelf on an empty folder.
    private func withShelf(_ body: (PictureShelf, PictureFolder) throws -> Void) throws {
        var template = Array("/tmp/shapeedit-test-shelf.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? Directories.removeTree(path) }
        let folder = PictureFolder(path: path + "/pictures")
        try body(shelf(folder), folder)
    }

    private static let moment = Timestamp(seconds: 12_345, nanoseconds: 678_901_234)

    private func shelf(_ folder: PictureFolder) -> PictureShelf {
        PictureShelf(folder) { Self.moment }
    }

    private func node(_ number: Int) -> NodeNumber {
        NodeNumber(ItemNumber(rawValue: UInt64(number)), 1)
    }

    private func file(_ pictures: [PictureSize: [UInt8]]) throws -> [UInt8] {
        try #require(PictureOutcome.drawn(pictures).file(type))
    }

    @Test func `recent pictures need no disk, and memory has a limit`() throws {
        try withShelf { shelf, folder in
            let picture = [UInt8](repeating: 1, count: 64 << 10)
            let fitting = PictureShelf.byteLimit / picture.count
            let count = 3 * fitting
            for number in 0..<count {
                try shelf.put(try file([.medium: picture]), for: node(number))
            }
            for number in 0..<count { unlink(folder.file(node(number))) }
            let kept = (0..<count).filter { shelf.bytes(node($0), type, .medium) == picture }
            // The last ones, and at least the three quarters that stay when it is full.
            #expect(kept.last == count - 1)
            #expect(kept == Array((count - kept.count)..<count))
            #expect((fitting / 4 * 3...fitting).contains(kept.count))
        }
    }

    @Test func `heads in memory have a limit`() throws {
        try withShelf { shelf, folder in
            let count = 2 * PictureShelf.headLimit
            for number in 0..<count { shelf.show(try file([.small: [1]]), for: node(number)) }
            // From the last one on: what is missing is remembered too, in place of others.
            let kept = (0..<count).reversed().prefix { shelf.head(node($0), type) != nil }.count
            #expect(kept <= PictureShelf.headLimit)
            #expect(kept >= PictureShelf.headLimit / 4 * 3)
        }
    }

    @Test func `a picture that is there stays whatever comes later`() throws {
        try withShelf { shelf, _ in
            try shelf.put(try file([.small: [1]]), for: node(1))
            try shelf.put(try file([.small: [2], .medium: [3]]), for: node(1))
            #expect(shelf.bytes(node(1), type, .small) == [1])
            #expect(shelf.bytes(node(1), type, .medium) == [3])
            let failure = try #require(PictureOutcome.failed("no").file(type))
            try shelf.put(failure, for: node(1))
            #expect(try shelf.add([.medium: [4], .large: [5]], for: node(1), type))
            #expect(shelf.bytes(node(1), type, .medium) == [3])
            #expect(shelf.bytes(node(1), type, .large) == [5])
            // Of another type it is another picture.
            let other = PictureType(fileName: "a.list".utf8)
            try shelf.put(PictureFile.bytes(other, [.small: [6]]), for: node(1))
            #expect(shelf.bytes(node(1), other, .small) == [6])
            #expect(shelf.bytes(node(1), type, .small) == nil)
        }
    }

    @Test func `others are added to a picture that is shown and not on the disk yet`() throws {
        try withShelf { shelf, folder in
            shelf.show(try file([.small: [1]]), for: node(1))
            #expect(try shelf.add([.huge: [2]], for: node(1), type))
            // There is nothing left to write: what was shown would take the place of more.
            #expect(try shelf.writeShown(node(1)) == false)
            #expect(self.shelf(folder).bytes(node(1), type, .small) == [1])
            #expect(self.shelf(folder).bytes(node(1), type, .huge) == [2])
        }
    }

    @Test func `a picture too large for memory is seen before it is on the disk`() throws {
        try withShelf { shelf, folder in
            let picture = [UInt8](repeating: 1, count: PictureShelf.byteLimit / 4)
            shelf.show(try file([.huge: picture]), for: node(1))
            #expect(shelf.bytes(node(1), type, .huge) == picture)
            #expect(try shelf.writeShown(node(1)))
            #expect(shelf.bytes(node(1), type, .huge) == picture)
        }
    }

    @Test func `a picture is read from where it is when others are added to its file`() throws {
        try withShelf { shelf, folder in
            try shelf.put(try file([.small: [1, 2], .medium: [3, 4]]), for: node(1))
            // Knows the file as it was before, as who has looked at its head and is about to read.
            let reader = self.shelf(folder)
            #expect(reader.head(node(1), type) != nil)
            #expect(try shelf.add([.huge: [5, 6]], for: node(1), type))
            #expect(reader.bytes(node(1), type, .small) == [1, 2])
            #expect(reader.bytes(node(1), type, .medium) == [3, 4])
        }
    }

    @Test func `a file has its time from the clock of the versions, whatever the machine's says`()
        throws
    {
        try withShelf { shelf, folder in
            try shelf.put(try file([.small: [1]]), for: node(1))
            #expect(folder.head(node(1))?.written == Self.moment)
            #expect(try shelf.add([.huge: [2]], for: node(1), type))
            #expect(folder.head(node(1))?.written == Self.moment)
            shelf.show(try file([.small: [3]]), for: node(2))
            #expect(try shelf.writeShown(node(2)))
            #expect(folder.head(node(2))?.written == Self.moment)
        }
    }
}

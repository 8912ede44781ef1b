import Content
import Glibc
import Model
import Pictures
import SystemCalls
import Testing

@testable import Thumbnailing

/// The machine's programs when their sandbox does not work, and when it works again.
@Suite(.serialized) struct PictureMakerTests {
    private static let missing = ForeignThumbnailers(folders: []).unavailability
    /// What is said of a file that was looked at and is no picture.
    private static let seen = "drawing it ended by something that is no picture"
    private static let unseen = "bubblewrap does not work: bubblewrap ended with code 1"

    private let folder: TemporaryFolder
    private let type = PictureType(fileName: "a.test".utf8)

    /// A folder of a program that copies files called `*.test`, and of a bwrap that fails as long as
    /// there is `bwrap.broken`.
    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path
        let real = try Surroundings.run("command -v bwrap").output.filter { !$0.isNewline }
        _ = try Surroundings.run("mkdir '\(path)/thumbnailers' '\(path)/mime'")
        for (name, text) in [
            ("mime/globs2", "50:image/x-test:*.test\n50:image/x-slow:*.slow"),
            (
                "thumbnailers/t.thumbnailer",
                "[Thumbnailer Entry]\nExec=/bin/cp %i %o\nMimeType=image/x-test;"
            ),
            (
                "thumbnailers/s.thumbnailer",
                "[Thumbnailer Entry]\nExec=/bin/sh -c \"[ $0 -gt 256 ] && sleep 60; cp $1 $2\" %s %i %o\n"
                    + "MimeType=image/x-slow;"
            ),
            ("bwrap", "#!/bin/sh\n[ -e \"$0.broken\" ] && exit 1\nexec '\(real)' \"$@\""),
            ("a.test", "content"),
        ] {
            try Surroundings.write(Array((text + "\n").utf8), to: path + "/" + name)
        }
        chmod(path + "/bwrap", 0o755)
    }

    /// Runs `body` where the program and the bwrap of the folder are found.
    private func inFolder(_ body: () throws -> Void) throws {
        let variables = [
            ("PATH", folder.path + ":/usr/bin:/bin"), ("XDG_DATA_HOME", folder.path),
        ]
        let before = variables.map { ($0.0, getenv($0.0).map { String(cString: $0) }) }
        for (name, value) in variables { setenv(name, value, 1) }
        defer {
            for (name, value) in before {
                if let value { setenv(name, value, 1) } else { unsetenv(name) }
            }
        }
        try body()
    }

    /// What a maker says to the file.
    private func answer(_ maker: PictureMaker) -> String {
        do {
            _ = try maker.picture(
                ofFileAt: folder.path + "/a.test", fileName: "a.test", descriptor: -1, pixels: 64)
            return "a picture"
        } catch { return "\(error)" }
    }

    /// The picture that is made of what the program leaves.
    private func picture(of bytes: [UInt8], program: String = Surroundings.program) throws
        -> PNGFile?
    {
        try Surroundings.write(bytes, to: folder.path + "/a.test")
        return PNGFile(
            try PictureMaker(program: program).picture(
                ofFileAt: folder.path + "/a.test", fileName: "a.test", descriptor: -1, pixels: 64))
    }

    private func breakSandbox() throws {
        try Surroundings.write([], to: folder.path + "/bwrap.broken")
    }

    private func mendSandbox() { unlink(folder.path + "/bwrap.broken") }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a sandbox that did not work is tried again`() throws {
        try inFolder {
            let maker = PictureMaker(program: "/nonexistent", pause: 0)
            try breakSandbox()
            #expect(answer(maker) == Self.unseen)
            #expect(maker.foreignProblem == Self.unseen)
            #expect(maker.canDraw(type, fileName: "a.test"))
            mendSandbox()
            #expect(answer(maker) == Self.seen)
            #expect(maker.foreignProblem == nil)
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a sandbox that did not work is left alone for a while`() throws {
        try inFolder {
            let maker = PictureMaker(program: "/nonexistent")
            #expect(maker.canDraw(type, fileName: "a.test"))
            #expect(answer(maker) == Self.seen)
            #expect(maker.canDraw(type, fileName: "a.test"))
            try breakSandbox()
            let once = "bubblewrap ended with code 1"
            #expect(answer(maker) == once)
            #expect(maker.foreignProblem == once)
            mendSandbox()
            #expect(answer(maker) == once)
            #expect(!maker.canDraw(type, fileName: "a.test"))
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `programs that come and go meanwhile are noticed`() throws {
        try inFolder {
            let maker = PictureMaker(program: "/nonexistent", pause: 0, trust: 0)
            let entry = folder.path + "/thumbnailers/t.thumbnailer"
            let away = folder.path + "/t.thumbnailer"
            for _ in 0..<2 {
                #expect(answer(maker) == Self.seen)
                #expect(maker.canDraw(type, fileName: "a.test"))
                rename(entry, away)
                #expect(answer(maker) == "no program of this machine draws files like a.test")
                #expect(!maker.canDraw(type, fileName: "a.test"))
                rename(away, entry)
            }
        }
    }

    /// That changes no folder, only the entry's own times.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `an entry that is edited in place is noticed`() throws {
        try inFolder {
            let maker = PictureMaker(program: "/nonexistent", pause: 0, trust: 0)
            #expect(answer(maker) == Self.seen)
            let unknown = "no program of this machine draws files like a.test"
            for (old, new, told) in [("test", "none", unknown), ("none", "test", Self.seen)] {
                _ = try Surroundings.run(
                    """
                    cd '\(folder.path)/thumbnailers' && text="$(sed 's|image/x-\(old)|image/x-\(new)|' \
                    t.thumbnailer)" && echo "$text" >t.thumbnailer
                    """)
                #expect(answer(maker) == told)
            }
        }
    }

    /// Its entry may belong to another package, which stays.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a program that was removed says nothing of the document`() throws {
        let program = "/usr/local/bin/shapeedit-test-\(getpid())"
        if symlink("/bin/cp", program) != 0 {
            try Test.cancel("nothing can be installed among the machine's programs")
        }
        defer { unlink(program) }
        try inFolder {
            try Surroundings.write(
                Array("[Thumbnailer Entry]\nExec=\(program) %i %o\nMimeType=image/x-test;".utf8),
                to: folder.path + "/thumbnailers/t.thumbnailer")
            let maker = PictureMaker(program: "/nonexistent")
            #expect(answer(maker) == Self.seen)
            unlink(program)
            #expect(answer(maker) == "\(program) is not installed any more")
        }
    }

    /// As of those that take the size for the width of a page, and of a picture that is taken out of a document.
    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a picture that is larger than asked is made smaller`() throws {
        try inFolder {
            let worker = ThumbnailWorker(program: Surroundings.program)
            defer { worker.stop() }
            for (size, expected) in [(64, 64), (128, 64), (1_024, 64)] {
                let drawn = try worker.picture(
                    DrawingRequest(type: .text, size: UInt16(size), bytes: Array("A".utf8)))
                let page = try #require(PNGFile(drawn))
                let file = try #require(try picture(of: drawn))
                #expect(file.height == expected)
                #expect(abs(page.width * expected - file.width * page.height) <= page.height)
            }
        }
    }

    @Test(
        .enabled(if: missing == nil, "no sandbox: \(missing ?? "")"),
        arguments: [
            // 16 bits a sample, interlaced, 1 bit a pixel.
            "EAIAAADA54+dAAAADUlEQVR42mP4/58BCAAK/AH/zJeXGQAAAABJRU5ErkJggg==",
            "CAIAAAHncGNIAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC",
            "AQAAAAA3bvkkAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==",
        ])
    func `a picture of another kind becomes one that is kept`(_ rest: String) throws {
        let bytes = try decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB" + rest)
        try #require(PNGFile(bytes) == nil)
        try inFolder {
            let file = try #require(try picture(of: bytes))
            #expect(file.width == 1 && file.height == 1)
        }
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `a picture that is hostile costs one failure, and the worker lives`() throws {
        let bomb = try decoded(
            "iVBORw0KGgoAAAANSUhEUgABhqAAAYagCAIAAAAnMJyfAAAAC0lEQVR42mNggAEAAAoAAewkA7kAAAAASUVORK5CYII="
        )
        try inFolder {
            #expect(
                throws: ThumbnailFailure.refused(
                    "the picture could not be drawn: the picture is too large")
            ) {
                try picture(of: bomb)
            }
            guard
                case .unavailable? = #expect(
                    throws: ThumbnailFailure.self,
                    performing: {
                        try picture(of: bomb, program: "/nonexistent")
                    })
            else {
                Issue.record("it is none of the document")
                return
            }
        }
        let worker = ThumbnailWorker(program: Surroundings.program)
        defer { worker.stop() }
        let page = try worker.picture(
            DrawingRequest(type: .text, size: 128, bytes: Array("A".utf8)))
        for place in page.indices where place % 7 == 0 {
            var mutant = page
            mutant[place] ^= UInt8(1 << (place / 7 % 8))
            _ = try? worker.fitted(mutant, size: 64)
            _ = try? worker.fitted(Array(page[..<place]), size: 64)
        }
        #expect(PNGFile(try worker.fitted(page, size: 64))?.height == 64)
        #expect(worker.starts == 1)
    }

    private func decoded(_ text: String) throws -> [UInt8] {
        let path = folder.path + "/decoded"
        let said = try Surroundings.run("printf %s '\(text)' | base64 -d >'\(path)'")
        try #require(said.code == 0)
        return try Surroundings.contents(path)
    }

    @Test(.enabled(if: missing == nil, "no sandbox: \(missing ?? "")"))
    func `sizes for which there was no time are missing, and may be tried again`() throws {
        try inFolder {
            let path = folder.path + "/a.slow"
            let maker = PictureMaker(program: Surroundings.program, wallLimit: 3_000)
            let worker = maker.worker(niceness: 0)
            defer { worker.stop() }
            let text = DrawingRequest(type: .text, size: 64, bytes: Array("A".utf8))
            try Surroundings.write(worker.picture(text), to: path)
            var order = PictureOrder(
                item: ItemNumber(rawValue: 1), node: NodeNumber(ItemNumber(rawValue: 1), 1),
                type: PictureType(fileName: "a.slow".utf8), fileName: "a.slow")
            let file = try SharedDescriptor(OwnedDescriptor.open(path, O_RDONLY))
            let input = PictureInput.file(file, path: path)
            let pictures = try maker.pictures(of: order, input, by: worker, nil)
            #expect(pictures.keys.sorted() == [.small, .medium])
            order.sizes = [.large, .huge]
            #expect(throws: ThumbnailFailure.timedOut(milliseconds: 3_000)) {
                try maker.pictures(of: order, input, by: worker, nil)
            }
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// Pictures below `.shapeedit/thumbnails` and as an attribute.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PictureTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a published document gets its pictures`(_ dataPath: DataPath) throws {
        try withPictures(dataPath) { desk in
            let agent = desk.agent
            let content = PictureDesk.slide(1)
            agent.makeDirectory("folder")
            agent.store("folder/one.slide", content)
            #expect(desk.settle("folder/one.slide") == "ready")
            for size in PictureDesk.sizes {
                let path = desk.path("folder/one.slide", size)
                let picture = try desk.reference(content, "slide", size)
                // The largest follows the others.
                #expect(waitUntil { agent.content(path) == picture }, "\(size)")
                let status = agent.status(path)
                #expect(status.isFile && status.size == picture.count)
                #expect(status.modified == agent.status("folder/one.slide").modified)
                agent.open(path, O_WRONLY, fails: EROFS, EACCES, EPERM)
            }
            #expect(
                agent.attribute("folder/one.slide", "user.shapeedit.thumbnail")
                    == desk.picture("folder/one.slide", 256))
            #expect(
                agent.names(".shapeedit/thumbnails").sorted() == ["1024", "128", "256", "512"])
            #expect(agent.names(".shapeedit/thumbnails/128") == ["folder"])
            #expect(agent.names(".shapeedit/thumbnails/128/folder") == ["one.slide.png"])
            agent.status(".shapeedit/thumbnails/128/folder/one.slide", fails: ENOENT)
            agent.status(".shapeedit/thumbnails/128/none.png", fails: ENOENT)
            agent.status(".shapeedit/thumbnails/64", fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `every kind of document of ours has a picture`(_ dataPath: DataPath) throws {
        try withPictures(dataPath) { desk in
            for end in ["shape", "shapeFile", "slide", "list"] {
                let made = try desk.container.command(
                    "new", "\(desk.container.mountPoint)/made.\(end)")
                try #require(made.status == 0, "\(made)")
            }
            desk.agent.store("note.txt", "A text\nof two lines\n")
            desk.agent.store("note.md", "# A title\n\n- one\n- two\n")
            for name in [
                "made.shape", "made.shapeFile", "made.slide", "made.list", "note.txt", "note.md",
            ] {
                #expect(desk.settle(name) == "ready", "\(name)")
                let content = desk.agent.content(ByteString(name))
                let end = String(name.split(separator: ".")[1])
                try #expect(desk.picture(name) == desk.reference(content, end), "\(name)")
            }
        }
    }

    @Test func `what nothing draws has a placeholder of its type`() throws {
        try withPictures { desk in
            desk.agent.store("thing.unheardof", "?")
            desk.agent.store("empty.slide", "")
            for name in ["thing.unheardof", "empty.slide"] {
                let size = desk.agent.status(desk.path(name)).size
                let picture = desk.picture(name)
                #expect(size == picture.count && picture.bytes.starts(with: [0x89, 0x50]))
            }
            #expect(desk.picture("thing.unheardof") != desk.picture("empty.slide"))
            #expect(desk.state("empty.slide") == "none")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a new version has its own picture, a renamed document keeps its`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath) { desk in
            let agent = desk.agent
            let (first, second) = (PictureDesk.slide(1), PictureDesk.slide(2))
            agent.store("a.slide", first)
            desk.settle("a.slide")
            // Over it, and by rename as most programs save.
            agent.store("a.slide", second)
            desk.settle("a.slide")
            try #expect(desk.picture("a.slide") == desk.reference(second, "slide"))
            agent.store(".goutputstream-AB12CD", first)
            agent.rename(".goutputstream-AB12CD", "a.slide")
            desk.settle("a.slide")
            try #expect(desk.picture("a.slide") == desk.reference(first, "slide"))
            // The largest follows a second later, and is counted too.
            let largest = try desk.reference(first, "slide", 1_024)
            #expect(waitUntil { desk.picture("a.slide", 1_024) == largest })
            #expect(waitUntil { desk.count("picturesWaiting") == 0 })
            let drawn = desk.count("picturesDrawn")
            agent.makeDirectory("folder")
            agent.rename("a.slide", "folder/b.slide")
            agent.status(desk.path("a.slide"), fails: ENOENT)
            #expect(desk.state("folder/b.slide") == "ready")
            try #expect(desk.picture("folder/b.slide") == desk.reference(first, "slide"))
            // The same bytes as another type are another picture.
            agent.rename("folder/b.slide", "folder/b.txt")
            #expect(desk.settle("folder/b.txt") == "ready")
            // It is there a moment before it is counted.
            #expect(waitUntil { desk.count("picturesWaiting") == 0 })
            #expect(desk.count("picturesDrawn") == drawn + 1)
            try #expect(desk.picture("folder/b.txt") == desk.reference(first, "txt"))
        }
    }

    @Test func `pictures are there after a remount and go with the version`() throws {
        try withPictures { desk in
            let agent = desk.agent
            let content = PictureDesk.slide(3)
            agent.store("kept.slide", content)
            agent.store("gone.slide", PictureDesk.slide(4))
            desk.settle("kept.slide")
            desk.settle("gone.slide")
            #expect(try desk.keptFiles().count == 2)
            agent.end()
            try desk.container.unmount()
            #expect(try desk.container.check().status == 0)
            try desk.mount()
            let again = try Agent(in: desk.container.mountPoint)
            defer { again.end() }
            let path = desk.path("kept.slide")
            try #expect(again.content(path) == desk.reference(content, "slide"))
            #expect(
                again.content(".shapeedit/status.json").text.contains("\"picturesDrawn\": 0"))
            again.unlink("gone.slide")
            again.end()
            try desk.container.unmount()
            #expect(try desk.keptFiles().count == 1)
            try desk.mount()
        }
    }

    @Test func `a document that is renamed or moved keeps its picture, also without the disk`()
        throws
    {
        try withPictures { desk in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            #expect(desk.settle("a.slide") == "ready")
            #expect(
                try waitUntil {
                    let isLargestThere =
                        try desk.picture("a.slide", 1_024)
                        == desk.reference(PictureDesk.slide(1), "slide", 1_024)
                    return try isLargestThere && desk.keptFiles().count == 1
                })
            #expect(waitUntil { desk.count("picturesWaiting") == 0 })
            let drawn = desk.count("picturesDrawn")
            for path in try desk.keptFiles() { #expect(unlink(path) == 0) }
            desk.agent.shell("mkdir d && mv a.slide d/b.slide")
            #expect(desk.state("d/b.slide") == "ready")
            for size in [128, 256, 512] {
                let expected = try desk.reference(PictureDesk.slide(1), "slide", size)
                #expect(desk.picture("d/b.slide", size) == expected)
            }
            #expect(desk.count("picturesDrawn") == drawn)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs another user"))
    func `who may not read a document may not see its picture`() throws {
        try withPictures { desk in
            let agent = desk.agent
            agent.makeDirectory("closed", mode: 0o700)
            agent.store("closed/a.slide", PictureDesk.slide(5))
            agent.store("mine.slide", PictureDesk.slide(6))
            agent.changeMode("mine.slide", 0o600)
            desk.settle("closed/a.slide")
            desk.settle("mine.slide")
            let other = try Agent(in: desk.container.mountPoint, user: nobody)
            defer { other.end() }
            other.open(desk.path("mine.slide"), O_RDONLY, fails: EACCES)
            other.open(desk.path("closed/a.slide"), O_RDONLY, fails: EACCES)
            other.open(".shapeedit/thumbnails/128/closed", O_RDONLY, fails: EACCES)
        }
    }

    @Test func `a watcher of the placeholder is told when the picture is there`() throws {
        // It begins when the placeholder has been seen.
        let program = try BuiltPrograms.shapeedit() + "-thumbnailer"
        try withPictures(
            thumbnailer: "while [ ! -e \"$0.go\" ]; do sleep 0.1; done; exec '\(program)' \"$@\""
        ) { desk in
            desk.agent.store("a.slide", PictureDesk.slide(7))
            let path = "\(desk.container.mountPoint)/.shapeedit/thumbnails/256"
            let watch = try #require(Watch(path + "/a.slide.png"))
            let folder = try #require(Watch(path))
            #expect(desk.state("a.slide") == "pending")
            try PictureDesk.write([], to: desk.container.base + "/thumbnailer.go")
            #expect(watch.sees(UInt32(IN_DELETE_SELF), seconds: 60))
            #expect(folder.sees(UInt32(IN_ATTRIB), of: "a.slide.png", seconds: 60))
            #expect(desk.state("a.slide") == "ready")
        }
    }

    @Test(arguments: [
        "cp b.slide a.slide", "mv b.slide a.slide", "mv a.slide c.slide", "rm a.slide",
        "touch a.slide", "chmod 600 a.slide", "ln a.slide c.slide",
    ])
    func `a watcher of the placeholder is told though its document changes first`(
        _ command: String
    ) throws {
        try withPictures(thumbnailer: HaltedWorkers.thumbnailer(), patience: 0) { desk in
            let (agent, workers) = (desk.agent, HaltedWorkers(desk))
            agent.store("drawn.slide", PictureDesk.slide(6))
            #expect(desk.settle("drawn.slide") == "ready")
            try workers.stop()
            agent.store("a.slide", PictureDesk.slide(7))
            agent.store("b.slide", PictureDesk.slide(8))
            let folder = "\(desk.container.mountPoint)/.shapeedit/thumbnails"
            let watches = try PictureDesk.sizes.map {
                try #require(Watch("\(folder)/\($0)/a.slide.png"))
            }
            agent.shell(command)
            try workers.goOn()
            #expect(watches.allSatisfy { $0.sees(UInt32(IN_DELETE_SELF), seconds: 60) })
        }
    }

    @Test(arguments: ["mv outer other", "mv outer/in in", "mkdir new; mv outer new"])
    func `a watcher of the placeholder is told where a directory above is renamed`(
        _ command: String
    ) throws {
        try withPictures(thumbnailer: HaltedWorkers.thumbnailer(), patience: 0) { desk in
            let (agent, workers) = (desk.agent, HaltedWorkers(desk))
            agent.shell("mkdir -p outer/in")
            agent.store("drawn.slide", PictureDesk.slide(6))
            #expect(desk.settle("drawn.slide") == "ready")
            try workers.stop()
            agent.store("outer/in/a.slide", PictureDesk.slide(7))
            let folder = "\(desk.container.mountPoint)/.shapeedit/thumbnails"
            let watches = try PictureDesk.sizes.map {
                try #require(Watch("\(folder)/\($0)/outer/in/a.slide.png"))
            }
            agent.shell(command)
            try workers.goOn()
            #expect(watches.allSatisfy { $0.sees(UInt32(IN_DELETE_SELF), seconds: 20) })
        }
    }

    @Test func `the command waits for the picture and draws other sizes`() throws {
        try withPictures { desk in
            let file = "\(desk.container.mountPoint)/a.slide"
            let output = "\(desk.container.base)/a.png"
            desk.agent.store("a.slide", PictureDesk.slide(8))
            let kept = try desk.container.command("thumbnail", file, "-o", output)
            #expect(kept.status == 0, "\(kept)")
            #expect(try ByteString(PictureDesk.read(output)) == desk.picture("a.slide"))
            let other = try desk.container.command(
                "thumbnail", file, "-o", output, "--size", "200", "--json")
            #expect(other.status == 0 && other.text.contains("\"kept\":"), "\(other)")
            #expect(try PictureDesk.read(output)[16..<20] == [0, 0, 0, 200])
            desk.agent.store("bad.slide", "no slide at all")
            let bad = try desk.container.command(
                "thumbnail", "\(desk.container.mountPoint)/bad.slide", "-o", output)
            #expect(bad.status == 65 && !bad.errors.isEmpty, "\(bad)")
        }
    }

    @Test func `a document whose path is too long for the kernel is drawn by the command itself`()
        throws
    {
        try withPictures { desk in
            let agent = desk.agent
            let name = ByteString(String(repeating: "d", count: 250))
            for _ in 0...Int(PATH_MAX) / 250 {
                agent.makeDirectory(name)
                agent.changeDirectory(name)
            }
            agent.store("a.slide", PictureDesk.slide(8))
            let output = "\(desk.container.base)/a.png"
            let drawn = agent.run(
                ByteString(try BuiltPrograms.shapeedit()), "thumbnail", "a.slide", "-o",
                ByteString(output))
            #expect(drawn.status == 0, "\(drawn)")
            #expect(
                try ByteString(PictureDesk.read(output))
                    == desk.reference(PictureDesk.slide(8), "slide"))
        }
    }

    @Test func `that nothing draws a file is told alike in every size`() throws {
        try withPictures { desk in
            desk.agent.store("a.undrawn", "words")
            for size in ["256", "200"] {
                let result = try desk.container.command(
                    "thumbnail", "\(desk.container.mountPoint)/a.undrawn", "-o", "-", "--size", size
                )
                #expect(result.status == Int(EX_UNAVAILABLE), "\(result)")
            }
        }
    }

    @Test func `the command can be told not to wait`() throws {
        // The drawing never begins, and never ends.
        try withPictures(thumbnailer: "exec sleep 1000") { desk in
            let output = "\(desk.container.base)/a.png"
            desk.agent.store("a.slide", PictureDesk.slide(8))
            let file = "\(desk.container.mountPoint)/a.slide"
            let early = try desk.container.command("thumbnail", file, "-o", output, "--no-wait")
            #expect(early.status == 75 && "\(early)".contains("still being drawn"), "\(early)")
            #expect(access(output, F_OK) != 0)
            try desk.remount { try desk.replaceThumbnailer(by: nil) }
            let late = try desk.container.command("thumbnail", file, "-o", output, "--wait")
            #expect(late.status == 0, "\(late)")
            let now = try desk.container.command("thumbnail", file, "-o", output, "--no-wait")
            #expect(now.status == 0, "\(now)")
        }
    }

    @Test func `the command never takes a placeholder for the picture`() throws {
        // Nobody waits in the mount: the largest picture is drawn a second after the others.
        try withPictures(patience: 0) { desk in
            let (agent, point) = (desk.agent, desk.container.mountPoint)
            let output = "\(desk.container.base)/a.png"
            func expect(_ document: String, _ content: ByteString, _ end: String, _ size: Int)
                throws
            {
                let result = try desk.container.command(
                    "thumbnail", "\(point)/\(document)", "-o", output, "--size", "\(size)")
                try #require(result.status == 0, "\(result)")
                #expect(
                    try ByteString(PictureDesk.read(output)) == desk.reference(content, end, size))
            }
            for number in 0..<3 {
                let slide = PictureDesk.slide(number)
                agent.store(ByteString("\(number).slide"), slide)
                try expect("\(number).slide", slide, "slide", 1024)
            }
            // By another name it is another type, and only one's pictures are kept.
            agent.link("0.slide", "0.txt")
            #expect(desk.settle("0.slide") == "ready")
            try expect("0.txt", PictureDesk.slide(0), "txt", 256)
            // A folder has the name of the picture.
            agent.makeDirectory("1.slide.png")
            try expect("1.slide", PictureDesk.slide(1), "slide", 256)
        }
    }
    @Test func `a listing of pictures has each that is there from its beginning to its end`() throws
    {
        try withPictures { desk in
            let agent = desk.agent
            agent.makeDirectory("folder")
            let names = (0..<400).map { "\($0).bin" }
            for name in names { agent.store(ByteString("folder/\(name)"), "x") }
            let directory = agent.open(
                ".shapeedit/thumbnails/256/folder", O_RDONLY | O_DIRECTORY)
            defer { agent.close(directory) }
            var listed = agent.nextEntries(directory, count: 1_000).map(\.name.text)
            // What was listed goes, and the rest stays where it is.
            let gone = Set(listed)
            #expect(gone.count < 100)
            for name in names where gone.contains("\(name).png") {
                agent.unlink(ByteString("folder/\(name)"))
            }
            while true {
                let more = agent.nextEntries(directory).map(\.name.text)
                if more.isEmpty { break }
                listed += more
            }
            let expected = [".", ".."] + names.map { "\($0).png" }
            #expect(listed.sorted() == expected.sorted())
        }
    }

    @Test func `a folder of pictures has each name once, also where a directory has a picture's`()
        throws
    {
        try withPictures { desk in
            desk.agent.makeDirectory("a.png")
            desk.agent.store("a", "x")
            desk.agent.store("b", "x")
            #expect(desk.agent.names(".shapeedit/thumbnails/256").sorted() == ["a.png", "b.png"])
            #expect(!desk.agent.status(desk.path("a")).isFile)
        }
    }
}

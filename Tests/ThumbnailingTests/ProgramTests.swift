import Glibc
import Testing
import Thumbnailing

/// The program as file managers run it.
@Suite struct ProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String) throws -> (code: Int32, output: String) {
        try Surroundings.run("cd '\(folder.path)' && '\(Surroundings.program)' \(arguments)")
    }

    @Test func `paths and addresses are drawn, with keys where they are given`() throws {
        try Surroundings.write(Array("# Title".utf8), to: folder.path + "/a b.md")
        #expect(try run("'a b.md' out.png 128").code == 0)
        let plain = try Surroundings.contents(folder.path + "/out.png")
        #expect(PNGFile(plain)?.height == 128)
        #expect(PNGFile.texts(of: plain) == [:])
        let address = "file://\(folder.path)/a%20b.md"
        #expect(try run("'\(address)' out.png 256 --uri '\(address)' --mtime 5").code == 0)
        let keyed = try Surroundings.contents(folder.path + "/out.png")
        #expect(PNGFile(keyed)?.height == 256)
        let texts = PNGFile.texts(of: keyed)
        #expect(texts["Thumb::URI"] == address)
        #expect(texts["Thumb::MTime"] == "5")
    }

    @Test func `what is drawn can go into a pipe`() throws {
        try Surroundings.write(Array("# Title".utf8), to: folder.path + "/a.md")
        #expect(try run("a.md out.png 128").code == 0)
        let words = try run("a.md /dev/stdout 128 | cat > piped.png").output
        #expect(words.isEmpty, "\(words)")
        #expect(
            try Surroundings.contents(folder.path + "/piped.png")
                == Surroundings.contents(folder.path + "/out.png"))
    }

    @Test func `what GNOME calls every file is no title`() throws {
        let list = try Surroundings.sample("groceries.list")
        func drawn(_ name: String, _ options: String) throws -> [UInt8] {
            let path = "\(folder.path)/\(name)"
            try Surroundings.write(list, to: path)
            let output = "\(folder.path)/\(name).png"
            let (code, words) = try Surroundings.run(
                "'\(Surroundings.program)' '\(path)' '\(output)' 256 \(options)")
            #expect(code == 0, "\(words)")
            return try Surroundings.contents(output)
        }
        let bare = try drawn("a.list", "--title ''")
        #expect(try drawn("gnome-desktop-file-to-thumbnail.list", "") == bare)
        #expect(try drawn("Gnome.list", "") != bare)
    }

    @Test func `what cannot be drawn is said in one line`() throws {
        for arguments in [
            "none.md out.png 128", "/dev/zero out.png 128 --type text", ". out.png 128 --type text",
            "file://%zz out.png 128", "a.unknown out.png 128",
            "'\(Surroundings.program)' o 9 --type text",
        ] {
            let (code, output) = try run(arguments)
            #expect(code == 1, "\(arguments): \(output)")
            #expect(output.split(separator: "\n").count == 1, "\(output)")
            #expect(access(folder.path + "/out.png", F_OK) != 0)
        }
        #expect(try run("a.md out.png 0").code == 64)
        #expect(try run("a.md out.png 5000").code == 64)
    }

    @Test func `a text is drawn however long it is`() throws {
        let made = try Surroundings.run(
            "cd '\(folder.path)' && yes 'a line' | head -c 300000 > short.log"
                + " && cp short.log long.log && truncate -s 1G long.log")
        try #require(made.code == 0, "\(made)")
        for name in ["short", "long"] { #expect(try run("\(name).log \(name).png 128").code == 0) }
        let picture = try Surroundings.contents(folder.path + "/long.png")
        #expect(try picture == Surroundings.contents(folder.path + "/short.png"))
        // A worker gets its file.
        let descriptor = open(folder.path + "/long.log", O_RDONLY)
        defer { close(descriptor) }
        let drawn = try ThumbnailWorker(program: Surroundings.program).picture(
            DrawingRequest(type: .text, size: 128), descriptor: descriptor)
        #expect(drawn == picture)
    }

    @Test func `types are told by names in any case`() {
        #expect(DrawnType(fileName: "A.ShapeFile") == .shapeFile)
        #expect(DrawnType(fileName: "README.MD") == .markdown)
        #expect(DrawnType(fileName: ".slide") == nil)
        #expect(DrawnType(fileName: "shape") == nil)
    }
}

import Glibc
import Probing
import TestSupport
import Testing

private let canDrawPhotos =
    isInstalled("gdk-pixbuf-thumbnailer")
    && (try? run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]).status) == 0

/// Pictures of photos whose contents are not here, made of the previews in them.
@Suite(
    .oneAtATime,
    .enabled(if: !DataPath.isPlain, "needs a mount"),
    .enabled(if: canDrawPhotos, "needs bubblewrap and the thumbnailer of gdk-pixbuf"))
struct PreviewPictureTests {
    /// What is fetched of a photo first, and for a second directory that is not in that, in bytes.
    private static let (header, step) = (4_096, 1_024)

    /// Width and height of a PNG file.
    private func sides(_ picture: ByteString) -> [Int] {
        guard picture.count > 24 else { return [] }
        return [16, 20].map { place in
            picture.bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// A desk with promises of three megabytes each: `turned.jpg` with a preview, `deep.jpg` with one far
    /// from where it begins, `bare.jpeg` without, and `fake.jpg`, which is no photo. There are no
    /// pictures of them.
    private func withPhotos(
        imported: Bool, _ body: (PictureDesk, _ folder: String) throws -> Void
    ) throws {
        try withPictures(store: imported ? nil : "folder") { desk in
            let size = 3_000_000
            let photos = [
                ("turned.jpg", Photo.bytes(orientation: 6, size: size)),
                ("deep.jpg", Photo.bytes(gap: 8_000, size: size)),
                ("bare.jpeg", Photo.bytes(hasPreview: false, size: size)),
                ("fake.jpg", [UInt8](repeating: 0x20, count: size)),
            ]
            let point = desk.container.mountPoint
            if imported {
                let source = desk.container.base + "/photos"
                mkdir(source, 0o755)
                for (name, bytes) in photos {
                    try PictureDesk.write(bytes, to: "\(source)/\(name)")
                }
                let done = try desk.container.command("import", "--promise", source, point + "/in")
                #expect(done.status == 0, "\(done)")
                return try body(desk, "in/")
            }
            for (name, bytes) in photos { desk.agent.store(ByteString(name), ByteString(bytes)) }
            for field in ["notYetDurable", "uploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            for (name, _) in photos {
                #expect(
                    try waitUntil {
                        try desk.container.command("evict", "\(point)/\(name)").status == 0
                    })
            }
            // What was drawn when they went, or would be now.
            try desk.remount {
                for folder in [desk.container.folder, desk.container.storeFolder] {
                    _ = try run(["rm", "-rf", folder + "/pictures", folder + "/drawing"])
                }
            }
            try body(desk, "")
        }
    }

    @Test(arguments: [false, true])
    func `the command waits for the preview of a photo that is not here`(imported: Bool) throws {
        try withPhotos(imported: imported) { desk, folder in
            let output = desk.container.base + "/preview.png"
            let result = try desk.container.command(
                "thumbnail", "\(desk.container.mountPoint)/\(folder)turned.jpg", "-o", output,
                "--size", "128")
            try #require(result.status == 0, "\(result)")
            #expect(sides(ByteString(try PictureDesk.read(output))) == [64, 128])
        }
    }

    @Test(arguments: [false, true])
    func `of a photo that is not here only what leads to its preview is fetched`(imported: Bool)
        throws
    {
        try withPhotos(imported: imported) { desk, folder in
            let (turned, deep) = (folder + "turned.jpg", folder + "deep.jpg")
            let (bare, fake) = (folder + "bare.jpeg", folder + "fake.jpg")
            _ = try run(["ls", "-lR", desk.container.mountPoint])
            #expect(desk.count("fetchedBytes") == 0)
            let placeholder = desk.picture(turned, 128)
            #expect(desk.settle(turned) == "ready")
            var fetched = Self.header
            #expect(desk.count("fetchedBytes") == fetched)
            // It stands as the photo does, and there is nothing of which to make a larger one.
            #expect(sides(desk.picture(turned, 128)) == [64, 128])
            #expect(sides(placeholder) != [64, 128])
            #expect(sides(desk.picture(turned, 256)) == sides(desk.picture(bare, 256)))
            for (size, status) in [(128, 0), (256, Int(EX_UNAVAILABLE))] {
                let result = try desk.container.command(
                    "thumbnail", "\(desk.container.mountPoint)/\(turned)", "-o",
                    "\(desk.container.base)/\(size).png", "--size", "\(size)")
                #expect(result.status == status, "\(result)")
            }
            fetched += Self.header
            #expect(waitUntil { desk.count("fetchedBytes") == fetched })
            #expect(desk.settle(deep) == "ready")
            fetched += Self.header + Self.step + Photo.pixels.count
            #expect(desk.count("fetchedBytes") == fetched)
            #expect(sides(desk.picture(deep, 128)) == [128, 64])
            _ = desk.picture(fake, 128)
            fetched += Self.header
            #expect(waitUntil { desk.count("fetchedBytes") == fetched })
            // Without a preview there is a placeholder, and it is not looked for twice.
            for name in [bare, fake] { #expect(waitUntil { desk.state(name) == "none" }) }
            for _ in 0..<3 {
                for name in [bare, fake] { _ = desk.picture(name, 128) }
                _ = desk.picture(turned, 512)
                for name in [bare, fake] { #expect(desk.state(name) == "none") }
            }
            #expect(desk.count("fetchedBytes") == fetched)
            for name in [turned, deep, bare, fake] {
                let state = desk.agent.attribute(ByteString(name), "user.shapeedit.state")
                #expect(state == "promise")
            }
        }
    }

    @Test func `the other sizes are drawn when the content is here`() throws {
        try withPhotos(imported: false) { desk, _ in
            #expect(desk.settle("turned.jpg") == "ready")
            let small = desk.picture("turned.jpg", 128)
            let version = desk.version("turned.jpg")
            for name in ["turned.jpg", "bare.jpeg"] {
                #expect(desk.agent.content(ByteString(name)).count == 3_000_000)
            }
            // Nothing says of a photo that it cannot be drawn because it had no preview.
            #expect(desk.settle("bare.jpeg") == "ready")
            #expect(sides(desk.picture("bare.jpeg", 256)) == [256, 128])
            #expect(waitUntil { sides(desk.picture("turned.jpg", 256)) != [256, 256] })
            #expect(desk.picture("turned.jpg", 128) == small)
            #expect(desk.version("turned.jpg") == version)
        }
    }

    @Test func `what stands for larger pictures goes along with a folder, in the next mount too`()
        throws
    {
        try withPhotos(imported: false) { desk, _ in
            desk.agent.makeDirectory("in")
            desk.agent.rename("turned.jpg", "in/turned.jpg")
            func shown(_ folder: String) throws -> Int {
                try desk.entries(of: "\(folder)/turned.jpg").count { access($0, F_OK) == 0 }
            }
            _ = try run(["ls", desk.container.mountPoint + "/in"])
            #expect(desk.settle("in/turned.jpg") == "ready")
            #expect(sides(desk.picture("in/turned.jpg", 128)) == [64, 128])
            #expect(try waitUntil { try shown("in") == 4 })
            // Nobody lists it in this one.
            try desk.remount()
            let fetched = desk.count("fetchedBytes")
            desk.agent.rename("in", "on")
            #expect(try waitUntil { try shown("in") == 0 && shown("on") == 4 })
            #expect(desk.count("fetchedBytes") == fetched)
        }
    }

    /// tumbler opens what has no valid entry of the size that it wants.
    @Test func `what stands for a promise keeps file managers from opening it`() throws {
        try #require(isInstalled("gio"))
        try withPictures { desk in
            let source = desk.container.base + "/images"
            mkdir(source, 0o755)
            let image = try desk.reference(PictureDesk.slide(1), "slide").bytes
            for name in ["a.png", "b.png", "c.bin"] {
                try PictureDesk.write(image, to: "\(source)/\(name)")
            }
            // It has been listed when they come.
            desk.agent.makeDirectory("in")
            let folder = desk.container.mountPoint + "/in"
            _ = try run(["ls", folder])
            let done = try desk.container.command("import", "--promise", source, folder)
            #expect(done.status == 0, "\(done)")
            func picture(_ name: String) throws -> [UInt8]? {
                let result = try run(
                    ["gio", "info", "-a", "thumbnail::*", "\(folder)/\(name)"],
                    environment: desk.container.environment
                ).text.split(separator: "\n")
                guard result.contains(where: { $0.contains("is-valid: TRUE") }) else { return nil }
                let line = result.first { $0.contains("thumbnail::path: ") }
                return line.flatMap { PictureDesk.readIfThere(String($0.drop { $0 != "/" })) }
            }
            func isPicture(_ name: String, of document: String) throws -> Bool {
                let shown = desk.picture("in/\(document)", 1_024).bytes.suffix(200)
                return try picture(name)?.suffix(200).elementsEqual(shown) == true
            }
            for name in ["a.png", "b.png"] {
                #expect(try waitUntil { try isPicture(name, of: name) }, "\(name)")
            }
            #expect(try picture("c.bin") == nil)
            // It goes along.
            desk.agent.rename("in", "on")
            desk.agent.rename("on", "in")
            desk.agent.rename("in/b.png", "in/d.png")
            #expect(try waitUntil { try isPicture("d.png", of: "d.png") })
            #expect(desk.count("fetchedBytes") == 0)
            let placeholder = try picture("a.png")
            let cache = desk.container.base + "/home/cache"
            _ = try run(["cp", "-a", cache, cache + ".before"])
            let watch = try #require(Watch(folder))
            #expect(desk.agent.content("in/a.png") == ByteString(image))
            // File managers look again when they are told of the document.
            #expect(watch.sees(UInt32(IN_ATTRIB), of: "a.png", seconds: 20))
            #expect(try ![nil, placeholder].contains(picture("a.png")))
            #expect(try waitUntil { try isPicture("a.png", of: "a.png") })
            // As if the daemon had died when its content had come.
            try desk.remount {
                _ = try run(["rm", "-rf", desk.container.folder + "/pictures", cache])
                _ = try run(["mv", cache + ".before", cache])
            }
            _ = try run(["ls", folder])
            #expect(try waitUntil { try ![nil, placeholder].contains(picture("a.png")) })
            #expect(try waitUntil { try isPicture("a.png", of: "a.png") })
            desk.agent.unlink("in/d.png")
            #expect(
                try waitUntil {
                    try run(["find", desk.container.base + "/home/cache", "-name", "*.png"])
                        .text.split(separator: "\n").count == 4
                })
        }
    }
}

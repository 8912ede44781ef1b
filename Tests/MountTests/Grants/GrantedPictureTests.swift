import Glibc
import Probing
import TestSupport
import Testing

/// Pictures of documents of other containers in an app's mount.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedPictureTests {
    private static func top(_ size: Int = 256) -> ByteString { ".shapeedit/thumbnails/\(size)" }

    private static func folder(_ size: Int = 256) -> ByteString { top(size) + "/in test" }

    private static let state: ByteString = "user.shapeedit.thumbnail.state"

    /// Waits until a document of the owner's has its picture.
    private func settle(_ agent: Agent, _ document: ByteString) {
        let isThere = waitUntil { agent.attribute(document, Self.state) == "ready" }
        #expect(isThere)
    }

    /// A picture as the owner sees it, of a document below its `work`.
    private func owned(
        _ both: OwnerAndApp, _ agent: Agent, _ document: ByteString, _ size: Int = 256
    ) -> ByteString {
        agent.content(both.owner.root + "/" + Self.top(size) + "/work/" + document + ".png")
    }

    @Test(arguments: DataPath.mounts)
    func `an app sees the pictures of what is granted to it, always the current ones`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.makeDirectory("d")
            here.store("d/one.slide", PictureDesk.slide(1))
            settle(here, "d/one.slide")
            for size in PictureDesk.sizes {
                #expect(there.names(Self.top(size)) == [])
                there.status(Self.folder(size), fails: ENOENT)
            }
            try both.run("grant", "d/one.slide", "--to", "notes", "--write")
            for size in PictureDesk.sizes {
                #expect(there.names(Self.top(size)) == ["in test"])
                #expect(there.names(Self.folder(size)) == ["one.slide.png"])
                let status = there.status(Self.folder(size) + "/one.slide.png")
                #expect(status.isFile && status.size > 0)
            }
            let path = Self.folder() + "/one.slide.png"
            let first = owned(both, here, "d/one.slide")
            #expect(there.content(path) == first)
            #expect(there.status(path).size == first.count)
            let small = there.content(Self.folder(128) + "/one.slide.png")
            #expect(small == owned(both, here, "d/one.slide", 128) && small != first)
            // By the document too, and by the command, which looks for the file.
            #expect(there.attribute("in test/one.slide", "user.shapeedit.thumbnail") == first)
            #expect(there.attribute("in test/one.slide", Self.state) == "ready")
            let kept = try both.app.command(
                "thumbnail", both.app.mountPoint + "/in test/one.slide", "-o", "-")
            #expect(kept.status == 0 && ByteString(kept.output) == first)
            // A new version has its own picture; who has the old one open reads that.
            let old = there.open(path, O_RDONLY)
            there.store("in test/one.slide", PictureDesk.slide(2))
            settle(here, "d/one.slide")
            let second = there.content(path)
            #expect(second == owned(both, here, "d/one.slide") && second != first)
            #expect(there.readToEnd(old) == first)
            there.close(old)
            // The name is the document's.
            here.rename("d/one.slide", "two.slide")
            #expect(there.names(Self.folder()) == ["two.slide.png"])
            #expect(there.content(Self.folder() + "/two.slide.png") == second)
            there.status(path, fails: ENOENT)
        }
    }

    /// Who has a version open, or its picture, while others are published.
    @Test(arguments: DataPath.mounts)
    func `a picture that is open keeps its size, and a version that is open its picture`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.makeDirectory("d")
            here.store("d/one.slide", PictureDesk.slide(1))
            settle(here, "d/one.slide")
            try both.run("grant", "d/one.slide", "--to", "notes")
            let path = Self.folder() + "/one.slide.png"
            let first = there.content(path)
            let document = there.open("in test/one.slide", O_RDONLY)
            let picture = there.open(path, O_RDONLY)
            here.store("d/one.slide", "no slide")
            let isOther = waitUntil { there.content(path).count != first.count }
            #expect(isOther)
            #expect(there.status(picture).size == first.count)
            #expect(there.readToEnd(picture) == first)
            #expect(there.attribute(document, "user.shapeedit.thumbnail") == first)
            #expect(there.attribute(document, Self.state) == "ready")
            let current = there.attribute("in test/one.slide", "user.shapeedit.thumbnail")
            #expect(current == there.content(path))
            there.close(picture)
            there.close(document)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `no picture of anything else of the owner can be reached, and none can be changed`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let own = here.attribute("a.txt", "user.shapeedit.id")
            let secret = here.attribute("secret.txt", "user.shapeedit.id")
            let path = Self.folder() + "/a.txt.png"
            #expect(there.content(path).bytes.starts(with: [0x89, 0x50]))
            for name in [
                "secret.txt.png", "a.txt", ".png", "work", "A.TXT.png", "\(secret).png",
                "\(secret).256.png", "\(own).256.png",
            ] {
                there.status(Self.folder() + "/" + ByteString(name), fails: ENOENT)
            }
            for name in ["in nothing", "in notes", "in test (2)", "in test.png", "in "] {
                there.status(Self.top() + "/" + ByteString(name), fails: ENOENT)
            }
            there.status(".shapeedit/thumbnails/in test", fails: ENOENT)
            // By what the app's mount tells of itself, and at the owner's by the app's name.
            there.status(".shapeedit/granted/notes/notes/\(secret).256.png", fails: EACCES)
            let granted = both.owner.root + "/.shapeedit/granted/test/"
            here.status(granted + "notes/\(own).256.png")
            here.status(granted + "notes/\(secret).256.png", fails: EACCES)
            here.status(granted + "mail/\(own).256.png", fails: EACCES)
            for end in [".png", ".64.png", ".256", ".256.png.png", ".shared.256.png"] {
                here.status(granted + "notes/\(own)" + ByteString(end), fails: ENOENT)
            }
            // Its number is no number of the owner's.
            let ours = both.owner.root + "/" + Self.top() + "/work/a.txt.png"
            #expect(there.status(path).inode != here.status(ours).inode)
            // Nothing here is the app's to change.
            #expect(there.status(path).mode & 0o222 == 0)
            #expect(there.status(Self.folder()).mode & 0o277 == 0)
            there.open(path, O_WRONLY, fails: EROFS, EACCES)
            there.truncate(path, size: 0, fails: EROFS, EACCES)
            there.changeMode(path, 0o666, fails: EROFS)
            there.setAttribute(path, "user.tag", "blue", fails: EROFS, EACCES)
            there.unlink(path, fails: EROFS, EACCES)
            there.rename(path, Self.folder() + "/b.png", fails: EROFS, EACCES)
            there.open(Self.folder() + "/.a.swp", O_CREAT | O_WRONLY, fails: EROFS, EACCES)
            there.makeDirectory(Self.folder() + "/d", fails: EROFS, EACCES)
            there.removeDirectory(Self.folder(), fails: EROFS, EACCES)
            #expect(there.attributeNames(path) == [])
            #expect(there.names(Self.folder()) == ["a.txt.png"])
        }
    }

    @Test(arguments: DataPath.mounts)
    func `pictures go with the grant, also one that is open`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let there = try both.appAgent()
            let path = Self.folder() + "/a.txt.png"
            try both.run("grant", "a.txt", "--to", "notes")
            let file = there.open(path, O_RDONLY)
            #expect(there.read(file, count: 2).bytes == [0x89, 0x50])
            try both.run("revoke", "a.txt", "--to", "notes")
            there.read(file, count: 1, fails: EACCES)
            there.status(path, fails: ENOENT)
            there.open(path, O_RDONLY, fails: ENOENT)
            there.status(Self.folder(), fails: ENOENT)
            #expect(there.names(Self.top()) == [])
            // Of one of several it goes alone.
            try both.run("grant", "secret.txt", "--to", "notes")
            #expect(there.names(Self.folder()) == ["secret.txt.png"])
            there.open(path, O_RDONLY, fails: ENOENT)
            there.read(file, count: 1, fails: EACCES)
            there.close(file)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an owner that is not mounted shows no pictures until it is again`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes")
            try both.ownerContainer.unmount()
            let there = try both.appAgent()
            let path = Self.folder() + "/a.txt.png"
            #expect(there.names(Self.top()) == ["in test"])
            #expect(there.names(Self.folder()) == [])
            there.open(path, O_RDONLY, fails: EIO)
            try both.owner.remountAfterCrash()
            #expect(there.names(Self.folder()) == ["a.txt.png"])
            #expect(there.content(path).bytes.starts(with: [0x89, 0x50]))
        }
    }
}

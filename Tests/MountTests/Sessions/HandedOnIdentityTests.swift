import Glibc
import Probing
import TestSupport
import Testing

/// A document that got another file keeps what leads to it when the file that it was before goes for good.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct HandedOnIdentityTests {
    private static let id: ByteString = "user.shapeedit.id"
    private static let grant: ByteString = "user.shapeedit.grant.notes"
    /// How long a document waits for its name to come back, in seconds.
    private static let lifetime = 15
    /// Longer than a document waits for its name to come back, and for what it was to go.
    private static let patience: UInt32 = 25

    @Test func `files that one program moves round take their identities along`() throws {
        try withVolume(.passthrough) { volume in
            let author = try volume.agent()
            for name: ByteString in ["a", "b", "c"] { author.store(name, name) }
            let (a, b) = (author.attribute("a", Self.id), author.attribute("b", Self.id))
            let mover = try volume.agent()
            // They change places.
            for (old, new): (ByteString, ByteString) in [("a", "t"), ("b", "a"), ("t", "b")] {
                mover.rename(old, new)
            }
            #expect(mover.attribute("a", Self.id) == b && mover.attribute("b", Self.id) == a)
            #expect(mover.content("a") == "b" && mover.content("b") == "a")
            // What is made for the name is what the name stands for.
            mover.rename("a", "former")
            mover.store("new", "saved")
            mover.rename("new", "a")
            #expect(mover.attribute("a", Self.id) == b)
            #expect(mover.attribute("former", Self.id) != b)
            mover.rename("b", "b~")
            mover.rename("c", "b")
            #expect(mover.attribute("b", Self.id) == a)
        }
    }

    /// Both wait for what was there to go, so they do it together.
    @Test func `names that come back keep their grants, one given on twice and thousands`()
        throws
    {
        try withVolume(.passthrough) { volume in
            // What a program has just made itself is a temporary file to it.
            let author = try volume.agent()
            for name: ByteString in ["a", "c", "d"] { author.store(name, name) }
            author.setAttribute("a", Self.grant, "read")
            let id = author.attribute("a", Self.id)
            let mover = try volume.agent()
            mover.rename("a", "b")
            // What was there goes for good, as the document that this was.
            mover.rename("b", "c")
            mover.store("a", "d")
            func expectSame() {
                #expect(mover.attribute("a", Self.id) == id)
                #expect(mover.attribute("a", Self.grant) == "read")
            }
            expectSame()

            let agent = try volume.agent()
            let names = (0..<4_400).map { ByteString("f\($0)") }
            for name in names { agent.store(name, "old") }
            let granted = names.suffix(400).filter { $0.bytes.last == UInt8(ascii: "7") }
            #expect(granted.count == 40)
            for name in granted { agent.setAttribute(name, Self.grant, "read") }
            // As a version control system does that goes to another branch and back.
            for name in names.dropLast(400) { agent.unlink(name) }
            let start = time(nil)
            for name in names.suffix(400) { agent.unlink(name) }
            for name in names { agent.store(name, "new") }
            let isInTime = time(nil) - start < Self.lifetime - 1
            for name in granted where isInTime {
                #expect(agent.attribute(name, Self.grant) == "read")
            }
            sleep(Self.patience)
            for name in granted where isInTime {
                #expect(agent.attribute(name, Self.grant) == "read")
            }
            expectSame()
            #expect(mover.content("a") == "d")
            if !isInTime { try Test.cancel("the machine is too slow to make them anew in time") }
        }
    }

    @Test func `a backup that others replace meanwhile does not stay the document`() throws {
        try withVolume(.passthrough) { volume in
            let author = try volume.agent()
            for name: ByteString in ["a", "other"] { author.store(name, name) }
            let id = author.attribute("a", Self.id)
            let editor = try volume.agent()
            editor.rename("a", "a~")
            author.rename("other", "a~")
            editor.store("a", "saved")
            #expect(editor.attribute("a", Self.id) == id)
            #expect(editor.attribute("a~", Self.id) != id)
            #expect(editor.content("a~") == "other")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saving by a hard link of a temporary file keeps the id`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let editor = try volume.agent()
            editor.store("a", "first")
            editor.store("other", "its own")
            let (id, other) = (editor.attribute("a", Self.id), editor.attribute("other", Self.id))
            for content: ByteString in ["second", "third"] {
                editor.store("new", content)
                editor.unlink("a")
                editor.link("new", "a")
                editor.unlink("new")
                #expect(editor.attribute("a", Self.id) == id)
            }
            try volume.remount()
            let mover = try volume.agent()
            #expect(mover.content("a") == "third")
            #expect(mover.attribute("a", Self.id) == id)
            let place = mover.readLink(volume.root + "/.shapeedit/documents/" + id)
            #expect(place == "../../work/a")
            #expect(!mover.names(volume.root + "/.shapeedit/versions/work/a").isEmpty)
            // What was there before only gets another name.
            mover.unlink("a")
            mover.link("other", "a")
            #expect(mover.attribute("a", Self.id) == other)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a file that gets a removed name besides its own stays what it is`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let editor = try volume.agent()
            editor.store("a", "first")
            editor.store("b", "first")
            let (a, b) = (editor.attribute("a", Self.id), editor.attribute("b", Self.id))
            for name: ByteString in ["a", "b"] {
                editor.unlink(name)
                editor.store("new " + name, "second")
                editor.link("new " + name, name)
            }
            let ids = ["new a", "new b"].map { editor.attribute(ByteString($0), Self.id) }
            #expect(["a", "b"].map { editor.attribute(ByteString($0), Self.id) } == ids)
            #expect(Set(ids + [a, b]).count == 4)
            // Another name for the first one is none less.
            editor.rename("new b", "newer b")
            #expect(editor.attribute("b", Self.id) == ids[1])
            // It has gone by another program, or the name has gone elsewhere.
            let other = try volume.agent()
            other.unlink("newer b")
            #expect(editor.attribute("b", Self.id) == ids[1])
            editor.rename("a", "c")
            editor.unlink("new a")
            #expect(editor.attribute("c", Self.id) == ids[0])
            // The names can come back as before.
            editor.store("a", "third")
            editor.unlink("b")
            editor.store("b", "third")
            #expect(editor.attribute("a", Self.id) == a)
            #expect(editor.attribute("b", Self.id) == ids[1])
            #expect(editor.content("c") == "second")
        }
    }

    @Test func `who reads a document that is saved by a link waits for its writer`() throws {
        try withVolume(.passthrough) { volume in
            let (editor, reader) = (try volume.agent(), try volume.agent())
            editor.store("a", "first")
            let id = editor.attribute("a", Self.id)
            let file = editor.open("new", O_WRONLY | O_CREAT)
            editor.write(file, "sec")
            editor.unlink("a")
            editor.link("new", "a")
            editor.unlink("new")
            editor.write(file, "ond")
            editor.close(file)
            #expect(reader.content("a") == "second")
            #expect(reader.attribute("a", Self.id) == id)
        }
    }

    @Test func `of two names of one document only one makes it anew`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("a", "one")
            agent.link("a", "b")
            let id = agent.attribute("a", Self.id)
            for name: ByteString in ["a", "b"] { agent.unlink(name) }
            for name: ByteString in ["a", "b"] { agent.store(name, name) }
            let ids = ["a", "b"].map { agent.attribute($0, Self.id) }
            #expect(Set(ids).count == 2)
            #expect(ids.filter { $0 == id }.count <= 1)
        }
    }
}

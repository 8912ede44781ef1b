import Glibc
import Probing
import TestSupport
import Testing

/// Pictures that the kernel keeps: what changes is seen at once all the same.
///
/// Every look is made twice before a change, so that the kernel has what it may keep.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct KeptPictureTests {
    private static let patience = 45_000

    /// A desk with pictures in the kernel's cache, another process that looks, and what it looks
    /// for.
    private func withReader(
        _ dataPath: DataPath,
        _ body: (PictureDesk, Agent, [(ByteString, ByteString)]) throws -> Void
    ) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let reader = try Agent(in: desk.container.mountPoint)
            defer { reader.end() }
            let samples = try (0..<4).map { number in
                let slide = PictureDesk.slide(number)
                return (slide, try desk.reference(slide, "slide"))
            }
            try body(desk, reader, samples)
        }
    }

    private func look(_ reader: Agent, _ path: ByteString) -> ByteString {
        _ = reader.content(path)
        _ = reader.status(path)
        return reader.content(path)
    }

    @Test(arguments: DataPath.mounts)
    func `a new version, by any way, is seen by its picture at once`(_ dataPath: DataPath) throws {
        try withReader(dataPath) { desk, reader, samples in
            let agent = desk.agent
            let path = desk.path("a.slide")
            agent.store("a.slide", samples[0].0)
            #expect(look(reader, path) == samples[0].1)
            // Written over.
            agent.store("a.slide", samples[1].0)
            #expect(look(reader, path) == samples[1].1)
            // Changed in place through another name.
            agent.link("a.slide", "b.slide")
            #expect(look(reader, desk.path("b.slide")) == samples[1].1)
            let file = agent.open("b.slide", O_RDWR)
            agent.write(file, samples[2].0, offset: 0)
            agent.close(file)
            #expect(look(reader, path) == samples[2].1)
            #expect(look(reader, desk.path("b.slide")) == samples[2].1)
            // Replaced.
            agent.store("t.tmp", samples[3].0)
            agent.rename("t.tmp", "a.slide")
            #expect(look(reader, path) == samples[3].1)
            #expect(look(reader, desk.path("b.slide")) == samples[2].1)
            // Exchanged.
            agent.rename("a.slide", "b.slide", flags: 2)
            #expect(look(reader, path) == samples[2].1)
            #expect(look(reader, desk.path("b.slide")) == samples[3].1)
            // Truncated: there is nothing to draw.
            agent.truncate("a.slide", size: 0)
            #expect(![samples[2].1, samples[3].1].contains(look(reader, path)))
        }
    }

    @Test func `names that go or come are seen at once`() throws {
        try withReader(.noPassthrough) { desk, reader, samples in
            let agent = desk.agent
            agent.makeDirectory("one")
            agent.store("one/a.slide", samples[0].0)
            #expect(look(reader, desk.path("one/a.slide")) == samples[0].1)
            agent.rename("one/a.slide", "one/b.slide")
            reader.status(desk.path("one/a.slide"), fails: ENOENT)
            #expect(look(reader, desk.path("one/b.slide")) == samples[0].1)
            agent.rename("one", "two")
            reader.status(desk.path("one/b.slide"), fails: ENOENT)
            #expect(look(reader, desk.path("two/b.slide")) == samples[0].1)
            agent.store("two/a.slide", samples[1].0)
            #expect(look(reader, desk.path("two/a.slide")) == samples[1].1)
            let open = reader.open(desk.path("two/b.slide"), O_RDONLY)
            agent.unlink("two/b.slide")
            reader.status(desk.path("two/b.slide"), fails: ENOENT)
            // Who has it open reads on.
            #expect(reader.readToEnd(open) == samples[0].1)
            reader.close(open)
            agent.unlink("two/a.slide")
            agent.removeDirectory("two")
            reader.status(".shapeedit/thumbnails/256/two", fails: ENOENT)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs another user"))
    func `who may not read a document any more loses its picture at once`() throws {
        try withReader(.noPassthrough) { desk, _, samples in
            let agent = desk.agent
            let other = try Agent(in: desk.container.mountPoint, user: nobody)
            defer { other.end() }
            agent.makeDirectory("one")
            agent.store("one/a.slide", samples[0].0)
            let path = desk.path("one/a.slide")
            #expect(look(other, path) == samples[0].1)
            agent.changeMode("one/a.slide", 0o600)
            other.open(path, O_RDONLY, fails: EACCES)
            agent.changeMode("one/a.slide", 0o644)
            #expect(look(other, path) == samples[0].1)
            agent.changeMode("one", 0o700)
            other.open(path, O_RDONLY, fails: EACCES)
            agent.changeMode("one", 0o755)
            #expect(look(other, path) == samples[0].1)
            agent.setTimes(
                "one/a.slide", accessed: .now, modified: .at(seconds: 1_000_000, nanoseconds: 5))
            #expect(other.status(path).modified == agent.status("one/a.slide").modified)
        }
    }

    @Test func `a picture keeps its number while it is looked at`() throws {
        try withReader(.noPassthrough) { desk, reader, samples in
            desk.agent.store("a.slide", samples[0].0)
            let first = reader.status(desk.path("a.slide"))
            #expect(look(reader, desk.path("a.slide")) == samples[0].1)
            #expect(reader.status(desk.path("a.slide")).inode == first.inode)
            #expect(
                reader.names(".shapeedit/thumbnails/256") == ["a.slide.png"])
            #expect(reader.status(desk.path("a.slide")).inode == first.inode)
        }
    }
}

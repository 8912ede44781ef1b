import Glibc
import Probing
import TestSupport
import Testing

/// The freedesktop thumbnail cache of the user who mounted, as GIO sees it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DesktopThumbnailTests {
    /// Waits until GIO sees a thumbnail, or none.
    private func settled(_ desk: PictureDesk, _ name: String, has: Bool) throws -> String? {
        var found: String?
        for _ in 0..<1200 {
            found = try desk.thumbnail(name)
            if (found != nil) == has { return found }
            usleep(50_000)
        }
        return found
    }

    @Test(arguments: DataPath.mounts)
    func `entries follow publish, rename and removal`(_ dataPath: DataPath) throws {
        try #require(isInstalled("gio"))
        try withPictures(dataPath) { desk in
            let agent = desk.agent
            agent.makeDirectory("folder")
            agent.store("folder/a.slide", PictureDesk.slide(1))
            desk.settle("folder/a.slide")
            let first = try #require(try settled(desk, "folder/a.slide", has: true))
            #expect(try waitUntil { try desk.entries().count == 4 })
            let before = try PictureDesk.read(first)
            // A new version, a second later as times go: the entry is rewritten.
            sleep(1)
            agent.store("folder/a.slide", PictureDesk.slide(2))
            desk.settle("folder/a.slide")
            let second = try #require(try settled(desk, "folder/a.slide", has: true))
            #expect(try PictureDesk.read(second) != before)
            // The file and a directory above it move.
            agent.rename("folder/a.slide", "folder/b c.slide")
            #expect(try settled(desk, "folder/b c.slide", has: true) != nil)
            agent.rename("folder", "other")
            #expect(try settled(desk, "other/b c.slide", has: true) != nil)
            #expect(try waitUntil { try desk.entries().count == 4 })
            // Saved by rename.
            agent.store("other/.goutputstream-AB12CD", PictureDesk.slide(3))
            agent.rename("other/.goutputstream-AB12CD", "other/b c.slide")
            #expect(try settled(desk, "other/b c.slide", has: true) != nil)
            agent.setTimes(
                "other/b c.slide", accessed: .now,
                modified: .at(seconds: 1_000_000, nanoseconds: 5))
            #expect(try settled(desk, "other/b c.slide", has: true) != nil)
            agent.unlink("other/b c.slide")
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `a document that cannot be read has no entries until it can`() throws {
        try withPictures(.ordinaryUser) { (desk) throws in
            let agent = desk.agent
            agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            #expect(try waitUntil { try desk.entries().count == 4 })
            agent.changeMode("a.slide", 0)
            #expect(try waitUntil { try desk.entries().isEmpty })
            agent.changeMode("a.slide", 0o600)
            #expect(try waitUntil { try desk.entries().count == 4 })
        }
    }

    @Test func `each name of a document has its entries`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let agent = desk.agent
            agent.makeDirectory("folder")
            agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            agent.link("a.slide", "folder/b.slide")
            agent.setTimes(
                "a.slide", accessed: .now, modified: .at(seconds: 1_000_000, nanoseconds: 5))
            for name in ["a.slide", "folder/b.slide"] {
                #expect(try settled(desk, name, has: true) != nil)
            }
            agent.rename("folder", "other")
            #expect(try settled(desk, "other/b.slide", has: true) != nil)
            #expect(try waitUntil { try desk.entries().count == 8 })
            agent.unlink("a.slide")
            #expect(try waitUntil { try desk.entries().count == 4 })
            #expect(try settled(desk, "other/b.slide", has: true) != nil)
            agent.unlink("other/b.slide")
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    @Test func `a listing brings entries back after a remount`() throws {
        try #require(isInstalled("gio"))
        try withPictures { desk in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            #expect(try settled(desk, "a.slide", has: true) != nil)
            desk.agent.end()
            try desk.container.unmount()
            _ = try run(["rm", "-rf", "\(desk.container.base)/home/cache/thumbnails"])
            try desk.mount()
            _ = try run(["ls", desk.container.mountPoint])
            #expect(try settled(desk, "a.slide", has: true) != nil)
        }
    }

    @Test func `a listing brings back entries of one size that there was no room for`() throws {
        try #require(isInstalled("gio"))
        try withPictures { desk in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            #expect(try settled(desk, "a.slide", has: true) != nil)
            let folder = "\(desk.container.base)/home/cache/thumbnails/large"
            func count() throws -> Int {
                try run(["ls", folder]).text.split(separator: "\n").count
            }
            func wait() throws {
                for _ in 0..<1200 where try count() == 0 { usleep(50_000) }
            }
            try wait()
            desk.agent.end()
            try desk.container.unmount()
            _ = try run(["sh", "-c", "rm \(folder)/*"])
            #expect(try count() == 0)
            try desk.mount()
            _ = try run(["ls", desk.container.mountPoint])
            try wait()
            #expect(try count() == 1)
        }
    }

    @Test func `the first listing finds the entries written`() throws {
        try withPictures(patience: 45_000) { desk in
            desk.agent.makeDirectory("folder")
            for number in 0..<8 {
                desk.agent.store(ByteString("folder/\(number).slide"), PictureDesk.slide(number))
                // Who looks waits for the largest, which follows.
                _ = desk.picture("folder/\(number).slide", 1024)
            }
            desk.agent.end()
            try desk.container.unmount()
            _ = try run(["rm", "-rf", "\(desk.container.base)/home/cache/thumbnails"])
            try desk.mount()
            let listed = try run(["ls", "\(desk.container.mountPoint)/folder"])
            #expect(listed.text.split(separator: "\n").count == 8)
            #expect(try desk.entries().count == 8 * 4)
        }
    }

    @Test func `a listing puts right what another mount left, though times and sizes are equal`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            // Nothing but the picture tells what was stored.
            func store(_ number: Int, _ agent: Agent) {
                agent.store("a.slide", PictureDesk.slide(number))
                agent.setTimes(
                    "a.slide", accessed: .now,
                    modified: .at(seconds: 1_000_000, nanoseconds: 5))
            }
            store(1, desk.agent)
            desk.settle("a.slide")
            #expect(try waitUntil { try desk.isRight("a.slide") })
            desk.agent.end()
            try desk.container.unmount()
            let result = try desk.container.command(
                "mount", desk.container.name, desk.container.mountPoint, "--no-desktop-thumbnails")
            try #require(result.status == 0, "\(result)")
            let agent = try Agent(in: desk.container.mountPoint)
            store(2, agent)
            // All sizes: what is drawn after the listing is written anyway.
            let drawn = try desk.reference(PictureDesk.slide(2), "slide", 1_024)
            #expect(waitUntil { agent.content(desk.path("a.slide", 1_024)) == drawn })
            agent.end()
            try desk.remount()
            _ = desk.agent.names(".")
            #expect(try waitUntil { try desk.isRight("a.slide") })
        }
    }

    @Test func `a cache that cannot be written is told by the status, until it can be`() throws {
        try withPictures { desk in
            let folder = desk.cache
            _ = try run(["rm", "-rf", folder])
            _ = try run(["mkdir", "-p", "\(desk.container.base)/home/cache"])
            _ = try run(["touch", folder])
            func status() throws -> String { try desk.container.command("status").text }
            desk.agent.store("a.slide", PictureDesk.slide(1))
            let words = "no pictures in file managers: \(folder): "
            #expect(try waitUntil { try status().contains(words) })
            _ = try run(["rm", folder])
            #expect(try !status().contains("file managers"))
            desk.agent.store("a.slide", PictureDesk.slide(2))
            #expect(try waitUntil { try desk.isRight("a.slide") })
        }
    }

    @Test func `the cache is left alone where that is asked for`() throws {
        try withPictures { desk in
            desk.agent.end()
            try desk.container.unmount()
            let result = try desk.container.command(
                "mount", desk.container.name, desk.container.mountPoint, "--no-desktop-thumbnails")
            try #require(result.status == 0, "\(result)")
            let agent = try Agent(in: desk.container.mountPoint)
            agent.store("a.slide", PictureDesk.slide(1))
            waitUntil { agent.attribute("a.slide", "user.shapeedit.thumbnail.state") == "ready" }
            agent.rename("a.slide", "b.slide")
            agent.unlink("b.slide")
            agent.end()
            #expect(try desk.entries().isEmpty)
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// The freedesktop thumbnail cache of the user who mounted, as GIO sees it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DesktopThumbnailTests {
    /// What `gio info` says of the thumbnail: its path if there is a valid one.
    private func thumbnail(_ desk: PictureDesk, _ name: String) throws -> String? {
        let result = try run(
            ["gio", "info", "-a", "thumbnail::*", "\(desk.container.mountPoint)/\(name)"],
            environment: desk.container.environment)
        try #require(result.status == 0, "\(result)")
        guard result.text.contains("thumbnail::is-valid: TRUE") else { return nil }
        let line = result.text.split(separator: "\n").first { $0.contains("thumbnail::path: ") }
        return line.map { String($0.drop { $0 != "/" }) }
    }

    /// Waits until GIO sees a thumbnail, or none.
    private func settled(_ desk: PictureDesk, _ name: String, has: Bool) throws -> String? {
        var found: String?
        for _ in 0..<1200 {
            found = try thumbnail(desk, name)
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

    /// Stores slides in a new folder and waits for their entries.
    private func fill(
        _ desk: PictureDesk, _ folder: String, count: Int = 24, from first: Int = 0
    ) throws {
        let known = try desk.entries().count
        desk.agent.makeDirectory(ByteString(folder))
        for number in 0..<count {
            desk.agent.store(
                ByteString("\(folder)/\(number).slide"), PictureDesk.slide(first + number))
        }
        #expect(try waitUntil { try desk.entries().count == known + 4 * count })
    }

    /// Whether GIO sees the document's picture, and not that of another one.
    private func isRight(_ desk: PictureDesk, _ name: String) throws -> Bool {
        guard let entry = try thumbnail(desk, name) else { return false }
        // The largest, with other texts before the same pixels.
        let picture = desk.picture(name, 1_024).bytes
        // It may be on its way to another path.
        return PictureDesk.readIfThere(entry)?.suffix(200).elementsEqual(picture.suffix(200))
            == true
    }

    @Test func `a directory that is renamed again at once keeps its entries`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            try fill(desk, "one")
            desk.agent.rename("one", "two")
            desk.agent.rename("two", "three")
            for name in ["three/0.slide", "three/23.slide"] {
                #expect(try waitUntil { try isRight(desk, name) })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
            desk.agent.rename("three", "four")
            desk.agent.rename("four", "three")
            desk.agent.rename("three/7.slide", "three/seven.slide")
            for name in ["three/0.slide", "three/seven.slide", "three/23.slide"] {
                #expect(try waitUntil { try isRight(desk, name) })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
        }
    }

    @Test func `a directory that is renamed several times at once has its entries written once`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let (hold, written) = ("\(desk.container.base)/hold", "\(desk.container.base)/written")
            // Entries wait for the file that holds them, and are counted in another.
            try desk.remount {
                try desk.container.preload(
                    """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <fcntl.h>
                    #include <string.h>
                    #include <unistd.h>
                    int rename(const char *from, const char *to) {
                        int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
                        if (strcmp(to + strlen(to) - 4, ".png")) return next(from, to);
                        while (!access("\(hold)", F_OK)) usleep(1000);
                        int file = open("\(written)", O_WRONLY | O_CREAT | O_APPEND, 0600);
                        write(file, "x", 1);
                        close(file);
                        return next(from, to);
                    }
                    """)
            }
            for folder in ["first", "one", "last"] { try fill(desk, folder, count: 2) }
            let before = try PictureDesk.read(written).count
            try PictureDesk.write([], to: hold)
            let names = [("first", "1st"), ("one", "two"), ("two", "three"), ("three", "four")]
            for (old, new) in names + [("last", "end")] {
                desk.agent.rename(ByteString(old), ByteString(new))
            }
            unlink(hold)
            for folder in ["1st", "four", "end"] {
                for number in 0..<2 {
                    #expect(try waitUntil { try isRight(desk, "\(folder)/\(number).slide") })
                }
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 6 })
            #expect(try PictureDesk.read(written).count == before + 4 * 6)
        }
    }

    @Test func `documents whose directories change places have their own pictures`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let agent = desk.agent
            let names = (0..<4).map { "\($0).slide" }
            for (number, folder) in ["one", "two"].enumerated() {
                try fill(desk, folder, count: 4, from: 100 * number)
                // Only the picture tells them apart.
                for name in names {
                    agent.setTimes(
                        ByteString("\(folder)/\(name)"), accessed: .now,
                        modified: .at(seconds: 1_000_000, nanoseconds: 5))
                }
                // Their entries are written anew; what comes next is counted.
                for name in names {
                    #expect(try waitUntil { try isRight(desk, "\(folder)/\(name)") })
                }
                #expect(try waitUntil { try desk.entries().count == 16 * (number + 1) })
            }
            let documents = ["one", "two"].flatMap { folder in names.map { "\(folder)/\($0)" } }
            for name in documents { #expect(try waitUntil { try isRight(desk, name) }) }
            let exchange = 2
            agent.rename("one", "two", flags: exchange)
            for name in documents { #expect(try waitUntil { try isRight(desk, name) }) }
            agent.rename("one", "away")
            agent.rename("two", "one")
            agent.rename("away", "two")
            for name in documents { #expect(try waitUntil { try isRight(desk, name) }) }
            agent.rename("one/0.slide", "two/0.slide", flags: exchange)
            for name in documents { #expect(try waitUntil { try isRight(desk, name) }) }
            #expect(try waitUntil { try desk.entries().count == 4 * documents.count })
        }
    }

    @Test func `nothing stays of what was removed from a directory that was just renamed`() throws {
        try withPictures { (desk) throws in
            let agent = desk.agent
            try fill(desk, "busy")
            try fill(desk, "one")
            // Whoever looks at this has not come to what follows.
            agent.rename("busy", "busier")
            agent.rename("one", "two")
            agent.makeDirectory("other")
            for number in 0..<24 {
                let name = ByteString("two/\(number).slide")
                if number % 2 == 0 {
                    agent.unlink(name)
                } else {
                    agent.rename(name, ByteString("other/\(number).slide"))
                }
            }
            #expect(try waitUntil { try desk.entries().count == 4 * (24 + 12) })
            agent.rename("busier", "busy")
            agent.rename("other", "another")
            for number in 0..<12 { agent.unlink(ByteString("another/\(2 * number + 1).slide")) }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
        }
    }

    @Test func `entries that others have made follow a directory that is renamed again at once`()
        throws
    {
        try withPictures { (desk) throws in
            let agent = desk.agent
            agent.makeDirectory("one")
            agent.store("one/x.data", "data")
            agent.store("a.slide", PictureDesk.slide(1))
            #expect(try waitUntil { try desk.entries().count == 4 })
            func place(_ name: String) throws -> String {
                let address = "file://\(desk.container.mountPoint)/\(name)"
                let sum = try run(["sh", "-c", "printf %s \"$1\" | md5sum", "sh", address]).text
                return "\(desk.container.base)/home/cache/thumbnails/normal/\(sum.prefix(32)).png"
            }
            try PictureDesk.write(desk.picture("a.slide", 128).bytes, to: place("one/x.data"))
            agent.rename("one", "two")
            agent.rename("two", "three")
            #expect(try waitUntil { try access(place("three/x.data"), F_OK) == 0 })
            #expect(try waitUntil { try desk.entries().count == 5 })
        }
    }

    @Test func `nothing stays of what was removed right before the end`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            try desk.remount { try desk.container.preload(Container.slowRename) }
            let agent = desk.agent
            // Much less than is looked at in the two seconds that there are at the end.
            try fill(desk, "busy", count: 1)
            for folder in ["one", "two"] { try fill(desk, folder, count: 4) }
            // Each of its entries takes a while: whoever looks at this has not come to what follows.
            agent.rename("busy", "busier")
            agent.rename("two", "three")
            for number in 0..<4 {
                agent.unlink(ByteString("one/\(number).slide"))
                agent.unlink(ByteString("three/\(number).slide"))
            }
            agent.rename("busier", "busy")
            try desk.remount { () throws in
                #expect(try waitUntil { try desk.entries().count == 4 })
            }
            _ = try run(["ls", "\(desk.container.mountPoint)/busy"])
            #expect(try waitUntil { try isRight(desk, "busy/0.slide") })
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
            #expect(try waitUntil { try isRight(desk, "a.slide") })
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
            #expect(try waitUntil { try isRight(desk, "a.slide") })
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
            #expect(try waitUntil { try isRight(desk, "a.slide") })
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

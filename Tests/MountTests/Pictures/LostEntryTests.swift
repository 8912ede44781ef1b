import Glibc
import Probing
import TestSupport
import Testing

/// Entries of the desktop's cache that are in the way, gone, or named after another path.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct LostEntryTests {
    private func isSeen(_ desk: PictureDesk, _ path: String) throws -> Bool {
        let result = try run(
            ["gio", "info", "-a", "thumbnail::*", path], environment: desk.container.environment)
        return result.text.contains("thumbnail::is-valid: TRUE")
    }

    @Test(
        arguments: [
            "rm -rf thumbnails", "rm thumbnails/*/*.png", "mv thumbnails away",
            "rm -rf ../away && mv ../cache ../away",
        ])
    func `a listing brings back what the user removed during the mount`(_ removal: String) throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            desk.agent.makeDirectory("folder")
            for name in ["folder/a.slide", "b.slide"] {
                desk.agent.store(ByteString(name), PictureDesk.slide(1))
                desk.settle(name)
            }
            _ = try run(["ls", "\(desk.container.mountPoint)/folder", desk.container.mountPoint])
            #expect(try waitUntil { try desk.entries().count == 8 })
            for _ in 0..<2 {
                // What another removal has brought back may still be on its way.
                usleep(500_000)
                _ = try run(["sh", "-c", "cd '\(desk.cache)/..' && rm -rf away && \(removal)"])
                #expect(try desk.entries().isEmpty)
                _ = try run(["ls", "\(desk.container.mountPoint)/folder"])
                #expect(try waitUntil { try desk.entries().count == 4 })
                #expect(try isSeen(desk, "\(desk.container.mountPoint)/folder/a.slide"))
                _ = try run(["ls", desk.container.mountPoint])
                #expect(try waitUntil { try desk.entries().count == 8 })
            }
        }
    }

    /// The first that is asked of the mount is the document itself.
    @Test(arguments: DataPath.mounts)
    func `a document has its entries when it is looked up in a folder that nobody listed`(
        _ dataPath: DataPath
    ) throws {
        try #require(isInstalled("gio"))
        // Who looks waits for the entries: how long they take is not what is tested here.
        try withPictures(dataPath, patience: 45_000) { (desk) throws in
            desk.agent.makeDirectory("folder")
            let names = (1...20).map { "folder/\($0).slide" }
            for (number, name) in names.enumerated() {
                desk.agent.store(ByteString(name), PictureDesk.slide(number))
            }
            for name in names { desk.settle(name) }
            desk.agent.end()
            try desk.remount { _ = try run(["rm", "-rf", desk.cache]) }
            for name in [names[19], names[0]] {
                #expect(try isSeen(desk, "\(desk.container.mountPoint)/\(name)"))
            }
            // Of all sizes, the largest when it is drawn.
            #expect(try waitUntil { try desk.entries().count == 8 })
            // A listing that begins meanwhile sees to the others.
            _ = try run(["ls", "\(desk.container.mountPoint)/folder"])
            #expect(try waitUntil { try desk.entries().count == 80 })
        }
    }

    /// With so many others, it is seen to before its turn if somebody looks it up, and else in its turn.
    @Test func `the last of many documents in a listed folder has its entries too`() throws {
        try #require(isInstalled("gio"))
        let count = 1_200
        try withPictures { (desk) throws in
            desk.agent.makeDirectory("folder")
            for number in 1...count {
                desk.agent.store(ByteString("folder/\(number).slide"), PictureDesk.slide(1))
            }
            desk.settle("folder/\(count).slide")
            desk.agent.end()
            try desk.remount { _ = try run(["rm", "-rf", desk.cache]) }
            let folder = "\(desk.container.mountPoint)/folder"
            // Names only: who asks for more looks the document up.
            _ = try run(["ls", "-f", folder])
            // Who looks waits for a moment at most; the others take longer than all these looks.
            let isSoon = try (0..<5).contains { _ in
                if try isSeen(desk, "\(folder)/\(count).slide") { return true }
                usleep(100_000)
                return false
            }
            #expect(isSoon)
            #expect(
                try waitUntil {
                    let found = try run(["find", "\(desk.cache)/large", "-name", "*.png"]).text
                    return found.split(separator: "\n").count == count
                })
        }
    }

    /// What is removed on account of a moved folder is not taken for what the user removes.
    @Test func `who lists another folder does not wait for the entries below a moved one`() throws {
        let count = 400
        try withPictures { (desk) throws in
            for folder in ["folder", "other"] { desk.agent.makeDirectory(ByteString(folder)) }
            for number in 1...count {
                desk.agent.store(ByteString("folder/\(number).slide"), PictureDesk.slide(1))
            }
            desk.agent.store("other/a.slide", PictureDesk.slide(1))
            for name in ["folder/\(count).slide", "other/a.slide"] { desk.settle(name) }
            let mount = desk.container.mountPoint
            _ = try run(["ls", "\(mount)/folder", "\(mount)/other"])
            #expect(try waitUntil { try desk.entries().count == 4 * (count + 1) })
            let before = Set(try desk.entries())
            desk.agent.rename("folder", "moved")
            // Once the first have gone; the last are there until the others were seen to.
            #expect(try waitUntil { try !before.isSubset(of: desk.entries()) })
            // Who waits in vain waits for 100 ms. One that does not is enough, while entries are still moved.
            var isQuick = false
            var isUnderWay = true
            while !isQuick, isUnderWay {
                let start = ContinuousClock.now
                closedir(try #require(opendir("\(mount)/other")))
                let took = ContinuousClock.now - start
                isUnderWay = try before.intersection(desk.entries()).count > 4
                isQuick = isUnderWay && took < .milliseconds(90)
            }
            #expect(isQuick)
        }
    }

    @Test func `nothing stays of what was removed right before a crash`() throws {
        try withPictures { (desk) throws in
            for name in ["a.slide", "b.slide"] {
                desk.agent.store(ByteString(name), PictureDesk.slide(1))
                desk.settle(name)
            }
            let areWritten = try waitUntil {
                let found = try desk.entries()
                // None is half written: of that a copy would be kept below.
                return found.count == 8 && found.allSatisfy { $0.hasSuffix(".png") }
            }
            #expect(areWritten)
            // As if the daemon had died before it came to the entries.
            let kept = "cd '\(desk.cache)/..' && cp -a"
            _ = try run(["sh", "-c", "\(kept) thumbnails before"])
            desk.agent.unlink("a.slide")
            desk.agent.end()
            try desk.container.killDaemon()
            _ = try run(["sh", "-c", "\(kept) before/. thumbnails/"])
            // Not ours, and stays.
            _ = try run(["touch", "\(desk.cache)/normal/\(String(repeating: "f", count: 32)).png"])
            let before = try desk.entries()
            #expect(before.count == 9, "\(before)")
            try desk.mount()
            #expect(try waitUntil { try desk.entries().count == 5 })
        }
    }

    @Test func `below a home that is a symlink both paths have entries`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let link = "\(desk.container.base)/home/link"
            try #require(symlink(desk.container.base, link) == 0)
            try desk.remount { desk.container.additionalEnvironment["HOME"] = link }
            desk.agent.makeDirectory("folder")
            desk.agent.store("folder/a.slide", PictureDesk.slide(1))
            desk.settle("folder/a.slide")
            desk.agent.rename("folder", "other")
            #expect(try waitUntil { try desk.entries().count == 8 })
            for path in [desk.container.mountPoint, "\(link)/mount"] {
                #expect(try waitUntil { try isSeen(desk, "\(path)/other/a.slide") })
            }
            desk.agent.unlink("other/a.slide")
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    @Test(arguments: ["link/mount", "./link/./mount/", "mount"])
    func `a folder that is mounted at a path through a symlink has entries by that, too`(
        _ place: String
    ) throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            desk.agent.end()
            let container = desk.container
            try container.unmount()
            let link = "\(container.base)/link"
            try #require(symlink(container.base, link) == 0)
            // A shell in the link calls the folder by its name alone.
            let command = "cd \(place == "mount" ? link : container.base) && exec \"$@\""
            let mounted = try run(
                [
                    "sh", "-c", command, "sh", BuiltPrograms.shapeedit(), "mount", container.name,
                    place,
                ],
                environment: container.environment)
            #expect(mounted.status == 0, "\(mounted)")
            for folder in [container.mountPoint, "\(link)/mount"] {
                _ = try run(["ls", folder])
                #expect(try waitUntil { try isSeen(desk, "\(folder)/a.slide") }, "\(folder)")
            }
            _ = try run(["rm", "\(link)/mount/a.slide"])
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `documents in a directory that cannot be entered have no entries until it can`() throws {
        try withPictures(.ordinaryUser) { (desk) throws in
            desk.agent.makeDirectory("outer")
            desk.agent.makeDirectory("outer/inner")
            for name in ["outer/inner/a.slide", "b.slide"] {
                desk.agent.store(ByteString(name), PictureDesk.slide(1))
                desk.settle(name)
            }
            #expect(try waitUntil { try desk.entries().count == 8 })
            desk.agent.changeMode("outer", 0o600)
            #expect(try waitUntil { try desk.entries().count == 4 })
            desk.agent.changeMode("outer", 0o700)
            #expect(try waitUntil { try desk.entries().count == 8 })
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `promises in a directory that cannot be entered are stood for as soon as it can`() throws {
        try withPictures(.ordinaryUser) { (desk) throws in
            let source = desk.container.base + "/images"
            mkdir(source, 0o755)
            let image = try desk.reference(PictureDesk.slide(1), "slide").bytes
            try PictureDesk.write(image, to: "\(source)/a.png")
            desk.agent.makeDirectory("in")
            let folder = desk.container.mountPoint + "/in"
            let done = try desk.container.command("import", "--promise", source, folder)
            #expect(done.status == 0, "\(done)")
            desk.agent.changeMode("in", 0o600)
            // A listing has seen it as it is, and there is none when it can be.
            #expect(desk.agent.names("in") == ["a.png"])
            for _ in 0..<2 {
                #expect(try waitUntil { try desk.entries().isEmpty })
                desk.agent.changeMode("in", 0o700)
                #expect(try waitUntil { try desk.entries().count == 4 })
                desk.agent.changeMode("in", 0o600)
            }
            #expect(desk.count("fetchedBytes") == 0)
        }
    }

    @Test(arguments: [true, false])
    func `the entries of what a save has made another document follow it`(
        _ isLink: Bool
    ) throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let agent = desk.agent
            agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            #expect(try waitUntil { try desk.entries().count == 4 })
            // Kept before a save, as a second name or by renaming.
            if isLink {
                agent.link("a.slide", "kept.slide")
                agent.store("a.tmp", PictureDesk.slide(2))
                agent.rename("a.tmp", "a.slide")
            } else {
                agent.rename("a.slide", "kept.slide")
                agent.store("a.slide", PictureDesk.slide(2))
            }
            desk.settle("a.slide")
            #expect(try waitUntil { try desk.entries().count == 8 })
            let path = "\(desk.container.mountPoint)/kept.slide"
            #expect(try waitUntil { try isSeen(desk, path) })
            _ = try run(["touch", "-d", "@1000000000", path])
            #expect(try waitUntil { try isSeen(desk, path) })
        }
    }

    @Test(
        .enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"), arguments: [false, true])
    func `a document that its owner may not read yet has entries when that changes`(
        _ isRemounted: Bool
    ) throws {
        try withPictures(.ordinaryUser) { (desk) throws in
            desk.agent.store("a.slide", PictureDesk.slide(1), mode: 0o200)
            #expect(try waitUntil { try desk.keptFiles().count == 1 })
            if isRemounted { try desk.remount() }
            // A listing has seen it as it is.
            _ = desk.agent.names(".")
            #expect(try desk.entries().isEmpty)
            desk.agent.changeMode("a.slide", 0o600)
            #expect(try waitUntil { try desk.entries().count == 4 })
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `that a cache has no room is told by the status, until it has`() throws {
        try withPictures { desk in
            let folder = desk.cache
            _ = try run(["mkdir", "-p", folder])
            let disk = try run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder])
            try #require(disk.status == 0, "\(disk)")
            defer { _ = try? run(["umount", "-l", folder]) }
            _ = try run(["dd", "if=/dev/zero", "of=\(folder)/large", "bs=1M"])
            func status() throws -> String { try desk.container.command("status").text }
            desk.agent.store("a.slide", PictureDesk.slide(1))
            #expect(try waitUntil { try status().contains("no pictures in file managers: ") })
            _ = try run(["rm", "\(folder)/large"])
            #expect(try !status().contains("file managers"))
        }
    }
}

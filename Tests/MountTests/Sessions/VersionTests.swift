import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Earlier versions below `.shapeedit/versions`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct VersionTests {
    /// Saves less than two seconds apart count as one.
    private static let apart: UInt32 = 2_060_000

    private static func versions(
        _ agent: Agent, _ root: ByteString, _ path: ByteString
    ) -> [ByteString] {
        let folder = root + "/.shapeedit/versions/" + path
        return agent.names(folder).compactMap { name in
            let read = agent.run("cat", folder + "/" + ByteString(name))
            if read.status == 0 { return ByteString(read.text) }
            // One that was soon replaced may be thinned out between the listing and the look; then it
            // is not listed any more either.
            #expect(!agent.names(folder).contains(name), "\(read)")
            return nil
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `earlier versions are listed and read back right`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let root = volume.root
            agent.store("drawing.shape", "version one")
            usleep(Self.apart)
            agent.store("drawing.shape", "version two, longer")
            usleep(Self.apart)
            // Saved by rename: the history goes with the name.
            agent.store("temp", "version three")
            agent.rename("temp", "drawing.shape")
            let found = Self.versions(agent, root, "work/drawing.shape")
            #expect(
                found.filter { $0 != "version three" } == ["version one", "version two, longer"])
            let folder = root + "/.shapeedit/versions/work/drawing.shape"
            for name in agent.names(folder) {
                #expect(name.hasSuffix(".shape"), "\(name)")
                let path = folder + "/" + ByteString(name)
                let status = agent.status(path)
                #expect(status.isFile && status.size == agent.content(path).count)
                agent.open(path, O_WRONLY, fails: EROFS, EACCES, EPERM)
                agent.open(path, O_RDWR | O_TRUNC, fails: EROFS, EACCES, EPERM)
                agent.unlink(path, fails: EROFS, EACCES, EPERM)
            }
            // Restoring is copying.
            let oldest = try #require(agent.names(folder).first)
            agent.shell("cp '\(folder.text)/\(oldest)' drawing.shape")
            #expect(agent.content("drawing.shape") == "version one")
            // They move with the document and outlive a remount.
            agent.makeDirectory("dir")
            agent.rename("drawing.shape", "dir/moved.shape")
            #expect(Self.versions(agent, root, "work/dir/moved.shape").contains("version one"))
            try volume.remount()
            let after = try volume.agent()
            let again = Self.versions(after, root, "work/dir/moved.shape")
            #expect(again.contains("version one") && again.contains("version two, longer"))
            after.status(root + "/.shapeedit/versions/work/drawing.shape", fails: ENOENT)
        }
    }

    /// Each look at a version went through all of its document: a minute for those of an hour.
    @Test func `versions are looked up by their file names, and by no others`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let folder = volume.root + "/.shapeedit/versions/work/"
            for name: ByteString in ["letter.tar.gz", "plain", "Z-1-1.Z"] {
                for text: ByteString in ["one", "two", "three"] {
                    agent.store(name, text)
                    agent.setAttribute(name, "user.shapeedit.apart", "current")
                }
                #expect(
                    Set(Self.versions(agent, volume.root, "work/" + name)) == ["one", "two"])
            }
            let file = try #require(agent.names(folder + "plain").first)
            for wrong in [file + ".gz", "x" + file, String(file.dropFirst()), "Z-2-1", "Z", "-"] {
                agent.status(folder + "plain/" + ByteString(wrong), fails: ENOENT)
            }
            // One of another document.
            agent.status(folder + "letter.tar.gz/" + ByteString(file + ".gz"), fails: ENOENT)
        }
    }

    /// What is behind the dot of such a name made the version's name longer than any disk takes.
    @Test func `the files of versions have no longer names than others`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let name = "a." + ByteString(String(repeating: "z", count: 253))
            agent.store(name, "one")
            usleep(Self.apart)
            agent.store(name, "two")
            let names = agent.names(volume.root + "/.shapeedit/versions/work/" + name)
            #expect(names.count == 1 && names.allSatisfy { $0.count <= 255 }, "\(names)")
            #expect(Self.versions(agent, volume.root, "work/" + name) == ["one"])
        }
    }

    @Test(arguments: DataPath.mounts)
    func `documents with versions are listed whole while others of the folder are removed`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("many")
            let all = Set((0..<500).map { ByteString("document\($0)") })
            for name in all { agent.store("many/" + name, "") }
            let folder = agent.open(
                volume.root + "/.shapeedit/versions/work/many", O_RDONLY | O_DIRECTORY)
            var listed: [ByteString] = []
            while true {
                // Small buffers, so that there are many places to go on from.
                let some = agent.nextEntries(folder, count: 600).map(\.name)
                    .filter { $0 != "." && $0 != ".." }
                if some.isEmpty { break }
                for name in some { agent.unlink("many/" + name) }
                listed += some
            }
            agent.close(folder)
            #expect(listed.count == all.count && Set(listed) == all, "\(listed.count)")
        }
    }

    /// The file before the save goes for good 15 s after it, maybe while the document has no name.
    @Test func `earlier versions stay while a document is removed and made again`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("letter", "one")
            usleep(Self.apart)
            agent.store("temp", "two")
            agent.rename("temp", "letter")
            sleep(8)
            agent.unlink("letter")
            // Both within the time in which a name is taken over.
            sleep(11)
            agent.store("letter", "three")
            let found = Self.versions(agent, volume.root, "work/letter")
            #expect(found.filter { $0 != "three" } == ["one", "two"])
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `the version that is kept as a backup stays among the document's`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "one")
            usleep(Self.apart)
            agent.rename("file", "file~")
            agent.store("file", "two")
            usleep(Self.apart)
            agent.store("temp", "three")
            agent.link("file", "linked")
            agent.rename("temp", "file")
            #expect(Self.versions(agent, volume.root, "work/file") == ["one", "two"])
            // Contents are hashed and moved to their place at the unmount at the latest.
            try volume.remount()
            let after = try volume.agent()
            #expect(Self.versions(after, volume.root, "work/file") == ["one", "two"])
            #expect(after.content("file~") == "one")
            #expect(after.content("linked") == "two")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a version that is kept apart stays, however soon it is replaced`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let apart: ByteString = "user.shapeedit.apart"
            let agent = try volume.agent()
            agent.store("file", "first")
            agent.setAttribute("file", apart, "now", fails: EINVAL)
            agent.setAttribute(".", apart, "current", fails: EISDIR)
            agent.setAttribute("file", apart, "current")
            agent.attribute("file", apart, fails: ENODATA)
            agent.store("file", "second")
            // Of a document that is open for writing it is the version that others see.
            let file = agent.open("file", O_RDWR)
            agent.setAttribute(file, apart, "current")
            agent.write(file, "third, longer", offset: 0)
            agent.close(file)
            // The mark is there as soon as it is made.
            agent.setAttribute("file", apart, "current")
            volume.endAgents()
            try #require(volume.container).killDaemon()
            try volume.remountAfterCrash()
            let after = try volume.agent()
            after.store("file", "passing")
            after.store("file", "last")
            let folder = volume.root + "/.shapeedit/versions/work/file"
            // Without a mark it goes.
            for _ in 0..<100 {
                if after.names(folder).count < 4 { break }
                usleep(300_000)
            }
            #expect(
                Self.versions(after, volume.root, "work/file")
                    == ["first", "second", "third, longer"])
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `the virtual folder is there by name but not in the listing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let root = volume.root
            agent.store("file", "x")
            #expect(agent.names(root) == ["work"])
            #expect(agent.status(root + "/.shapeedit").isDirectory)
            #expect(agent.names(root + "/.shapeedit").contains("versions"))
            #expect(agent.status(root + "/.shapeedit/versions/work").isDirectory)
            // Not below the root.
            agent.status(".shapeedit", fails: ENOENT)
            agent.makeDirectory(root + "/.shapeedit", fails: EEXIST)
            agent.makeDirectory(root + "/.shapeedit/x", fails: EROFS, EACCES, EPERM)
            agent.open(
                root + "/.shapeedit/x", O_CREAT | O_WRONLY, fails: EROFS, EACCES, EPERM)
            agent.rename("file", root + "/.shapeedit/file", fails: EROFS, EACCES, EPERM, EXDEV)
            agent.rename("file", root + "/.shapeedit", fails: EISDIR, EROFS, EACCES, EPERM, EBUSY)
            agent.removeDirectory(
                root + "/.shapeedit", fails: EROFS, EACCES, EPERM, EBUSY, ENOTEMPTY)
            agent.rename(
                root + "/.shapeedit", root + "/y", fails: EROFS, EACCES, EPERM, EBUSY, EXDEV)
            agent.status(root + "/.shapeedit/versions/work/none", fails: ENOENT)
            agent.status(root + "/.shapeedit/nothing", fails: ENOENT)
            #expect(agent.run("find", root, "-name", "*").text.contains("file"))
            #expect(agent.run("rm", "-rf", root + "/work").status == 0)
            #expect(agent.names(root) == [])
            agent.makeDirectory(root + "/work")
        }
    }

    /// The kernel takes a directory that it knows from one folder to another under a lock that it does
    /// not wait for: who listed one, while others renamed, was told ESTALE.
    @Test(arguments: DataPath.mounts)
    func `a folder of versions is another one in another place`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let versions = volume.root + "/.shapeedit/versions/work/"
            for folder: ByteString in ["one", "two"] { agent.makeDirectory(folder) }
            // By two names.
            agent.store("one/letter", "text")
            agent.link("one/letter", "two/link")
            let letter = agent.status(versions + "one/letter").inode
            #expect(agent.status(versions + "two/link").inode != letter)
            #expect(agent.status(versions + "one/letter").inode == letter)
            #expect(agent.names(versions + "two") == ["link"])
            // A directory that moves, while somebody is in its mirror.
            agent.makeDirectory("one/inner")
            agent.store("one/inner/file", "text")
            let inner = agent.status(versions + "one/inner").inode
            let open = agent.open(versions + "one/inner", O_RDONLY | O_DIRECTORY)
            agent.rename("one/inner", "two/inner")
            #expect(agent.status(versions + "two/inner").inode != inner)
            #expect(agent.names(versions + "two/inner") == ["file"])
            agent.status(versions + "one/inner", fails: ENOENT)
            agent.close(open)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `many fast saves are few versions, and the last is there`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<200 { agent.store("file", "save \(number)") }
            let folder = volume.root + "/.shapeedit/versions/work/file"
            // What the rule does not keep may go in the background.
            waitUntil { agent.names(folder).count < 20 }
            #expect(agent.names(folder).count < 20)
            #expect(agent.content("file") == "save 199")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `an earlier version that somebody reads is not removed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let folder = volume.root + "/.shapeedit/versions/work/file"
            agent.store("file", "replaced soon")
            agent.store("file", "as soon")
            let name = try #require(agent.names(folder).first)
            let open = agent.open(folder + "/" + ByteString(name), O_RDONLY)
            for number in 0..<5 { agent.store("file", "save \(number)") }
            // All are of one save, and those that nobody has open go.
            waitUntil { agent.names(folder) == [name] }
            #expect(agent.names(folder) == [name])
            #expect(agent.readToEnd(open) == "replaced soon")
            agent.close(open)
            // The next save lets it go.
            usleep(Self.apart)
            agent.store("file", "later")
            waitUntil { !agent.names(folder).contains(name) }
            #expect(Self.versions(agent, volume.root, "work/file") == ["save 4"])
        }
    }
}

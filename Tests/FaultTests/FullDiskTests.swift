import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct FullDiskTests {
    @Test(arguments: DataPath.mounts)
    func `a full disk costs nothing that was there`(_ dataPath: DataPath) throws {
        try withSmallDisk(dataPath) { documents in
            documents.storeOldOnes()
            documents.fillDisk()
            documents.verify("on the full disk")
            try documents.remount()
            documents.verify("after unmount and mount on the full disk")
            try documents.crash()
            documents.verify("after a crash on the full disk")
            _ = documents.removeFillings(keeping: 3)
            let seconds = documents.secondsUntilStored("again", size: 2 << 20)
            #expect(seconds < 3, "room only after \(seconds) s")
            documents.verify("with room again")
        }
    }

    /// A mounted container on a small disk of its own, with a file "a" in it.
    private func filledContainer() throws -> (SmallDisk, Container) {
        let (disk, container) = try smallContainer()
        let agent = try Agent(in: container.mountPoint)
        agent.store("a", "a's content")
        agent.end()
        return (disk, container)
    }

    @Test func `an unmount says that not everything could be brought to the disk`() throws {
        let (disk, container) = try filledContainer()
        defer {
            container.remove()
            disk.remove()
        }
        // As after an error of the device: nothing can be written any more.
        let failed = try run(["mount", "-o", "remount,abort", disk.mountPoint])
        #expect(failed.status == 0, "\(failed)")
        #expect(try run(["mkdir", "\(container.mountPoint)/refused"]).status != 0)
        let unmounted = try container.command("unmount", container.mountPoint)
        #expect(unmounted.status == Int(EX_IOERR), "\(unmounted)")
        #expect(unmounted.errorText.contains("not everything"), "\(unmounted)")
        #expect(unmounted.errorText.contains(container.folder), "\(unmounted)")
        #expect(!MountTable.isMounted(container.mountPoint))
    }

    /// Who unmounts otherwise than by `shapeedit unmount` was told nothing.
    @Test(arguments: ["kill -TERM $0", "umount \"$1\""])
    func `a mount in the foreground says that not everything could be brought to the disk`(
        _ end: String
    ) throws {
        let (disk, container) = try filledContainer()
        defer {
            container.remove()
            disk.remove()
        }
        try container.unmount()
        let daemon = try RunningProgram(
            [BuiltPrograms.shapeedit(), "mount", "--foreground", "test", "mount"]
                .map { Array($0.utf8) },
            directory: container.base, environment: container.environment)
        waitUntil(seconds: 30) { MountTable.isMounted(container.mountPoint) }
        let process = try #require(try container.status().pid)
        let agent = try Agent(in: container.mountPoint)
        agent.store("kept", "text")
        agent.end()
        let failed = try run(["mount", "-o", "remount,abort", disk.mountPoint])
        #expect(failed.status == 0, "\(failed)")
        let ending = try run(["sh", "-c", end, "\(process)", container.mountPoint])
        #expect(ending.status == 0, "\(ending)")
        let ended = daemon.wait(seconds: 30)
        #expect(ended.status == Int(EX_IOERR), "\(ended)")
        #expect(ended.errorText.contains("not everything"), "\(ended)")
        #expect(ended.errorText.contains(container.folder), "\(ended)")
    }

    /// As NFS is, and ext4 without extents: a container could be made there, and not mounted.
    @Test func `a container can be on a disk that cannot allocate ahead`() throws {
        let disk = try SmallDisk(mebibytes: 128, features: "^extent,^64bit")
        let container = try Container(dataHome: disk.mountPoint)
        defer {
            container.remove()
            disk.remove()
        }
        let probe = "\(disk.mountPoint)/probe"
        #expect(try run(["fallocate", "-n", "-l", "4096", probe]).status != 0)
        unlink(probe)
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        agent.store("a", "text")
        try container.killDaemon()
        agent.end()
        try container.mount()
        let reader = try Agent(in: container.mountPoint)
        #expect(reader.content("a") == "text")
        reader.end()
        try container.unmount()
        #expect(try container.check().status == 0)
        // All of the journal has its blocks.
        let holes = try run(
            ["sh", "-c", "find journal -type f -size +1k -printf '%b %s\n' | awk '$1 * 512 < $2'"],
            directory: container.folder)
        #expect(holes.status == 0 && holes.text == "", "\(holes)")
    }

    /// The part of it that fits filled the disk, and made room for nothing.
    @Test func `an allocation that can never fit takes no earlier version along`() throws {
        let (disk, container) = try filledContainer()
        defer {
            container.remove()
            disk.remove()
        }
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        agent.setAttribute("a", "user.shapeedit.apart", "current")
        agent.store("a", "a's next content")
        let file = agent.open("huge", O_RDWR | O_CREAT)
        agent.allocate(file, offset: 0, length: 200 << 20, fails: ENOSPC)
        #expect(agent.status(file).size == 0)
        // The keeper looks at the disk once a second.
        sleep(2)
        let versions = ByteString(container.mountPoint) + "/.shapeedit/versions/a"
        #expect(agent.names(versions).count == 1)
        agent.close(file)
    }

    /// The room came too late for what had been written, but it was published.
    @Test
    func `a rewrite that fills the disk leaves the old version, though earlier ones go`() throws {
        let (disk, container) = try filledContainer()
        defer {
            container.remove()
            disk.remove()
        }
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        let part = ByteString(String(repeating: "x", count: 1 << 20))
        for _ in 0..<2 {
            // What is kept apart goes when there is no room.
            agent.setAttribute("a", "user.shapeedit.apart", "current")
            let file = agent.open("a", O_WRONLY | O_TRUNC)
            for number in 0..<6 { agent.write(file, part, offset: number << 20) }
            agent.close(file)
        }
        // By one program that does not look at what its closing says.
        let line = "exec cat /dev/zero > a"
        let result = try run(["sh", "-c", line], directory: container.mountPoint)
        #expect(result.errorText.contains("No space left"), "\(result)")
        #expect(agent.status("a").size == 6 << 20)
        #expect(agent.content("a").bytes.allSatisfy { $0 == UInt8(ascii: "x") })
    }

    /// It took a copy of the content: databases could not even be read.
    @Test(arguments: DataPath.mounts)
    func `opening for writing needs no room, the first write does`(_ dataPath: DataPath) throws {
        let (disk, container) = try smallContainer(dataPath)
        defer {
            container.remove()
            disk.remove()
        }
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        let names: [ByteString] = ["a", "b"]
        let contents = names.map { name in
            ByteString(String(repeating: name.text, count: name == "a" ? 4_000 : 200_000))
        }
        for (name, content) in zip(names, contents) { agent.store(name, content) }
        for round in 0..<3 {
            let line = "for size in 64k 4k 512; do dd if=/dev/zero of=f\(round)$size bs=$size; done"
            _ = try run(["sh", "-c", line], directory: disk.mountPoint)
        }
        for (name, content) in zip(names, contents) {
            let file = agent.open(name, O_RDWR)
            #expect(agent.read(file, count: content.count) == content, "\(name)")
            _ = agent.write(file, content, offset: content.count, fails: ENOSPC)
            agent.close(file, fails: 0, ENOSPC)
            #expect(agent.content(name) == content, "\(name)")
        }
        _ = try run(["sh", "-c", "rm f*"], directory: disk.mountPoint)
        let line = "echo ! >> a && echo ! >> b"
        try waitUntil {
            try run(["sh", "-c", line], directory: container.mountPoint).status == 0
        }
        for name in names { #expect(agent.content(name).text.hasSuffix("!\n"), "\(name)") }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "needs sqlite3"))
    func `check repairs with the reserve, and says where even that is gone`() throws {
        let (disk, container) = try filledContainer()
        defer {
            container.remove()
            disk.remove()
        }
        try container.unmount()
        let folder = "\(disk.mountPoint)/shapeedit/containers/\(container.name)"
        let shell = { (line: String) in
            let result = try run(["sh", "-c", line], directory: folder)
            try #require(result.status == 0, "\(line): \(result)")
        }
        // Small files too, for the blocks that a large one cannot get.
        let fill = """
            cat /dev/zero > \(disk.mountPoint)/filling 2> /dev/null; sync -f .; i=0
            while head -c 900 /dev/zero > \(disk.mountPoint)/filling.$i 2> /dev/null
            do i=$((i + 1)); done; true
            """
        let damage = "sqlite3 catalog.sqlite 'update item set links = 9 where id > 1'"
        try shell("\(damage); \(fill)")
        let repaired = try container.check()
        #expect(repaired.status == 1 && repaired.text.contains("9 links"), "\(repaired)")
        #expect(try container.check().status == 0)
        try shell("rm \(disk.mountPoint)/filling*; \(damage); rm reserve; \(fill)")
        let refused = try container.check()
        #expect(refused.status == Int(EX_IOERR), "\(refused)")
        #expect(refused.errorText.contains("the disk is full"), "\(refused)")
        #expect(refused.errorText.contains("free some space"), "\(refused)")
        try shell("rm \(disk.mountPoint)/filling*")
        #expect(try container.check().status == 1)
        #expect(try container.check().status == 0)
        // Room enough to open the container, but not for all that is to be repaired.
        let nameless = """
            with recursive c(n) as (select 1 union all select n + 1 from c limit 20000)
                insert into item select n + 99999, 33188, 0, 0, 1, 0, 0, 0, 1, 1, 1, n + 99999, 0, 1,
                    0, null, null from c
            """
        try shell(
            "sqlite3 catalog.sqlite \"\(nameless)\"; rm reserve; head -c 300K /dev/zero > ../slack; "
                + "\(fill); rm ../slack")
        let partly = try container.check()
        #expect(partly.status == Int(EX_DATAERR), "\(partly)")
        #expect(partly.text.contains("the disk is full: not all of this could be repaired"))
        #expect(!partly.text.contains("repaired: "))
        try shell("rm \(disk.mountPoint)/filling*")
        let rest = try container.check()
        #expect(rest.status == 1, "\(rest)")
        #expect(try container.check().status == 0)
        try container.mount()
        let after = try Agent(in: container.mountPoint)
        #expect(after.content("a") == "a's content")
        after.end()
        try container.unmount()
    }

    @Test(arguments: DataPath.mounts)
    func `rewriting on a full disk is ENOSPC and leaves the old version`(
        _ dataPath: DataPath
    ) throws {
        try withSmallDisk(dataPath) { documents in
            documents.storeOldOnes()
            documents.fillDisk()
            for (name, content) in documents.oldOnes
                .filter({ $0.value.count > 200_000 }).prefix(1)
            {
                let other = Documents.content(name: name + "'", size: content.count + 100_000)
                for flags in [O_TRUNC, 0, O_APPEND] {
                    #expect(documents.failureOfStoring(name, other, flags: flags) == ENOSPC)
                    documents.verify("after failing to rewrite \(name), flags \(flags)")
                    #expect(
                        documents.failureOfStoring(
                            name, other, flags: flags, synchronizing: true) == ENOSPC)
                    documents.verify("after an fsync of what failed, \(name), flags \(flags)")
                }
            }
            try documents.remount()
            documents.verify("after unmount and mount")
        }
    }

    @Test(
        arguments: DataPath.mounts
    )
    func `deleting makes room within 3 seconds, and the mount goes on`(
        _ dataPath: DataPath
    ) throws {
        try withSmallDisk(dataPath) { documents in
            documents.storeOldOnes()
            for round in 1...3 {
                documents.fillDisk()
                let removed = documents.removeFillings(keeping: 3)
                try #require(removed > 4 << 20, "only \(removed) bytes to remove")
                let seconds = documents.secondsUntilStored("again-\(round)", size: removed / 2)
                try #require(seconds < 3, "room only after \(seconds) s")
                documents.rewriteOldOnes()
                documents.verify("round \(round)")
            }
            try documents.remount()
            documents.verify("after unmount and mount")
        }
    }

    /// It used up what the catalog holds for removals, and behind it no removal came to SQLite.
    @Test(arguments: DataPath.mounts, Documents.Growth.allCases)
    func `deleting makes room, however much was to be made on the full disk`(
        _ dataPath: DataPath, _ growth: Documents.Growth
    ) throws {
        try withSmallDisk(dataPath) { documents in
            documents.storeOldOnes()
            documents.fillDisk()
            let most = growth == .names ? 20_000 : 1_400
            var made = 0
            for round in 0..<4 {
                made += try documents.fill(with: growth, most: most, in: "more-\(round)")
                try #require(made < most, "\(growth) take no room")
                // What waits for room goes into the catalog when that is opened.
                try documents.crash()
            }
            documents.verify("with \(made) \(growth) on the full disk")
            // As long as it takes is what is tested elsewhere.
            let removed = documents.removeFillings(keeping: 3)
            let seconds = documents.secondsUntilStored("again", size: removed / 2)
            try #require(seconds < 60, "no room after \(seconds) s")
            #expect(try documents.fill(with: .names, most: 100, in: "again") == 100)
            documents.verify("after \(made) \(growth)")
            try documents.remount()
            documents.verify("after unmount and mount")
        }
    }

    /// The kernel does not look at how much of a mapping's pages was written.
    @Test func `a mapping of which only a part fits leaves the old version`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        try container.mount(options: ["no_passthrough"])
        let agent = try Agent(in: container.mountPoint)
        let size = 256 << 10
        let (old, new) = (
            ByteString(String(repeating: "o", count: size)),
            ByteString(String(repeating: "n", count: size))
        )
        agent.store("a", old)
        agent.end()
        // It is among the blobs, and nothing else is being written, when the disk gets full.
        try container.unmount()
        try container.mount(options: ["no_passthrough"])
        let writer = try Agent(in: container.mountPoint)
        let file = writer.open("a", O_RDWR | O_TRUNC)
        writer.truncate(file, size: size)
        let mapping = writer.map(file, length: size, writable: true, shared: true)
        writer.setMemory(mapping, new)
        let line = "dd if=/dev/zero of=filling bs=4k 2>&1; truncate -s -96K filling"
        let filled = try run(["sh", "-c", line], directory: disk.mountPoint)
        try #require(filled.status == 0, "\(filled)")
        writer.unmap(mapping)
        writer.close(file, fails: 0, ENOSPC)
        writer.end()
        unlink("\(disk.mountPoint)/filling")
        // The kernel still has the pages.
        try container.unmount()
        try container.mount()
        let reader = try Agent(in: container.mountPoint)
        defer { reader.end() }
        let found = reader.content("a")
        #expect(found == old || found == new, "\(found.count) bytes, neither old nor new")
    }

    /// Gives a test a mounted container on a disk of 64 MiB; afterwards it has to be sound.
    private func withSmallDisk(
        _ dataPath: DataPath, _ body: (Documents) throws -> Void
    ) throws {
        try SmallDisk(mebibytes: 64).withDocuments(dataPath, body)
    }
}

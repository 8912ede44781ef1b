import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct LargeFileTests {
    /// Hashing it takes hours.
    @Test(arguments: DataPath.mounts.prefix(1))
    func `a sparse file of a terabyte keeps nothing else waiting`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            storeSparse("large", size: 1 << 40, by: agent)
            let again = agent.open("large", O_RDONLY)
            agent.synchronize(again)
            agent.close(again)
            // Until it is being hashed.
            usleep(6_000_000)
            agent.store("small", "content")
            try waitUntil(seconds: 30) { try container.status().notYetDurable == 1 }
            #expect(try container.status().notYetDurable == 1, "the small one waits as well")
            let begun = time(nil)
            try volume.remount()
            #expect(time(nil) - begun < 30)
            let after = try volume.agent()
            #expect(after.status("large").size == 1 << 40)
            let reader = after.open("large", O_RDONLY)
            #expect(after.read(reader, count: 9) == "beginning")
            after.close(reader)
            #expect(after.content("small") == "content")
            after.unlink("large")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a file that no store takes is on the disk, and is not hashed for days`(_ place: DataPath)
        throws
    {
        try withVolume(place) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            storeSparse("huge", size: 6 << 40, by: agent)
            try waitUntil(seconds: 30) { try container.status().notYetDurable == 0 }
            #expect(try container.status().notYetDurable == 0)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.status("huge").size == 6 << 40)
            try waitUntil(seconds: 30) { try container.status().notYetDurable == 0 }
            #expect(try container.status().notYetDurable == 0)
            after.unlink("huge")
        }
    }

    /// On a disk that takes files so long.
    @Test(.enabled(if: access("/dev/shm", W_OK) == 0, "needs /dev/shm"))
    func `files as long as can be are counted, found and kept`() throws {
        let home = "/dev/shm/shapeedit-test-\(getpid())"
        defer { _ = try? run(["rm", "-rf", home]) }
        let container = try Container(dataHome: home, store: "folder")
        defer { container.remove() }
        try container.mount(options: ["quota=1G"])
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        let longest = Int(Int64.max)
        for name: ByteString in ["one", "two", "three"] {
            storeSparse(name, size: longest, by: agent)
        }
        // All of them count against the quota now.
        agent.store("small", "content")
        let small = agent.open("small", O_RDONLY)
        agent.synchronize(small)
        agent.close(small)
        usleep(2_500_000)
        let found = try container.command("find", container.mountPoint, "--sort", "size", "--json")
        #expect(found.status == 0 && found.text.contains("\"size\": \(longest)"), "\(found)")
        for name: ByteString in ["one", "two", "three"] {
            #expect(agent.status(name).size == longest)
        }
        agent.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }

    /// Stores a file that begins with "beginning" and is a hole behind that.
    private func storeSparse(_ name: ByteString, size: Int, by agent: Agent) {
        let file = agent.open(name, O_RDWR | O_CREAT)
        agent.truncate(file, size: size)
        agent.write(file, "beginning")
        agent.close(file)
    }
}

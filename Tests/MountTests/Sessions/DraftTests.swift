import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// What a program writes as a draft (`user.shapeedit.draft`): all of it is published, or nothing.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DraftTests {
    private static let draft: ByteString = "user.shapeedit.draft"

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a draft is published if it was ended, and else leaves no trace`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let reader = try volume.agent()
            reader.store("a", "before")
            let inode = reader.status("a").inode
            for isSynchronized in [false, true] {
                let writer = try volume.agent()
                let file = writer.open("a", O_RDWR)
                writer.setAttribute("a", Self.draft, "begin")
                writer.write(file, "half", offset: 0)
                if isSynchronized { writer.synchronize(file) }
                writer.truncate(file, size: 4)
                #expect(reader.content("a") == "before")
                // Its descriptors are closed with it.
                writer.crash()
                #expect(reader.content("a") == "before")
                #expect(reader.status("a").size == 6)
            }
            let writer = try volume.agent()
            let file = writer.open("a", O_RDWR)
            writer.setAttribute("a", Self.draft, "begin")
            writer.write(file, "whole, and longer", offset: 0)
            writer.setAttribute("a", Self.draft, "end")
            writer.close(file)
            #expect(reader.content("a") == "whole, and longer")
            #expect(reader.status("a").inode == inode)
            #expect(reader.names(volume.root + "/.shapeedit/versions/work/a").count <= 1)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a draft goes with the daemon`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("a", "before")
            let file = agent.open("a", O_RDWR)
            agent.setAttribute("a", Self.draft, "begin")
            agent.write(file, "half", offset: 0)
            agent.synchronize(file)
            try container.killDaemon()
            volume.endAgents()
            try container.mount()
            #expect(try volume.agent().content("a") == "before")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a draft is its only writer's`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (one, other) = (try volume.agent(), try volume.agent())
            one.store("a", "before")
            one.setAttribute("a", Self.draft, "begin", fails: EBADF)
            let reading = one.open("a", O_RDONLY)
            one.setAttribute("a", Self.draft, "begin", fails: EBADF)
            one.close(reading)
            let file = one.open("a", O_WRONLY)
            one.setAttribute("a", Self.draft, "perhaps", fails: EINVAL)
            other.setAttribute("a", Self.draft, "begin", fails: EBADF)
            let second = other.open("a", O_WRONLY)
            one.setAttribute("a", Self.draft, "begin", fails: EBUSY)
            other.close(second)
            one.write(file, "B", offset: 0)
            one.setAttribute("a", Self.draft, "begin", fails: EBUSY)
            one.close(file)
            #expect(one.content("a") == "Before")
            // What others write is not lost with it.
            let third = one.open("a", O_WRONLY)
            one.setAttribute("a", Self.draft, "begin")
            let fourth = other.open("a", O_WRONLY)
            other.write(fourth, "E", offset: 1)
            other.close(fourth)
            one.crash()
            #expect(other.content("a") == "BEfore")
            _ = third
        }
    }
}

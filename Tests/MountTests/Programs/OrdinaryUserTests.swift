import Glibc
import TestSupport
import Testing

@Suite(
    .oneAtATime,
    .enabled(if: DataPath.isPrivileged, "needs root to become an ordinary user"),
    .enabled(
        if: DataPath.ordinaryUsersCanMount,
        "needs setpriv, fusermount3, and /dev/fuse open to all: chmod 666 /dev/fuse"))
struct OrdinaryUserTests {
    @Test func `an ordinary user mounts and works without passthrough`() throws {
        try withVolume(.ordinaryUser) { volume in
            let container = try #require(volume.container)
            #expect(try container.status().passthrough == false)
            let agent = try volume.agent()
            #expect(agent.user == nobody)
            agent.store("document", "one", mode: 0o644)
            #expect(agent.content("document") == "one")
            #expect(agent.status("document").user == nobody)
            agent.store("document", "two, longer")
            agent.store("temporary", "three")
            agent.rename("temporary", "document")
            #expect(agent.content("document") == "three")
            agent.makeDirectory("folder")
            agent.rename("document", "folder/moved")
            agent.shell("cd folder; cp -a moved copy; ln moved hard; sed -i s/three/four/ moved")
            #expect(agent.content("folder/hard") == "three")
            agent.changeOwner("folder/moved", user: 0, fails: EPERM)
            agent.shell("test $(ls folder | wc -l) = 3 && rm folder/copy && ! mknod n c 1 3")
            try volume.remount()
            #expect(try container.status().passthrough == false)
            let after = try volume.agent()
            #expect(after.content("folder/moved") == "four")
            #expect(after.names("folder") == ["hard", "moved"])
        }
    }

    @Test func `nobody else, not even root, sees an ordinary user's mount`() throws {
        try withVolume(.ordinaryUser) { volume in
            let container = try #require(volume.container)
            let root = try Agent(in: container.base)
            root.open(ByteString(container.mountPoint), O_RDONLY, fails: EACCES)
            root.end()
        }
    }
}

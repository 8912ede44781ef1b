import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct UnmountTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `only a mount that is in use is called busy`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("a", "content")
            let busy = try container.command("unmount", container.mountPoint)
            #expect(busy.status == Int(EX_TEMPFAIL), "\(busy)")
            #expect(busy.errorText.contains("\(container.mountPoint) is busy"), "\(busy)")
            #expect(agent.content("a") == "content")
            try volume.remount()
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a mount whose daemon was killed makes way for the next, though it is in use`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let resident = try volume.agent()
            resident.store("a", "content")
            let daemon = try #require(container.daemon)
            kill(pid_t(daemon), SIGKILL)
            container.waitForEnd(of: daemon)
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("a") == "content")
            withExtendedLifetime(resident) {}
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `the mount of another user stays, and the helper's words are passed on`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let result = try run(
                [
                    "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                    BuiltPrograms.shapeedit(), "unmount", container.mountPoint,
                ], directory: container.base, environment: container.environment)
            #expect(result.status == Int(EX_UNAVAILABLE), "\(result)")
            #expect(result.errorText.contains("fusermount3: "), "\(result)")
            #expect(result.errorText.contains(container.mountPoint), "\(result)")
            #expect(!result.errorText.contains("busy"), "\(result)")
            #expect(MountTable.isMounted(container.mountPoint))
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `the mount of another user is not said to be dead`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let result = try run(
            [
                "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                BuiltPrograms.shapeedit(), "status",
            ], directory: "/", environment: container.environment)
        #expect(result.status == 0, "\(result)")
        #expect(result.text.contains("\(container.mountPoint): is another user's"), "\(result)")
        try container.unmount()
    }

    @Test(
        .enabled(
            if: DataPath.isPrivileged && DataPath.ordinaryUsersCanMount,
            "needs root, setpriv and fusermount3"))
    func `without fusermount3 an ordinary user is told to install it`() throws {
        try withVolume(.ordinaryUser) { volume in
            let container = try #require(volume.container)
            let result = try container.command(
                ["unmount", container.mountPoint],
                after: "mount --bind /dev/null \"$(command -v fusermount3)\"")
            #expect(result.status == Int(EX_UNAVAILABLE), "\(result)")
            #expect(result.errorText.contains("fusermount3"), "\(result)")
            #expect(!result.errorText.contains("busy"), "\(result)")
            #expect(MountTable.isMounted(container.mountPoint))
        }
    }
}

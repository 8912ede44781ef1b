import Glibc
import Probing
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

    @Test func `a container whose folder may not be entered is there, and that is said`() throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        try container.mount()
        try container.unmount()
        chmod(container.folder, 0)
        defer { chmod(container.folder, 0o700) }
        let list = try container.command("container", "list")
        #expect(list.status == 0 && list.text == "\(container.name)\n", "\(list)")
        #expect(list.errorText.contains("\(container.folder): Permission denied"), "\(list)")
        for words in [["check"], ["info"], ["delete", "--force"]] {
            let result = try container.command(["container"] + words + [container.name])
            #expect(result.status == EX_NOPERM, "\(words): \(result)")
            #expect(result.errorText.contains("Permission denied"), "\(words): \(result)")
        }
    }

    @Test(.enabled(if: isInstalled("prlimit"), "needs prlimit"))
    func `a mount outlives a time in which its user may have no more threads`() throws {
        try withDocument { volume, agent, daemon in
            let highest = try limit(daemon, "--nproc", "--output=HARD", "--noheadings")
            try limit(daemon, "--nproc=1:")
            // Begins the thread that makes the lines.
            let events = "\(volume.root.text)/.shapeedit/events-1"
            agent.close(agent.open(ByteString(events), O_RDONLY))
            agent.store("document", "two")
            #expect(agent.content("document") == "two")
            try limit(daemon, "--nproc=\(highest):")
            let told = try volume.run("timeout", "30", "head", "-n", "1", events)
            #expect(told.status == 0 && told.text.contains("kind"), "\(told)")
        }
    }

    /// A folder that answers nothing was left, and no reason was told.
    @Test(.enabled(if: isInstalled("prlimit"), "needs prlimit"))
    func `a mount that finds no room for its threads leaves the folder as it was`() throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        let user = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
        let program = try BuiltPrograms.shapeedit()
        var refused = 0
        // What it needs in all depends on the machine, and what else that user runs.
        for room in 10...40 {
            let told = try run(
                user + ["prlimit", "--nproc=\(room)", program, "mount", container.name]
                    + [container.mountPoint],
                directory: container.base, environment: container.environment)
            if told.status == 0 {
                try container.unmount()
            } else {
                refused += 1
                #expect(told.status == 71 || told.status == 69, "\(room): \(told)")
                #expect(told.errorText.contains("emporarily unavailable"), "\(room): \(told)")
                #expect(!MountTable.isMounted(container.mountPoint), "\(room): \(told)")
                MountTable.detach(container.mountPoint)
            }
        }
        #expect(refused > 0)
        try container.mount()
    }

    @Test(.enabled(if: isInstalled("prlimit"), "needs prlimit"))
    func `a daemon that may make no longer files refuses the write and goes on`() throws {
        try withDocument { _, agent, daemon in
            try limit(daemon, "--fsize=\(16 << 20):")
            let file = agent.open("document", O_RDWR)
            agent.write(file, "far", offset: 32 << 20, fails: EFBIG)
            agent.write(file, "two")
            agent.close(file)
            #expect(agent.content("document") == "two")
        }
    }

    /// Runs `body` with a document, who stored it and the daemon's process.
    private func withDocument(_ body: (Volume, Agent, Int) throws -> Void) throws {
        try withVolume(.ordinaryUser) { volume in
            let container = try #require(volume.container)
            let daemon = try #require(container.daemon)
            let agent = try volume.agent()
            agent.store("document", "one")
            try body(volume, agent, daemon)
        }
    }

    /// Shows or sets a limit of the daemon, as its user: root may lack the right to.
    @discardableResult
    private func limit(_ daemon: Int, _ words: String...) throws -> String {
        let user = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
        let result = try run(user + ["prlimit", "--pid", "\(daemon)"] + words)
        #expect(result.status == 0, "\(result)")
        return result.text.filter { !$0.isWhitespace }
    }

    /// As services are started. libfuse finds its helper all the same, so there was a mount that could not be
    /// taken away.
    @Test func `a mount goes away again where PATH leads to no helper`() throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        let user = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
        func command(_ words: String...) throws -> ProgramResult {
            try run(
                user + ["env", "PATH=/nonexistent", try BuiltPrograms.shapeedit()] + words,
                directory: container.base, environment: container.environment)
        }
        for isStopped in [false, true] {
            let mounted = try command("mount", container.name, container.mountPoint)
            try #require(mounted.status == 0, "\(mounted)")
            if isStopped {
                let daemon = try #require(try container.status().pid)
                #expect(kill(pid_t(daemon), SIGTERM) == 0)
                waitUntil(seconds: 20) { !MountTable.isMounted(container.mountPoint) }
            } else {
                let unmounted = try command("unmount", container.mountPoint)
                #expect(unmounted.status == 0, "\(unmounted)")
            }
            try #require(!MountTable.isMounted(container.mountPoint))
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

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

    @Test func `a daemon keeps nothing busy that it was started in`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            #expect(try container.command("container", "create", "other").status == 0)
            let point = container.mountPoint + "-other"
            let program = try BuiltPrograms.shapeedit()
            _ = try volume.run(
                "sh", "-ec", "mkdir '\(point)'; '\(program)' mount other '\(point)'")
            // Its workers neither.
            _ = try volume.run("sh", "-c", "echo x > '\(point)/a.txt'")
            _ = try volume.run(program, "find", "--text", "x", point)
            volume.endAgents()
            let unmounted = try container.command("unmount", container.mountPoint)
            #expect(unmounted.status == 0, "\(unmounted)")
            #expect(try container.command("unmount", point).status == 0)
            rmdir(point)
            try volume.remountAfterCrash()
        }
    }

    @Test func `folders whose names only look alike are two`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            // Of the same characters for Swift.
            let (one, other) = (container.base + "/\u{e9}", container.base + "/e\u{301}")
            #expect(try run(["mkdir", one, other]).status == 0)
            for name in ["one", "other"] {
                #expect(try container.command("container", "create", name).status == 0)
            }
            let first = try container.command("mount", "one", one)
            #expect(first.status == 0, "\(first)")
            let none = try container.command("unmount", other)
            #expect(none.status == Int(EX_USAGE), "\(none)")
            let second = try container.command("mount", "other", other)
            #expect(second.status == 0, "\(second)")
            for point in [one, other] {
                let unmounted = try container.command("unmount", point)
                #expect(unmounted.status == 0 && unmounted.errors.isEmpty, "\(unmounted)")
            }
        }
    }

    @Test func `what is mounted in a mount that is to go is named`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let inner = container.mountPoint + "/inner"
            _ = try run(["mkdir", inner])
            #expect(try container.command("container", "create", "other").status == 0)
            let mounted = try container.command("mount", "other", inner)
            #expect(mounted.status == 0, "\(mounted)")
            let busy = try container.command("unmount", container.mountPoint)
            #expect(busy.status == Int(EX_TEMPFAIL), "\(busy)")
            #expect(busy.errorText.contains("\(inner) is mounted in it"), "\(busy)")
            let unmounted = try container.command("unmount", inner)
            #expect(unmounted.status == 0, "\(unmounted)")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "only root takes mounts out of sight"))
    func `a daemon that is told to end takes no other mount away`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("a", "content")
            let daemon = try #require(container.daemon)
            #expect(try run(["umount", "-l", container.mountPoint]).status == 0)
            #expect(try container.command("container", "create", "other").status == 0)
            let mounted = try container.command("mount", "other", container.mountPoint)
            #expect(mounted.status == 0, "\(mounted)")
            kill(pid_t(daemon), SIGTERM)
            container.waitForEnd(of: daemon)
            #expect(MountTable.isMounted(container.mountPoint))
            let unmounted = try container.command("unmount", container.mountPoint)
            #expect(unmounted.status == 0, "\(unmounted)")
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("a") == "content")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func `a daemon that is told to end complains of nobody who waits`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let daemon = try RunningProgram(
                [BuiltPrograms.shapeedit(), "mount", "--foreground", "test", "mount"]
                    .map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            waitUntil(seconds: 30) { MountTable.isMounted(container.mountPoint) }
            let process = try #require(try container.status().pid)
            let reader = try RunningProgram(
                ["cat", "\(container.mountPoint)/.shapeedit/events"].map { Array($0.utf8) })
            waitUntil(seconds: 30) {
                let files = try? run(["sh", "-c", "readlink /proc/\(reader.process)/fd/*"])
                return files?.text.contains("/events") ?? false
            }
            kill(pid_t(process), SIGTERM)
            let ended = daemon.wait(seconds: 30)
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
            _ = reader.wait(seconds: 30)
        }
    }

    /// Whoever tells the kernel something at that moment would write it into the file that gets the number.
    @Test(.enabled(if: DataPath.isPrivileged, "only root unmounts by itself"))
    func `until it is unmounted nothing gets the number of the kernel's device`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            // Held up as it unmounts.
            let words = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=umount2"]
            let program = try [BuiltPrograms.shapeedit(), "mount", "--foreground", "test", "mount"]
            let daemon = try RunningProgram(
                (words + ["-e", "inject=umount2:delay_enter=1000000"] + program)
                    .map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            waitUntil(seconds: 30) { MountTable.isMounted(container.mountPoint) }
            let process = try #require(try container.status().pid)
            let files = "/proc/\(process)/fd"
            let device = try #require(
                (0..<1_024).first { link("\(files)/\($0)") == "/dev/fuse" })
            kill(pid_t(process), SIGTERM)
            waitUntil(seconds: 30) { link("\(files)/\(device)") != "/dev/fuse" }
            #expect(MountTable.isMounted(container.mountPoint))
            #expect(link("\(files)/\(device)") == "/dev/null")
            let ended = daemon.wait(seconds: 30)
            #expect(ended.status == 0, "\(ended)")
            #expect(!MountTable.isMounted(container.mountPoint))
        }
    }

    /// Where a symbolic link leads; nil if there is none.
    private func link(_ path: String) -> String? {
        var text = [CChar](repeating: 0, count: 1_024)
        let count = readlink(path, &text, text.count)
        let bytes = text.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
        return count < 0 ? nil : String(decoding: bytes, as: UTF8.self)
    }

    @Test(.enabled(if: DataPath.isPrivileged, "only root binds mounts"))
    func `a mount that is shown elsewhere too is unmounted there, and named`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let (point, elsewhere) = (container.mountPoint, container.base + "/elsewhere")
            defer { _ = try? run(["umount", "-l", elsewhere]) }
            #expect(try run(["mkdir", elsewhere, point + "/folder"]).status == 0)
            #expect(try run(["mount", "--bind", point, elsewhere]).status == 0)
            let copy = try container.command("unmount", elsewhere, seconds: 30)
            #expect(copy.status == 0 && copy.errors.isEmpty, "\(copy)")
            #expect(MountTable.isMounted(point))
            #expect(try run(["mount", "--bind", point + "/folder", elsewhere]).status == 0)
            let status = try container.command("status")
            #expect(status.text.contains("\(elsewhere): shows /folder of a container"), "\(status)")
            let first = try container.command("unmount", point, seconds: 30)
            #expect(first.status == Int(EX_TEMPFAIL), "\(first)")
            #expect(first.errorText.contains("still mounted at \(elsewhere)"), "\(first)")
            let last = try container.command("unmount", elsewhere, seconds: 30)
            #expect(last.status == 0, "\(last)")
            // A part does not tell whose it was: the daemon may be about to end.
            waitUntil(seconds: 30) { (try? container.mount()) != nil }
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

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what umount took away can be mounted at once`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            for round in 0..<5 {
                try volume.agent().store("a", "\(round)")
                volume.endAgents()
                // The daemon may be in a call on it just then.
                for _ in 0..<100 {
                    if try run(["umount", container.mountPoint]).status == 0 { break }
                    usleep(20_000)
                }
                try volume.remountAfterCrash()
                #expect(try volume.agent().content("a") == "\(round)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a mount whose daemon was killed stays until the next can take its place`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let container = try #require(volume.container)
            let other = "\(container.base)/other"
            mkdir(other, 0o755)
            if let user = container.user { chown(other, uid_t(user), gid_t(user)) }
            defer { MountTable.detach(other) }
            #expect(try container.command("container", "create", "second").status == 0)
            #expect(try container.command("mount", "second", other).status == 0)
            let daemon = try #require(container.daemon)
            kill(pid_t(daemon), SIGKILL)
            container.waitForEnd(of: daemon)
            // Nobody writes into the folder below because of a mount that cannot be.
            let refused = try container.command("mount", "second", container.mountPoint)
            #expect(refused.status == Int(EX_TEMPFAIL), "\(refused)")
            #expect(MountTable.isMounted(container.mountPoint))
            #expect(try container.command("unmount", other).status == 0)
            try volume.remountAfterCrash()
        }
    }

    @Test func `info tells where a container is mounted whose daemon does not answer`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let daemon = pid_t(try #require(container.daemon))
        kill(daemon, SIGSTOP)
        let result = try container.command("container", "info", container.name)
        kill(daemon, SIGCONT)
        #expect(result.status == 0, "\(result)")
        #expect(result.text.contains("mounted at \(container.mountPoint)"), "\(result)")
        try container.unmount()
        let after = try container.command("container", "info", container.name)
        #expect(after.text.contains("not mounted"), "\(after)")
    }

    @Test func `a mount whose daemon does not answer keeps nobody from hearing of the others`()
        throws
    {
        let (silent, other) = (try Container(name: "silent"), try Container(name: "other"))
        defer {
            silent.remove()
            other.remove()
        }
        try silent.mount()
        try other.mount()
        let document = "\(other.mountPoint)/a.list"
        #expect(try other.command("new", document).status == 0)
        let daemon = pid_t(try #require(silent.daemon))
        kill(daemon, SIGSTOP)
        defer { kill(daemon, SIGCONT) }
        // Each waits for it for a while: all at once.
        let shapeedit = try BuiltPrograms.shapeedit()
        let questions = [
            ["recents", "--limit", "1000"], ["recents", "--limit", "1000", other.base + "/.."],
            ["claims", "--json"],
        ]
        let asked = try questions.map { words in
            try RunningProgram(
                ([shapeedit] + words).map { Array($0.utf8) }, environment: other.environment)
        }
        let told = asked.map { $0.wait(seconds: 90) }
        for recents in told[..<2] {
            #expect(recents.status == 0 && recents.text.contains(document), "\(recents)")
        }
        #expect(told[2].status == 0 && told[2].text.hasPrefix("["), "\(told[2])")
    }

    @Test func `every command says in one way that the daemon is gone`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let (list, shape) = ("\(container.mountPoint)/a.list", "\(container.mountPoint)/b.shape")
        #expect(try container.command("new", list).status == 0)
        #expect(try container.command("new", shape).status == 0)
        let daemon = try #require(container.daemon)
        kill(pid_t(daemon), SIGKILL)
        container.waitForEnd(of: daemon)
        for words in [
            ["get", list, "title"], ["set", shape, "title=x"], ["new", list],
            ["list", "add", list, "x"],
            ["convert", list, "x.txt"], ["render", shape, "-o", "x.png"],
            ["thumbnail", shape, "-o", "x.png"], ["find", container.mountPoint],
            ["watch", container.mountPoint], ["recents", container.mountPoint],
            ["conflicts", container.mountPoint], ["claims", container.mountPoint],
            ["versions", list], ["undo", list], ["bookmark", "create", list], ["evict", list],
            ["materialize", list], ["cancel", list], ["grant", list, "--to", "app"],
            ["validate", list],
        ] {
            let result = try run(
                [BuiltPrograms.shapeedit()] + words, directory: container.base,
                environment: container.environment)
            #expect(result.status == Int(EX_UNAVAILABLE), "\(words): \(result)")
            #expect(result.errorText.contains("daemon"), "\(words): \(result)")
        }
        #expect(try container.command("unmount", container.mountPoint).status == 0)
    }

    @Test func `who asks a daemon just when it is stopped comes to an end`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let daemon = pid_t(try #require(container.daemon))
        defer { kill(daemon, SIGCONT) }
        let shapeedit = try BuiltPrograms.shapeedit()
        for _ in 0..<3 {
            let asked = try (0..<8).map { _ in
                try RunningProgram(
                    [shapeedit, "status"].map { Array($0.utf8) },
                    environment: container.environment)
            }
            // Some of their requests have been taken, and nothing ends who waits for one of those.
            usleep(.random(in: 10_000..<70_000))
            kill(daemon, SIGSTOP)
            for program in asked {
                let told = program.wait(seconds: 60)
                #expect(told.status != 999 && told.text.contains(container.mountPoint), "\(told)")
            }
            kill(daemon, SIGCONT)
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `the mount of another user stays, and who unmounts it is told whose it is`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let result = try run(
                [
                    "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                    BuiltPrograms.shapeedit(), "unmount", container.mountPoint,
                ], directory: container.base, environment: container.environment)
            #expect(result.status == Int(EX_NOPERM), "\(result)")
            #expect(result.errorText.contains("mounted by another user (0)"), "\(result)")
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

import Glibc
import Probing
import TestSupport
import Testing

/// What is missing on the machine or belongs to somebody else: a clear error each, and nothing done.
@Suite(
    .oneAtATime, .enabled(if: DataPath.isPrivileged, "needs root to take things away"),
    .enabled(if: isInstalled("unshare") && isInstalled("setpriv"), "needs unshare and setpriv"))
struct RequirementTests {
    /// An empty /dev but for what every program needs.
    private static let emptyDevices =
        "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9"

    private func expect(
        _ result: ProgramResult, status: Int32, saying words: String...,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == Int(status), "\(result)", sourceLocation: location)
        for word in words {
            #expect(
                result.errorText.contains(word), "no \(word): \(result)", sourceLocation: location)
        }
        #expect(
            result.errors.split(separator: 10).count <= 3, "\(result)", sourceLocation: location)
    }

    @Test func `without the FUSE device mounting says how to get it`() throws {
        try withBrokenContainer { broken in
            let words = ["mount", "test", broken.container.mountPoint]
            let before = try broken.listing()
            expect(
                try broken.container.command(words, after: Self.emptyDevices),
                status: EX_UNAVAILABLE, saying: "/dev/fuse is missing", "modprobe fuse")
            // A number that no driver has.
            expect(
                try broken.container.command(
                    words, after: "\(Self.emptyDevices) && mknod /dev/fuse c 10 254"),
                status: EX_UNAVAILABLE, saying: "/dev/fuse", "modprobe fuse")
            // Without /dev/null no daemon can be started that would say it.
            expect(
                try broken.container.command(words, after: "mount -t tmpfs none /dev"),
                status: EX_UNAVAILABLE, saying: "/dev/fuse is missing", "modprobe fuse")
            #expect(try broken.listing() == before)
            #expect(!MountTable.isMounted(broken.container.mountPoint))
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `what may not be read or written is named, with what to do`() throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        try container.mount()
        try container.unmount()
        for (place, mode) in [("catalog.sqlite", "400"), ("journal", "000")] {
            let path = "\(container.folder)/\(place)"
            let mended = try run(["stat", "-c", "%a", path]).text.dropLast()
            #expect(try run(["chmod", mode, path]).status == 0)
            expect(
                try container.command("mount", container.name, container.mountPoint),
                status: EX_NOPERM, saying: path, "writable for you")
            #expect(try run(["chmod", String(mended), path]).status == 0)
        }
        try container.mount()
        try container.unmount()
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `an ordinary user is told what they lack to mount`() throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        let words = ["mount", "test", container.mountPoint]
        expect(
            try container.command(
                words, after: "mount --bind /dev/null \"$(command -v fusermount3)\""),
            status: EX_UNAVAILABLE, saying: "fusermount3 is not installed", "apt install fuse3")
        expect(
            try container.command(
                words, after: "\(Self.emptyDevices) && mknod -m 600 /dev/fuse c 10 229"),
            status: EX_NOPERM, saying: "/dev/fuse", "chmod 666 /dev/fuse")
        // A folder of root's: the helper's reason is told.
        mkdir("\(container.base)/roots", 0o755)
        expect(
            try container.command("mount", "test", "\(container.base)/roots"),
            status: EX_UNAVAILABLE, saying: "fusermount3: ", "\(container.base)/roots")
        // Others may have mounts of their own on this machine.
        #expect(try !container.command("status").text.contains(container.base))
        try container.mount()
        try container.unmount()
    }

    @Test func `a container of another owner is not touched`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.damage("chown -R \(nobody) .")
            let before = try broken.listing()
            for words in [
                ["mount", "test", container.mountPoint], ["container", "check", "test"],
                ["container", "delete", "test"],
            ] {
                expect(
                    try container.command(words), status: EX_NOPERM,
                    saying: broken.folder, "belongs to nobody", "sudo -u nobody")
            }
            #expect(try broken.listing() == before)
            // And the other way round: nobody comes to a container of root's.
            try broken.damage("chown -R 0 .; chmod 755 ../.. ..")
            let result = try run(
                [
                    "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                    BuiltPrograms.shapeedit(), "mount", "test", container.mountPoint,
                ], directory: container.base, environment: container.environment)
            expect(result, status: EX_NOPERM, saying: "belongs to root")
            #expect(!MountTable.isMounted(container.mountPoint))
        }
    }

    @Test func `a bound on the length of files is named, and ends no command`() throws {
        try withBrokenContainer { broken in
            let before = try broken.listing()
            let point = broken.container.mountPoint
            for longest in [1, 64, 512] {
                for words in [
                    ["container", "check", "test"], ["container", "info", "test"],
                    ["container", "create", "another"], ["mount", "test", point],
                    ["grants", "test"],
                ] {
                    // In blocks of 512 bytes, as POSIX has it.
                    expect(
                        try broken.container.command(words, after: "ulimit -f \(longest * 2)"),
                        status: EX_IOERR, saying: "takes files of ", "above \(longest) KiB",
                        "ulimit -f")
                }
            }
            // Not even what is said goes into a file then.
            for words in [["container", "check", "test"], ["container", "info", "test"]] {
                let result = try broken.container.command(words, after: "ulimit -f 0")
                #expect(result.status == Int(EX_IOERR), "\(result)")
            }
            #expect(try broken.listing() == before)
            #expect(!MountTable.isMounted(point))
            #expect(
                try broken.container.command(
                    ["container", "check", "test"], after: "ulimit -f 40960"
                ).status == 0)
        }
    }

    @Test func `where no container can be made is said, with what to do`() throws {
        let container = try Container()
        defer { container.remove() }
        let home = container.dataHome
        for line in [
            "mount -t tmpfs -o ro none \(home)",
            "mount -t tmpfs none \(home) && touch \(home)/shapeedit",
            "mount -t tmpfs none \(home) && mkdir -p \(home)/shapeedit/containers"
                + " && mount -o remount,ro \(home)",
        ] {
            for words in [["container", "create", "another"], ["mount", container.mountPoint]] {
                expect(
                    try container.command(words, after: line), status: EX_CANTCREAT,
                    saying: "\(home)/shapeedit/containers: ", "can write to", "XDG_DATA_HOME")
            }
        }
        #expect(!MountTable.isMounted(container.mountPoint))
    }

    @Test func `root does not work in the home of another user by accident`() throws {
        let container = try Container()
        defer { container.remove() }
        let home = "\(container.base)/home"
        chown(home, uid_t(nobody), gid_t(nobody))
        var environment = container.environment
        environment["XDG_DATA_HOME"] = nil
        let program = try BuiltPrograms.shapeedit()
        for words in [["container", "create", "x"], ["mount", container.mountPoint]] {
            let result = try run(
                [program] + words, directory: container.base, environment: environment)
            expect(
                result, status: EX_CONFIG, saying: "HOME is \(home)", "belongs to nobody", "sudo -H"
            )
        }
        #expect(try run(["find", home, "-mindepth", "1"]).text == "")
        #expect(!MountTable.isMounted(container.mountPoint))
        // What sudo took along of the caller's environment is the same accident.
        chown(container.dataHome, uid_t(nobody), gid_t(nobody))
        environment = container.environment
        environment["SUDO_UID"] = "\(nobody)"
        let result = try run(
            [program, "container", "list"], directory: container.base, environment: environment)
        expect(result, status: EX_CONFIG, saying: "XDG_DATA_HOME", "belongs to nobody")
    }
}

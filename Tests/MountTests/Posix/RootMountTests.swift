import Glibc
import Probing
import TestSupport
import Testing

/// The capabilities of root.
private enum AllOfRoot {
    /// Root of a container may have fewer, or only those of a user namespace.
    static var has: Bool {
        let line = "sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status; cat /proc/self/uid_map"
        guard geteuid() == 0, !DataPath.isPlain, let shown = try? run(["sh", "-c", line]) else {
            return false
        }
        let words = shown.text.split(whereSeparator: \.isWhitespace)
        let rights = words.first.flatMap { UInt64($0, radix: 16) } ?? 0
        return rights & 0x1f == 0x1f && words.dropFirst() == ["0", "0", "4294967295"]
    }
}

/// A mount that only root can enter, where permissions are nobody's bounds.
@Suite(.enabled(if: AllOfRoot.has, "needs root with all its capabilities, and a mount"))
struct RootMountTests {
    /// What root may do with files and folders of all kinds of modes, a line for each.
    private static let trials = """
        for mode in 000 001 010 100 111 444 666 755; do
            mkdir d$mode && cp /bin/true f$mode && chmod $mode d$mode f$mode && ln -s f$mode l$mode
            for name in d$mode f$mode l$mode; do
                for right in e r w x; do [ -$right $name ] && echo "$name -$right"; done
                (cd $name && pwd -P > /dev/null && echo "$name entered")
                cat $name > /dev/null && echo "$name read"
                ./$name && echo "$name run"
            done
            : >> f$mode && touch d$mode/new && mv d$mode/new d$mode/newer && rm d$mode/newer
            echo "$mode: $?"
        done 2> /dev/null
        mkfifo fifo; chmod 000 fifo; [ -r fifo ] && [ -w fifo ] && echo fifo; [ -x fifo ]; echo $?
        """

    @Test func `root may do as on a disk where nobody else can come`() throws {
        let container = try Container()
        let disk = try TemporaryDirectory.make()
        defer {
            container.remove()
            TemporaryDirectory.remove(disk)
        }
        try container.mount()
        let point = container.mountPoint
        let expected = try run(["bash", "-c", Self.trials], directory: disk)
        let found = try run(["bash", "-c", Self.trials], directory: point)
        #expect(found.text == expected.text)
        #expect(found.text.contains("f100 run\n") && !found.text.contains("f666 run"))
        #expect(found.text.contains("f666 -w\n") && !found.text.contains("f666 -x"))
        // It is among the virtual files, too.
        #expect(try run(["test", "-x", "\(point)/.shapeedit/status.json"]).status == 1)
        #expect(try run(["test", "-r", "\(point)/.shapeedit/status.json"]).status == 0)
    }

    /// Whether the mount has been made so.
    private func kernelLooks(_ container: Container) throws -> Bool {
        let words = ["findmnt", "--noheadings", "--output", "OPTIONS", container.mountPoint]
        let shown = try run(words)
        try #require(shown.status == 0, "\(shown)")
        return shown.text.contains("default_permissions")
    }

    @Test(arguments: [
        ([], false), (["allow_other"], true), (["default_permissions"], true),
    ])
    func `the kernel looks at permissions where others can come, or if it is told to`(
        options: [String], looks: Bool
    ) throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount(options: options)
        #expect(try kernelLooks(container) == looks)
    }

    /// As servers of network file systems do; nobody would look at the rights of their clients.
    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `who comes as root and acts for another user opens and changes nothing`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let trials = """
            import ctypes, errno, os
            calls = [lambda: os.open("a", 0), lambda: os.open("d", 0), lambda: os.open("b", 65),
                lambda: os.chmod("a", 0o666), lambda: os.utime("a"), lambda: os.unlink("a"),
                lambda: os.mkdir("e"), lambda: os.rename("a", "c"), lambda: os.link("a", "c"),
                lambda: os.symlink("a", "c"), lambda: os.truncate("a", 0), lambda: os.listdir("."),
                lambda: os.setxattr("a", "user.x", b"1"), lambda: os.stat("nothing")]
            os.mkdir("d")
            kept = os.open("a", os.O_RDWR | os.O_CREAT)
            os.write(kept, b"text")
            ctypes.CDLL(None).setfsuid(1000)
            for call in calls:
                try: print("done", call())
                except OSError as e: print(errno.errorcode[e.errno])
            print(os.pread(kept, 4, 0), os.fstat(kept).st_size)
            """
        let found = try run(["python3", "-c", trials], directory: container.mountPoint)
        let refused = String(repeating: "EACCES\n", count: 14)
        #expect(found.text == refused + "b'text' 4\n", "\(found)")
    }

    @Test func `the kernel looks at permissions where root itself may not do everything`() throws {
        let container = try Container()
        defer { container.remove() }
        let mounted = try run(
            [
                "setpriv", "--bounding-set=-dac_override", try BuiltPrograms.shapeedit(), "mount",
                container.name, container.mountPoint,
            ], environment: container.environment)
        try #require(mounted.status == 0, "\(mounted)")
        defer { MountTable.detach(container.mountPoint) }
        #expect(try kernelLooks(container))
        #expect(try container.command("unmount", container.mountPoint).status == 0)
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// The ways to say what is to be mounted, and with which options.
@Suite(.oneAtATime) struct MountFormTests {
    /// What mount(8) runs.
    static let helper = #filePath.replacing(
        "Tests/MountTests/BadInput/MountFormTests.swift", with: "Mount/mount.shapeedit")

    /// Programs start in the folder that has the mount point `mount`.
    static let forms: [[String]] = [
        ["mount", "--", "test", "mount"],
        ["mount", "-o", "rw", "--", "test", "mount"],
        ["mount", "test", "./mount", "-o", "noatime", "-o", "nosuid,nodev"],
        // As mount.fuse3 calls it.
        ["test", "mount", "-o", "rw"],
        ["test", "mount", "-orw"],
    ]

    @Test(arguments: forms) func `a mount is made in each form`(_ words: [String]) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let result = try container.command(words)
            #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result)")
            try #require(MountTable.isMounted(container.mountPoint), "\(words): \(result)")
            let agent = try Agent(in: container.mountPoint)
            #expect(agent.content("a") == "a's only content")
            agent.end()
            try container.unmount()
        }
    }

    /// `mount -a` mounts what it does not find among the mounts under the name that fstab has.
    @Test(arguments: [
        ("test", "rw", "test"), ("mine", "rw,container=test", "mine"), ("test", "fsname=my", "my"),
    ])
    func `what the helper mounts is called as in fstab`(
        _ name: String, _ options: String, _ source: String
    ) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let helped = container.environment.merging(
                ["SHAPEEDIT_BINARY": try BuiltPrograms.shapeedit()]) { $1 }
            let result = try run(
                [Self.helper, name, container.mountPoint, "-o", options], environment: helped)
            #expect(result.status == 0 && result.errorText.isEmpty, "\(result)")
            let mounts = try run(["cat", "/proc/self/mounts"]).text
            #expect(mounts.contains("\n\(source) \(container.mountPoint) fuse.shapeedit "))
            try container.unmount()
        }
    }

    /// Of root's, where nobody is named, it would be another container than fstab means.
    @Test(arguments: ["uid=", "setuid=", "uid=,ro"])
    func `the helper asks who is meant by an empty name`(_ options: String) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let helped = container.environment.merging(
                ["SHAPEEDIT_BINARY": try BuiltPrograms.shapeedit()]) { $1 }
            let result = try run(
                [Self.helper, "test", container.mountPoint, "-o", options], environment: helped)
            #expect(result.status == 1 && result.errorText.contains("needs the name of a user"))
            #expect(!MountTable.isMounted(container.mountPoint), "\(result)")
            if MountTable.isMounted(container.mountPoint) { try container.unmount() }
        }
    }

    @Test func `status has one line for a mount, whatever its folder is called`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let folder = container.base + "/line\nfeed"
            _ = try run(["mkdir", folder])
            let mounted = try container.command("mount", "test", folder)
            #expect(mounted.status == 0, "\(mounted)")
            let status = try container.command("status").text
            #expect(status.contains("/line\\nfeed: container test"), "\(status)")
            let unmounted = try container.command("unmount", folder)
            #expect(unmounted.status == 0, "\(unmounted)")
            let made = try container.command(
                "container", "create", "far", "--store",
                "folder:\(container.base)/line\nfeed/store")
            #expect(made.status == 0, "\(made)")
            let info = try container.command("container", "info", "far").text
            #expect(info.split(separator: "\n").count == 3, "\(info)")
            #expect(info.contains("/line\\nfeed/store\n"), "\(info)")
        }
    }

    @Test func `a folder whose name is not UTF-8 is mounted, and made where there is none`() throws
    {
        try withBrokenContainer { broken in
            let container = broken.container
            for making in ["mkdir \"$name\"", "true"] {
                let line = """
                    name=$(printf 'm\\377') && mkdir own && cd own && \(making) && "$0" mount "$name" &&
                    test "$(ls -b)" = 'm\\377' && test -e "$name/Welcome.md" && "$0" unmount "$name" &&
                    rmdir "$name" && cd .. && rmdir own
                    """
                let result = try run(
                    ["sh", "-c", line, try BuiltPrograms.shapeedit()], directory: container.base,
                    environment: container.environment)
                #expect(result.status == 0, "\(making): \(result)")
            }
        }
    }

    @Test(arguments: ["2>&-", "<&- >&-", "<&- >&- 2>&-"])
    func `what a daemon says goes into no file, though it was started without standard streams`(
        _ closing: String
    ) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let program = try BuiltPrograms.shapeedit()
            let daemon = try RunningProgram(
                ["sh", "-c", "exec '\(program)' mount --foreground test mount \(closing)"]
                    .map { Array($0.utf8) },
                directory: container.base, environment: container.environment)
            waitUntil(seconds: 30) { MountTable.isMounted(container.mountPoint) }
            let process = try #require(try container.status().pid)
            let files = try run([
                "sh", "-c",
                "cd /proc/\(process)/fd && readlink 0 1 2 | grep -e container -e pipe: -e socket:",
            ])
            #expect(files.text.isEmpty, "\(files)")
            try container.unmount()
            #expect(daemon.wait(seconds: 30).status == 0)
        }
    }

    @Test func `options for others are accepted as mount(8) does`() throws {
        try withBrokenContainer { broken in
            try broken.container.mount(options: [
                "rw", "defaults", "auto", "noauto", "user", "owner", "group", "nofail", "_netdev",
                "strictatime", "lazytime", "diratime", "nodiratime", "relatime", "comment=mine",
                "x-systemd.automount", "x-gvfs-show", "X-mount.mkdir", "user=ada",
            ])
            try broken.container.unmount()
        }
    }

    @Test func `reads can be made smaller`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount(options: ["max_read=16384"])
            let table = try run(["findmnt", "-no", "OPTIONS", container.mountPoint]).text
            #expect(table.contains("max_read=16384"), "\(table)")
            let agent = try Agent(in: container.mountPoint)
            agent.store("large", ByteString(repeating: "x", count: 300_000))
            #expect(agent.content("large") == ByteString(repeating: "x", count: 300_000))
            agent.end()
            try container.unmount()
            try broken.expectRefusal(
                "mount", "test", container.mountPoint, "-o", "max_read=many", status: EX_USAGE,
                saying: "max_read=many", "a number of bytes")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "only root may have devices"))
    func `root gets devices and set-user-id programs by asking for them`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            for options in [[], ["dev", "suid"]] {
                try container.mount(options: options)
                let table = try run(["findmnt", "-no", "OPTIONS", container.mountPoint]).text
                #expect(table.contains("nodev") == options.isEmpty, "\(table)")
                #expect(table.contains("nosuid") == options.isEmpty, "\(table)")
                try container.unmount()
            }
        }
    }

    @Test func `requests are printed in the foreground only`() throws {
        try withBrokenContainer { broken in
            try broken.expectRefusal(
                "mount", "test", broken.container.mountPoint, "-o", "debug", status: EX_USAGE,
                saying: "the mount option debug", "--foreground")
            #expect(!MountTable.isMounted(broken.container.mountPoint))
        }
    }

    @Test func `an option that nobody knows is refused before anything is opened`() throws {
        try withBrokenContainer { broken in
            for option in ["no_such_option", "noatim", "subtype=other", "max_read", "nosymfollow"] {
                try broken.expectRefusal(
                    "mount", "test", broken.container.mountPoint, "-o", "rw,\(option)",
                    status: EX_USAGE, saying: "option \(option) is not known")
                #expect(!MountTable.isMounted(broken.container.mountPoint))
            }
            try broken.expectRefusal(
                "mount", "test", broken.container.mountPoint, "-o", "fsname=", status: EX_USAGE,
                saying: "option fsname= says nothing")
        }
    }

    @Test func `a command cannot name a container`() throws {
        let container = try Container()
        defer { container.remove() }
        for name in [
            "mount", "unmount", "umount", "status", "container", "help", "completions", "new",
            "show", "get", "set", "add", "remove", "edit", "list", "undo", "redo", "history",
            "convert", "render", "diff", "validate", "find", "bookmark", "evict", "pin", "unpin",
            "materialize", "cancel", "import",
        ] {
            let result = try container.command("container", "create", name)
            #expect(result.status == Int(EX_USAGE), "\(result)")
            #expect(result.errorText.contains("cannot name a container"), "\(result)")
        }
        #expect(try container.command("container", "list").text == "test\n")
    }

    @Test func `a misspelt command is not taken for a container`() throws {
        try withBrokenContainer { broken in
            let mountPoint = broken.container.mountPoint
            try broken.expectRefusal("moutn", "test", mountPoint, status: EX_USAGE, saying: "moutn")
            try broken.expectRefusal("umount", mountPoint, status: EX_USAGE, saying: "umount")
            #expect(!MountTable.isMounted(mountPoint))
        }
    }

    @Test func `with noatime reading leaves no time, and without it does as ext4`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            for (options, isNoted) in [
                (["noatime"], false), ([], true), (["noatime", "strictatime"], true),
            ] {
                try container.mount(options: options)
                let agent = try Agent(in: container.mountPoint)
                agent.store("read", "content")
                agent.shell("touch -ad '3 days ago' read")
                let before = agent.shell("stat -c %x read")
                #expect(agent.content("read") == "content")
                let after = agent.shell("stat -c %x read")
                #expect((after != before) == isNoted, "\(options): \(after)")
                agent.end()
                try container.unmount()
            }
        }
    }

    @Test func `with nodiratime listing leaves no time, nor does it with O_NOATIME`() throws {
        let list =
            "import os, sys; os.listdir(os.open('folder', os.O_DIRECTORY | int(sys.argv[1], 0)))"
        try withBrokenContainer { broken in
            let container = broken.container
            for (options, flag, isNoted) in [
                (["nodiratime"], "0", false), ([], "0o1000000", false), ([], "0", true),
                (["nodiratime", "diratime"], "0", true),
            ] {
                try container.mount(options: options)
                let agent = try Agent(in: container.mountPoint)
                agent.shell("touch -ad '3 days ago' folder a")
                let before = agent.shell("stat -c %x folder")
                agent.shell("python3 -c \"\(list)\" \(flag)")
                let after = agent.shell("stat -c %x folder")
                #expect((after != before) == isNoted, "\(options) \(flag): \(after)")
                let read = agent.shell("stat -c %x a; cat a > /dev/null; stat -c %x a")
                #expect(Set(read.split(separator: "\n")).count == 2, "\(options): \(read)")
                agent.end()
                try container.unmount()
            }
        }
    }

    @Test func `reading a mount that is read-only leaves no time`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            agent.store("read", "content")
            agent.shell("touch -ad '3 days ago' read")
            let before = agent.shell("stat -c %x read")
            agent.end()
            try container.unmount()
            for options in [["ro"], []] {
                try container.mount(options: options)
                let agent = try Agent(in: container.mountPoint)
                #expect(agent.content("read") == "content")
                let after = agent.shell("stat -c %x read")
                #expect((after == before) == !options.isEmpty, "\(options): \(after)")
                agent.end()
                try container.unmount()
            }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a mount that is read-only is read, and nothing else`(_ dataPath: DataPath) throws {
        let path = dataPath == .noPassthrough ? ["no_passthrough"] : []
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount(options: path + ["ro"])
            let agent = try Agent(in: container.mountPoint)
            defer { agent.end() }
            #expect(agent.content("a") == "a's only content")
            #expect(agent.names(".").count == 5)
            for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC] {
                agent.open("a", flags, fails: EROFS)
            }
            agent.open("new", O_WRONLY | O_CREAT, fails: EROFS)
            agent.makeDirectory("new", fails: EROFS)
            agent.unlink("a", fails: EROFS)
            agent.rename("a", "b", fails: EROFS)
            agent.setAttribute("a", "user.x", "y", fails: EROFS)
            agent.truncate("a", size: 0, fails: EROFS)
            let place = container.mountPoint
            for words in [
                ["new", "\(place)/new.slide"], ["restore", "\(place)/a", "1"],
                ["pin", "\(place)/a"],
                ["grant", "\(place)/a", "--to", "notes"], ["bookmark", "create", "\(place)/a"],
                ["import", "--promise", container.base, "\(place)/new"],
                ["find", place, "--name", "a", "--save", "q"],
            ] {
                let result = try container.command(words)
                #expect(result.status == Int(EX_NOPERM), "\(words): \(result)")
                #expect(result.errorText.contains("Read-only file system"), "\(words): \(result)")
            }
            agent.end()
            try container.unmount()
            // As in an fstab, the last word holds.
            try container.mount(options: path + ["ro", "noexec", "rw", "exec"])
            let writer = try Agent(in: container.mountPoint)
            defer { writer.end() }
            writer.store("a", "changed")
            writer.store("script", "#!/bin/sh\n", mode: 0o755)
            writer.shell("./script")
            writer.end()
            try container.unmount()
            #expect(try container.check().status == 0)
        }
    }

    /// It starts itself by /proc/self/exe, and was called "exe" where those are named who have a document open.
    @Test func `a daemon is called as the program is`() throws {
        try withVolume(.passthrough) { volume in
            let daemon = try #require(volume.container?.daemon)
            #expect(try run(["cat", "/proc/\(daemon)/comm"]).text == "shapeedit\n")
        }
    }
}

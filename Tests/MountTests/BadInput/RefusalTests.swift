import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct RefusalTests {
    @Test func `a mount point has to be an empty folder that is there`() throws {
        try withBrokenContainer { broken in
            let base = broken.container.base
            let made = try run(
                ["sh", "-c", "touch file; mkdir full; touch full/x; ln -s nowhere dangling"],
                directory: base)
            #expect(made.status == 0)
            try broken.expectRefusal(
                "mount", "test", "\(base)/missing", status: EX_NOINPUT,
                saying: "\(base)/missing", "make the folder")
            try broken.expectRefusal(
                "mount", "test", "\(base)/dangling", status: EX_NOINPUT, saying: "dangling")
            try broken.expectRefusal(
                "mount", "test", "\(base)/file", status: EX_CANTCREAT,
                saying: "\(base)/file", "Not a directory")
            try broken.expectRefusal(
                "mount", "test", "\(base)/full", status: EX_CANTCREAT,
                saying: "\(base)/full", "empty")
            #expect(try run(["ls", "-A", "\(base)/full"]).text == "x\n")
            #expect(access("\(base)/missing", F_OK) != 0)
        }
    }

    @Test func `what is mounted cannot be mounted, checked or deleted`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let other = "\(container.base)/other"
            mkdir(other, 0o755)
            try container.mount()
            for words in [
                ["mount", "test", other], ["mount", "test", container.mountPoint],
                ["container", "check", "test"], ["container", "delete", "test"],
            ] {
                let result = try container.command(words)
                #expect(result.status == Int(EX_TEMPFAIL), "\(words): \(result)")
                #expect(result.errorText.contains(container.mountPoint), "\(words): \(result)")
                #expect(result.errorText.lowercased().contains("unmount"), "\(words): \(result)")
            }
            let again = try container.command("container", "create", "second")
            #expect(again.status == 0, "\(again)")
            let second = try container.command("mount", "second", container.mountPoint)
            #expect(second.status == Int(EX_TEMPFAIL), "\(second)")
            #expect(second.errorText.contains("mounted already"), "\(second)")
            #expect(!MountTable.isMounted(other))
            let agent = try Agent(in: container.mountPoint)
            #expect(agent.content("a") == "a's only content")
            agent.end()
            try container.unmount()
            #expect(try container.check().status == 0)
        }
    }

    @Test func `a container that is not there is named`() throws {
        try withBrokenContainer { broken in
            let mountPoint = broken.container.mountPoint
            try broken.expectRefusal(
                "mount", "absent", mountPoint, status: EX_NOINPUT,
                saying: "absent", "shapeedit container create absent")
            for verb in ["check", "delete", "info"] {
                try broken.expectRefusal(
                    "container", verb, "absent", status: EX_NOINPUT, saying: "absent")
            }
            try broken.expectRefusal(
                "container", "create", "test", status: EX_CANTCREAT, saying: "test", "already")
            #expect(try run(["ls", "\(broken.folder)/.."]).text == "test\n")
        }
    }

    @Test(arguments: ["../x", "", ".x", "a/b", "/", "..", "-x", "a b", "a\nb", "\u{1b}[31m"])
    func `a name that cannot be one makes nothing`(_ name: String) throws {
        try withBrokenContainer { broken in
            for words in [
                ["mount", "--", name, broken.container.mountPoint],
                ["container", "create", "--", name], ["container", "check", "--", name],
                ["container", "delete", "--", name], ["container", "info", "--", name],
            ] {
                let result = try broken.container.command(words)
                #expect(result.status == Int(EX_USAGE), "\(words): \(result)")
                #expect(result.errorText.contains("cannot name a container"), "\(result)")
                // Nothing for a terminal to obey.
                #expect(!result.errors.contains(0x1b), "\(words): \(result.errors)")
            }
            #expect(try run(["ls", "-A", "\(broken.folder)/.."]).text == "test\n")
            #expect(try run(["ls", "-A", broken.container.dataHome]).text == "shapeedit\n")
            #expect(!MountTable.isMounted(broken.container.mountPoint))
        }
    }

    @Test func `a name that is too long makes nothing`() throws {
        try withBrokenContainer { broken in
            let name = String(repeating: "n", count: 300)
            try broken.expectRefusal(
                "container", "create", name, status: EX_USAGE, saying: "200 bytes")
            #expect(try run(["ls", "-A", "\(broken.folder)/.."]).text == "test\n")
        }
    }

    @Test func `what the command line does not know is a usage error`() throws {
        try withBrokenContainer { broken in
            let mountPoint = broken.container.mountPoint
            try broken.expectRefusal(
                "mount", "test", mountPoint, "-o", "no_such_option", status: EX_USAGE,
                saying: "no_such_option")
            try broken.expectRefusal("mount", status: EX_USAGE, saying: "shapeedit mount --help")
            try broken.expectRefusal("paint", status: EX_USAGE, saying: "paint", "--help")
            try broken.expectRefusal(
                "unmount", mountPoint, status: EX_USAGE, saying: mountPoint, "not a folder")
            try broken.expectRefusal(
                "unmount", "\(mountPoint)/missing", status: EX_USAGE, saying: "missing")
            #expect(!MountTable.isMounted(mountPoint))
        }
    }
}

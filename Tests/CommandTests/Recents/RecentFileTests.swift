import FoundationEssentials
import Glibc
import Probing
import TestSupport
import Testing

/// The user's list of recently used files (`recently-used.xbel`), as GLib reads and writes it.
@Suite(
    .oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"),
    .enabled(if: isInstalled("python3") && isInstalled("gio"), "needs Python and GLib"))
struct RecentFileTests {
    /// A mount of the user's own, not for others.
    private struct Desktop {
        let container: Container
        var list: String { container.dataHome + "/recently-used.xbel" }
        var text: String? { try? String(contentsOf: URL(filePath: list), encoding: .utf8) }

        func shell(_ line: String, at location: SourceLocation = #_sourceLocation) throws {
            let result = try run(["sh", "-c", line], directory: container.mountPoint)
            #expect(result.status == 0, "\(line): \(result)", sourceLocation: location)
        }

        /// The entries below the mount as GLib reads them: path, type, applications.
        func entries() throws -> [String] {
            try bookmarks("list", list).split(separator: "\n").compactMap { line in
                let prefix = "file://\(container.mountPoint)/"
                return line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : nil
            }.sorted()
        }

        /// Registers a path below the mount as another program does.
        func register(_ path: String, _ application: String) throws {
            _ = try bookmarks(
                "add", list, "file://\(container.mountPoint)/\(path)", "text/plain", application)
        }

        func bookmarks(_ words: String...) throws -> String {
            let script = OutputSchema.packageRoot + "/Tests/CommandTests/Recents/bookmarks.py"
            let result = try run(["python3", script] + words, directory: container.base)
            #expect(result.status == 0, "\(words): \(result)")
            return result.text
        }

        func recents() throws -> [String] {
            let result = try container.command("recents", container.mountPoint)
            return result.text.split(separator: "\n").map { line in
                String(line.split(separator: "/").last ?? "")
            }
        }

        /// Waits until it is so, 60 s at most.
        func eventually(
            at location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
        ) rethrows {
            for _ in 0..<600 {
                if try condition() { return }
                usleep(100_000)
            }
            Issue.record("it does not come", sourceLocation: location)
        }
    }

    private func withDesktop(_ body: (Desktop) throws -> Void) throws {
        let container = try Container()
        defer { container.remove() }
        let desktop = Desktop(container: container)
        try container.mount()
        try body(desktop)
        if MountTable.isMounted(container.mountPoint) { try container.unmount() }
    }

    @Test func `documents are in the list when they were opened, and follow renames`() throws {
        try withDesktop { desktop in
            let foreign = """
                <?xml version="1.0" encoding="UTF-8"?>
                <!-- kept -->
                <xbel version="1.0" xmlns:bookmark="http://www.freedesktop.org/standards/desktop-bookmarks"
                 xmlns:mime='http://www.freedesktop.org/standards/shared-mime-info'>
                  <!-- <bookmark href="file:///in/a/comment"> -->
                  <bookmark href="file:///etc/passwd" added="2020-01-01T00:00:00Z"   modified="2020-01-01T00:00:00Z" visited="2020-01-01T00:00:00Z">
                    <info><metadata owner="http://freedesktop.org"><mime:mime-type type="text/plain"/><bookmark:applications><bookmark:application name="x" exec="x" modified="2020-01-01T00:00:00Z" count="7"/></bookmark:applications></metadata>
                    </info><title>Mine &amp; yours</title>
                  </bookmark>
                </xbel>
                <!-- the end -->

                """
            try Data(foreign.utf8).write(to: URL(filePath: desktop.list))
            try desktop.shell("printf 1 > 'a & b'; printf 2 > c.txt; printf 3 > .hidden")
            try desktop.shell("sleep 1.1; printf '' >> c.txt")
            try desktop.container.unmount()
            #expect(
                try desktop.entries() == [
                    "a%20&%20b application/octet-stream ShapeEdit", "c.txt text/plain ShapeEdit",
                ])
            // What is of others is as it was, byte for byte.
            let lines = foreign.split(separator: "</xbel>")
            let now = try #require(desktop.text)
            #expect(now.hasPrefix(lines[0]) && now.hasSuffix("</xbel>" + lines[1]), "\(now)")
            try desktop.container.mount()
            try desktop.shell("mkdir d; mv 'a & b' d/e.txt")
            try desktop.eventually {
                try desktop.entries().first == "c.txt text/plain ShapeEdit"
                    && desktop.entries().last?.hasPrefix("d/e.txt ") == true
            }
            try desktop.shell("rm c.txt")
            try desktop.eventually { try desktop.entries().count == 1 }
            try desktop.shell("mv d f")
            try desktop.eventually { try desktop.entries().first?.hasPrefix("f/e.txt ") == true }
            _ = try desktop.container.command("recents", desktop.container.mountPoint, "--clear")
            // Nothing is left of them.
            desktop.eventually { desktop.text == foreign }
        }
    }

    @Test
    func `what was renamed or removed shortly before a crash leaves no entry behind`() throws {
        try withDesktop { desktop in
            try desktop.shell("mkdir d; printf 1 > d/a.txt; printf 2 > b.txt")
            try desktop.container.unmount()
            try desktop.register("gone.txt", "other")
            #expect(try desktop.entries().count == 3)
            try desktop.container.mount()
            try desktop.shell("mv d f; rm b.txt")
            try desktop.container.killDaemon()
            try desktop.container.mount()
            try desktop.eventually {
                try desktop.entries() == [
                    "f/a.txt text/plain ShapeEdit", "gone.txt text/plain other",
                ]
            }
        }
    }

    @Test func `what is forgotten and goes at once leaves no entry behind`() throws {
        try withDesktop { desktop in
            try desktop.shell("printf 1 > a.txt; printf 2 > b.txt; printf 3 > c.txt")
            try desktop.container.unmount()
            #expect(try desktop.entries().count == 3)
            try desktop.container.mount()
            // It has been looked at, and what follows comes before the next look.
            usleep(500_000)
            _ = try desktop.container.command("recents", desktop.container.mountPoint, "--clear")
            try desktop.shell("rm a.txt; mv b.txt d.txt")
            try desktop.eventually { try desktop.entries() == [] }
        }
    }

    @Test func `what other programs registered counts, and what they say is kept`() throws {
        try withDesktop { desktop in
            try desktop.shell("mkdir d; printf 1 > a.txt; printf 2 > b.txt; printf 3 > d/c.txt")
            _ = try desktop.container.command("recents", desktop.container.mountPoint, "--clear")
            #expect(try desktop.recents() == [])
            // In the second after: the list has no finer moments.
            usleep(1_100_000)
            try desktop.register("b.txt", "other")
            try desktop.register("d/c.txt", "other")
            try desktop.register("gone.txt", "other")
            try desktop.eventually { try Set(desktop.recents()) == ["b.txt", "c.txt"] }
            try desktop.shell("mv d/c.txt d/moved.txt")
            try desktop.eventually {
                try desktop.entries().contains("d/moved.txt text/plain other")
            }
            #expect(try desktop.entries().contains("gone.txt text/plain other"))
            // Opened here, it is of both.
            try desktop.shell("sleep 2; cat b.txt")
            try desktop.container.unmount()
            #expect(try desktop.entries().contains("b.txt text/plain ShapeEdit,other"))
        }
    }

    /// Programs of GTK keep the list in memory: each that registered something in the second after us lost what
    /// was told then, for good.
    @Test func `what is replaced unread comes back, what is taken out does not`() throws {
        try withDesktop { desktop in
            try desktop.register("gone.txt", "other")
            let former = try #require(desktop.text)
            func replace() throws {
                try Data(former.utf8).write(to: URL(filePath: desktop.list), options: .atomic)
            }
            try desktop.shell("printf 1 > a.txt")
            // The open counts when the mount goes away, and is told at the next.
            try desktop.container.unmount()
            try replace()
            try desktop.container.mount()
            let entry = "a.txt text/plain ShapeEdit"
            try desktop.eventually { try desktop.entries().contains(entry) }
            try replace()
            try desktop.eventually { try desktop.entries().contains(entry) }
            // Who writes the list later has read it.
            usleep(6_000_000)
            try replace()
            usleep(5_000_000)
            #expect(try desktop.entries() == ["gone.txt text/plain other"])
        }
    }

    @Test func `a list that is none is left alone`() throws {
        try withDesktop { desktop in
            let broken = [
                "<xbel><bookmark href='x'></xbel>", "no list",
                "<!DOCTYPE a [<!ENTITY b 'c'>]><xbel/>", "<xbel><title>\0</title></xbel>",
            ]
            for text in broken {
                try Data(text.utf8).write(to: URL(filePath: desktop.list))
                try desktop.shell("printf 1 > a.txt")
                try desktop.container.unmount()
                #expect(desktop.text == text)
                try desktop.container.mount()
            }
            unlink(desktop.list)
            #expect(symlink("/dev/null", desktop.list) == 0)
            try desktop.shell("printf 2 > a.txt")
            try desktop.container.unmount()
            var status = stat()
            #expect(lstat(desktop.list, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            unlink(desktop.list)
            // Switched off, and for others.
            for words in [["--no-desktop-recents"], ["-o", "no_desktop_recents"]] {
                let result = try desktop.container.command(
                    ["mount", "test", desktop.container.mountPoint] + words)
                #expect(result.status == 0, "\(result)")
                try desktop.shell("printf 3 > a.txt")
                try desktop.container.unmount()
                #expect(desktop.text == nil)
            }
            if DataPath.isPrivileged {
                try desktop.container.mount(options: ["allow_other"])
                try desktop.shell("printf 4 > a.txt")
                try desktop.container.unmount()
                #expect(desktop.text == nil)
            }
        }
    }
}

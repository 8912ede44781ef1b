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

    @Test func `no container hides its own store`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let place = "\(container.base)/place"
            let made = try container.command(
                "container", "create", "far", "--store", "folder:\(place)/disk/store")
            #expect(made.status == 0, "\(made)")
            // As where its disk is not mounted.
            #expect(try run(["rm", "-r", "\(place)/disk"]).status == 0)
            try broken.expectRefusal(
                "mount", "far", place, status: EX_CANTCREAT, saying: "\(place)/disk/store",
                "elsewhere")
        }
    }

    /// Whoever wrote there waited for ever, or had an error.
    @Test func `no container hides its own files`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let home = "\(container.base)/empty"
            let link = "\(container.base)/link"
            mkdir(home, 0o755)
            symlink(home, link)
            for data in ["\(home)/data", "\(link)/data", home] {
                container.additionalEnvironment = ["XDG_DATA_HOME": data]
                let refused = try container.command("mount", home)
                #expect(refused.status == Int(EX_CANTCREAT), "\(refused)")
                #expect(refused.errorText.contains("elsewhere"), "\(refused)")
            }
            container.additionalEnvironment = [:]
            #expect(try run(["ls", "-A", home]).text == "")
            try broken.expectRefusal(
                "mount", "test", "\(broken.folder)/staging", status: EX_CANTCREAT,
                saying: "\(broken.folder)/staging", "elsewhere")
        }
    }

    /// Blobs lie in folders of the same kind in both: what was let go here would be gone in the store.
    @Test func `no store is among the files of containers`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let link = "\(container.base)/link"
            symlink(broken.folder, link)
            let new = "\(container.dataHome)/shapeedit/containers/second/blobs"
            for path in ["\(broken.folder)/blobs", "\(link)/blobs", new] {
                for words in [["create", "second", "--store"], ["move-store", "test"]] {
                    let refused = try container.command(
                        ["container"] + words + ["folder:\(path)"])
                    #expect(refused.status == Int(EX_CANTCREAT), "\(refused)")
                    #expect(refused.errorText.contains("another folder"), "\(refused)")
                }
            }
            #expect(access("\(broken.folder)/blobs/shapeedit-store", F_OK) != 0)
            #expect(access(new, F_OK) != 0)
            #expect(try container.check().status == 0)
        }
    }

    /// The kernel would stack them, and the first say that it is there.
    @Test func `of two containers mounted at one folder at once one is refused`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            #expect(try container.command("container", "create", "second").status == 0)
            let point = container.mountPoint
            let script = """
                for name in test second; do
                    { "$0" mount $name "$1"; echo "$name $?"; } 2>&1 &
                done; wait
                """
            for round in 1...8 {
                let result = try run(
                    ["sh", "-c", script, try BuiltPrograms.shapeedit(), point],
                    directory: container.base, environment: container.environment)
                let lines = result.text.split(separator: "\n")
                let mounted = lines.filter { $0.hasSuffix(" 0") }.map { $0.dropLast(2) }
                #expect(mounted.count == 1, "round \(round): \(result.text)")
                #expect(lines.contains { $0.hasSuffix(" \(EX_TEMPFAIL)") }, "\(result.text)")
                #expect(result.text.contains("mounted already"), "\(result.text)")
                let said = try run(["cat", "\(point)/.shapeedit/status.json"]).text
                #expect(said.contains("\"\(mounted.first ?? "none")\""), "\(said)")
                // Fails if another one is below.
                try container.unmount()
            }
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

    /// It has no catalog yet, and nothing of it is lost. One whose making was cut off is none.
    @Test func `a container that is not made yet is not checked`() throws {
        try withBrokenContainer { broken in
            let made = try broken.container.command("container", "create", "half")
            #expect(made.status == 0, "\(made)")
            let folder = "\(broken.folder)/../half"
            #expect(unlink(folder + "/catalog.sqlite") == 0)
            let file = open(folder + "/lock", O_RDWR)
            defer { close(file) }
            #expect(flock(file, LOCK_EX) == 0)
            let words = "being created (process \(getpid()))"
            #expect(ftruncate(file, 0) == 0 && pwrite(file, words, words.utf8.count, 0) > 0)
            try broken.expectRefusal(
                "container", "check", "half", status: EX_TEMPFAIL, saying: words, "Try again")
            #expect(flock(file, LOCK_UN) == 0)
            try broken.expectRefusal(
                "container", "check", "half", status: EX_NOINPUT,
                saying: "there is no container half")
            let again = try broken.container.command("container", "create", "half")
            #expect(again.status == 0, "\(again)")
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

    @Test func `a name that is not UTF-8 makes nothing`() throws {
        try withBrokenContainer { broken in
            let result = try run(
                [
                    "sh", "-c", "exec \"$0\" container create -- \"$(printf 'a\\377')\"",
                    BuiltPrograms.shapeedit(),
                ], directory: broken.container.base, environment: broken.container.environment)
            #expect(result.status == Int(EX_USAGE), "\(result)")
            #expect(result.errorText.contains("cannot name a container"), "\(result)")
            #expect(try run(["ls", "-A", "\(broken.folder)/.."]).text == "test\n")
        }
    }

    @Test func `what is no container is neither deleted nor checked nor changed`() throws {
        try withBrokenContainer { broken in
            let home = "\(broken.folder)/.."
            let made = try run(
                ["sh", "-c", "mkdir photos; echo mine > photos/a; echo > file; chmod 640 file"],
                directory: home)
            #expect(made.status == 0, "\(made)")
            for name in ["photos", "file"] {
                for words in [["check"], ["delete", "--force"], ["info"]] {
                    let result = try broken.container.command(["container"] + words + [name])
                    #expect(result.status == Int(EX_NOINPUT), "\(words) \(name): \(result)")
                    #expect(result.errorText.contains("there is no container"), "\(result)")
                }
            }
            #expect(try broken.container.command("container", "create", "file").status != 0)
            let left = try run(
                ["sh", "-c", "ls; cat photos/a; stat -c %a file"], directory: home)
            #expect(left.text == "file\nphotos\ntest\nmine\n640\n", "\(left)")
            // What is left of a container is none of these.
            mkdir("\(home)/rest", 0o700)
            mkdir("\(home)/rest/blobs", 0o700)
            let rest = try broken.container.command("container", "delete", "--force", "rest")
            #expect(rest.status == 0, "\(rest)")
        }
    }

    @Test func `files of others in a container's folder stay when it is deleted`() throws {
        try withBrokenContainer { broken in
            try broken.damage("echo mine > notes.txt; mkdir photos; echo mine > photos/a")
            let container = broken.container
            let deleted = try container.command("container", "delete", "--force", "test")
            #expect(deleted.status == 0, "\(deleted)")
            for name in ["notes.txt", "photos"] {
                let message = "\(broken.folder)/\(name) does not belong to the container"
                #expect(deleted.errorText.contains(message), "\(deleted)")
            }
            let left = try run(
                ["sh", "-c", "find . | sort; cat notes.txt photos/a"], directory: broken.folder)
            #expect(left.text == ".\n./notes.txt\n./photos\n./photos/a\nmine\nmine\n", "\(left)")
            // They are no container, and keep nobody from making one.
            let again = try container.command("container", "delete", "--force", "test")
            #expect(again.status == Int(EX_NOINPUT), "\(again)")
            #expect(try container.command("container", "create", "test").status == 0)
            #expect(try run(["cat", "\(broken.folder)/notes.txt"]).text == "mine\n")
        }
    }

    @Test func `files of others in the folders of a container stay when it is deleted`() throws {
        try withBrokenContainer { broken in
            let places = ["blobs/ab", "journal", "packs", "pictures", "spare", "staging"]
            try broken.damage("mkdir -p \(places.joined(separator: " "))")
            for place in places { try broken.damage("echo mine > \(place)/notes.txt") }
            let container = broken.container
            let checked = try container.check()
            let deleted = try container.command("container", "delete", "--force", "test")
            #expect(deleted.status == 0, "\(deleted)")
            for place in places {
                let path = "\(broken.folder)/\(place)/notes.txt does not belong"
                #expect(checked.text.contains(path), "\(checked)")
                #expect(deleted.errorText.contains(path), "\(deleted)")
            }
            let left = try run(
                ["sh", "-c", "find . -type f | sort; cat */notes.txt blobs/ab/*"],
                directory: broken.folder)
            let names = places.map { "./\($0)/notes.txt\n" }.joined()
            #expect(
                left.text == names + String(repeating: "mine\n", count: places.count), "\(left)")
            let again = try container.command("container", "delete", "--force", "test")
            #expect(again.status == Int(EX_NOINPUT) && again.text.isEmpty, "\(again)")
            // They are no contents of a container, and keep nobody from making one.
            let made = try container.command("container", "create", "test")
            #expect(made.status == 0, "\(made)")
        }
    }

    @Test func `a container that is behind a link is not deleted in words alone`() throws {
        try withBrokenContainer { broken in
            let moved = try run(
                ["sh", "-c", "mv test ../elsewhere && ln -s ../elsewhere test"],
                directory: "\(broken.folder)/..")
            #expect(moved.status == 0, "\(moved)")
            let before = try broken.listing()
            try broken.expectRefusal(
                "container", "delete", "--force", "test", status: EX_UNAVAILABLE,
                saying: broken.folder, "is a link to", "elsewhere")
            #expect(try broken.listing() == before)
            #expect(try broken.container.check().status == 0)
        }
    }

    /// Without the file others could mount what is left, and what they made kept the rest from going.
    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `the lock of a container that is being deleted goes last`() throws {
        try withBrokenContainer { broken in
            // A folder that cannot be removed and comes behind the lock in the order of names.
            let held = broken.folder + "/staging"
            let result = try broken.container.command(
                ["container", "delete", "--force", "test"], after: "mount --bind \(held) \(held)")
            #expect(result.status == Int(EX_IOERR), "\(result)")
            #expect(access(broken.folder + "/lock", F_OK) == 0)
            let again = try broken.container.command("container", "delete", "--force", "test")
            #expect(again.status == 0, "\(again)")
            #expect(access(broken.folder, F_OK) != 0)
        }
    }

    @Test func `a folder that is there already is closed to others when a container is made in it`()
        throws
    {
        try withBrokenContainer { broken in
            let folder = "\(broken.folder)/../made"
            mkdir(folder, 0o755)
            chmod(folder, 0o755)
            let made = try broken.container.command("container", "create", "made")
            #expect(made.status == 0, "\(made)")
            #expect(try run(["stat", "-c", "%a", folder]).text == "700\n")
        }
    }

    /// What was granted by one of two such containers was read, and written, in the other.
    @Test func `no container gets a name that looks like another's`() throws {
        try withBrokenContainer { broken in
            let names = ["caf\u{e9}", "cafe\u{301}"]
            let made = try broken.container.command("container", "create", names[0])
            #expect(made.status == 0, "\(made)")
            try broken.expectRefusal(
                "container", "create", names[1], status: EX_CANTCREAT, saying: "already", "bytes")
            try broken.expectRefusal(
                "mount", "--app", names[1], broken.container.mountPoint, status: EX_CANTCREAT,
                saying: "already")
            #expect(try run(["ls", "-A", "\(broken.folder)/.."]).text == "\(names[0])\ntest\n")
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
            try broken.expectRefusal(
                "mount", "test", "to", mountPoint, status: EX_USAGE,
                saying: "test to \(mountPoint)", "shapeedit mount --help")
            try broken.expectRefusal(
                "mount", "--app", "a", "test", mountPoint, status: EX_USAGE,
                saying: "--app a names", "shapeedit mount --help")
            try broken.expectRefusal("paint", status: EX_USAGE, saying: "paint", "--help")
            try broken.expectRefusal(
                "unmount", mountPoint, status: EX_USAGE, saying: mountPoint, "not a mounted folder")
            try broken.expectRefusal(
                "unmount", "\(mountPoint)/missing", status: EX_NOINPUT, saying: "missing")
            #expect(!MountTable.isMounted(mountPoint))
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit grant`, `revoke` and `grants`, of containers that are mounted and that are not.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantCommandTests {
    /// What `grants` says, a line each.
    private static func listed(_ desk: Desk) throws -> [String] {
        try desk.run("grants").split(separator: "\n").map(String.init)
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `grants are given, changed, listed and revoked`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf two > b.txt && mkdir d")
            #expect(try desk.run("grant", "a.txt", "--to", "notes") == "a.txt: notes may read\n")
            try desk.run("grant", "b.txt", "--to", "notes", "--write", "--json")
            try desk.run("grant", "b.txt", "--to", "mail", "--until", "2h", "--json")
            let listed = try Self.listed(desk)
            #expect(listed.count == 3)
            #expect(listed[0] == "test:work/a.txt  notes may read")
            #expect(listed[1].hasPrefix("test:work/b.txt  mail may read until 2"))
            #expect(listed[2] == "test:work/b.txt  notes may write")
            try desk.run("grants", "test", "--json")
            // Granting again changes it; the grant goes with the document.
            try desk.run("grant", "a.txt", "--to", "notes", "--write")
            try desk.shell("mv a.txt d/c.txt && printf new > .t && mv .t d/c.txt && mv d e")
            #expect(try Self.listed(desk).last == "test:work/e/c.txt  notes may write")
            #expect(
                try desk.shell("getfattr --only-values -n user.shapeedit.grant.notes e/c.txt")
                    == "write")
            // Over a crash, too.
            try #require(desk.volume.container).killDaemon()
            try desk.volume.remountAfterCrash()
            #expect(try Self.listed(desk).count == 3)
            try desk.run("revoke", "b.txt", "--to", "mail", "--json")
            #expect(try desk.fail(66, "revoke", "b.txt", "--to", "mail").contains("mail"))
            #expect(try desk.run("revoke", "b.txt") == "b.txt: revoked from notes\n")
            #expect(try desk.run("revoke", "b.txt") == "b.txt: nothing was granted\n")
            #expect(try Self.listed(desk) == ["test:work/e/c.txt  notes may write"])
            // That another grant has ended is no answer to what was never granted.
            try desk.run("grant", "b.txt", "--to", "mail", "--until", "1s")
            try waitUntil(seconds: 30) { try Self.listed(desk).count == 1 }
            #expect(try desk.fail(66, "revoke", "e/c.txt", "--to", "other").contains("other"))
            #expect(try desk.fail(66, "revoke", "b.txt", "--to", "mail").contains("mail"))
            // A deleted document is granted to nobody; another of its name neither.
            try desk.shell("rm e/c.txt && sleep 0.1")
            try desk.volume.remount()
            try desk.shell("printf other > e/c.txt")
            #expect(try Self.listed(desk) == [])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `people are told times of here, wherever they ask`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt")
            let program = "TZ=Asia/Kathmandu '\(try BuiltPrograms.shapeedit())'"
            let said = try desk.shell("\(program) grant a.txt --to notes --until 2h")
            #expect(said.hasSuffix("+0545\n"))
            let end = said.split(separator: " ").last ?? ""
            #expect(
                try desk.shell("\(program) grants")
                    == "test:work/a.txt  notes may read until \(end)")
            // Programs are told in UTC.
            #expect(try desk.run("grants", "--json").contains("Z\"}]"))
            let event = try desk.shell("\(program) watch a.txt --since 0 --count 1")
            let moment = try #require(event.split(separator: " ").first)
            #expect(moment.hasSuffix("+0545"))
            // What is told can be asked for.
            #expect(try desk.run("find", "--after", String(moment)).hasSuffix("a.txt\n"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a container that cannot be looked at hides no grants of others`(_ place: DataPath) throws
    {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt")
            try desk.run("grant", "a.txt", "--to", "notes")
            // It comes before the other.
            let made = try JSONValue.read(try desk.run("container", "create", "busy", "--json"))
            let lock = try #require(made["folder"]?.text) + "/lock"
            let file = open(lock, O_RDWR | O_CLOEXEC)
            defer { close(file) }
            try #require(flock(file, LOCK_EX) == 0)
            let holder = "being checked (process 1)"
            #expect(pwrite(file, holder, holder.utf8.count, 0) == holder.utf8.count)
            let result = try desk.shapeedit(["grants"])
            #expect(result.status == 75 && result.text == "test:work/a.txt  notes may read\n")
            #expect(result.errorText.contains("the container busy is in use"), "\(result)")
            let listed = try desk.shapeedit(["grants", "--json"])
            #expect(listed.status == 75)
            #expect(try JSONValue.read(listed.text).elements.count == 1)
            #expect(try desk.fail(75, "grants", "busy").contains("busy"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what cannot be granted is said`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && mkdir d && mkfifo p")
            #expect(try desk.fail(64, "grant", "d", "--to", "notes").contains("folder"))
            try desk.fail(64, "grant", "/etc/passwd", "--to", "notes")
            try desk.fail(66, "grant", "nothing.txt", "--to", "notes")
            try desk.fail(66, "grant", "nothing:a.txt", "--to", "notes")
            #expect(try desk.fail(64, "grant", "a.txt", "--to", "test").contains("already"))
            for name in ["", "a/b", "..", "a b", "-x", "mount"] {
                try desk.fail(64, "grant", "a.txt", "--to=" + name)
            }
            for time in [
                "", "soon", "0s", "5x", "2026-02-30", "2026-1", "T10:00",
                "9999-12-31", "100000000d", "2099-12-24T", "2099-12-24T10",
                "2099-12-24T10:00:00x", "2099-12-24T10:00+1", "2099-12-24T10:00Z1",
                "2099-12-24T10:00.5", "2099-12-24 10:00 Z",
                "2099-12-24T10:00:00.", "2099-12-24T10:00+-100",
            ] {
                try desk.fail(64, "grant", "a.txt", "--to", "notes", "--until", time)
            }
            let past = try desk.fail(
                64, "grant", "a.txt", "--to", "notes", "--until", "2020-01-01")
            #expect(past.contains("2020-01-01T00:00:00") && past.contains("is past"), "\(past)")
            // By the attribute, with what the command would not say.
            let agent = try desk.volume.agent()
            for terms in ["", "all", "read until", "read until x", "write  until 5"] {
                agent.setAttribute(
                    "a.txt", "user.shapeedit.grant.notes", ByteString(terms), fails: EINVAL)
            }
            #expect(try Self.listed(desk) == [])
            // What has ended is gone.
            try desk.run("grant", "a.txt", "--to", "notes", "--until", "6s")
            #expect(try Self.listed(desk).count == 1)
            try waitUntil(seconds: 30) { try Self.listed(desk) == [] }
            #expect(try Self.listed(desk) == [])
            #expect(
                try desk.run("grant", "a.txt", "--to", "notes", "--until", "2099-12-24").contains(
                    "until 2099-12-24T00:00:00"))
            // As dates are written and printed, here too.
            for time in [
                "2099-12-24T18:00Z", "2099-12-24 18:00:00Z", "2099-12-24T19:30:00+01:30",
                "2099-12-24T16:00:00.250-0200", "2099-12-24T19:00:00+01",
                "2099-12-24T18:00:00.000000000Z",
            ] {
                let said = try desk.run(
                    "grant", "a.txt", "--to", "notes", "--json", "--until", time)
                #expect(said.contains(#""until": "2099-12-24T18:00:00.000000000Z""#), "\(said)")
            }
            let printed = try desk.run("grants", "test")
            let word = try #require(printed.split(separator: " ").last).filter { $0 != "\n" }
            try desk.run("grant", "a.txt", "--to", "notes", "--until", String(word))
            #expect(try desk.run("grants", "test") == printed)
            // Beyond what nanoseconds in 64 bits can hold.
            #expect(
                try desk.run("grant", "a.txt", "--to", "notes", "--until", "2400-06-01").contains(
                    "until 2400-06-01T00:00:00"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a container that is not mounted grants and revokes`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf two > b.txt")
            try desk.run("grant", "a.txt", "--to", "notes")
            let container = try #require(desk.volume.container)
            try container.unmount()
            func closed(_ words: String..., fails status: Int = 0) throws -> String {
                let result = try container.command(words)
                #expect(result.status == status, "\(words): \(result)")
                return result.text
            }
            #expect(try closed("grants") == "test:work/a.txt  notes may read\n")
            _ = try closed("grant", "test:work/b.txt", "--to", "notes", "--write", "--json")
            // Other terms are no other grant: it keeps its place among documents that are called alike.
            let when = {
                try closed("grants", "--json").split(separator: "\"granted\"").last?.prefix(30)
            }
            let before = try when()
            _ = try closed("grant", "test:work/b.txt", "--to", "notes", "--write")
            #expect(try before != nil && when() == before)
            _ = try closed("grant", "test:work", "--to", "notes", fails: 64)
            _ = try closed("grant", "test:work/c.txt", "--to", "notes", fails: 66)
            _ = try closed("revoke", "test:work/a.txt", "--to", "notes")
            _ = try closed("revoke", "test:work/a.txt", "--to", "notes", fails: 66)
            try container.mount()
            #expect(try Self.listed(desk) == ["test:work/b.txt  notes may write"])
            // The same words reach a mounted container.
            try desk.run("revoke", "test:work/b.txt")
            #expect(try Self.listed(desk) == [])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document named from its container is in it, by its own name`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell(
                "mkdir d && printf one > a.txt && printf two > d/b.txt && ln -s a.txt link && ln -s d way"
            )
            let container = try #require(desk.volume.container)
            // A path goes where it leads; what is named by its container does not.
            let inside = "test:./work//d/b.txt"
            let others = ["d/../a.txt", "../work/a.txt", "link", "way/b.txt"]
                .map { "test:work/" + $0 }
            try desk.run("grant", "link", "--to", "notes")
            try desk.run("revoke", "a.txt")
            for isMounted in [true, false] {
                if !isMounted { try container.unmount() }
                for other in others {
                    let result = try container.command(["grant", other, "--to", "notes"])
                    #expect([64, 66].contains(result.status), "\(other), \(isMounted): \(result)")
                }
                // Out of the mount, to where another container may be.
                let point = container.mountPoint.split(separator: "/").last ?? ""
                let out = try container.command([
                    "grant", "test:../\(point)/work/a.txt", "--to", "notes",
                ])
                #expect([64, 66].contains(out.status), "\(isMounted): \(out)")
                #expect(try container.command(["grants"]).text == "")
                #expect(try container.command(["grant", inside, "--to", "notes"]).status == 0)
                #expect(try container.command(["revoke", inside]).status == 0)
            }
            try container.mount()
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs other users"),
        arguments: DataPath.mounts.prefix(1))
    func `only the owner of the container grants`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("chmod 777 . && printf one > a.txt && chmod 666 a.txt")
            try desk.run("grant", "a.txt", "--to", "notes")
            let other = try desk.volume.agent(user: nobody)
            other.setAttribute(
                "a.txt", "user.shapeedit.grant.mail", "write", fails: EPERM)
            other.shell("printf theirs > theirs.txt")
            other.setAttribute(
                "theirs.txt", "user.shapeedit.grant.mail", "read", fails: EPERM)
            other.shell("! setfattr -x user.shapeedit.grant.notes a.txt 2> /dev/null")
            other.status(desk.volume.root + "/.shapeedit/granted/test", fails: EACCES)
            other.open(desk.volume.root + "/.shapeedit/grants", O_RDONLY, fails: EACCES)
            #expect(try Self.listed(desk).count == 1)
        }
    }
}

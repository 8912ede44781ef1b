import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit bookmark`, and `.shapeedit/bookmarks`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct BookmarkTests {
    private static func token(_ desk: Desk, _ words: String...) throws -> String {
        let result = try desk.shapeedit(["bookmark", "create"] + words)
        #expect(result.status == 0, "\(result)")
        return result.text.filter { $0 != "\n" }
    }

    /// Where `bookmark resolve` says that the document is, below the desk; with a star if stale.
    private static func place(_ desk: Desk, _ token: String) throws -> String {
        let result = try desk.shapeedit(["bookmark", "resolve", token])
        #expect(result.status == 0, "\(result)")
        let path = result.text.filter { $0 != "\n" }
        #expect(path.hasPrefix(desk.folder + "/"), "\(path)")
        return path.dropFirst(desk.folder.count + 1) + (result.errorText.isEmpty ? "" : "*")
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a folder has no bookmark, and its owner is told why`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("mkdir d")
            let message = try desk.fail(64, "bookmark", "create", "d")
            #expect(message.contains("it is a folder; bookmarks are for documents"), "\(message)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a bookmark follows its document wherever it goes`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf other > b.txt && mkdir d")
            let token = try Self.token(desk, "a.txt")
            #expect(try Self.place(desk, token) == "a.txt")
            try desk.shell("mv a.txt d/c.txt")
            #expect(try Self.place(desk, token) == "d/c.txt*")
            // Another document under the old name is another document.
            try desk.shell("printf new > a.txt")
            #expect(try Self.place(desk, token) == "d/c.txt*")
            try desk.shell("mv d e && ln e/c.txt hard")
            // It goes by its oldest name.
            #expect(try Self.place(desk, token) == "e/c.txt*")
            try desk.shell("rm hard")
            // Saved by renaming, by vim's way and by unlinking: the identity stays with the name.
            try desk.shell("printf two > e/.new && mv e/.new e/c.txt")
            #expect(try Self.place(desk, token) == "e/c.txt*")
            let editor = try desk.volume.agent()
            editor.rename("e/c.txt", "e/c.txt~")
            editor.store("e/c.txt", "three")
            editor.unlink("e/c.txt~")
            desk.volume.endAgents()
            try desk.shell("sed -i s/three/four/ e/c.txt")
            #expect(try Self.place(desk, token) == "e/c.txt*")
            // Made anew it is not stale; the earlier token goes on working.
            let second = try Self.token(desk, "e/c.txt")
            #expect(second != token)
            #expect(try Self.place(desk, second) == "e/c.txt")
            #expect(try Self.place(desk, token) == "e/c.txt*")
            // Over a remount and a crash.
            try desk.volume.remount()
            #expect(try Self.place(desk, token) == "e/c.txt*")
            try #require(desk.volume.container).killDaemon()
            try desk.volume.remountAfterCrash()
            #expect(try Self.place(desk, second) == "e/c.txt")
            // Any program can open it as it is.
            let digits = try #require(token.split(separator: ".").last)
            let root = desk.volume.root.text
            #expect(try desk.shell("cat '\(root)/.shapeedit/bookmarks/\(digits)'") == "four")
            let id = try desk.shell("getfattr --only-values -n user.shapeedit.id e/c.txt")
            #expect(try desk.shell("cat '\(root)/.shapeedit/documents/\(id)'") == "four")
            #expect(try desk.shell("ls '\(root)/.shapeedit/bookmarks' | wc -l") == "1\n")
        }
    }

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(1))
    func `who goes through the bookmarks and revokes them meets each`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell(
                """
                for number in $(seq 200); do
                    : > $number
                    setfattr -n user.shapeedit.bookmark -v '' $number
                done
                """)
            let lines = """
                import os, sys
                for entry in os.scandir(sys.argv[1]):
                    os.unlink(entry.path)
                print(len(os.listdir(sys.argv[1])))
                """
            let folder = desk.volume.root.text + "/.shapeedit/bookmarks"
            #expect(try desk.shell("python3 -c '\(lines)' '\(folder)'") == "0\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what is wrong about a token is said`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf two > b.txt")
            let token = try Self.token(desk, "a.txt", "--json")
            let fields = try JSONValue.read(token)
            let first = try #require(fields["token"]?.text)
            for wrong in ["", "x", "test.", "test.0123", first + "0", String(first.dropLast())] {
                try desk.fail(64, "bookmark", "resolve", wrong)
            }
            // One digit changed, wherever it is.
            let digits = try #require(first.split(separator: ".").last)
            for place in [0, 40, 63, 64, 127] {
                var changed = Array(digits)
                changed[place] = changed[place] == "0" ? "1" : "0"
                let said = try desk.fail(65, "bookmark", "resolve", "test." + String(changed))
                #expect(said.contains("changed"))
            }
            try desk.fail(66, "bookmark", "resolve", "nothing." + digits)
            // For one application it is not for another.
            let scoped = try Self.token(desk, "a.txt", "--app", "org.example.Editor")
            #expect(try desk.fail(77, "bookmark", "resolve", scoped).contains("application"))
            try desk.fail(77, "bookmark", "resolve", scoped, "--app", "org.example.Other")
            try desk.fail(77, "bookmark", "resolve", first, "--app", "org.example.Editor")
            try desk.run("bookmark", "resolve", scoped, "--app", "org.example.Editor", "--json")
            try desk.fail(64, "bookmark", "create", "a.txt", "--app", "a/b")
            // Revoked: all its tokens, and no other bookmark.
            try desk.run("bookmark", "revoke", first, "--json")
            #expect(try desk.fail(77, "bookmark", "resolve", first).contains("revoked"))
            try desk.run("bookmark", "resolve", scoped, "--app", "org.example.Editor")
            let again = try Self.token(desk, "a.txt")
            #expect(again != first)
            try desk.fail(77, "bookmark", "resolve", first)
            // A deleted document, at once and when its last trace is gone.
            let other = try Self.token(desk, "b.txt")
            try desk.shell("rm a.txt b.txt")
            for token in [again, other] {
                #expect(try desk.fail(66, "bookmark", "resolve", token).contains("deleted"))
            }
            try desk.volume.remount()
            #expect(try desk.fail(66, "bookmark", "resolve", other).contains("deleted"))
            #expect(try desk.run("bookmark", "list", "test") == "")
            try desk.fail(64, "bookmark", "create", "/etc/passwd")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a container that is not mounted knows its bookmarks`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf two > b.txt")
            let (first, second) = (
                try Self.token(desk, "a.txt"), try Self.token(desk, "b.txt", "--app", "org.x")
            )
            try desk.shell("mv a.txt moved.txt")
            let listed = try desk.run("bookmark", "list", "test", "--json")
            let container = try #require(desk.volume.container)
            try container.unmount()
            func closed(_ words: String..., fails status: Int = 0) throws -> String {
                let result = try container.command(["bookmark"] + words)
                #expect(result.status == status, "\(words): \(result)")
                return result.text
            }
            #expect(try closed("list", "test", "--json") == listed)
            #expect(try closed("resolve", first) == "test:work/moved.txt\n")
            let place = try JSONValue.read(try closed("resolve", first, "--json"))
            #expect(place["mountPoint"] == .null && place["stale"] == .boolean(true))
            _ = try closed("resolve", second, fails: 77)
            _ = try closed("revoke", second, "--app", "org.x")
            _ = try closed("resolve", second, "--app", "org.x", fails: 77)
            try container.mount()
            try desk.fail(77, "bookmark", "resolve", second, "--app", "org.x")
            #expect(try Self.place(desk, first) == "moved.txt*")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `the owner lists and revokes all bookmarks without naming anything`(_ place: DataPath)
        throws
    {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && printf two > b.txt")
            let first = try Self.token(desk, "a.txt")
            let second = try Self.token(desk, "a.txt", "--app", "org.x")
            // Also by a token that is stale.
            let third = try Self.token(desk, "b.txt", "--app", "org.y")
            try desk.shell("mv b.txt c.txt")
            // The container is not called `default`.
            let listed = try JSONValue.read(try desk.run("bookmark", "list", "--json")).elements
            #expect(listed.map { $0["container"]?.text } == ["test", "test", "test"])
            #expect(listed.map { $0["app"]?.text } == [nil, "org.x", "org.y"])
            #expect(try desk.run("bookmark", "list").hasPrefix("test:work/a.txt\n  \(first)\n"))
            try desk.fail(77, "bookmark", "resolve", second)
            try desk.fail(77, "bookmark", "revoke", second, "--app", "org.y")
            try desk.run("bookmark", "revoke", third)
            #expect(
                try desk.fail(77, "bookmark", "resolve", third, "--app", "org.y")
                    .contains("revoked"))
            try desk.fail(77, "bookmark", "revoke", third)
            let container = try #require(desk.volume.container)
            try container.unmount()
            #expect(try container.command(["bookmark", "revoke", second]).status == 0)
            try container.mount()
            #expect(try desk.run("bookmark", "list") == "test:work/a.txt\n  \(first)\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `commands that open a container for a moment wait for one another`(_ place: DataPath)
        throws
    {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt")
            let token = try Self.token(desk, "a.txt")
            let container = try #require(desk.volume.container)
            try container.unmount()
            let words = [try BuiltPrograms.shapeedit(), "bookmark", "resolve", token]
            let programs = try (0..<8).map { _ in
                try RunningProgram(
                    words.map { Array($0.utf8) }, environment: container.environment)
            }
            for program in programs {
                let result = program.wait(seconds: 60)
                #expect(result.status == 0 && result.text == "test:work/a.txt\n", "\(result)")
            }
            try container.mount()
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs other users"),
        arguments: DataPath.mounts.prefix(1))
    func `bookmarks are their owners'`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf one > a.txt && chmod 644 a.txt")
            let other = try desk.volume.agent(user: nobody)
            other.shell("! setfattr -n user.shapeedit.bookmark -v '' a.txt 2>&1 | grep -qv denied")
            let digits = try #require(try Self.token(desk, "a.txt").split(separator: ".").last)
            other.status(
                desk.volume.root + "/.shapeedit/bookmarks/" + ByteString(String(digits)),
                fails: EACCES)
            let here = try desk.volume.agent()
            let folder = desk.volume.root + "/.shapeedit/bookmarks"
            here.makeDirectory(folder + "/x", fails: EROFS)
            here.open(folder + "/x", O_CREAT | O_WRONLY, fails: EROFS)
            here.unlink(folder + "/x", fails: ENOENT)
            here.unlink(folder + "/" + ByteString(String(digits)))
            here.status(folder + "/" + ByteString(String(digits)), fails: EKEYREVOKED)
        }
    }
}

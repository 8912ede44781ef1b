import Probing
import TestSupport
import Testing

/// `shapeedit open-in-place` and `import-copy`, and our own commands on documents of another container.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct HandOverTests {
    /// Gives a test a desk and the folder of a mounted app, `notes`.
    private static func withApp(
        _ place: DataPath, mounted: Bool = true, asApp: Bool = true,
        _ body: (Desk, String) throws -> Void
    ) throws {
        try withDesk(place) { desk in
            let owner = try #require(desk.volume.container)
            let app = try Container(name: "notes", user: owner.user, dataHome: owner.dataHome)
            defer { app.remove() }
            if mounted { try app.mount(asApp: asApp) }
            try body(desk, app.mountPoint)
            if mounted { try app.unmount() }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `it is said whether it was opened in place or copied`(_ place: DataPath) throws {
        try Self.withApp(place) { desk, app in
            try desk.run("new", "s.shape")
            let inPlace = try desk.run("open-in-place", "s.shape", "--app", "notes")
            #expect(inPlace == "opened in place: \(app)/in test/s.shape\n")
            try desk.run("open-in-place", "s.shape", "--app", "notes", "--json")
            let copied = try desk.run("import-copy", "s.shape", "--app", "notes")
            #expect(copied == "imported a copy: \(app)/s.shape\n")
            let again = try desk.run("import-copy", "s.shape", "--app", "notes", "--json")
            #expect(again.contains("s (2).shape"))
            // Our commands work on both, and reach what they should.
            try desk.run("set", "\(app)/in test/s.shape", "title=In place")
            try desk.run("set", "\(app)/s.shape", "title=A copy")
            #expect(try desk.get("s.shape", "title") == "In place")
            #expect(try desk.get("\(app)/s.shape", "title") == "A copy")
            try desk.run("undo", "\(app)/in test/s.shape")
            // It would keep nobody out.
            #expect(
                try desk.fail(
                    64, "coordinate", "--write", "\(app)/in test/s.shape", "--", "true"
                ).contains("container test has it"))
            try desk.fail(65, "get", "s.shape", "title")
            // Earlier versions are its owner's.
            for words in [["versions"], ["conflicts"], ["restore"]] {
                let result = try desk.shapeedit(words + ["\(app)/in test/s.shape"])
                #expect(result.status == 64, "\(words): \(result)")
                #expect(result.errorText.contains("in the mount of its container only"))
            }
            try desk.run("revoke", "s.shape")
            try desk.fail(66, "set", "\(app)/in test/s.shape", "title=Late")
            #expect(try desk.get("\(app)/s.shape", "title") == "A copy")
            try desk.fail(64, "import-copy", ".", "--app", "notes")
            try desk.fail(66, "import-copy", "none", "--app", "notes")
            // A pipe is not waited for.
            try desk.shell("mkfifo pipe")
            try desk.fail(64, "import-copy", "pipe", "--app", "notes")
            try desk.fail(64, "open-in-place", ".", "--app", "notes")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an app that is not mounted gets no grant and no copy`(_ place: DataPath) throws {
        try Self.withApp(place, mounted: false) { desk, _ in
            try desk.run("new", "s.shape")
            for command in ["open-in-place", "import-copy"] {
                #expect(
                    try desk.fail(69, command, "s.shape", "--app", "notes")
                        .contains("`shapeedit mount --app notes DIR`"))
            }
            #expect(try !desk.run("grants", "test").contains("notes"))
        }
        // Its mount shows its own documents only.
        try Self.withApp(place, asApp: false) { desk, _ in
            try desk.run("new", "s.shape")
            #expect(
                try desk.fail(69, "open-in-place", "s.shape", "--app", "notes")
                    .contains("`shapeedit mount --app notes DIR`"))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `editors save a granted document`(_ place: DataPath) throws {
        try Self.withApp(place) { desk, app in
            try desk.shell("printf 'one\\n' > a.txt")
            try desk.run("grant", "a.txt", "--to", "notes", "--write")
            try desk.shell("vim -es -u NONE -c '%s/one/two/' -c wq '\(app)/in test/a.txt'")
            #expect(try desk.shell("cat a.txt") == "two\n")
            try desk.shell("printf three > new && cp new '\(app)/in test/a.txt'")
            #expect(try desk.shell("cat a.txt") == "three")
            try desk.shell("sed -i s/three/four/ '\(app)/in test/a.txt'")
            #expect(try desk.shell("cat a.txt") == "four")
        }
    }
}

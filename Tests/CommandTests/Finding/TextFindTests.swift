import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit find --text` and `--title`: words in documents.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct TextFindTests {
    @Test func `a backup has its words when it has become a document of its own`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let backup = "\(volume.directory)/old_a.txt\n"
            func find(_ word: String) throws -> String {
                try volume.run(BuiltPrograms.shapeedit(), "find", "--text", word, volume.directory)
                    .text
            }
            agent.store("a.txt", "twelve sheep")
            agent.rename("a.txt", "old_a.txt")
            // Its words are known before its name is made anew.
            try WordSearch.look(for: backup) { try find("sheep") }
            let former = agent.attribute("old_a.txt", "user.shapeedit.id")
            agent.store("a.txt", "seven goats")
            #expect(agent.attribute("a.txt", "user.shapeedit.id") == former)
            try WordSearch.look(for: "\(volume.directory)/a.txt\n") { try find("goats") }
            try WordSearch.look(for: backup) { try find("sheep") }
        }
    }

    /// What a document is read as, its oldest name tells.
    @Test func `a text that keeps only a name of another type has no words any more`() throws {
        try withDesk(.passthrough) { desk in
            try desk.shell(
                "echo twelve sheep > a.txt; ln a.txt b.dat; echo > c.dat; ln c.dat d.dat")
            try WordSearch.find(desk, "--text", "sheep", expecting: ["a.txt", "b.dat"])
            // Not a save, which would make the text a new document.
            try desk.shell("mv d.dat a.txt")
            try WordSearch.find(desk, "--text", "sheep", expecting: [])
        }
    }

    /// The control socket is asked then; its first results went without the words.
    @Test func `words are found by a query that no name of a file can hold, too`() throws {
        try withDesk(.passthrough) { desk in
            let pattern = "x" + String(repeating: "*", count: 5_000)
            for word in ["sheep", "goats", "cows"] {
                try desk.shell("echo twelve \(word) > \(word).txt; echo \(word) > x-\(word).txt")
                try WordSearch.find(
                    desk, "--text", word, "--name", pattern, expecting: ["x-\(word).txt"])
            }
            let long = String(repeating: "*", count: 70_000)
            #expect(try desk.fail(64, "find", "--name", long).contains("the query is too long"))
        }
    }

    @Test func `an empty file that takes a document's name takes its words away`() throws {
        try withDesk(.passthrough) { desk in
            try desk.shell("echo twelve sheep > a.txt; echo seven sheep > b.txt")
            try WordSearch.find(desk, "--text", "sheep", expecting: ["a.txt", "b.txt"])
            // Neither was ever written: no version of them is read.
            try desk.shell(": > new; mv new a.txt; ln -s x link; mv link b.txt")
            try WordSearch.find(desk, "--text", "sheep", expecting: [])
            #expect(try desk.shapeedit(["find", "--json", "."]).text.contains("title") == false)
            try desk.shell("echo nine goats > a.txt")
            try WordSearch.find(desk, "--text", "goats", expecting: ["a.txt"])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `documents are found by their words as soon as they are closed`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "Talk.slide")
            try desk.run("add", "Talk.slide", "text", "text=Élan vital of snowmen")
            try desk.run("new", "Scene.shape")
            try desk.run("title", "Scene.shape", "Winter holidays")
            try desk.run("rename", "Scene.shape", "solid.1", "Carrot")
            try desk.run("new", "Shopping.list")
            try desk.run("list", "add", "Shopping.list", "Oat milk", "Carrots")
            try desk.shell("printf '\\n# Snow report\\nMuch of it.\\n' > report.md")
            try desk.shell("printf 'carrot cake\\n' > cake.txt; printf 'carrot' > binary.dat")
            try WordSearch.find(
                desk, "--text", "carrot", expecting: ["Scene.shape", "Shopping.list", "cake.txt"])
            #expect(try WordSearch.found(desk, "--text", "ELAN snow") == ["Talk.slide"])
            #expect(try WordSearch.found(desk, "--text", "\"oat milk\"") == ["Shopping.list"])
            #expect(try WordSearch.found(desk, "--text", "\"milk oat\"") == [])
            #expect(try WordSearch.found(desk, "--text", "milk oat") == ["Shopping.list"])
            #expect(try WordSearch.found(desk, "--title", "winter") == ["Scene.shape"])
            #expect(try WordSearch.found(desk, "--title", "much") == [])
            #expect(try WordSearch.found(desk, "--text", "snow", "--type", "md") == ["report.md"])
            // Chinese and Japanese put no spaces between words.
            try desk.shell("printf '日本語のテキストを検索する' > 日本.txt")
            for words in ["日本語", "テキスト", "検索"] {
                try WordSearch.find(desk, "--text", words, expecting: ["日本.txt"])
            }
            #expect(try WordSearch.found(desk, "--text", "索検") == [])
            // Whatever people write is words.
            for words in ["AND", "a OR b NOT", "x*", "(", "\"", "title:winter", "-", "^", "'"] {
                _ = try WordSearch.found(desk, "--text", words)
            }
            let titled = try JSONValue.read(
                try desk.run("find", "--sort", "title", "--title", "w", "--json"))
            #expect(titled.elements.map { $0["title"]?.text } == ["Winter holidays"])
            #expect(
                try desk.shell("getfattr --only-values -n user.shapeedit.title Scene.shape")
                    == "Winter holidays")
            // Whatever is looked for.
            let named = try JSONValue.read(try desk.run("find", "--name", "scene", "--json"))
            #expect(named.elements.map { $0["title"]?.text } == ["Winter holidays"])
            let sorted = try WordSearch.found(desk, "--sort", "title", "--text", "carrot")
            #expect(sorted == ["cake.txt", "Scene.shape", "Shopping.list"])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `words follow what happens to documents`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 'first words' > a.txt; mkdir d")
            try WordSearch.find(desk, "--text", "first", expecting: ["a.txt"])
            // Another version, saved in place and by renaming.
            try desk.shell("printf 'second words' > a.txt")
            try WordSearch.find(desk, "--text", "first", expecting: [])
            try WordSearch.find(desk, "--text", "second", expecting: ["a.txt"])
            try desk.shell("printf 'third words' > new; mv new a.txt")
            try WordSearch.find(desk, "--text", "second", expecting: [])
            try WordSearch.find(desk, "--text", "third", expecting: ["a.txt"])
            // Another place, another type and back, a second name, a deletion.
            try desk.shell("mv a.txt d/b.txt")
            try WordSearch.find(desk, "--text", "third", expecting: ["d/b.txt"])
            try desk.shell("mv d/b.txt d/b.dat")
            try WordSearch.find(desk, "--text", "third", expecting: [])
            try desk.shell("mv d/b.dat d/b.md")
            try WordSearch.find(desk, "--text", "third", expecting: ["d/b.md"])
            try desk.shell("cp d/b.md c.md; rm d/b.md")
            try WordSearch.find(desk, "--text", "third", expecting: ["c.md"])
            // Remounted, and after the daemon was killed with what it had not looked at yet.
            try desk.volume.remount()
            try WordSearch.find(desk, "--text", "third", expecting: ["c.md"])
            try desk.shell("printf 'last words' > e.txt; rm c.md")
            try #require(desk.volume.container).killDaemon()
            try desk.volume.remountAfterCrash()
            try WordSearch.find(desk, "--text", "words", expecting: ["e.txt"])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a saved query is a folder`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("mkdir d; printf 1 > a.txt; printf 22 > d/a.txt; printf 3 > b.md")
            let folder = desk.volume.root.text + "/.shapeedit/queries/texts"
            #expect(
                try desk.run("find", "--type", "txt", "--sort", "size", "--save", "texts")
                    == folder + "\n")
            #expect(try desk.shell("ls -U '\(folder)'") == "a.txt\na (2).txt\n")
            #expect(try desk.shell("cat '\(folder)/a (2).txt'") == "22")
            try desk.shell("printf 444 > c.txt; rm a.txt")
            #expect(try desk.shell("ls -U '\(folder)'") == "a.txt\nc.txt\n")
            #expect(
                try desk.shell("getfattr --only-values -n user.shapeedit.query '\(folder)'")
                    .contains("type=txt"))
            // It lasts, and so does what words find.
            let saved = try desk.run("find", "--text", "444", "--save", "fours", "--json")
            #expect(saved.contains("/.shapeedit/queries/fours\""), "\(saved)")
            try desk.volume.remount()
            #expect(try desk.shell("ls '\(folder)/..'") == "fours\ntexts\n")
            let list = "ls -U '\(folder)/../fours'"
            try WordSearch.look(for: "c.txt\n") { try desk.shell(list) }
            try desk.shell("printf 444 > e.md")
            try WordSearch.look(for: "c.txt\ne.md\n") { try desk.shell(list) }
            try desk.shell("rmdir '\(folder)'")
            let forgotten = try desk.run("find", "--forget", "fours", "--json")
            #expect(forgotten == saved)
            #expect(try desk.shell("ls '\(desk.volume.root.text)/.shapeedit/queries'") == "")
            try desk.fail(66, "find", "--forget", "fours")
            try desk.fail(64, "find", "--save", "a/b")
            try desk.fail(64, "find", "--save", "a", "--watch")
            #expect(
                try desk.shell(
                    "setfattr -n user.shapeedit.query.x -v nonsense '\(desk.volume.root.text)' "
                        + "2>/dev/null || echo refused") == "refused\n")
            if DataPath.isPrivileged {
                try desk.fail(77, "find", "--save", "mine", user: nobody)
            }
        }
    }

    /// The same name to Unicode, two names to a file system.
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test(arguments: DataPath.mounts.prefix(1))
    func `names that look alike are two in queries and in their folders`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let names = [Self.composed, Self.decomposed]
            for (name, text) in zip(names, ["one", "two"]) {
                try desk.shell("mkdir '\(name)'; printf \(text) > '\(name)/\(name).txt'")
                try desk.shell("printf x > '\(name)/only-\(text).md'")
            }
            // The kernel knows the first answer when the second question comes.
            for _ in 0..<2 {
                for (name, text) in zip(names, ["one", "two"]) {
                    #expect(
                        try desk.run("find", desk.path(name), "--type", "md")
                            .hasSuffix("only-\(text).md\n"))
                }
            }
            let queries = desk.volume.root.text + "/.shapeedit/queries"
            try desk.run("find", "--type", "txt", "--save", "both")
            // Each is under its own name: none got a number.
            #expect(try desk.shell("ls '\(queries)/both' | grep -c '(2)' || true") == "0\n")
            for (name, text) in zip(names, ["one", "two"]) {
                #expect(try desk.shell("cat '\(queries)/both/\(name).txt'") == text)
                try desk.run("find", "--name", "only-\(text)*", "--save", name)
            }
            for (name, text) in zip(names, ["one", "two"]) {
                #expect(try desk.shell("ls '\(queries)/\(name)'") == "only-\(text).md\n")
            }
            let recents = desk.volume.root.text + "/.shapeedit/recents"
            for (name, text) in zip(names, ["one", "two"]) {
                #expect(try desk.shell("cat '\(recents)/\(name).txt'") == text)
            }
            // To Unicode the mark and the slash before it are one character.
            let marked = desk.volume.root.text + "/\u{301}"
            try desk.shell("mkdir '\(marked)'; printf x > '\(marked)/x.md'")
            #expect(try desk.run("find", marked) == marked + "/x.md\n")
        }
    }

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(1))
    func `a listing of a saved query goes on with what it began with`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let folder = desk.volume.root.text + "/.shapeedit/queries/many"
            try desk.shell(
                "x=$(printf 'x%.0s' $(seq 200)); for n in $(seq 1000 1399); do : > $n$x; done")
            try desk.run("find", "--name", "1*x", "--save", "many")
            let lines = """
                import os, sys
                names = [str(number) + "x" * 200 for number in range(1000, 1400)]
                listing = os.scandir(sys.argv[1])
                found = [next(listing).name for number in range(5)]
                for name in names[:100]:
                    os.unlink(name)
                # Others look and list meanwhile.
                os.lstat(sys.argv[1] + "/" + names[399])
                assert sorted(os.listdir(sys.argv[1])) == names[100:]
                found += [entry.name for entry in listing]
                assert found == names, len(found)
                print("passed")
                """
            #expect(try desk.shell("python3 -c '\(lines)' '\(folder)'") == "passed\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `documents are found by their tags`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("touch a b c")
            try desk.shell("setfattr -n user.xdg.tags -v 'Work, two words' a")
            try desk.shell("setfattr -n user.xdg.tags -v workshop b")
            #expect(try WordSearch.found(desk, "--tag", "work") == ["a"])
            #expect(try WordSearch.found(desk, "--tag", "Two Words") == ["a"])
            try desk.shell("setfattr -x user.xdg.tags a")
            #expect(try WordSearch.found(desk, "--tag", "work") == [])
        }
    }
}

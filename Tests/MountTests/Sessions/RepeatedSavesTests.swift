import Glibc
import TestSupport
import Testing

/// A document that one program saves again and again, within the seconds in which a file that it has made
/// may be a temporary one.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct RepeatedSavesTests {
    private static let id: ByteString = "user.shapeedit.id"

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saves at once one after the other keep the id, wherever the backup goes`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            try volume.agent().store("letter", "first")
            let editor = try volume.agent()
            let id = editor.attribute("letter", Self.id)
            editor.makeDirectory("backups")
            var content: ByteString = "first"
            func save(_ backup: ByteString, by way: ByteString, _ steps: (ByteString) -> Void) {
                let former = content
                content = way + " to " + backup
                steps(content)
                #expect(editor.attribute("letter", Self.id) == id, "\(content)")
                #expect(editor.content("letter") == content)
                #expect(editor.attribute(backup, Self.id) != id, "\(content)")
                #expect(editor.content(backup) == former, "\(content)")
            }
            for backup: ByteString in ["letter~", "backups/letter", "old letter", "backups/letter"]
            {
                save(backup, by: "rename") { new in
                    editor.rename("letter", backup)
                    editor.store("letter", new)
                }
                save(backup, by: "rename both") { new in
                    editor.store("new", new)
                    editor.rename("letter", backup)
                    editor.rename("new", "letter")
                }
                editor.unlink(backup)
                save(backup, by: "link") { new in
                    editor.link("letter", backup)
                    editor.unlink("letter")
                    editor.store("letter", new)
                }
            }
            try volume.remount()
            let after = try volume.agent()
            #expect(after.attribute("letter", Self.id) == id)
            let place = after.readLink(volume.root + "/.shapeedit/documents/" + id)
            #expect(place == "../../work/letter")
        }
    }

    /// As vim saves; the versions went to the backup, which is one document.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a backup that is removed before the document is renamed to it takes no versions along`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            try volume.agent().store("letter.txt", "one")
            let id = try volume.agent().attribute("letter.txt", Self.id)
            for new: ByteString in ["two", "three", "four", "five"] {
                // Saves less than two seconds apart count as one.
                usleep(2_060_000)
                let editor = try volume.agent()
                if new != "two" { editor.unlink("letter.bak") }
                editor.rename("letter.txt", "letter.bak")
                editor.store("letter.txt", new)
                #expect(editor.attribute("letter.txt", Self.id) == id, "\(new)")
            }
            for round in 0..<2 {
                if round == 1 { try volume.remount() }
                let agent = try volume.agent()
                let versions = volume.root + "/.shapeedit/versions/work/letter.txt"
                let contents = agent.names(versions).map {
                    agent.content(versions + "/" + ByteString($0))
                }
                #expect(contents == ["one", "two", "three", "four"])
                #expect(agent.content("letter.bak") == "four")
                #expect(agent.attribute("letter.bak", Self.id) != id)
            }
        }
    }

    @Test func `a document that was just made is saved with a link as backup`() throws {
        try withVolume(.passthrough) { volume in
            let editor = try volume.agent()
            editor.store("letter", "first")
            let id = editor.attribute("letter", Self.id)
            editor.link("letter", "other")
            editor.link("letter", "letter~")
            editor.unlink("letter")
            editor.store("letter", "second")
            #expect(editor.attribute("letter", Self.id) == id)
            #expect(editor.attribute("letter~", Self.id) != id)
            #expect(editor.content("letter~") == "first")
        }
    }

    @Test func `documents that a program saved and then moves round keep their identities`() throws
    {
        try withVolume(.passthrough) { volume in
            let author = try volume.agent()
            for name: ByteString in ["a", "b"] { author.store(name, "first") }
            let (a, b) = (author.attribute("a", Self.id), author.attribute("b", Self.id))
            let editor = try volume.agent()
            for name: ByteString in ["a", "b"] {
                editor.store("new", name)
                editor.rename("new", name)
            }
            for (old, new): (ByteString, ByteString) in [("a", "t"), ("b", "a"), ("t", "b")] {
                editor.rename(old, new)
            }
            #expect(editor.attribute("a", Self.id) == b && editor.attribute("b", Self.id) == a)
            #expect(editor.content("a") == "b" && editor.content("b") == "a")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a save by a link is one when another file takes the first name`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let editor = try volume.agent()
            editor.store("a", "first")
            let id = editor.attribute("a", Self.id)
            editor.store("new", "second")
            editor.unlink("a")
            editor.link("new", "a")
            editor.store("newer", "draft")
            editor.rename("newer", "new")
            #expect(editor.attribute("a", Self.id) == id)
            #expect(editor.attribute("new", Self.id) != id)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.attribute("a", Self.id) == id)
            #expect(after.content("a") == "second")
        }
    }
}

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

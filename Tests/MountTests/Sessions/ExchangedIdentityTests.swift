import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Where identities are after names have changed places (RENAME_EXCHANGE).
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ExchangedIdentityTests {
    private static let id: ByteString = "user.shapeedit.id"
    private static let grant: ByteString = "user.shapeedit.grant.notes"
    /// Longer than a file counts as just made, in seconds.
    private static let lifetime: UInt32 = 16
    /// Longer than a document waits for its name to come back, and for what it was to go.
    private static let patience: UInt32 = 25

    /// A document with what leads to it, as its author has made it.
    private struct Kept {
        let id: ByteString
        let token: String

        init(_ name: ByteString, _ volume: Volume, _ author: Agent) throws {
            author.store(name, "old")
            author.setAttribute(name, grant, "read")
            id = author.attribute(name, ExchangedIdentityTests.id)
            let result = try #require(volume.container).command(
                "bookmark", "create", "\(volume.directory)/\(name.text)")
            #expect(result.status == 0, "\(result)")
            token = result.text.filter { $0 != "\n" }
        }

        /// Expects it to be at the name, with this content.
        func expect(
            at name: ByteString, _ content: ByteString, _ volume: Volume, _ agent: Agent,
            at location: SourceLocation = #_sourceLocation
        ) throws {
            #expect(agent.content(name) == content, sourceLocation: location)
            #expect(
                agent.attribute(name, ExchangedIdentityTests.id) == id, sourceLocation: location)
            #expect(agent.attribute(name, grant) == "read", sourceLocation: location)
            let found = try #require(volume.container).command("bookmark", "resolve", token)
            #expect(
                found.text == "\(volume.directory)/\(name.text)\n", "\(found)",
                sourceLocation: location)
        }
    }

    private static func versions(
        of name: ByteString, _ volume: Volume, _ agent: Agent
    ) -> [ByteString] {
        let folder = volume.root + "/.shapeedit/versions/work/" + name
        return agent.names(folder).map { agent.content(folder + "/" + ByteString($0)) }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `saving by an exchange keeps the identity at the name`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let author = try volume.agent()
            let kept = try Kept("a.txt", volume, author)
            var last: ByteString = "old"
            for (round, names) in [("new", "a.txt"), ("a.txt", "new")].enumerated() {
                // Saves less than two seconds apart count as one.
                usleep(2_060_000)
                let editor = try volume.agent()
                let content: ByteString = "saved \(round)"
                editor.store("new", content)
                editor.rename(
                    ByteString(names.0), ByteString(names.1), flags: RENAME_EXCHANGE)
                try kept.expect(at: "a.txt", content, volume, editor)
                #expect(editor.attribute("new", Self.id) != kept.id)
                #expect(editor.content("new") == last)
                editor.unlink("new")
                try kept.expect(at: "a.txt", content, volume, editor)
                last = content
            }
            #expect(Self.versions(of: "a.txt", volume, author).contains("old"))
            #expect(Self.versions(of: "a.txt", volume, author).contains("saved 0"))
            // What it was before goes for good.
            sleep(Self.patience)
            for round in 0..<2 {
                if round == 1 { try volume.remount() }
                let agent = try volume.agent()
                try kept.expect(at: "a.txt", last, volume, agent)
                #expect(Self.versions(of: "a.txt", volume, agent).contains("old"))
            }
        }
    }

    @Test(arguments: [false, true])
    func `a program that saves by exchanges one after the other keeps the identity at the name`(
        _ keepsBackup: Bool
    ) throws {
        try withVolume(.passthrough) { volume in
            let kept = try Kept("a.txt", volume, try volume.agent())
            let editor = try volume.agent()
            for round in 0..<4 {
                let content: ByteString = "saved \(round)"
                editor.store("new", content)
                editor.rename("new", "a.txt", flags: RENAME_EXCHANGE)
                if keepsBackup { editor.rename("new", "a.bak") } else { editor.unlink("new") }
                try kept.expect(at: "a.txt", content, volume, editor)
            }
            #expect(Self.versions(of: "a.txt", volume, editor).contains("old"))
            // What is made last counts, whatever was closed last.
            editor.unlink("a.txt")
            editor.store("a.txt", "made anew")
            let file = editor.open("other", O_WRONLY | O_CREAT)
            editor.write(file, "last")
            editor.store("a.txt", "and again")
            editor.rename("other", "a.txt", flags: RENAME_EXCHANGE)
            editor.close(file)
            #expect(editor.attribute("a.txt", Self.id) == kept.id)
        }
    }

    @Test func `a program that makes thousands of files saves them by exchanges all the same`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let kept = try Kept("a.txt", volume, try volume.agent())
            let editor = try volume.agent()
            editor.store("new", "saved")
            let start = time(nil)
            editor.shell("i=0; while [ $i -lt 1200 ]; do : > f$i; i=$((i+1)); done")
            let isInTime = time(nil) - start < Int(Self.lifetime) - 2
            editor.rename("new", "a.txt", flags: RENAME_EXCHANGE)
            if !isInTime { try Test.cancel("the machine is too slow") }
            try kept.expect(at: "a.txt", "saved", volume, editor)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `an app has what is saved by an exchange at the owner's`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let there = try both.appAgent()
            let document: ByteString = "in test/a.txt"
            for round in 0..<3 {
                let editor = try both.owner.agent()
                editor.store("new", "saved \(round)")
                editor.rename("new", "a.txt", flags: RENAME_EXCHANGE)
                #expect(there.content(document) == "saved \(round)")
                editor.unlink("new")
                #expect(there.content(document) == "saved \(round)")
                let file = there.open(document, O_WRONLY | O_APPEND)
                there.write(file, " and on")
                there.close(file)
                #expect(editor.content("a.txt") == "saved \(round) and on")
            }
            #expect(there.names("in test") == ["a.txt"])
        }
    }

    @Test func `what a crash or a backup leaves of such a save keeps the identity at the name`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let kept = try Kept("a.txt", volume, try volume.agent())
            let editor = try volume.agent()
            editor.store("a.txt.new", "new")
            editor.rename("a.txt.new", "a.txt", flags: RENAME_EXCHANGE)
            let backup = editor.attribute("a.txt.new", Self.id)
            let container = try #require(volume.container)
            try container.killDaemon()
            volume.endAgents()
            try volume.remountAfterCrash()
            let after = try volume.agent()
            try kept.expect(at: "a.txt", "new", volume, after)
            #expect(after.attribute("a.txt.new", Self.id) == backup)
            after.rename("a.txt.new", "a.txt~")
            #expect(after.content("a.txt~") == "old")
            after.unlink("a.txt")
            #expect(after.attribute("a.txt~", Self.id) == backup)
            sleep(Self.patience)
            #expect(after.content("a.txt~") == "old")
            volume.endAgents()
            try container.unmount()
            let check = try container.check()
            #expect(check.status == 0, "\(check)")
            try container.mount()
        }
    }

    @Test func `an exchange that is taken back takes the identity back`() throws {
        try withVolume(.passthrough) { volume in
            let kept = try Kept("a.txt", volume, try volume.agent())
            let editor = try volume.agent()
            editor.store("new", "new")
            let other = editor.attribute("new", Self.id)
            for round in 0..<2 {
                editor.rename("new", "a.txt", flags: RENAME_EXCHANGE)
                try kept.expect(at: "a.txt", "new", volume, editor)
                if round == 1 { try volume.remount() }
                let undoer = round == 0 ? editor : try volume.agent()
                undoer.rename("a.txt", "new", flags: RENAME_EXCHANGE)
                try kept.expect(at: "a.txt", "old", volume, undoer)
                #expect(undoer.attribute("new", Self.id) == other)
                if round == 1 { undoer.unlink("new") }
            }
            let last = try volume.agent()
            sleep(Self.patience)
            try kept.expect(at: "a.txt", "old", volume, last)
        }
    }

    @Test func `a temporary file's name tells, and so does that what was there is removed`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let (author, maker, mover) = (
                try volume.agent(), try volume.agent(), try volume.agent()
            )
            let kept = try Kept("a.txt", volume, author)
            maker.store(".goutputstream-A1B2C3", "slow")
            let documents = try ["b.txt", "c.txt", "d.txt", "e.txt"].map {
                try Kept(ByteString($0), volume, author)
            }
            sleep(Self.lifetime)
            mover.rename(".goutputstream-A1B2C3", "a.txt", flags: RENAME_EXCHANGE)
            try kept.expect(at: "a.txt", "slow", volume, mover)
            // As a script does it, each step by a program of its own.
            maker.store("b.new", "new")
            mover.rename("b.new", "b.txt", flags: RENAME_EXCHANGE)
            try documents[0].expect(at: "b.new", "old", volume, mover)
            maker.unlink("b.new")
            try documents[0].expect(at: "b.txt", "new", volume, mover)
            // It was exchanged back, or is elsewhere: another document goes.
            maker.store("c.new", "new")
            for _ in 0..<2 { mover.rename("c.new", "c.txt", flags: RENAME_EXCHANGE) }
            maker.unlink("c.new")
            try documents[1].expect(at: "c.txt", "old", volume, mover)
            maker.store("d.new", "new")
            let id = maker.attribute("d.new", Self.id)
            mover.rename("d.new", "d.txt", flags: RENAME_EXCHANGE)
            mover.rename("d.txt", "elsewhere")
            maker.unlink("d.new")
            #expect(maker.attribute("elsewhere", Self.id) == id)
            // Too late.
            maker.store("e.new", "new")
            let last = maker.attribute("e.new", Self.id)
            mover.rename("e.new", "e.txt", flags: RENAME_EXCHANGE)
            sleep(Self.lifetime)
            maker.unlink("e.new")
            #expect(maker.attribute("e.txt", Self.id) == last)
        }
    }

    @Test func `two documents, folders and other kinds change places as they are`() throws {
        try withVolume(.passthrough) { volume in
            let (author, mover) = (try volume.agent(), try volume.agent())
            for name: ByteString in ["a", "b", "linked", "d/f", "e/f"] {
                if name.bytes.contains(UInt8(ascii: "/")) {
                    author.makeDirectory(ByteString(Array(name.bytes.prefix(1))))
                }
                author.store(name, name)
            }
            author.link("linked", "later")
            func ids(_ names: [ByteString]) -> [ByteString] {
                names.map { mover.attribute($0, Self.id) }
            }
            let (a, linked, folders) = (ids(["a", "b"]), ids(["linked"]), ids(["d/f", "e/f"]))
            // Another's, though as new.
            mover.rename("a", "b", flags: RENAME_EXCHANGE)
            #expect(ids(["b", "a"]) == a)
            mover.rename("d", "e", flags: RENAME_EXCHANGE)
            #expect(ids(["e/f", "d/f"]) == folders)
            mover.makeDirectory("made")
            mover.rename("made", "d/f", flags: RENAME_EXCHANGE)
            #expect(ids(["made"]) == [folders[1]])
            mover.symlink(to: "b", "symlink")
            mover.rename("symlink", "a", flags: RENAME_EXCHANGE)
            #expect(ids(["symlink"]) == [a[1]])
            mover.rename("symlink", "a", flags: RENAME_EXCHANGE)
            // A later link is not what its document is called; the first is, and the later one stays with
            // what was there before.
            mover.store("new", "new")
            mover.rename("new", "later", flags: RENAME_EXCHANGE)
            #expect(ids(["linked", "new"]) == linked + linked)
            mover.rename("new", "later", flags: RENAME_EXCHANGE)
            mover.rename("new", "linked", flags: RENAME_EXCHANGE)
            #expect(ids(["linked"]) == linked)
            #expect(ids(["new"]) == ids(["later"]) && ids(["new"]) != linked)
            #expect(mover.content("later") == "linked")
            mover.unlink("new")
            #expect(ids(["linked"]) == linked && ids(["later"]) != linked)
            // And those that go after they have changed places.
            sleep(Self.lifetime)
            mover.rename("a", "b", flags: RENAME_EXCHANGE)
            mover.unlink("a")
            #expect(ids(["b"]) == [a[1]])
        }
    }
}

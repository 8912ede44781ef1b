import DocumentFiles
import Documents
import Editing
import Glibc
import Model
import Probing
import TestSupport
import Testing

/// Edits that are made again because they seemed to fail, as when the daemon of a mount is killed between a close
/// and its answer.
@Suite(.oneAtATime) struct EditAttemptTests {
    private func add(
        _ word: String, to path: String, _ attempt: inout EditAttempt
    ) throws -> [String] {
        let file = try DocumentFile(path)
        _ = try file.edit(describedAs: "Add", attempt: &attempt, successor: { _ in }) {
            document throws(Failure) in
            do throws(EditError) {
                return try document.apply([try Edit(words: ["list", "add", word])])
            } catch { throw Failure(path, error) }
        }
        guard case .list(let list) = try file.load().document else { return [] }
        return list.items.map(\.text)
    }

    @Test func `an edit that was made is not made twice`() throws {
        let place = try Workplace("a.list", TaskList(items: [TaskItem("bread")]))
        var attempt = EditAttempt()
        #expect(try add("milk", to: place.file, &attempt) == ["milk", "bread"])
        #expect(try add("milk", to: place.file, &attempt) == ["milk", "bread"])
        var other = EditAttempt()
        #expect(try add("milk", to: place.file, &other) == ["milk", "milk", "bread"])
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `an edit that was made in a mount is not made twice`(_ path: DataPath) throws {
        try withVolume(path) { volume in
            let place = try Workplace(
                "a.list", TaskList(items: [TaskItem("bread")]), in: volume.directory)
            var attempt = EditAttempt()
            #expect(try add("milk", to: place.file, &attempt) == ["milk", "bread"])
            #expect(try add("milk", to: place.file, &attempt) == ["milk", "bread"])
            // Nor where others have edited it since.
            #expect(
                try volume.run(
                    "setfattr", "-n", "user.shapeedit.apart", "-v", "current", place.file
                ).status == 0)
            #expect(try place.edit("list", "add", place.file, "rice").status == 0)
            #expect(try add("milk", to: place.file, &attempt) == ["rice", "milk", "bread"])
        }
    }

    private func edit(_ path: String, _ words: String...) throws {
        _ = try DocumentFile(path).apply([try Edit(words: words)])
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `an edit that others edited at once is not made twice`(_ path: DataPath) throws {
        try withVolume(path) { volume in
            let place = try Workplace(
                "a.list", TaskList(items: [TaskItem("bread")]), in: volume.directory)
            var attempt = EditAttempt()
            #expect(try add("milk", to: place.file, &attempt) == ["milk", "bread"])
            try edit(place.file, "list", "add", "rice")
            // The mount takes the saves for one: the version between goes.
            let mount = try #require(volume.container).mountPoint
            let versions =
                "\(mount)/.shapeedit/versions" + place.file.dropFirst(mount.utf8.count)
            for _ in 0..<300 {
                if try run(["ls", versions]).text.isEmpty { break }
                usleep(100_000)
            }
            #expect(try run(["ls", versions]).text.isEmpty)
            #expect(try add("milk", to: place.file, &attempt) == ["rice", "milk", "bread"])
        }
    }

    @Test func `an edit that is noted but was never in the document is made`() throws {
        let place = try Workplace("a.list", TaskList(items: [TaskItem("bread")]))
        try edit(place.file, "list", "add", "salt")
        let before = place.bytes
        var attempt = EditAttempt()
        #expect(try add("milk", to: place.file, &attempt) == ["milk", "salt", "bread"])
        let stream = fopen(place.file, "w")
        fwrite(before, 1, before.count, stream)
        fclose(stream)
        try edit(place.file, "list", "add", "rice")
        #expect(try add("milk", to: place.file, &attempt) == ["milk", "rice", "salt", "bread"])
        // By now it was.
        #expect(try add("milk", to: place.file, &attempt) == ["milk", "rice", "salt", "bread"])
        try edit(place.file, "list", "add", "eggs")
        #expect(
            try add("milk", to: place.file, &attempt) == ["eggs", "milk", "rice", "salt", "bread"])
    }

    @Test func `an undo that was made is not made twice, nor a redo`() throws {
        let place = try Workplace("a.list", TaskList(items: [TaskItem("bread")]))
        for word in ["milk", "rice"] {
            _ = try DocumentFile(place.file).apply([try Edit(words: ["list", "add", word])])
        }
        for (isUndo, left) in [(true, ["milk", "bread"]), (false, ["rice", "milk", "bread"])] {
            var attempt = StepAttempt()
            for _ in 0..<2 {
                let file = try DocumentFile(place.file)
                let step = try file.step(
                    isUndo: isUndo, attempt: &attempt, successor: { _ in }, check: { _ in })
                #expect(step?.description.contains("rice") == true)
                #expect(try TaskList.read(place.bytes).items.map(\.text) == left)
            }
        }
        var attempt = StepAttempt()
        let file = try DocumentFile(place.file)
        for left in [["milk", "bread"], ["rice", "milk", "bread"]] {
            _ = try file.step(
                isUndo: left.count == 2, attempt: &attempt, successor: { _ in }, check: { _ in })
            #expect(try TaskList.read(place.bytes).items.map(\.text) == left)
        }
    }
}

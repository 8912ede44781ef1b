import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// Open documents, in a mount and on a folder.
@Suite(.oneAtATime) struct DocumentTests {
    @Test(arguments: places)
    func `changes are saved when it is quiet, and can be undone`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, quietTime: .seconds(2), creating: Text("new"))
            let document = opened.document
            #expect(opened.text == "new" && document.state == [] && text(of: path) == "new")
            try document.change(named: "Typing") { $0.text += "er" }
            #expect(document.hasUnsavedChanges && text(of: path) == "new")
            expectSoon { text(of: path) == "newer" }
            expectSoon { opened.count("saved") == 1 }
            #expect(!document.hasUnsavedChanges && document.undoManager.undoName == "Typing")
            try document.group(named: "Both") {
                try document.change { $0.text += " and" }
                try document.change { $0.text += " on" }
            }
            #expect(document.undoManager.undoName == "Both" && document.changeCount == 3)
            #expect(try document.undo() && opened.text == "newer")
            #expect(try document.redo() && opened.text == "newer and on")
            #expect(try document.undo() && document.undo() && !document.undo())
            #expect(opened.text == "new")
            // At once, on demand.
            try document.save()
            #expect(text(of: path) == "new" && !document.hasUnsavedChanges)
            document.disableEditing()
            #expect(throws: DocumentProblem.editingDisabled) { try opened.set("no") }
            document.enableEditing()
            try opened.set("last")
            try document.close()
            #expect(text(of: path) == "last" && document.state == [.closed, .editingDisabled])
            #expect(throws: DocumentProblem.closed) { try opened.set("no") }
            #expect(throws: DocumentProblem.closed) { try document.open() }
        }
    }

    @Test(arguments: places)
    func `who never pauses is saved all the same`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(
                path, quietTime: .milliseconds(100), creating: Text("0"))
            var number = 0
            expectSoon {
                number += 1
                try? opened.set("\(number)")
                return opened.count("saved") > 1
            }
            try opened.document.close()
            #expect(text(of: path) == "\(number)")
        }
    }

    @Test(arguments: places)
    func `what others write is loaded where nothing is unsaved`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let agent = try volume.agent()
            agent.store("note", "one")
            let opened = try OpenedDocument(path)
            try opened.set("mine")
            try opened.document.save()
            // Its own save is nothing to load; what was done before it is told before it.
            expectSoon { opened.count("saved") == 1 }
            let before = opened.count("contents")
            agent.store("note", "two")
            expectSoon { opened.text == "two" }
            #expect(opened.document.undoManager.undoName == nil)
            expectSoon { opened.count("contents") == before + 1 }
            // By a new file of the name.
            agent.store(".new", "three")
            agent.rename(".new", "note")
            expectSoon { opened.text == "three" }
            // What cannot be read does not replace what there is.
            agent.store("note", "bad")
            expectSoon { opened.document.state.contains(.inConflict) }
            #expect(opened.text == "three" && opened.document.conflict?.theirs == nil)
            agent.store("note", "good")
            expectSoon { opened.document.conflict?.theirs?.text == "good" }
            #expect(opened.document.error == nil)
            try opened.document.resolve(.theirs)
            #expect(opened.text == "good" && opened.document.state == [])
            try opened.document.close()
        }
    }

    @Test(arguments: places)
    func `a change that loading overtakes is made again on what was loaded`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let agent = try volume.agent()
            agent.store("note", "one")
            let opened = try OpenedDocument(path)
            var runs = 0
            try opened.document.change { contents in
                runs += 1
                if runs == 1 {
                    agent.store("note", "two")
                    expectSoon { opened.text == "two" }
                }
                contents.text += " and mine"
            }
            #expect(runs == 2 && opened.text == "two and mine")
            try opened.document.close()
            #expect(text(of: path) == "two and mine")
        }
    }

    @Test(arguments: places)
    func `in a conflict neither side is lost`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note.txt"
            let agent = try volume.agent()
            func begin() throws -> OpenedDocument {
                agent.store("note.txt", "before")
                let opened = try OpenedDocument(path)
                try opened.set("mine")
                agent.store("note.txt", "theirs")
                expectSoon { opened.document.state.contains(.inConflict) }
                #expect(opened.text == "mine" && opened.document.conflict?.theirs?.text == "theirs")
                #expect(throws: DocumentProblem.inConflict) { try opened.document.save() }
                #expect(text(of: path) == "theirs")
                return opened
            }
            var opened = try begin()
            try opened.document.resolve(.mine)
            #expect(text(of: path) == "mine" && opened.document.state == [])
            try opened.document.close()
            opened = try begin()
            try opened.document.resolve(.theirs)
            #expect(opened.text == "theirs" && !opened.document.hasUnsavedChanges)
            try opened.document.close()
            #expect(text(of: path) == "theirs")
            // Closing keeps both.
            opened = try begin()
            try opened.document.close()
            #expect(text(of: path) == "theirs")
            let names = try Directories.names(in: volume.directory).filter { $0 != "note.txt" }
            let name = try #require(names.first)
            #expect(names.count == 1 && name.hasPrefix("note (conflict of "), "\(names)")
            #expect(text(of: "\(volume.directory)/\(name)") == "mine")
            expectSoon { opened.count("copy") == 1 }
        }
    }

    @Test(arguments: places)
    func `a save that meets what others wrote writes nothing`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            try store(path, "before")
            let opened = try OpenedDocument(path)
            try opened.set("mine")
            // The presenter may be told later than this.
            try volume.agent().store("note", "theirs")
            #expect(throws: DocumentProblem.inConflict) { try opened.document.save() }
            #expect(text(of: path) == "theirs" && opened.text == "mine")
            opened.document.closeWithoutSaving()
            #expect(text(of: path) == "theirs")
            // Closing is a save too, and keeps both.
            let second = try OpenedDocument(path)
            try second.set("mine")
            try volume.agent().store("note", "of others")
            try second.document.close()
            #expect(text(of: path) == "of others")
            expectSoon { second.count("copy") == 1 }
        }
    }

    @Test(arguments: places)
    func `a document follows its file when its own program renames it`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let moved = "\(volume.directory)/renamed"
            try volume.agent().store("note", "x")
            let opened = try OpenedDocument(path)
            try #require(rename(path, moved) == 0)
            expectSoon { opened.document.path == moved }
            try opened.set("here")
            try opened.document.close()
            #expect(text(of: moved) == "here" && text(of: path) == nil)
        }
    }

    @Test(arguments: places)
    func `two documents of one program follow each other`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            try volume.agent().store("note", "x")
            let (one, two) = (try OpenedDocument(path), try OpenedDocument(path))
            for (writer, reader) in [(one, two), (two, one)] {
                let text = "\(reader.text ?? "")!"
                try writer.set(text)
                try writer.document.save()
                expectSoon { reader.text == text }
            }
            try one.document.close()
            try two.document.close()
        }
    }

    @Test(arguments: places)
    func `a document follows its file, and survives its deletion`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store("note", "x")
            agent.makeDirectory("folder")
            let opened = try OpenedDocument("\(volume.directory)/note")
            agent.rename("note", "folder/other")
            let moved = "\(volume.directory)/folder/other"
            expectSoon { opened.document.path == moved }
            try opened.set("here")
            try opened.document.save()
            #expect(text(of: moved) == "here" && text(of: "\(volume.directory)/note") == nil)
            // Nothing unsaved: gone.
            let second = try OpenedDocument(moved)
            try opened.set("unsaved")
            agent.unlink("folder/other")
            expectSoon { second.document.state.contains(.closed) }
            expectSoon { opened.document.conflict?.isDeleted == true }
            try opened.document.resolve(.mine)
            #expect(text(of: moved) == "unsaved")
            try opened.document.close()
        }
    }

    @Test(arguments: places)
    func `a document survives the deletion of its folder`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("folder")
            agent.store("folder/note", "x")
            let path = "\(volume.directory)/folder/note"
            let (opened, second) = (try OpenedDocument(path), try OpenedDocument(path))
            try opened.set("unsaved")
            agent.unlink("folder/note")
            agent.removeDirectory("folder")
            // Nothing unsaved: gone.
            expectSoon { second.document.state.contains(.closed) }
            expectSoon { opened.document.conflict?.isDeleted == true }
            #expect(throws: DocumentProblem.inConflict) { try opened.document.save() }
            agent.makeDirectory("folder")
            try opened.document.resolve(.mine)
            #expect(text(of: path) == "unsaved")
            // Perhaps before it is told.
            try opened.set("more")
            agent.unlink("folder/note")
            agent.removeDirectory("folder")
            #expect(throws: DocumentProblem.inConflict) { try opened.document.save() }
            agent.makeDirectory("folder")
            try opened.document.close()
            expectSoon { opened.count("copy") == 1 }
        }
    }

    @Test(arguments: places)
    func `a failed save is told, and tried again`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, quietTime: .milliseconds(50), creating: Text("x"))
            try opened.set("bad")
            expectSoon { opened.document.state.contains(.savingError) }
            #expect(opened.document.error is Text.Bad && text(of: path) == "x")
            #expect(throws: Text.Bad.self) { try opened.document.close() }
            try opened.set("good")
            expectSoon { text(of: path) == "good" && opened.document.state == [] }
            #expect(opened.document.error == nil)
            try opened.document.close()
            #expect(throws: DocumentProblem.self) { try OpenedDocument("\(volume.directory)/none") }
            #expect(throws: (any Error).self) {
                try OpenedDocument("\(volume.directory)/none/none")
            }
            try store(path, "bad")
            #expect(throws: Text.Bad.self) { try OpenedDocument(path) }
        }
    }

    @Test(arguments: places)
    func `an error is over when the file is there again as it was`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let agent = try volume.agent()
            agent.store("note", "x")
            agent.makeDirectory("folder")
            let opened = try OpenedDocument(path)
            agent.rename("folder", "note", flags: 2)
            expectSoon { opened.document.error != nil }
            agent.rename("folder", "note", flags: 2)
            expectSoon("\(opened.document.state)") { opened.document.error == nil }
            #expect(opened.text == "x" && opened.document.path == path)
            try opened.document.close()
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"), arguments: places)
    func `a reader never sees half a save`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            func content(_ number: Int) -> String {
                let letter = Character(Unicode.Scalar(UInt8(97 + number % 20)))
                return String(repeating: letter, count: (1 + number % 20) * 30_000)
            }
            try store(path, content(0))
            chmod(path, 0o640)
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            try file.setAttribute("user.note", [1, 2])
            let line = """
                import os
                looks = 0
                while not os.path.exists("stop"):
                    with open("note") as file: text = file.read()
                    assert len(set(text)) == 1 and len(text) == (ord(text[0]) - 96) * 30000, len(text)
                    looks += 1
                print(looks)
                """
            let reader = try volume.start(["python3", "-c", line])
            let opened = try OpenedDocument(path)
            for number in 1...200 {
                try opened.set(content(number))
                try opened.document.save()
            }
            try store("\(volume.directory)/stop", "")
            let result = reader.wait(seconds: 60)
            #expect(result.status == 0, "\(result)")
            try opened.document.close()
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
            #expect(try OwnedDescriptor.open(path, O_RDONLY).attribute("user.note") == [1, 2])
            #expect(text(of: path) == content(200))
            #expect(try Directories.names(in: volume.directory).sorted() == ["note", "stop"])
        }
    }

    @Test func `in a mount others read what is not saved, and a remount changes nothing`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("old"))
            try opened.set("unsaved")
            let result = try volume.run(
                try BuiltPrograms.shapeedit(), "coordinate", "--read", "note", "--", "cat", "note")
            #expect(result.status == 0 && result.text == "unsaved", "\(result)")
            try volume.remount()
            try volume.agent().store("note", "after the remount")
            expectSoon { opened.text == "after the remount" }
            try opened.set("goes on")
            try opened.document.close()
            #expect(text(of: path) == "goes on")
        }
    }

    @Test func `an open document is saved as soon as its container is mounted again`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("old"))
            try volume.remount()
            try opened.set("new")
            // The mount that is there now knows nothing of the presenter yet.
            try opened.document.save()
            #expect(text(of: path) == "new")
            try opened.document.close()
        }
    }

    @Test func `steps back are limited and nest`() {
        let manager = UndoManager<Int>(limit: 2)
        for number in 0..<4 { manager.register(number, named: "\(number)") }
        #expect(manager.undoName == "3" && manager.undo(from: 4) == 3)
        #expect(manager.redoName == "3" && manager.undo(from: 3) == 2)
        #expect(manager.undo(from: 2) == nil && manager.redo(from: 2) == 3)
        // What is new ends the way forth.
        manager.register(3, named: "new")
        #expect(manager.redo(from: 9) == nil)
        manager.beginGroup()
        manager.register(9)
        manager.beginGroup()
        manager.register(10, named: "inner")
        manager.endGroup()
        #expect(manager.undo(from: 11) == nil)
        manager.endGroup()
        #expect(manager.undoName == "inner" && manager.undo(from: 11) == 9)
        manager.beginGroup()
        manager.endGroup(named: "empty")
        #expect(manager.undoName == "new")
        manager.removeAll()
        #expect(manager.undoName == nil && manager.redoName == nil)
    }
}

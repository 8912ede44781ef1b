import DocumentKit
import SystemCalls
import TestSupport
import Testing

/// Others go on writing while somebody looks at what is in conflict.
@Suite(.oneAtATime) struct ChangedConflictTests {
    /// Gives a test a document with "mine" in it, and "theirs" in its file, "note" to the agent.
    private func withConflict(
        _ place: DataPath,
        _ body: (
            _ opened: OpenedDocument, _ agent: Agent, _ path: String,
            _ seen: DocumentConflict<Text>
        ) throws -> Void
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let agent = try volume.agent()
            agent.store("note", "before")
            let opened = try OpenedDocument(path)
            try opened.set("mine")
            agent.store("note", "theirs")
            expectSoon { opened.document.conflict?.theirs?.text == "theirs" }
            let seen = try #require(opened.document.conflict)
            try body(opened, agent, path, seen)
        }
    }

    /// Who had chosen his own text replaced one of the others' that nobody had seen.
    @Test(arguments: places) func `what was decided upon is what is resolved`(
        _ place: DataPath
    ) throws {
        try withConflict(place) { opened, agent, path, seen in
            let told = opened.count("state")
            agent.store("note", "theirs, and more")
            // Who shows it is told that it is another.
            expectSoon { opened.document.conflict?.theirs?.text == "theirs, and more" }
            expectSoon { opened.count("state") > told }
            for resolution in [DocumentResolution.mine, .theirs, .both] {
                #expect(throws: DocumentProblem.inConflict) {
                    try opened.document.resolve(resolution, of: seen)
                }
            }
            #expect(text(of: path) == "theirs, and more" && opened.text == "mine")
            let now = try #require(opened.document.conflict)
            #expect(now.theirs?.text == "theirs, and more")
            // The same content again is no other conflict.
            agent.store("note", "theirs, and more")
            try opened.set("mine, and theirs, and more")
            try opened.document.resolve(.mine, of: now)
            #expect(text(of: path) == "mine, and theirs, and more")
            #expect(opened.document.state == [])
            // It has ended.
            try opened.document.resolve(.theirs, of: now)
            #expect(opened.text == "mine, and theirs, and more")
            try opened.document.close()
        }
    }

    @Test(arguments: places) func `a deletion is another conflict than a change`(
        _ place: DataPath
    ) throws {
        try withConflict(place) { opened, agent, path, seen in
            agent.unlink("note")
            expectSoon { opened.document.conflict?.isDeleted == true }
            #expect(throws: DocumentProblem.inConflict) {
                try opened.document.resolve(.theirs, of: seen)
            }
            #expect(opened.text == "mine")
            try opened.document.resolve(.mine, of: opened.document.conflict)
            #expect(text(of: path) == "mine")
            try opened.document.close()
        }
    }

    @Test(arguments: places) func `a document that was closed has nothing unsaved`(
        _ place: DataPath
    ) throws {
        try withConflict(place) { opened, agent, _, _ in
            #expect(opened.document.hasUnsavedChanges)
            agent.unlink("note")
            expectSoon { opened.document.conflict?.isDeleted == true }
            // It is kept in another file, and the document is closed.
            try opened.document.resolve(.both)
            #expect(opened.document.state == [.closed, .editingDisabled])
            #expect(!opened.document.hasUnsavedChanges)
            // What happened is told by the document's thread, also after it was closed.
            expectSoon { opened.count("copy") == 1 }
        }
        try withConflict(place) { opened, _, path, _ in
            opened.document.closeWithoutSaving()
            #expect(!opened.document.hasUnsavedChanges && text(of: path) == "theirs")
        }
    }
}

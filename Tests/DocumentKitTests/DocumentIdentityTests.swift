import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// What is taken for an open document when its mount is back.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct DocumentIdentityTests {
    /// The other document has the same id: the ids of each container begin with the same. A copy has all the same.
    @Test(arguments: [false, true])
    func `a document of another container that is mounted there is another`(isCopy: Bool) throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let path = container.mountPoint + "/note"
        let other = container.mountPoint + "/other"
        let opened = try OpenedDocument(path, creating: Text("one"))
        try container.unmount()
        if isCopy {
            _ = try run(["cp", "-a", container.folder, container.folder + "/../other"])
        } else {
            #expect(try container.command("container", "create", "other").status == 0)
        }
        #expect(try container.command("mount", "other", container.mountPoint).status == 0)
        if isCopy { #expect(rename(path, other) == 0) }
        try store(other, "theirs")
        try opened.set("mine")
        #expect(throws: DocumentProblem.self) { try opened.document.save() }
        #expect(opened.document.path == path && opened.document.conflict == nil)
        #expect(text(of: other) == "theirs")
        try container.unmount()
        try container.mount()
        try opened.document.close()
        #expect(text(of: path) == "mine")
        try container.unmount()
    }

    @Test func `the app's own document is not taken for one that was granted to it`() throws {
        let owner = try Container()
        defer { owner.remove() }
        try owner.mount()
        let app = try Container(name: "notes", dataHome: owner.dataHome)
        defer { app.remove() }
        try app.mount(asApp: true)
        let own = app.mountPoint + "/own"
        let granted = app.mountPoint + "/in test/note"
        try store(owner.mountPoint + "/note", "one")
        try store(own, "own")
        let grant = try app.command("grant", owner.mountPoint + "/note", "--to", "notes", "--write")
        #expect(grant.status == 0, "\(grant)")
        let opened = try OpenedDocument(granted)
        let id = try PathAttributes.value("user.shapeedit.id", of: granted)
        #expect(try PathAttributes.value("user.shapeedit.id", of: own) == id)
        try app.killDaemon()
        #expect(try app.command("revoke", "test:note").status == 0)
        try app.mount(asApp: true)
        try opened.set("mine")
        #expect(throws: (any Error).self) { try opened.document.save() }
        #expect(opened.document.path == granted && text(of: own) == "own")
        opened.document.closeWithoutSaving()
        try app.unmount()
        try owner.unmount()
    }

    @Test(arguments: [false, true])
    func `a document is followed that is moved before it is presented again`(
        isFolder: Bool
    ) throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let folder = "\(volume.directory)/folder"
            #expect(mkdir(folder, 0o755) == 0)
            let document = Document<Text>(folder + "/note")
            try document.open(creating: Text("one"))
            try container.killDaemon()
            // It looks, and finds no mount.
            document.disableEditing()
            document.enableEditing()
            expectSoon { document.error != nil }
            try container.mount()
            if !isFolder {
                // It looks again, and finds the file where it was.
                document.disableEditing()
                document.enableEditing()
                expectSoon { document.error == nil }
            }
            let moved = isFolder ? (folder, folder + "2") : (folder + "/note", folder + "/other")
            #expect(rename(moved.0, moved.1) == 0)
            let path = isFolder ? folder + "2/note" : folder + "/other"
            expectSoon { document.path == path }
            #expect(document.state == [])
            try document.change { $0.text = "two" }
            try document.close()
            #expect(text(of: path) == "two")
        }
    }
}

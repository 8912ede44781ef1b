import DocumentKit
import Glibc
import TestSupport
import Testing

/// Documents inside of packages, which are coordinated as the package.
@Suite(.oneAtATime) struct PackagedDocumentTests {
    @Test(arguments: places)
    func `a document inside of a package is opened, saved and followed`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            let folder = volume.directory
            agent.makeDirectory("note.rtfd")
            agent.makeDirectory("note.rtfd/sub")
            agent.store("note.rtfd/sub/text", "one")
            let opened = try OpenedDocument("\(folder)/note.rtfd/sub/text")
            let document = opened.document
            #expect(opened.text == "one" && document.path == "\(folder)/note.rtfd/sub/text")
            try opened.set("two")
            try document.save()
            #expect(text(of: "\(folder)/note.rtfd/sub/text") == "two")
            agent.store("note.rtfd/sub/text", "three")
            expectSoon { opened.text == "three" }
            // To another package, a folder that is none, and a package again.
            for (former, name) in [
                ("note.rtfd", "other.rtfd"), ("other.rtfd", "plain"), ("plain", "again.rtfd"),
            ] {
                agent.rename(ByteString(former), ByteString(name))
                let path = "\(folder)/\(name)/sub/text"
                expectSoon { document.path == path }
                agent.store(ByteString("\(name)/sub/text"), "in \(name)")
                expectSoon { opened.text == "in \(name)" }
                try opened.set("saved in \(name)")
                try document.save()
                #expect(text(of: path) == "saved in \(name)")
            }
            try opened.set("last")
            try document.close()
            #expect(text(of: "\(folder)/again.rtfd/sub/text") == "last")
        }
    }

    @Test(arguments: places)
    func `a document is followed within a package, out of it and into one`(_ place: DataPath)
        throws
    {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            let folder = volume.directory
            for name: ByteString in ["note.rtfd", "note.rtfd/sub", "plain"] {
                agent.makeDirectory(name)
            }
            agent.store("note.rtfd/text", "one")
            let opened = try OpenedDocument("\(folder)/note.rtfd/text")
            let document = opened.document
            var former = "note.rtfd/text"
            for name in [
                "note.rtfd/other", "note.rtfd/sub/text", "plain/text", "note.rtfd/text", "text",
            ] {
                try opened.set("unsaved before \(name)")
                agent.rename(ByteString(former), ByteString(name))
                former = name
                let path = "\(folder)/\(name)"
                expectSoon { document.path == path }
                try document.save()
                #expect(text(of: path) == "unsaved before \(name)")
                agent.store(ByteString(name), "in \(name)")
                expectSoon { opened.text == "in \(name)" }
                #expect(document.state == [] && document.conflict == nil)
            }
            // By the folder in the package that it is in.
            agent.rename("text", "note.rtfd/sub/text")
            agent.rename("note.rtfd/sub", "note.rtfd/moved")
            expectSoon { document.path == "\(folder)/note.rtfd/moved/text" }
            // Saved by renaming it away and writing it anew.
            agent.rename("note.rtfd/moved/text", "note.rtfd/moved/text~")
            agent.store("note.rtfd/moved/text", "anew")
            expectSoon { opened.text == "anew" }
            #expect(document.path == "\(folder)/note.rtfd/moved/text")
            try document.close()
        }
    }

    @Test func `who claims what is in a package is told where that is`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("note.rtfd")
            agent.store("note.rtfd/text", "x")
            let items = ["note.rtfd/text", "note.rtfd", "note.rtfd/new"].map {
                "\(volume.directory)/\($0)"
            }
            let intents = items.map { FileIntent($0, .write) }
            #expect(try FileCoordinator().coordinate(intents) { $0 } == items)
        }
    }
}

import DocumentKit
import Glibc
import Probing
import TestSupport
import Testing

/// Open documents whose file is put into a trash folder, which counts as a deletion.
@Suite(.oneAtATime) struct TrashedDocumentTests {
    /// A path in the trash of the volume's folder, which is made.
    private func trashed(_ name: String, in volume: Volume) -> String {
        let trash = "\(volume.directory)/.Trash-\(getuid())"
        for folder in [trash, trash + "/files"] { mkdir(folder, 0o700) }
        return "\(trash)/files/\(name)"
    }

    @Test(arguments: places)
    func `a document that is put into the trash is closed`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("old"))
            let trashed = trashed("note", in: volume)
            #expect(rename(path, trashed) == 0)
            expectSoon { opened.document.state == [.closed, .editingDisabled] }
            #expect(opened.document.path == path && opened.count("moved") == 0)
            #expect(text(of: trashed) == "old")
            // One that is opened there is followed.
            let other = try OpenedDocument(trashed)
            #expect(rename(trashed, trashed + "-too") == 0)
            expectSoon { other.document.path == trashed + "-too" }
            try other.set("new")
            try other.document.close()
            #expect(text(of: trashed + "-too") == "new")
        }
    }

    @Test(arguments: places)
    func `what is not saved of a document in the trash is in conflict with its deletion`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            // Of what this process does without a claim it is told only where the file is.
            let agent = try volume.agent()
            let folder = "\(volume.directory)/folder"
            mkdir(folder, 0o700)
            // Itself, and by its folder.
            for path in ["\(volume.directory)/note", folder + "/note"] {
                let opened = try OpenedDocument(path, creating: Text("old"))
                try opened.set("mine")
                let isOwn = !path.hasPrefix(folder)
                let trashed = trashed(isOwn ? "note" : "folder", in: volume)
                #expect(rename(isOwn ? path : folder, trashed) == 0)
                expectSoon { opened.document.conflict?.isDeleted == true }
                if !isOwn { mkdir(folder, 0o700) }
                // It is made anew where it was, and followed there.
                try opened.document.resolve(.mine)
                #expect(text(of: path) == "mine")
                #expect(text(of: isOwn ? trashed : trashed + "/note") == "old")
                expectSoon {
                    agent.store(isOwn ? "note" : "folder/note", "theirs")
                    return opened.text == "theirs"
                }
                // Where its folder was gone it is presented again after a while only.
                if isOwn {
                    #expect(rename(path, path + "-moved") == 0)
                    expectSoon { opened.document.path == path + "-moved" }
                }
                try opened.document.close()
            }
        }
    }

    @Test(arguments: places)
    func `a document that comes back from the trash is the one it was`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let opened = try OpenedDocument(path, creating: Text("old"))
            try opened.set("mine")
            let trashed = trashed("note", in: volume)
            #expect(rename(path, trashed) == 0)
            expectSoon { opened.document.conflict?.isDeleted == true }
            let name = ByteString(trashed.dropFirst(volume.directory.count + 1).description)
            try volume.agent().rename(name, "note")
            expectSoon { opened.document.conflict?.isDeleted == false }
            #expect(opened.document.conflict?.theirs?.text == "old")
            try opened.document.resolve(.mine)
            #expect(text(of: path) == "mine")
            try opened.document.close()
        }
    }
}

import DocumentKit
import Glibc
import TestSupport
import Testing

/// Documents that are opened by a symlink.
@Suite(.oneAtATime) struct LinkedDocumentTests {
    @Test(arguments: places)
    func `a document is made where a symlink leads to`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let folder = volume.directory
            #expect(mkdir("\(folder)/d", 0o755) == 0)
            #expect(symlink("d/second", "\(folder)/first") == 0)
            #expect(symlink("\(folder)/d/note", "\(folder)/d/second") == 0)
            let opened = try OpenedDocument("\(folder)/first", creating: Text("new"))
            #expect(opened.document.path == "\(folder)/d/note")
            try opened.set("newer")
            try opened.document.close()
            #expect(text(of: "\(folder)/d/note") == "newer")
            #expect(text(of: "\(folder)/first") == "newer")
        }
    }

    @Test(arguments: places)
    func `a symlink that leads to no place for a document is an error`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let folder = volume.directory
            #expect(symlink("missing/note", "\(folder)/into") == 0)
            #expect(symlink("round", "\(folder)/round") == 0)
            for (name, words) in [
                ("into", "No such file or directory"),
                ("round", "Too many levels of symbolic links"),
            ] {
                let path = "\(folder)/\(name)"
                #expect(throws: DocumentProblem.file("\(path): \(words)")) {
                    try OpenedDocument(path, creating: Text("new"))
                }
            }
        }
    }
}

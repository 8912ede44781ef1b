import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// Programs with hundreds of documents open in one mount.
@Suite struct ManyDocumentsTests {
    @Test func `hundreds of documents are open at once, and saved, also those that others edit`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let paths = (0..<300).map { "\(volume.directory)/note \($0)" }
            let opened = try paths.map {
                try OpenedDocument($0, quietTime: .milliseconds(50), creating: Text("new"))
            }
            for (number, one) in opened.enumerated() { try one.set("mine \(number)") }
            expectSoon { opened.allSatisfy { !$0.document.hasUnsavedChanges } }
            for (number, path) in paths.enumerated() {
                #expect(text(of: path) == "mine \(number)")
            }
            // Another program's claim has room, and its holder's document hears of it.
            let shapeedit = try BuiltPrograms.shapeedit()
            let edited = try volume.run(
                shapeedit, "coordinate", "--write", paths[7], "--", "sh", "-c",
                "printf theirs > '\(paths[7])'")
            #expect(edited.status == 0, "\(edited)")
            expectSoon { opened[7].text == "theirs" }
            for one in opened { try one.document.close() }
            // Nothing failed in between, at a time when all save at once.
            #expect(opened.allSatisfy { $0.document.error == nil })
        }
    }
}

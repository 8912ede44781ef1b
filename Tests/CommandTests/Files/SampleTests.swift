import Probing
import TestSupport
import Testing

/// The documents of a new default container.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain)) struct SampleTests {
    /// `Snowman.shape` once had a solid of a kind that does not exist, and `Ring.shapeFile` no
    /// camera.
    @Test func `every sample is a document without a fault`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir mount data")
            let environment = ["DATA", "CACHE", "RUNTIME"].map { name in
                "XDG_\(name)_\(name == "RUNTIME" ? "DIR" : "HOME")=\(desk.folder)/data"
            }.joined(separator: " ")
            let program = try BuiltPrograms.shapeedit()
            try desk.shell("\(environment) \(program) mount mount")
            defer { _ = try? desk.shell("\(environment) \(program) unmount mount") }
            let files = try desk.shell("find mount -type f").split(separator: "\n").map(String.init)
            let documents = files.filter { !$0.hasSuffix(".md") }
            #expect(documents.count >= 6 && files.count > documents.count, "\(files)")
            let result = try desk.shapeedit(["validate"] + documents)
            #expect(result.status == 0, "\(result)")
            for document in documents {
                let shown = try desk.shapeedit(["show", "--graphics", "none", document])
                #expect(shown.status == 0 && shown.errors.isEmpty, "\(document): \(shown)")
                #expect(!shown.output.isEmpty)
            }
        }
    }
}

import DocumentKit
import Probing
import SystemCalls
import TestSupport
import Testing

/// A document that several programs edit at once.
@Suite(.oneAtATime) struct DocumentModelTests {
    @Test(arguments: places)
    func `several programs that edit one document lose and double nothing`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let seed = UInt64.random(in: 0 ... .max)
            var random = SplitMix(seed: seed)
            try store("\(volume.directory)/note", "")
            let binary = try BuiltPrograms.documentEditor()
            let editors = try ["a", "b", "c"].map { name in
                try volume.start([binary, "note", name, "\(random.next())", "80"])
            }
            let results = editors.map { $0.wait(seconds: 100) }
            let found = (text(of: "\(volume.directory)/note") ?? "").split(separator: "\n")
            let wanted = results.flatMap { $0.text.split(separator: "\n") }
            #expect(found.sorted() == wanted.sorted(), "seed \(seed)")
            for result in results {
                #expect(result.status == 0 && result.errorText == "", "seed \(seed): \(result)")
            }
        }
    }
}

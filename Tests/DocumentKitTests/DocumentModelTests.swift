import DocumentKit
import Glibc
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
        try withVolume(place) { volume in try edit(volume, others: []) }
    }

    @Test(
        .enabled(
            if: DataPath.isPrivileged && !DataPath.isPlain && isInstalled("setpriv"),
            "needs root, setpriv and a mount"), arguments: DataPath.mounts)
    func `nor do programs of several users`(_ place: DataPath) throws {
        try withVolume(place) { volume in try edit(volume, others: ["b", "c"]) }
    }

    /// Has three programs edit a document, some of them another user's.
    private func edit(_ volume: Volume, others: [String]) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(seed: seed)
        try store("\(volume.directory)/note", "")
        #expect(chmod("\(volume.directory)/note", 0o666) == 0)
        let binary = try BuiltPrograms.documentEditor()
        let editors = try ["a", "b", "c"].map { name in
            let words = [binary, "note", name, "\(random.next())", "80"]
            return try others.contains(name) ? volume.startAsOther(words) : volume.start(words)
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

import Glibc
import Probing
import TestSupport
import Testing

/// `.shapeedit/documents`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DocumentFolderTests {
    @Test(arguments: DataPath.mounts.prefix(1))
    func `a document is found by its id, not by what counts as the same number`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<12 { agent.store("file\(number)", "x") }
            for number in 0..<12 {
                let id = agent.attribute("file\(number)", "user.shapeedit.id")
                let folder: ByteString = volume.root + "/.shapeedit/documents/"
                #expect(agent.readLink(folder + id) == "../../work/file\(number)")
                let digits = id.text
                for other in ["+" + digits.dropFirst(), digits.uppercased()] where other != digits {
                    agent.status(folder + ByteString(other), fails: ENOENT)
                }
            }
        }
    }
}

import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct EditorTests {
    /// The xattr that names a document for good.
    static let identity: ByteString = "user.shapeedit.id"

    @Test(
        .enabled(if: isInstalled("vim"), "vim is not installed"), arguments: DataPath.mounts,
        [
            "", "set nobackup nowritebackup", "set writebackup backupcopy=no",
            "set writebackup backupcopy=yes", "set backup backupcopy=auto",
            "set backup backupcopy=no", "set backup backupcopy=yes backupext=.old",
        ])
    func `vim saves a document, which stays the same document`(
        _ dataPath: DataPath, settings: String
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let reader = try volume.agent()
            agent.store("document.txt", "first line\nsecond line\n", mode: 0o640)
            let identity = agent.attribute("document.txt", Self.identity)
            agent.setAttribute("document.txt", "user.note", "kept where the editor keeps it")
            #expect(identity.count > 0)
            for word in ["first", "next", "last"] {
                let result = agent.run(
                    "vim", "-u", "NONE", "-i", "NONE", "-N", "-es", "document.txt", "-c",
                    ByteString(settings.isEmpty ? "echo" : settings), "-c",
                    "1s/^[a-z]*/\(word)/", "-c", "wq")
                #expect(result.status == 0, "\(result)")
                #expect(reader.content("document.txt") == "\(word) line\nsecond line\n")
                #expect(reader.attribute("document.txt", Self.identity) == identity)
                #expect(reader.status("document.txt").permissions == 0o640)
            }
            #expect(!reader.names(".").contains { $0.hasSuffix(".swp") || $0 == "4913" })
        }
    }

    @Test(arguments: DataPath.mounts)
    func `sed -i edits a document, which stays the same document`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("seq 1 5000 > numbers; seq 5 > other")
            let identity = agent.attribute("numbers", Self.identity)
            let other = agent.attribute("other", Self.identity)
            #expect(identity != other)
            agent.shell("sed -i 's/^7$/seven/' numbers && sed -i -e 1d numbers other")
            agent.shell("sed -i.backup 's/^9$/nine/' numbers")
            #expect(
                agent.shell("sed -n '6p;8p' numbers; wc -l < numbers; wc -l < other")
                    == "seven\nnine\n4999\n4\n")
            #expect(agent.attribute("numbers", Self.identity) == identity)
            #expect(agent.attribute("other", Self.identity) == other)
            #expect(agent.content("numbers.backup").count > 0)
            #expect(agent.names(".") == ["numbers", "numbers.backup", "other"])
        }
    }

    @Test(
        .enabled(if: isInstalled("soffice"), "LibreOffice (soffice) is not installed"),
        .timeLimit(.minutes(10)), arguments: DataPath.mounts)
    func `LibreOffice converts and saves`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("seq 200 > document.txt && mkdir profile")
            let office =
                "soffice -env:UserInstallation=file://$PWD/profile --headless --norestore "
            agent.shell(office + "--convert-to odt document.txt")
            let identity = agent.attribute("document.odt", Self.identity)
            agent.shell(office + "--convert-to odt document.txt")
            #expect(agent.attribute("document.odt", Self.identity) == identity)
            agent.shell(office + "--convert-to txt:Text --outdir out document.odt")
            agent.shell("tr -d '\\r\\357\\273\\277' < out/document.txt | diff - document.txt")
        }
    }
}

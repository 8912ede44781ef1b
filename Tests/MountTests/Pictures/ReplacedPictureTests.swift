import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Pictures of documents that are replaced or removed.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct ReplacedPictureTests {
    private static let patience = 45_000

    @Test(arguments: DataPath.mounts)
    func `who has a document open keeps its picture and version, whatever becomes of its name`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let agent = desk.agent
            let slides = (0..<3).map { PictureDesk.slide($0) }
            let pictures = try slides.map { try desk.reference($0, "slide") }
            var held: [(file: Descriptor, version: String)] = []
            func hold(_ slide: ByteString) {
                #expect(desk.settle("a.slide") == "ready")
                let file = agent.open("a.slide", O_RDONLY)
                #expect(agent.readToEnd(file) == slide)
                held.append((file, desk.version("a.slide")))
            }
            func look(at location: SourceLocation = #_sourceLocation) {
                for (number, (file, version)) in held.enumerated() {
                    let shown = agent.attribute(file, "user.shapeedit.thumbnail", at: location)
                    #expect(shown == pictures[number], "\(number)", sourceLocation: location)
                    let state = agent.attribute(
                        file, "user.shapeedit.thumbnail.state", at: location)
                    #expect(state == "ready", "\(number)", sourceLocation: location)
                    let told = agent.attribute(file, "user.shapeedit.version", at: location).text
                    #expect(told == version, "\(number)", sourceLocation: location)
                }
            }
            agent.store("a.slide", slides[0])
            hold(slides[0])
            // Published over.
            agent.store("a.slide", slides[1])
            hold(slides[1])
            #expect(held[0].version != held[1].version)
            look()
            // Replaced.
            agent.store("t.tmp", slides[2])
            agent.rename("t.tmp", "a.slide")
            hold(slides[2])
            look()
            // Removed.
            agent.unlink("a.slide")
            look()
            for (file, _) in held { agent.close(file) }
        }
    }

    @Test func `what a source has changed is not seen with the picture of before`() throws {
        try withPictures(patience: Self.patience) { desk in
            let slides = (0..<2).map { PictureDesk.slide($0) }
            let pictures = try slides.map { try desk.reference($0, "slide") }
            let source = "\(desk.container.base)/source"
            let folder = "\(desk.container.mountPoint)/in"
            mkdir(source, 0o755)
            try PictureDesk.write(slides[0].bytes, to: "\(source)/a.slide")
            let imported = try desk.container.command("import", "--promise", source, folder)
            try #require(imported.status == 0, "\(imported)")
            #expect(desk.agent.content("in/a.slide") == slides[0])
            #expect(desk.settle("in/a.slide") == "ready")
            // Twice, so that the kernel has what it may keep.
            for _ in 0..<2 { #expect(desk.picture("in/a.slide") == pictures[0]) }
            try PictureDesk.write(slides[1].bytes, to: "\(source)/a.slide")
            let refreshed = try desk.container.command("import", "--refresh", folder)
            try #require(refreshed.status == 0, "\(refreshed)")
            // The kernel is told when the command has ended.
            #expect(waitUntil { desk.agent.content("in/a.slide") == slides[1] })
            #expect(desk.picture("in/a.slide") != pictures[0])
            #expect(desk.settle("in/a.slide") == "ready")
            #expect(desk.picture("in/a.slide") == pictures[1])
        }
    }

    /// What is done to `a.slide`, and a name that is gone as soon as that is done here.
    @Test(arguments: [
        ("mv n.slide a.slide", "n.slide"), ("mv a.slide c.slide", "a.slide"),
        ("rm a.slide", "a.slide"),
    ])
    func `until a change of its name has returned, a document and its picture are the old ones`(
        _ command: String, _ gone: String
    ) throws {
        try withPictures(
            thumbnailer: HaltedWorkers.thumbnailer(), patience: Self.patience
        ) { desk in
            let (agent, workers) = (desk.agent, HaltedWorkers(desk))
            let point = desk.container.mountPoint
            let slides = (0..<3).map { PictureDesk.slide($0) }
            let pictures = try slides.map { try desk.reference($0, "slide") }
            agent.store("a.slide", slides[0])
            agent.store("n.slide", slides[1])
            #expect(agent.content("a.slide") == slides[0])
            // The kernel keeps this one, so the change has to wait until it can forget it; and it
            // has the folder locked for who waits for another picture there.
            _ = desk.picture("a.slide", 128)
            try workers.stop()
            agent.store("b.tmp", slides[2])
            agent.rename("b.tmp", "b.slide")
            let looker = try RunningProgram(
                ["cat", "\(point)/\(desk.path("b.slide", 128).text)"].map { Array($0.utf8) })
            // Until it waits for the picture: its start has calls too, but they are over soon.
            var looks = 0
            for _ in 0..<1_500 where looks < 15 {
                // The kernel may not tell.
                let call = BlockedCall(of: Int(looker.process))?.number ?? SYS_openat
                looks = [SYS_openat, SYS_read].contains(call) ? looks + 1 : 0
                usleep(20_000)
            }
            let change = try RunningProgram(
                ["sh", "-c", command].map { Array($0.utf8) }, directory: point)
            #expect(waitUntil { access("\(point)/.shapeedit/versions/\(gone)", F_OK) != 0 })
            let file = agent.open("a.slide", O_RDONLY)
            #expect(agent.readToEnd(file) == slides[0])
            #expect(agent.attribute("a.slide", "user.shapeedit.thumbnail") == pictures[0])
            #expect(desk.picture("a.slide") == pictures[0])
            #expect(agent.content("a.slide") == slides[0])
            agent.close(file)
            #expect(change.isRunning, "it waited for nothing, so the test has shown nothing")
            try workers.goOn()
            #expect(change.wait(seconds: 25).status == 0)
            #expect(looker.wait(seconds: 25).status == 0)
            if gone == "a.slide" {
                agent.status("a.slide", fails: ENOENT)
                agent.status(desk.path("a.slide"), fails: ENOENT)
            } else {
                #expect(agent.content("a.slide") == slides[1])
                #expect(desk.picture("a.slide") == pictures[1])
            }
        }
    }
}

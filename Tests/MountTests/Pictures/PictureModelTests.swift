import Glibc
import Probing
import TestSupport
import Testing

/// Pictures while documents change, and of documents that mean harm.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PictureModelTests {
    /// What a reader sees of a document by one open of its path.
    private struct View: Equatable {
        var content: ByteString
        var inode: Int
        var modified: Int
        var version: ByteString
    }

    private func view(_ agent: Agent, _ file: Descriptor) -> View {
        let status = agent.status(file)
        return View(
            content: agent.readToEnd(file), inode: status.inode, modified: status.modified,
            version: agent.attribute(file, "user.shapeedit.version"))
    }

    @Test(arguments: DataPath.mounts)
    func `a picture is that of the version it is shown for, whoever publishes`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath) { desk in
            let agent = desk.agent
            let kinds = 6
            let folder = "\(desk.container.base)/slides"
            mkdir(folder, 0o755)
            var references: [ByteString: ByteString] = [:]
            for number in 0..<kinds {
                let slide = PictureDesk.slide(number)
                try PictureDesk.write(slide.bytes, to: "\(folder)/\(number).slide")
                references[slide] = try desk.reference(slide, "slide")
            }
            agent.store("empty.slide", "")
            let placeholder = desk.picture("empty.slide")
            agent.store("a.slide", PictureDesk.slide(0))
            // Written over, saved by rename, and replaced by a document that has its picture, by
            // another process, mostly faster than anything is drawn; every tenth time it leaves
            // the time to look at a picture. One more keeps the folder of pictures busy: what
            // changes a name waits for that.
            let stop = "\(desk.container.base)/stop"
            let (point, looked) = (desk.container.mountPoint, desk.path("a.slide").text)
            let writer = """
                i=0; while [ ! -e \(stop) ]; do i=$((i+1)); n=$((i % \(kinds)))
                [ $((i % 8)) = 0 ] && cat \(folder)/$n.slide > a.slide
                n=$(((i * 5 + 3) % \(kinds))); f=n.slide; [ $((i % 3)) = 0 ] && f=t.tmp
                cp \(folder)/$n.slide $f; mv $f a.slide
                [ $((i % 10)) = 0 ] && sleep 0.2 || sleep 0.01; done; true
                """
            let looker = "while [ ! -e \(stop) ]; do cat \(looked) > /dev/null; done; true"
            let programs = try [writer, looker].map { script in
                try RunningProgram(
                    ["sh", "-c", script].map { Array($0.utf8) }, directory: point)
            }
            var compared = 0
            // Three seconds, and on a busy machine until there was something to compare.
            let start = ContinuousClock.now
            var passed: Duration { ContinuousClock.now - start }
            while passed < .seconds(3) || compared < 10 && passed < .seconds(60) {
                let first = agent.open("a.slide", O_RDONLY)
                let before = view(agent, first)
                let shown = desk.picture("a.slide")
                let told = agent.attribute("a.slide", "user.shapeedit.thumbnail")
                let again = agent.open("a.slide", O_RDONLY)
                let after = view(agent, again)
                let own = agent.attribute(first, "user.shapeedit.thumbnail")
                for file in [first, again] { agent.close(file) }
                // Emptied by the shell.
                guard let reference = references[before.content] else { continue }
                #expect([reference, placeholder].contains(own), "of another version, by its file")
                guard before == after else { continue }
                #expect([reference, placeholder].contains(shown), "of another version, by path")
                #expect([reference, placeholder].contains(told), "of another version, by name")
                if shown == reference { compared += 1 }
            }
            try PictureDesk.write([], to: stop)
            for program in programs { #expect(program.wait(seconds: 60).status == 0) }
            #expect(compared > 0)
            #expect(desk.settle("a.slide") == "ready")
            #expect(desk.picture("a.slide") == references[agent.content("a.slide")])
            print("compared \(compared) pictures with their versions")
        }
    }

    /// How many: 300, or $SHAPEEDIT_TEST_DOCUMENTS. Workers alone get 10,000 in each run
    /// (`HostileDocumentTests`).
    private static let mutated =
        getenv("SHAPEEDIT_TEST_DOCUMENTS").flatMap { Int(String(cString: $0)) } ?? 300

    @Test func `mutated documents cost placeholders and nothing else`() throws {
        let seed = Seed.next("mutated documents")
        try withPictures { desk in
            let daemon = try #require(desk.container.daemon)
            var generator = SplitMix(seed: seed)
            let slide = PictureDesk.slide(9).bytes
            let ends = ["slide", "shape", "list", "shapeFile", "md"]
            let step = 100
            for start in stride(from: 0, to: Self.mutated, by: step) {
                let names = (start..<start + step).map { "\($0).\(ends[$0 % ends.count])" }
                for name in names {
                    let bytes = Self.mutation(of: slide, &generator)
                    desk.agent.store(ByteString(name), ByteString(bytes))
                }
                for name in names {
                    let state = desk.settle(name)
                    #expect(state == "ready" || state.hasPrefix("failed"), "\(name): \(state)")
                    desk.agent.unlink(ByteString(name))
                }
            }
            #expect(Container.isAlive(daemon))
            desk.agent.store("sound.slide", PictureDesk.slide(1))
            #expect(desk.settle("sound.slide") == "ready")
            try #expect(
                desk.picture("sound.slide") == desk.reference(PictureDesk.slide(1), "slide"))
        }
    }

    private static func mutation(of sample: [UInt8], _ generator: inout SplitMix) -> [UInt8] {
        var bytes = sample
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
        return bytes
    }
}

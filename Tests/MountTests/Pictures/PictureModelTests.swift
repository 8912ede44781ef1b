import Glibc
import Probing
import TestSupport
import Testing

/// Pictures while documents change, and of documents that mean harm.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PictureModelTests {
    @Test(arguments: DataPath.mounts)
    func `a picture is that of the version it is shown for, whoever publishes`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath) { desk in
            let kinds = 6
            let folder = "\(desk.container.base)/slides"
            mkdir(folder, 0o755)
            var references: [ByteString: ByteString] = [:]
            for number in 0..<kinds {
                let slide = PictureDesk.slide(number)
                try PictureDesk.write(slide.bytes, to: "\(folder)/\(number).slide")
                references[slide] = try desk.reference(slide, "slide")
            }
            let placeholder = desk.agent.content(
                {
                    desk.agent.store("empty.slide", "")
                    return desk.path("empty.slide")
                }())
            // Written over and replaced by rename, by another process, as fast as it can.
            let writer = try Agent(in: desk.container.mountPoint)
            defer { writer.end() }
            let stop = "\(desk.container.base)/stop"
            let script =
                "i=0; while [ ! -e \(stop) ]; do i=$((i+1)); n=$((i % \(kinds))); "
                + "cat \(folder)/$n.slide > a.slide; n=$(((i * 5 + 3) % \(kinds))); "
                + "cp \(folder)/$n.slide t.tmp; mv t.tmp a.slide; "
                + "[ $((i % 8)) = 0 ] && sleep 0.3; done; true"
            let process = try RunningProgram(
                ["sh", "-c", "cd \(desk.container.mountPoint) && \(script)"].map {
                    Array($0.utf8)
                })
            var compared = 0
            waitUntil { access("\(desk.container.mountPoint)/a.slide", F_OK) == 0 }
            for _ in 0..<200 {
                let agent = desk.agent
                let version = agent.open("a.slide", O_RDONLY)
                let content = agent.readToEnd(version)
                let shown = agent.attribute(
                    // An item that was replaced meanwhile has no name and so no type.
                    version, "user.shapeedit.thumbnail", fails: 0, ENODATA)
                agent.close(version)
                guard shown.count > 0, content.count > 0 else { continue }
                if shown == placeholder { continue }
                compared += 1
                #expect(shown == references[content], "of another version")
            }
            try PictureDesk.write([], to: stop)
            #expect(process.wait(seconds: 60).status == 0)
            #expect(desk.settle("a.slide") == "ready")
            #expect(desk.picture("a.slide") == references[desk.agent.content("a.slide")])
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

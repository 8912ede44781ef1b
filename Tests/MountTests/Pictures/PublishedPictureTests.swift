import Glibc
import Probing
import TestSupport
import Testing

/// Documents that are published together with their pictures.
///
/// Closes get a patience that no machine needs: how long a drawing takes is not what is tested here.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PublishedPictureTests {
    private static let patience = 45_000

    /// Slides and their pictures.
    private func samples(_ desk: PictureDesk, _ count: Int) throws
        -> [(slide: ByteString, picture: ByteString)]
    {
        try (0..<count).map { number in
            let slide = PictureDesk.slide(number)
            return (slide, try desk.reference(slide, "slide"))
        }
    }

    @Test(arguments: DataPath.mounts)
    func `after a close the picture is there`(_ dataPath: DataPath) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let reader = try Agent(in: desk.container.mountPoint, user: desk.container.user)
            defer { reader.end() }
            for (slide, picture) in try samples(desk, 5) {
                desk.agent.store("a.slide", slide)
                #expect(reader.content(desk.path("a.slide")) == picture)
                #expect(reader.attribute("a.slide", "user.shapeedit.thumbnail") == picture)
                #expect(reader.attribute("a.slide", "user.shapeedit.thumbnail.state") == "ready")
            }
            // What cannot be drawn is known as such at once too.
            desk.agent.store("a.slide", "no slide")
            #expect(desk.state("a.slide").hasPrefix("failed: "))
            for end in ["shape", "shapeFile", "list"] {
                let made = try desk.container.command(
                    "new", "\(desk.container.mountPoint)/made.\(end)")
                try #require(made.status == 0, "\(made)")
                #expect(desk.state("made.\(end)") == "ready")
            }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `the largest picture follows, and who looks waits for it`(_ dataPath: DataPath) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            // Without anybody who looks it comes too: the file that is kept has it.
            let slide = PictureDesk.slide(5)
            let largest = try desk.reference(slide, "slide", 1024).count
            desk.agent.store("b.slide", slide)
            #expect(try waitUntil { try desk.keptBytes().count { $0 > largest } == 1 })
            #expect(try desk.picture("b.slide", 1024) == desk.reference(slide, "slide", 1024))
            for number in 0..<5 {
                let slide = PictureDesk.slide(number)
                desk.agent.store("a.slide", slide)
                #expect(
                    try desk.picture("a.slide", 1024) == desk.reference(slide, "slide", 1024))
                // It was added to the others.
                #expect(try desk.picture("a.slide", 512) == desk.reference(slide, "slide", 512))
            }
        }
    }

    @Test func `the largest picture follows also while the others are still written`() throws {
        try withPictures(patience: Self.patience) { desk in
            try desk.remount { try desk.container.preload(Container.slowRename) }
            for number in 0..<3 {
                let slide = PictureDesk.slide(number)
                desk.agent.store("a.slide", slide)
                #expect(
                    try desk.picture("a.slide", 1024) == desk.reference(slide, "slide", 1024))
            }
        }
    }

    @Test func `a placeholder stands in for the largest, and who watches it is told`() throws {
        try withPictures(thumbnailer: HaltedWorkers.thumbnailer()) { desk in
            let (agent, workers) = (desk.agent, HaltedWorkers(desk))
            let slides = (0..<2).map { PictureDesk.slide($0) }
            let largest = try slides.map { try desk.reference($0, "slide", 1024) }
            agent.store("empty.slide", "")
            let placeholder = desk.picture("empty.slide", 1024)
            // The picture of an earlier version, which the kernel keeps.
            agent.store("a.slide", slides[0])
            #expect(waitUntil { desk.picture("a.slide", 1024) == largest[0] })
            #expect(desk.picture("a.slide", 1024) == largest[0])
            try workers.stop()
            agent.store("a.slide", slides[1])
            #expect(agent.content("a.slide") == slides[1])
            #expect(desk.picture("a.slide", 1024) == placeholder)
            let folder = "\(desk.container.mountPoint)/.shapeedit/thumbnails"
            let usual = try #require(Watch("\(folder)/256/a.slide.png"))
            let large = try #require(Watch("\(folder)/1024/a.slide.png"))
            let above = try #require(Watch("\(folder)/1024"))
            let start = nanosecondsNow()
            try workers.goOn()
            #expect(usual.sees(UInt32(IN_DELETE_SELF), seconds: 20))
            // It follows a second later, and nothing is said of it before.
            usleep(200_000)
            let isTold = large.sees(UInt32(IN_DELETE_SELF), seconds: 0)
            let isEarly = nanosecondsNow() - start < 900_000_000
            #expect(!isTold || !isEarly)
            #expect(isTold || large.sees(UInt32(IN_DELETE_SELF), seconds: 20))
            #expect(above.sees(UInt32(IN_ATTRIB), of: "a.slide.png", seconds: 20))
            #expect(desk.picture("a.slide", 1024) == largest[1])
        }
    }

    @Test(arguments: DataPath.mounts)
    func `no reader sees a new content without its picture`(_ dataPath: DataPath) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let samples = try samples(desk, 4)
            let references = Dictionary(
                uniqueKeysWithValues: samples.map { ($0.slide, $0.picture) })
            let folder = "\(desk.container.base)/slides"
            mkdir(folder, 0o755)
            for (number, sample) in samples.enumerated() {
                try PictureDesk.write(sample.slide.bytes, to: "\(folder)/\(number).slide")
            }
            desk.agent.store("a.slide", samples[0].slide)
            let stop = "\(desk.container.base)/stop"
            let writer = try RunningProgram(
                [
                    "sh", "-c",
                    "i=0; while [ ! -e \(stop) ]; do i=$((i+1)); "
                        + "cat \(folder)/$((i % 4)).slide > a.slide || exit 1; done",
                ].map { Array($0.utf8) }, directory: desk.container.mountPoint)
            var seen: Set<ByteString> = []
            let end = nanosecondsNow() + 120_000_000_000
            while seen.count < 4, nanosecondsNow() < end {
                let version = desk.agent.open("a.slide", O_RDONLY)
                let content = desk.agent.readToEnd(version)
                let shown = desk.agent.attribute(version, "user.shapeedit.thumbnail")
                desk.agent.close(version)
                guard content.count > 0 else { continue }
                try #require(shown == references[content], "not the picture of what was read")
                seen.insert(content)
            }
            try PictureDesk.write([], to: stop)
            #expect(writer.wait(seconds: 60).status == 0)
            #expect(seen.count == 4)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what is written after a close that was drawn gets its own picture`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let agent = desk.agent
            let samples = try samples(desk, 3)
            let file = agent.open("a.slide", O_RDWR | O_CREAT)
            agent.write(file, samples[0].slide)
            agent.close(agent.duplicate(file))
            #expect(samples[0].slide.count == samples[1].slide.count)
            agent.write(file, samples[1].slide, offset: 0)
            agent.close(file)
            #expect(desk.picture("a.slide") == samples[1].picture)
            // A mapping writes on when all descriptors are closed.
            let mapped = agent.open("a.slide", O_RDWR)
            agent.write(mapped, samples[2].slide, offset: 0)
            agent.close(agent.duplicate(mapped))
            agent.close(mapped)
            #expect(desk.picture("a.slide") == samples[2].picture)
        }
    }

    @Test func `who saves by rename has the picture at the first look`() throws {
        try withPictures(patience: Self.patience) { desk in
            for (slide, picture) in try samples(desk, 3) {
                desk.agent.store("a.slide.tmp", slide)
                desk.agent.rename("a.slide.tmp", "a.slide")
                #expect(desk.picture("a.slide") == picture)
            }
        }
    }

    @Test func `a document can be removed while somebody waits for its picture`() throws {
        let program = try BuiltPrograms.shapeedit() + "-thumbnailer"
        try withPictures(
            thumbnailer: "while [ ! -e \"$0.go\" ]; do sleep 0.1; done; exec '\(program)' \"$@\"",
            patience: Self.patience
        ) { desk in
            desk.agent.store("empty.slide", "")
            let placeholder = desk.picture("empty.slide")
            // More than are drawn at a time; saved by rename, so that no close waits.
            for number in 0..<6 {
                desk.agent.store(".new", PictureDesk.slide(number))
                desk.agent.rename(".new", ByteString("\(number).slide"))
            }
            let reader = try RunningProgram(
                ["cat", "\(desk.container.mountPoint)/\(desk.path("5.slide").text)"].map {
                    Array($0.utf8)
                })
            usleep(500_000)
            desk.agent.unlink("5.slide")
            #expect(desk.agent.content("4.slide") == PictureDesk.slide(4))
            // It looked before the document went: that has no picture, or is gone by now.
            let seen = reader.wait(seconds: 20)
            #expect(seen.status == 1 || ByteString(seen.output) == placeholder, "\(seen.status)")
            #expect(desk.agent.names(".").contains("5.slide") == false)
            try PictureDesk.write([], to: desk.container.base + "/thumbnailer.go")
        }
    }

    @Test func `a close does not wait for a worker that is slow`() throws {
        let program = try BuiltPrograms.shapeedit() + "-thumbnailer"
        let desk = try PictureDesk(
            thumbnailer: "while [ ! -e \"$0.go\" ]; do sleep 0.1; done; exec '\(program)' \"$@\"")
        defer { desk.remove() }
        let slide = PictureDesk.slide(1)
        for number in 0..<5 {
            desk.agent.store(ByteString("\(number).slide"), slide)
            #expect(desk.agent.content(ByteString("\(number).slide")) == slide)
            #expect(desk.state("\(number).slide") == "pending")
        }
        try PictureDesk.write([], to: desk.container.base + "/thumbnailer.go")
        let picture = try desk.reference(slide, "slide")
        for number in 0..<5 {
            #expect(desk.settle("\(number).slide") == "ready")
            #expect(desk.picture("\(number).slide") == picture)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `killed while a close waits for the picture, the document is there`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(
            dataPath, thumbnailer: "exec cat > /dev/null", patience: Self.patience
        ) { desk in
            let slide = PictureDesk.slide(3)
            let file = desk.container.base + "/a.slide"
            try PictureDesk.write(slide.bytes, to: file)
            let writer = try RunningProgram(
                ["cp", file, desk.container.mountPoint + "/a.slide"].map { Array($0.utf8) })
            #expect(waitUntil { desk.count("picturesWaiting") > 0 })
            try desk.container.killDaemon()
            _ = writer.wait()
            try desk.replaceThumbnailer(by: nil)
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            #expect(agent.content("a.slide") == slide)
            #expect(
                waitUntil {
                    agent.attribute("a.slide", "user.shapeedit.thumbnail.state") == "ready"
                }
            )
            try #expect(agent.content(desk.path("a.slide")) == desk.reference(slide, "slide"))
        }
    }

    @Test(arguments: DataPath.mounts)
    func `killed after a close that was drawn, the picture is that of what was recovered`(
        _ dataPath: DataPath
    ) throws {
        try withPictures(dataPath, patience: Self.patience) { desk in
            let samples = try samples(desk, 3)
            desk.agent.store("done.slide", samples[0].slide)
            let file = desk.agent.open("a.slide", O_RDWR | O_CREAT)
            desk.agent.write(file, samples[1].slide)
            desk.agent.close(desk.agent.duplicate(file))
            desk.agent.write(file, samples[2].slide, offset: 0)
            try desk.container.killDaemon()
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            for name in ["done.slide", "a.slide"] {
                let document = ByteString(name)
                #expect(
                    waitUntil {
                        agent.attribute(document, "user.shapeedit.thumbnail.state") == "ready"
                    })
                let content = agent.content(document)
                let sample = try #require(samples.first { $0.slide == content })
                #expect(agent.content(desk.path(name)) == sample.picture)
            }
        }
    }

    @Test func `killed at any moment, every picture is that of its document`() throws {
        let seed = Seed.next("killed at any moment")
        var generator = SplitMix(seed: seed)
        try withPictures { desk in
            let samples = try samples(desk, 4)
            let references = Dictionary(
                uniqueKeysWithValues: samples.map { ($0.slide, $0.picture) })
            let folder = "\(desk.container.base)/slides"
            mkdir(folder, 0o755)
            for (number, sample) in samples.enumerated() {
                try PictureDesk.write(sample.slide.bytes, to: "\(folder)/\(number).slide")
            }
            desk.agent.end()
            for _ in 0..<6 {
                // Written over, made by rename and looked at, until the daemon is gone.
                let writer = try RunningProgram(
                    [
                        "sh", "-c",
                        "i=0; while cat \(folder)/$((i % 4)).slide > a.slide "
                            + "&& cp \(folder)/$(((i + 1) % 4)).slide t.tmp && mv t.tmp b.slide "
                            + "&& cat .shapeedit/thumbnails/256/a.slide.png > /dev/null; "
                            + "do i=$((i+1)); done",
                    ].map { Array($0.utf8) }, directory: desk.container.mountPoint)
                usleep(UInt32.random(in: 1_000...400_000, using: &generator))
                try desk.container.killDaemon()
                _ = writer.wait()
                try desk.mount()
                let agent = try Agent(in: desk.container.mountPoint)
                defer { agent.end() }
                for file in agent.names(".") where file.hasSuffix(".slide") {
                    let name = ByteString(file)
                    // Emptied by the shell and recorded so: nothing is to be drawn.
                    let content = agent.content(name)
                    guard let reference = references[content] else { continue }
                    #expect(
                        waitUntil {
                            agent.attribute(name, "user.shapeedit.thumbnail.state") == "ready"
                        })
                    #expect(agent.content(desk.path(file)) == reference)
                }
            }
        }
    }

    /// As a machine without a clock of its own has it after a power loss, which takes versions back
    /// and gives their numbers to others, but not the pictures.
    @Test
    func `pictures that a power loss has left are not believed, also if the clock was set back`()
        throws
    {
        try withPictures { desk in
            let samples = try samples(desk, 2)
            for (number, sample) in samples.enumerated() {
                desk.agent.store(ByteString("\(number).slide"), sample.slide)
                desk.settle("\(number).slide")
            }
            try desk.container.killDaemon()
            let files = try desk.keptFiles()
            try #require(files.count == 2)
            // Of whichever document the other one has its picture then.
            let lost = Int(time(nil)) + 3_600
            for (file, other) in zip(files, try files.reversed().map(PictureDesk.read)) {
                try PictureDesk.write(other, to: file)
                let times = Array(repeating: timespec(tv_sec: lost, tv_nsec: 1), count: 2)
                try #require(utimensat(AT_FDCWD, file, times, 0) == 0)
            }
            // What the last sync noted: seconds since 1901 above the nanoseconds.
            let synced = withUnsafeBytes(of: UInt64(lost + 1 << 31) << 30) { Array($0) }
            let folder = "\(desk.container.dataHome)/shapeedit/containers/"
            try PictureDesk.write(synced, to: folder + desk.container.name + "/durable")
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            for (number, sample) in samples.enumerated() {
                let name = "\(number).slide"
                let document = ByteString(name)
                #expect(
                    waitUntil {
                        agent.attribute(document, "user.shapeedit.thumbnail.state") == "ready"
                    })
                #expect(agent.content(desk.path(name)) == sample.picture)
            }
        }
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// Many processes read a file that one rewrites in pieces: none may ever see half.
@Suite(.oneAtATime) struct TornReadTests {
    /// Reads of each kind; together more than 20,000 on each data path.
    private static let kinds: [(way: String, reads: Int)] = [
        ("read", 18_000), ("mmap", 10_000), ("stat", 12_000), ("slow", 800),
    ]

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `no reader sees a torn, empty or missing file`(_ dataPath: DataPath) throws {
        let seed = Seed.next("torn reads")
        try withVolume(dataPath) { volume in
            // The readers end by their counts; the time is for slow machines.
            let summary = try Self.run(volume, seed: seed, onlyRename: false, seconds: 300)
            #expect(summary.bad == 0, "seed \(seed): \(summary)")
            #expect(summary.reads >= 20_000)
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"),
        .enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.mounts)
    func `no reader sees a torn file while its name is exchanged with another`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let script = #filePath.replacing("TornReadTests.swift", with: "exchanged.py")
            let result = try Probing.run(["python3", script, volume.directory, "10"])
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(
        .enabled(if: !DataPath.isPlain, "needs a mount"),
        .enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.mounts)
    func `no reader finds an empty file that is renamed before it is closed`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let script = #filePath.replacing("TornReadTests.swift", with: "renamed.py")
            let result = try Probing.run(["python3", script, volume.directory, "200"])
            #expect(result.status == 0, "\(result)")
        }
    }

    /// Checks the test itself: ext4 tears in place, but not by rename.
    @Test(.enabled(if: DataPath.isPlain, "checks the test on an ordinary directory"))
    func `an ordinary directory tears where it should, and nowhere else`() throws {
        try withVolume(.plain) { volume in
            let tearing = try Self.run(volume, seed: 1, onlyRename: false, seconds: 5)
            #expect(tearing.bad > 0)
            let renaming = try Self.run(volume, seed: 2, onlyRename: true, seconds: 5)
            #expect(renaming.bad == 0, "\(renaming)")
        }
    }

    private static func run(
        _ volume: Volume, seed: UInt64, onlyRename: Bool, seconds: Int
    ) throws -> Summary {
        let agent = try volume.agent()
        let path = "\(volume.directory)/document"
        agent.store("document", ByteString(SelfCheckingText.content(writer: 1, version: 1)))
        let stop = try Pipe()
        let probe = try BuiltPrograms.probe()
        let writer = try RunningProgram(
            ([probe, "torn-writer", path, "\(seed)"] + (onlyRename ? ["rename"] : [])).map {
                Array($0.utf8)
            }, input: stop.reading)
        let readers = try kinds.map { kind in
            try RunningProgram(
                [probe, "torn-reader", path, kind.way, "\(kind.reads)", "\(seconds)"].map {
                    Array($0.utf8)
                })
        }
        var summary = Summary()
        for (kind, reader) in zip(kinds, readers) {
            summary.add(kind.way, reader.wait(seconds: Double(seconds) + 30))
        }
        stop.closeWriting()
        let written = writer.wait(seconds: 30)
        stop.closeReading()
        #expect(written.status == 0, "the writer: \(written)")
        summary.text += "writer: \(written.text)"
        print("torn reads on \(volume.dataPath):\n\(summary)")
        return summary
    }

    private struct Summary: CustomStringConvertible {
        var reads = 0
        var bad = 0
        var text = ""
        var description: String { text }

        mutating func add(_ way: String, _ result: ProgramResult) {
            text += "\(way): \(result.text)"
            if result.status != 0 {
                bad += 1
                text += "\(way) ended with status \(result.status)\n"
            }
            for word in result.text.split(whereSeparator: \.isWhitespace) {
                let parts = word.split(separator: "=")
                guard parts.count == 2, let number = Int(parts[1]) else { continue }
                switch parts[0] {
                case "reads": reads += number
                case "torn", "empty", "errors", "backwards": bad += number
                default: break
                }
            }
        }
    }
}

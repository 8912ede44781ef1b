import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct RenamedLinkTests {
    /// The kernel takes what it keeps of a name along to the next one: a rename that is on its way when the
    /// file is opened to write must not bring the version before to a name that the kernel was not told of.
    @Test(arguments: DataPath.mounts)
    func `after a close the version is seen by a link that is renamed meanwhile`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("in")
            agent.store("a", "00000000")
            agent.link("a", "in/b")
            let stop = "\(volume.directory)/stop"
            let loop = """
                while (!-e "stop") { rename "in/b", "in/c"; rename "in/c", "in/b"; \
                select undef, undef, undef, rand 0.002 }
                """
            let program = try RunningProgram(
                ["timeout", "60", "perl", "-e", loop].map { Array($0.utf8) },
                directory: volume.directory)
            var stale: [String] = []
            for number in 1...600 {
                let bytes = String(10_000_000 + number)
                let file = agent.open("a", O_RDWR)
                agent.write(file, ByteString(bytes))
                agent.close(file)
                // By this process, which did not write it.
                var seen: String?
                for _ in 0..<10_000 where seen == nil {
                    seen =
                        text(of: "\(volume.directory)/in/b") ?? text(of: "\(volume.directory)/in/c")
                }
                if seen != bytes { stale.append("\(seen ?? "nothing") after \(bytes)") }
            }
            close(creat(stop, 0o644))
            #expect(program.wait(seconds: 60).status == 0)
            #expect(stale.isEmpty, "\(stale.count): \(stale.prefix(5))")
        }
    }

    /// The first bytes of a file; nil if there is none.
    private func text(of path: String) -> String? {
        let file = Glibc.open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}

import Glibc
import Probing
import TestSupport
import Testing

/// `.shapeedit/metrics`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct MetricsTests {
    @Test func `the numbers of a mount can be collected as OpenMetrics`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            let file = volume.root + "/.shapeedit/metrics"
            func value(_ sample: String) -> Int? {
                let lines = agent.content(file).text.split(separator: "\n")
                let found = lines.first { $0.hasPrefix("shapeedit_\(sample){container=\"") }
                return found.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
            }
            let items = try #require(value("items"))
            agent.store("new", "content")
            #expect(value("items") == items + 1)
            let writer = agent.open("new", O_WRONLY)
            #expect(value("sessions") == 1)
            agent.close(writer)
            try volume.evictAll()
            #expect(agent.content("new") == "content" && value("fetched_bytes_total") == 7)
            let text = agent.content(file).text
            #expect(agent.status(file).size == text.utf8.count && text.hasSuffix("\n# EOF\n"))
            // Each sample follows what its metric is, and there is none twice.
            var known: Set<Substring> = []
            var current: Substring = ""
            for line in text.split(separator: "\n").dropLast() {
                let words = line.split(separator: " ")
                if line.hasPrefix("# TYPE ") {
                    current = words[2]
                    #expect(
                        known.insert(current).inserted && ["gauge", "counter"].contains(words[3]))
                } else if line.hasPrefix("#") {
                    #expect(["UNIT", "HELP"].contains(words[1]) && words[2] == current, "\(line)")
                } else {
                    #expect(line.hasPrefix(current) && words.count == 2, "\(line)")
                }
            }
            #expect(known.count >= 10)
            agent.open(file, O_WRONLY, fails: EACCES, EROFS, EPERM)
        }
    }
}

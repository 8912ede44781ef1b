import Glibc
import Probing
import TestSupport
import Testing

/// What inotifywait tells of a directory and all below it.
struct Transcript {
    private let program: RunningProgram
    private let file: String
    private let directory: String

    /// Begins to watch; `volume` says as whom.
    init(_ volume: Volume, _ directory: String) throws {
        self.directory = directory
        file = try #require(volume.container).base + "/home/transcript"
        unlink(file)
        let errors = file + ".errors"
        unlink(errors)
        program = try volume.start([
            "sh", "-c",
            "exec inotifywait -m -r --format '%w%f %e' -o \"$0\" \"$1\" 2> \"$0.errors\"",
            file, directory,
        ])
        for _ in 0..<500 {
            if try run(["cat", errors]).text.contains("established") { return }
            usleep(20_000)
        }
        throw TestSetupFailure("inotifywait: \(try run(["cat", errors]).text)")
    }

    private var text: String {
        guard let result = try? run(["cat", file]) else { return "" }
        return result.text
    }

    /// How often the event has come, whatever it came to.
    func count(of event: String) -> Int {
        text.split(separator: "\n").count { $0.hasSuffix(" " + event) }
    }

    /// The events by path, each path's in their order; see ``lines(until:)``.
    func events(until patterns: String...) -> [String: [String]] {
        Dictionary(grouping: found(until: patterns), by: \.path).mapValues { $0.map(\.event) }
    }

    /// The events in their order, without those of looking. Waits until there have been none for a
    /// while, or for all of `patterns`.
    func lines(until patterns: String...) -> [(path: String, event: String)] {
        found(until: patterns)
    }

    private func found(until patterns: [String]) -> [(path: String, event: String)] {
        var last = ""
        var quiet = 0
        // A busy machine takes its time to start a process.
        while quiet < (patterns.isEmpty ? 50 : 600) {
            usleep(100_000)
            let now = text
            if !patterns.isEmpty, patterns.allSatisfy({ now.contains($0) }) { break }
            quiet = now == last ? quiet + 1 : 0
            last = now
        }
        var found: [(path: String, event: String)] = []
        for line in text.split(separator: "\n") {
            guard let space = line.lastIndex(of: " ") else { continue }
            var path = String(line[..<space].dropFirst(directory.count + 1))
            if path.hasSuffix("/") { path.removeLast() }
            let event = String(line[line.index(after: space)...])
            let isLook = ["ACCESS", "OPEN,ISDIR", "CLOSE_NOWRITE"].contains { event.hasPrefix($0) }
            if !isLook { found.append((path, event)) }
        }
        return found
    }

    func end() {
        program.kill(signal: SIGKILL)
        _ = program.wait(seconds: 10)
    }
}

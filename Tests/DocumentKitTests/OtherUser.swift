import Glibc
import Probing
import TestSupport
import Testing

extension Volume {
    /// Starts a program in this volume's directory as a user who has not mounted it, nor any rights.
    func startAsOther(
        _ words: [String], input: Int32? = nil, output: Int32? = nil
    ) throws -> RunningProgram {
        let user = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
        return try start(user + words, input: input, output: output)
    }
}

/// A program that another user runs, and talks with.
final class OthersProgram {
    private let program: RunningProgram
    private let input: Int32
    private let output: String
    /// How much of what it said was expected.
    private var heard = 0

    /// A note taker; waits until it has the document of that name open.
    static func noteTaker(
        _ name: String, in volume: Volume, at location: SourceLocation = #_sourceLocation
    ) throws -> OthersProgram {
        let words = [try BuiltPrograms.noteTaker(), "\(volume.directory)/\(name)"]
        let program = try OthersProgram(words, in: volume)
        program.expect("-- changed", at: location)
        return program
    }

    init(_ words: [String], in volume: Volume) throws {
        let pair = try SocketPair()
        output = try TemporaryDirectory.make() + "/said"
        let file = open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            pair.closeTheirs()
            close(file)
        }
        input = pair.ours
        // Its working directory is in no mount, which that would keep busy.
        program = try volume.startAsOther(
            ["env", "-C", "/", "stdbuf", "-o0"] + words, input: pair.theirs, output: file)
    }

    deinit {
        program.kill(signal: SIGKILL, group: true)
        TemporaryDirectory.remove(String(output.dropLast("/said".count)))
    }

    /// All that it has said.
    var said: String { text(of: output) ?? "" }

    /// It gets a line; nothing if it has ended.
    func say(_ line: String) {
        _ = send(input, line + "\n", line.utf8.count + 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits until it says that, after what was expected before.
    func expect(_ words: String, at location: SourceLocation = #_sourceLocation) {
        expectSoon("\(words) in \(said)", at: location) {
            let isRunning = program.isRunning
            let rest = String(decoding: Array(said.utf8)[heard...], as: UTF8.self)
            if let range = rest.firstRange(of: words) {
                heard += rest.utf8.distance(from: rest.startIndex, to: range.upperBound)
                return true
            }
            if !isRunning { Issue.record("it ended before: \(words)", sourceLocation: location) }
            return !isRunning
        }
    }

    /// Ends its input.
    func end(at location: SourceLocation = #_sourceLocation) {
        close(input)
        let result = program.wait(seconds: 60)
        #expect(
            result.status == 0 && result.errorText == "", "\(result)", sourceLocation: location)
    }
}

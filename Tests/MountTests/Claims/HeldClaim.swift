import Glibc
import Probing
import TestSupport
import Testing

/// A claim that a `shapeedit coordinate` holds until it is told to end.
final class HeldClaim {
    private let program: RunningProgram
    private let input: Pipe
    private let output: Pipe
    private var hasInput = true

    /// Starts it; ``waitUntilGranted(at:)`` tells when it holds. `options` are those of `coordinate`.
    init(_ volume: Volume, _ options: String...) throws {
        (input, output) = (try Pipe(), try Pipe())
        let binary = try BuiltPrograms.shapeedit()
        program = try volume.start(
            [binary, "coordinate"] + options + ["--", "sh", "-c", "echo held; exec cat"],
            input: input.reading, output: output.writing)
        input.closeReading()
        output.closeWriting()
    }

    deinit {
        closeInput()
        output.closeReading()
    }

    private func closeInput() {
        if hasInput { input.closeWriting() }
        hasInput = false
    }

    /// Whether the claim is granted within so many milliseconds.
    func isGranted(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0 && entry.revents & Int16(POLLIN) != 0
    }

    /// Waits until it holds; records an issue if it does not.
    func waitUntilGranted(at location: SourceLocation = #_sourceLocation) {
        if isGranted(within: 30_000) { return }
        Issue.record("no claim: \(end())", sourceLocation: location)
    }

    /// Lets the command, and so the claim, end.
    @discardableResult
    func end() -> ProgramResult {
        closeInput()
        return program.wait(seconds: 60)
    }

    /// Kills it, not its command.
    func kill() {
        program.kill(signal: SIGKILL)
        _ = program.wait(seconds: 10)
    }

    /// What it says when it does not get the claim.
    func result() -> ProgramResult { program.wait(seconds: 60) }
}

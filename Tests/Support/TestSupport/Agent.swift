internal import Glibc
package import Probing
package import Testing

/// Another process, which makes system calls when told to.
///
/// Every method that makes a call takes the errors it has to fail with in `fails:`; without them
/// it has to succeed. What is different is recorded as an issue at the caller's line, so a test
/// reads as a list of calls. A call that does not return within 120 s is recorded as well, and its
/// process is killed. Not for several threads at once.
package final class Agent {
    /// How long a call may take, unless a test says otherwise.
    package static let patienceMilliseconds: Int32 = 120_000

    /// The user it runs as.
    package let user: Int
    /// Makes every call on a new thread of the process while true.
    package var usesNewThreads = false

    private let program: RunningProgram
    private let channel: Channel
    private var isBroken = false
    private var pending: String?

    /// Starts a process in `directory`, so that tests can use relative paths. Without a `user` it
    /// runs as the same; only root can say another. Without a `group` it has the user's number.
    package init(
        in directory: String, user: Int? = nil, group: Int? = nil, groups: [Int] = []
    ) throws {
        self.user = user ?? Int(geteuid())
        let group = group ?? user ?? Int(getegid())
        let words =
            [try BuiltPrograms.probe(), "agent", directory, "\(self.user)", "\(group)"]
            + groups.map { "\($0)" }
        let ends = try SocketPair()
        defer { ends.closeTheirs() }
        program = try RunningProgram(
            words.map { Array($0.utf8) }, input: ends.theirs, output: ends.theirs)
        channel = Channel(input: ends.ours, output: ends.ours)
    }

    deinit {
        end()
    }

    /// Its process id.
    package var process: Int { Int(program.process) }

    /// Lets the process end, which closes all it has open; kills it if it does not.
    package func end() {
        guard channelIsOpen else { return }
        channelIsOpen = false
        shutdown(channel.output, Int32(SHUT_WR))
        if program.wait(seconds: 10).status == 999 {
            Issue.record("process \(process) did not end and had to be killed")
        }
        Glibc.close(channel.output)
    }

    private var channelIsOpen = true

    /// Sends it a signal.
    package func signal(_ signal: Int32) {
        program.kill(signal: signal)
    }

    /// Ends it at once, as a crash would.
    package func crash() {
        program.kill(signal: SIGKILL, group: true)
        _ = program.wait(seconds: 10)
        isBroken = true
    }

    // MARK: Calls

    /// Sends a request without waiting; `finish` gets the reply.
    package func begin(_ name: String, _ request: Request) {
        guard !isBroken else { return }
        pending = name
        do { try channel.send(request.frame) } catch { breakDown("\(name): process is gone") }
    }

    /// Whether the call that was begun has returned within `milliseconds`.
    package func hasFinished(within milliseconds: Int32) -> Bool {
        isBroken || channel.isReady(milliseconds: milliseconds)
    }

    /// The reply to the call that was begun.
    package func finish(
        milliseconds: Int32 = Agent.patienceMilliseconds,
        at location: SourceLocation = #_sourceLocation
    ) -> Reply {
        let name = pending ?? "nothing begun"
        pending = nil
        guard !isBroken else { return Reply(result: -Int(EOWNERDEAD)) }
        do {
            return try Reply(frame: channel.receive(milliseconds: milliseconds))
        } catch Channel.Broken.late {
            breakDown("\(name) hangs", at: location)
        } catch {
            breakDown("\(name): process died, \(program.wait(seconds: 5).status)", at: location)
        }
        return Reply(result: -Int(EOWNERDEAD))
    }

    /// Asks for something and waits for it.
    package func ask(
        _ name: String, _ request: Request, at location: SourceLocation = #_sourceLocation
    ) -> Reply {
        begin(name, request)
        return finish(at: location)
    }

    /// Makes a system call and compares its outcome with what is expected.
    package func call(
        _ name: String, _ number: Int32, _ arguments: [CallArgument], fails: [Int32],
        at location: SourceLocation
    ) -> Reply {
        let reply = ask(
            name,
            .call(number: Int(number), arguments: arguments, onNewThread: usesNewThreads),
            at: location)
        judge(name, reply, fails: fails, at: location)
        return reply
    }

    /// Records an issue if a call did not end as expected.
    package func judge(_ name: String, _ reply: Reply, fails: [Int32], at location: SourceLocation)
    {
        guard !isBroken else { return }
        let found = reply.result < 0 ? Int32(-reply.result) : 0
        let isExpected = fails.isEmpty ? found == 0 : fails.contains(found)
        guard !isExpected else { return }
        let wanted = fails.isEmpty ? "success" : fails.map(errorName).joined(separator: " or ")
        Issue.record(
            "\(name) as user \(user): \(errorName(found)) instead of \(wanted)",
            sourceLocation: location)
    }

    private func breakDown(_ message: String, at location: SourceLocation = #_sourceLocation) {
        isBroken = true
        program.kill(signal: SIGKILL, group: true)
        Issue.record("\(message)", sourceLocation: location)
    }
}

/// The name of an errno, "success" for 0.
package func errorName(_ error: Int32) -> String {
    error == 0 ? "success" : ErrorNames.names[error] ?? "errno \(error)"
}

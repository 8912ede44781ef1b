internal import CTerminalShim
internal import Glibc

/// Asks the terminal of standard input and output how it takes pictures, for commands that print
/// and do not take the screen over.
public enum GraphicsConversation {
    /// The query with its answers; what the environment says if standard input or output is no
    /// terminal or another job has it, or nothing comes within ``GraphicsQuery/timeLimit``, over SSH in
    /// two seconds. The terminal is left as it was, whatever signals come. Keys pressed meanwhile are lost.
    public static func ask(environment: [String: String]) -> GraphicsQuery {
        guard isTerminal(environment: environment) else {
            return GraphicsQuery(wanted: GraphicsProtocol.none, environment: environment)
        }
        var query = GraphicsQuery(environment: environment)
        var before = termios()
        guard !query.isAnswered, isatty(0) != 0, shim_terminal_is_background(0) == 0,
            tcgetattr(0, &before) == 0, isReading
        else { return query }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // What would end or stop the process does so when the terminal is as it was.
        var (held, former) = (sigset_t(), sigset_t())
        sigemptyset(&held)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] { sigaddset(&held, signal) }
        pthread_sigmask(SIG_BLOCK, &held, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        guard tcsetattr(0, TCSANOW, &raw) == 0 else { return query }
        defer {
            // What came of an answer too late is not for the shell.
            if !query.isAnswered { tcflush(0, TCIFLUSH) }
            tcsetattr(0, TCSANOW, &before)
        }
        let question = query.question
        guard question.withUnsafeBytes({ write(1, $0.baseAddress, $0.count) }) == question.count
        else { return query }
        listen(&query)
        return query
    }

    /// Whether standard output is a terminal that understands more than lines of text.
    public static func isTerminal(environment: [String: String]) -> Bool {
        let term = environment["TERM"] ?? ""
        return isatty(1) != 0 && !term.isEmpty && term != "dumb"
    }

    /// Whether the terminal takes what is written. One that the user has stopped would have us wait
    /// while signals are held, so that only SIGKILL ends it.
    private static var isReading: Bool {
        var wait = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, Int32(GraphicsQuery.timeLimit)) > 0
            && wait.revents & Int16(POLLOUT) != 0
    }

    private static func listen(_ query: inout GraphicsQuery) {
        var parser = InputParser()
        let end = milliseconds() + query.longestWait
        while !query.isAnswered {
            var wait = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            let left = end - milliseconds()
            guard left > 0, poll(&wait, 1, Int32(left)) > 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = read(0, &bytes, bytes.count)
            guard count > 0 else { return }
            for case .reply(let reply) in parser.feed(bytes[..<count]) { query.take(reply) }
        }
    }

    private static func milliseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}

internal import CWorkerShim
internal import Glibc
internal import PathText
package import SystemCalls

/// A process started here, killed and reaped at the latest with this value.
///
/// May be used from any thread.
package final class ChildProcess: Sendable {
    package let identifier: Int32
    /// Readable when it has ended.
    package let ending: OwnedDescriptor
    private let isReaped = Lock(false)

    /// How a process ended.
    enum End: Equatable, CustomStringConvertible {
        case exit(Int32)
        case signal(Int32)

        var description: String {
            switch self {
            case .exit(let code): "exit code \(code)"
            case .signal(let number):
                "signal \(number) (\(strsignal(number).map { String(cString: $0) } ?? "unknown"))"
            }
        }

        /// Whether somebody wanted it to end, as the system does when it shuts down: that says nothing
        /// of what it was doing.
        var wasWanted: Bool {
            guard case .signal(let number) = self else { return false }
            return [SIGTERM, SIGHUP, SIGINT, SIGQUIT].contains(number)
        }
    }

    /// The number that a further descriptor has in the process.
    static let further: Int32 = 3

    /// Starts a program, found by its path or in PATH. Its standard input and output, and
    /// ``further``, are the descriptors given, else nothing; its messages go nowhere; it has no other
    /// descriptors.
    package init(
        _ arguments: [String], environment: [String: String], input: Int32? = nil,
        output: Int32? = nil, further: Int32? = nil
    ) throws(Errno) {
        var start = ProgramStart(in: .session)
        start.give(input, as: 0)
        start.give(output, as: 1)
        start.give(nil, as: 2)
        if let further { start.give(further, as: Self.further) }
        start.closeFrom(further == nil ? Self.further : Self.further + 1)
        let identifier = try start.run(
            arguments[0], arguments, environment: environment.map { "\($0.key)=\($0.value)" })
        let descriptor = shim_pidfd(identifier)
        guard descriptor >= 0 else {
            let problem = Errno.last
            Self.end(identifier)
            throw problem
        }
        self.identifier = identifier
        ending = OwnedDescriptor(adopting: descriptor)
    }

    deinit { kill() }

    @discardableResult
    private static func end(_ identifier: pid_t) -> End {
        // All of its group: a process that it has just started may not know yet that it ends with it.
        Glibc.kill(-identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            // Somebody else in this process collected it.
            guard errno == EINTR else { return .exit(-1) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }

    /// Whether it has ended by now.
    var hasEnded: Bool {
        var watched = pollfd(fd: ending.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&watched, 1, 0) > 0
    }

    /// How it ended, which it has; what it left of its group ends now.
    func end() -> End {
        isReaped.withLock { $0 = true }
        return Self.end(identifier)
    }

    /// Ends it now, if it has not ended.
    package func kill() {
        let isReaped = isReaped.withLock { isReaped in
            defer { isReaped = true }
            return isReaped
        }
        // Its number may be another process's by now.
        if !isReaped { Self.end(identifier) }
    }
}

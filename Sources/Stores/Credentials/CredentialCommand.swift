internal import Glibc
internal import SystemCalls

/// A program that prints credentials. Run without a shell, with nothing to read, its messages thrown
/// away (they could hold what it is asked for).
struct CredentialCommand {
    /// Seconds it may take: it may have to ask a network.
    private static let seconds: UInt64 = 60
    private static let outputLimit = 64 * 1024

    private let words: [String]
    private let address: String

    init(_ words: [String], address: String) {
        self.words = words
        self.address = address
    }

    /// Runs it to its end; what it printed.
    func output(_ call: StoreCall) throws(StoreError) -> String {
        let ends: (Int32, Int32)
        do throws(Errno) { ends = try Descriptors.socketPair() } catch { throw problem("\(error)") }
        let reading = OwnedDescriptor(adopting: ends.0)
        let process: pid_t
        do {
            let writing = OwnedDescriptor(adopting: ends.1)
            process = try start(output: writing.number)
        }
        var status: Int32 = 0
        // Afterwards its number may be another process's.
        var isReaped = false
        do throws(StoreError) {
            let text = try readAll(reading, of: process, call)
            // It has closed its output and is about to end; if not, it is ended.
            let end = MonotonicClock.after(milliseconds: 5_000)
            while waitpid(process, &status, WNOHANG) == 0 {
                if MonotonicClock.now > end { throw problem("it does not end") }
                try call.cancellation.sleep(nanoseconds: 2_000_000, at: address)
            }
            isReaped = true
            guard status == 0 else {
                let code =
                    status & 0x7f == 0 ? "status \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
                throw StoreError(.denied, at: address, "\(words[0]) ended with \(code)")
            }
            return text
        } catch {
            if !isReaped {
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
            }
            throw error
        }
    }

    private func problem(_ reason: String) -> StoreError {
        StoreError(.denied, at: address, "\(words[0]) cannot be asked for credentials: \(reason)")
    }

    private func start(output: Int32) throws(StoreError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals as new processes have them: a daemon ignores some, and what is in a pipeline would not end.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A group of its own, to be ended with all it has started.
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let code = words.withProgramWords {
            posix_spawnp(&process, words[0].cPath, &actions, &attributes, $0, environ)
        }
        guard code == 0 else { throw problem("\(Errno(code))") }
        return process
    }

    /// What it prints, until it has ended or closed its output: what it has started may go on for long and keep
    /// that open.
    private func readAll(
        _ pipe: borrowing OwnedDescriptor, of process: pid_t, _ call: StoreCall
    ) throws(StoreError) -> String {
        let end = MonotonicClock.after(milliseconds: Self.seconds * 1_000)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            try call.cancellation.check(at: address)
            // Before the look at the output: what it has printed is there then.
            let hasEnded = Self.hasEnded(process)
            var entry = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, hasEnded ? 0 : Int32(Cancellation.interval)) <= 0 {
                if hasEnded { return String(decoding: bytes, as: UTF8.self) }
                if MonotonicClock.now > end { throw problem("it takes too long") }
                continue
            }
            let count = read(pipe.number, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
            if bytes.count > Self.outputLimit { throw problem("it prints too much") }
        }
    }

    /// Whether it has, without taking its status.
    private static func hasEnded(_ process: pid_t) -> Bool {
        var found = siginfo_t()
        return waitid(P_PID, id_t(process), &found, WEXITED | WNOHANG | WNOWAIT) == 0
            && found.si_signo == SIGCHLD
    }
}

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
        var start = ProgramStart(in: .group)
        start.give(nil, as: 0)
        start.give(output, as: 1)
        start.give(nil, as: 2)
        do throws(Errno) { return try start.run(words[0], words) } catch {
            throw problem("\(error)")
        }
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

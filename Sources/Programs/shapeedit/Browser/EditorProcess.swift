import Glibc
import PathText
import SystemCalls
import Terminal

/// The editor as a process of its own, which has the terminal until it ends. For one thread.
struct EditorProcess: ~Copyable {
    /// What it came to.
    struct End {
        /// Its status, as waitpid tells it.
        var status: Int32
        /// The signal that asked this process to end meanwhile.
        var signal: Int32?
    }

    private let process: pid_t
    private let news: EventInbox<Int32>

    /// Starts it with a document.
    init(_ file: String) throws(Errno) {
        let news = try EventInbox<Int32>()
        var process: pid_t = 0
        let failure = ["shapeedit", "edit", "--", file].withProgramWords {
            posix_spawn(&process, "/proc/self/exe", nil, nil, $0, environ)
        }
        guard failure == 0 else { throw Errno(failure) }
        self.process = process
        self.news = news
        Threads.start("editor") { [process] in Self.tell(news, of: process) }
    }

    /// Tells when it stops and when it ends.
    private static func tell(_ news: EventInbox<Int32>, of process: pid_t) {
        var status: Int32 = 0
        repeat {
            while waitpid(process, &status, WUNTRACED) < 0 {
                guard errno == EINTR else { return news.put(-1) }
            }
            news.put(status)
        } while Self.isStopped(status)
    }

    private static func isStopped(_ status: Int32) -> Bool { status & 0xFF == 0x7F }

    /// Whether it stays stopped. Where both of us were stopped, as by the terminal when the editor goes on
    /// in the background, what is told of that is heard when the shell has resumed both: who stopped then
    /// would take the terminal from the job that the user has just brought back.
    private var isStoppedNow: Bool {
        for _ in 0..<3 {
            guard Processes.state(of: process)?.letter == "T" else { return false }
            usleep(10_000)
        }
        return true
    }

    /// Has the editor end too when this process was asked to.
    private func passOn(_ device: TerminalDevice, _ ending: inout Int32?) {
        for case .end(let signal) in device.signals() {
            ending = ending ?? signal
            kill(process, signal)
        }
    }

    /// Until it has ended. This process stops with it, as the shell waits for both of them; and a
    /// signal that asks this one to end is for both.
    func wait(_ device: TerminalDevice) -> End {
        var ending: Int32?
        while true {
            var waits = [device.signalDescriptor, news.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&waits, nfds_t(waits.count), -1) >= 0 else { continue }
            passOn(device, &ending)
            for status in news.takeAll() {
                guard Self.isStopped(status) else { return End(status: status, signal: ending) }
                guard isStoppedNow else { continue }
                passOn(device, &ending)
                // Who is to end does not wait for the user.
                if ending == nil { device.stop() }
                kill(process, SIGCONT)
            }
        }
    }
}

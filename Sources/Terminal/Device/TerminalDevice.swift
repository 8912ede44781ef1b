internal import CTerminalShim
internal import Glibc

/// The terminal of this process, raw and with a screen of its own while this exists.
///
/// However the process ends, except by SIGKILL, the terminal has its settings and its old screen
/// back. There can be only one at a time; all calls must come from one thread.
public final class TerminalDevice {
    /// A signal that arrived.
    public enum Signal: Hashable, Sendable {
        /// The process is to end; its number.
        case end(Int32)
        /// It is to stop until somebody resumes it: call ``suspend()``.
        case stop
        /// It was resumed: call ``resume()`` and draw all again.
        case resumed
        /// The terminal has another size.
        case resized
    }

    /// Columns and rows, and the pixels of both, 0 if the terminal does not tell.
    public struct Size: Hashable, Sendable {
        /// Cells from left to right.
        public var columns: Int
        /// Cells from top to bottom.
        public var rows: Int
        /// Pixels from left to right.
        public var width: Int
        /// Pixels from top to bottom.
        public var height: Int
    }

    /// Where keys come in.
    public let input: Int32
    private let output: Int32
    /// The same terminal by a description of its own, which does not block: a write that does would
    /// have to be interrupted by a signal that may have been taken just before. ``output``'s cannot
    /// be made so, it is the shell's too. ``output`` itself where there is no other.
    private let screen: Int32
    /// Readable when ``signals()`` has something.
    public let signalDescriptor: Int32
    private var isOver = false
    /// Whether the terminal is gone: nothing can be written or read any more.
    public private(set) var isGone = false
    /// Whether what was written last may have been cut off, within a picture for example.
    private var isCut = false

    /// Seconds that ``Signal/end(_:)`` leaves until the process dies of the signal: a document that
    /// others have is waited for ten and more, and then what was edited has to be kept elsewhere.
    public static let grace: UInt32 = 30

    /// An own screen without a cursor, pastes marked, the mouse reported in SGR form. Lines do not go on
    /// in the next: a character that takes more cells than it should must not, least of all in the last.
    private static let entering =
        "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h"
    /// What was written last may have been cut off: within a picture, or before all is to be shown at once.
    private static let leaving =
        "\u{1B}\\\u{1B}[?2026l\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?2004l"
        + "\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// Says why an editor cannot work here; nothing is changed or written.
    public static func check(terminal name: String) throws(TerminalError) {
        if isatty(0) == 0 { throw .notATerminal("standard input") }
        if isatty(1) == 0 { throw .notATerminal("standard output") }
        if name.isEmpty || name == "dumb" || name == "unknown" { throw .dumb(name) }
        if shim_terminal_is_same(0, 1) == 0 { throw .otherTerminal }
    }

    /// Takes over the terminal of standard input and output.
    ///
    /// - Parameter name: the value of TERM.
    public init(terminal name: String) throws(TerminalError) {
        try TerminalDevice.check(terminal: name)
        input = 0
        output = 1
        let own = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        if own >= 0, shim_terminal_is_same(own, output) != 0 {
            screen = own
        } else {
            if own >= 0 { Glibc.close(own) }
            screen = output
        }
        // Before anything is changed: a signal in between must find its handler.
        guard
            shim_terminal_set_leaving(TerminalDevice.leaving, TerminalDevice.leaving.utf8.count)
                == 0
        else { throw TerminalDevice.failure("the terminal") }
        signalDescriptor = shim_terminal_watch(TerminalDevice.grace)
        guard signalDescriptor >= 0, shim_terminal_enter(output) == 0 else {
            throw TerminalDevice.failure("the terminal")
        }
        write(Array(TerminalDevice.entering.utf8))
    }

    deinit {
        close()
        if screen != output { Glibc.close(screen) }
    }

    /// Gives the terminal back.
    public func close() {
        guard !isOver else { return }
        isOver = true
        shim_terminal_leave()
    }

    /// Gives the terminal back and ends the process by the signal that asked for it.
    public func die(of signal: Int32) -> Never {
        isOver = true
        shim_terminal_die(signal)
        exit(128 + signal)
    }

    /// The size now; 80 by 24 if the terminal does not know.
    public var size: Size { TerminalDevice.size(of: output) }

    /// The size of the terminal behind a descriptor; 80 by 24 if it does not know or there is none.
    public static func size(of descriptor: Int32) -> Size {
        var numbers: [Int32] = [0, 0, 0, 0]
        let result = shim_terminal_size(descriptor, &numbers)
        guard result == 0, numbers[0] > 0, numbers[1] > 0 else {
            return Size(columns: 80, rows: 24, width: 0, height: 0)
        }
        return Size(
            columns: Int(numbers[0]), rows: Int(numbers[1]), width: Int(numbers[2]),
            height: Int(numbers[3]))
    }

    /// Writes all of it, unless the terminal goes away or takes nothing while a signal waits: false
    /// then, and nobody knows what the terminal shows.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty, !isGone {
            var waits = [
                pollfd(fd: screen, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: signalDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A terminal that does not read must not keep us from noticing a signal.
            guard poll(&waits, 2, -1) >= 0 else { continue }
            let isAsked = waits[1].revents != 0
            if waits[0].revents == 0 {
                isCut = true
                return false
            }
            let count = rest.withUnsafeBytes { Glibc.write(screen, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno != EINTR, errno != EAGAIN {
                isGone = true
            } else if isAsked {
                isCut = true
                return false
            } else {
                // It said that it takes some, and means fewer bytes than it needs at once.
                usleep(10_000)
            }
        }
        return !isGone
    }

    /// Writes what changes the screen in the same way; terminals that know how show all of it at once.
    ///
    /// - Parameter graphics: how pictures are written. A terminal takes all that follows one that was cut
    ///   off for more of it.
    public func show(_ bytes: [UInt8], _ graphics: GraphicsProtocol) -> Bool {
        let ending = isCut ? graphics.ending : ""
        isCut = false
        return write(
            Array((ending + "\u{1B}[?2026h").utf8) + bytes + Array("\u{1B}[?2026l".utf8))
    }

    /// What has come in, up to some KiB; call it when ``input`` is readable.
    public func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return Array(buffer[..<count]) }
        if count == 0 || errno != EINTR && errno != EAGAIN { isGone = true }
        return []
    }

    /// The signals that arrived since the last call.
    public func signals() -> [Signal] {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(signalDescriptor, &buffer, buffer.count)
        guard count > 0 else { return [] }
        return buffer[..<count].map { byte in
            switch Int32(byte) {
            case SIGTSTP: .stop
            case SIGCONT: .resumed
            case SIGWINCH: .resized
            default: .end(Int32(byte))
            }
        }
    }

    /// Gives the terminal back and stops, as Ctrl-Z does; returns when somebody resumes us, with
    /// the terminal taken over again. All has to be drawn again.
    public func suspend() {
        if shim_terminal_suspend() != 0 { isGone = true }
        write(Array(TerminalDevice.entering.utf8))
    }

    /// Stops this process with the one that has the terminal, see ``lend(_:)``; returns when somebody
    /// resumes it.
    public func stop() { _ = shim_terminal_stop() }

    /// Gives the terminal back while another program of this process group uses it. All has to be
    /// drawn again. Signals go on to arrive at ``signalDescriptor``.
    public func lend(_ body: () -> Void) {
        shim_terminal_leave()
        body()
        resume()
    }

    /// Takes the terminal over again after others had it.
    public func resume() {
        if shim_terminal_reenter() != 0 { isGone = true }
        write(Array(TerminalDevice.entering.utf8))
    }

    private static func failure(_ what: String) -> TerminalError {
        .system("\(what): \(String(cString: strerror(errno)))")
    }
}

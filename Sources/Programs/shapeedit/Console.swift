import Glibc
import Model
import PathText
import SystemCalls
import Terminal

/// What the program says to a person.
enum Console {
    /// A line on standard error, with the program's name. It stays one line whatever names hold.
    static func complain(_ text: String) { log("shapeedit: \(text)") }

    /// A line on standard error. It stays one line whatever names hold.
    static func log(_ text: String) {
        let line = oneLine(printable(text))
        // Where even this cannot be said, there is nobody to tell.
        try? Descriptors.write(Array((line + "\n").utf8), to: Descriptors.error)
    }

    /// What the program made itself to show how far it is, on standard error.
    static func showProgress(_ text: String) {
        try? Descriptors.write(Array(text.utf8), to: Descriptors.error)
    }

    /// A line on standard output.
    ///
    /// Ends the program where that cannot be written: nobody may take half an answer for all of it.
    static func say(_ text: String) { write(Array((printable(text) + "\n").utf8)) }

    /// A line on standard output with names in it, of many. It stays one line whatever they hold.
    static func say(line: String) { say(oneLine(line)) }

    private static func oneLine(_ text: String) -> String { text.replacing("\n", with: "\\n") }

    /// Puts bytes that are fit to be printed on standard output, as ``say(_:)`` does.
    static func write(_ bytes: [UInt8]) {
        do throws(Errno) { try Descriptors.write(bytes, to: Descriptors.output) } catch {
            fail(error)
        }
    }

    private static func fail(_ error: Errno) -> Never {
        complain("standard output: \(error)")
        exit(Failure.Kind.inputOutput.rawValue)
    }

    /// From now on the program ends as soon as nobody can read its standard output any more, as if it had just
    /// written something: for those that wait for what they are to tell.
    static func endWithReader() {
        Threads.start("reader") {
            var output = pollfd(fd: Descriptors.output, events: 0, revents: 0)
            while poll(&output, 1, -1) <= 0 { if errno != EINTR { return } }
            guard output.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
            var broken = sigset_t()
            sigemptyset(&broken)
            sigaddset(&broken, SIGPIPE)
            pthread_sigmask(SIG_UNBLOCK, &broken, nil)
            raise(SIGPIPE)
            fail(Errno(EPIPE))
        }
    }

    /// A text that another program is to read back, on standard output: as it is, but for a terminal,
    /// where orders to it are written out.
    static func say(data text: String) {
        write(Array(((isTerminal ? printable(text) : text) + "\n").utf8))
    }

    /// Names may hold anything: nothing of it may give orders to the terminal, or make one name look like
    /// another. What is JSON stays the same for who reads it.
    static func printable(_ text: String) -> String {
        withoutOrders(text).writingPathMarks(escaped).revealed
    }

    /// A line of standard output that is a path and nothing else: what is not UTF-8 in it is written out
    /// for terminals, as orders to them are, and stays as it is for programs.
    static func say(path: String) { write(bytes(ofPath: path) + [UInt8(ascii: "\n")]) }

    /// Such a line without its end.
    static func bytes(ofPath path: String) -> [UInt8] {
        isTerminal ? Array(printable(path).utf8) : withoutOrders(path).pathBytes
    }

    private static let isTerminal = isatty(Descriptors.output) == 1

    private static func escaped(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private static func withoutOrders(_ text: String) -> String {
        func isOrder(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value < 0x20 && scalar != "\n" && scalar != "\t"
                || (0x7f..<0xa0).contains(scalar.value)
        }
        if PathText.isPlain(text) { return text }
        guard text.unicodeScalars.contains(where: isOrder) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isOrder(scalar) {
                result += escaped(UInt8(scalar.value))
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}

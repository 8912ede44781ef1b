import Glibc
import PathText
import SystemCalls

/// How far a command is, on standard error: a line that changes on a terminal, whose frame is told of it
/// too (OSC 9;4), or lines of JSON if asked for; nothing else.
struct ProgressLine {
    private let json: Bool
    private let isTerminal = isatty(2) == 1 && Containers.environment("TERM") != "dumb"
    private var shown = ""
    private var dueAt: UInt64 = 0

    private static let end: StaticString = "\r\u{1b}[K\u{1b}]9;4;0;\u{7}"

    init(json: Bool) { self.json = json }

    /// Whether anybody looks.
    var isShown: Bool { json || isTerminal }

    /// Whether to show it again, for who is told often: ten times a second.
    mutating func isDue() -> Bool {
        let now = MonotonicClock.now
        guard isShown, now > dueAt else { return false }
        dueAt = now + 100_000_000
        return true
    }

    /// - Parameters:
    ///   - fields: for JSON.
    ///   - text: for people.
    ///   - percent: `nil` if nobody knows.
    mutating func show(_ fields: [(String, String)], _ text: String, percent: Int64?) {
        guard isShown else { return }
        let line =
            json
            ? JSONText.object(fields) + "\n"
            : "\r\u{1b}[K\(percent.map { Self.bar($0) + " " } ?? "")\(text)"
                + "\u{1b}]9;4;\(percent.map { "1;\($0)" } ?? "3;")\u{7}"
        if line == shown { return }
        if shown.isEmpty, !json { Self.takeAwayIfInterrupted() }
        shown = line
        Console.showProgress(line)
    }

    /// Takes the line away.
    mutating func end() {
        if isTerminal, !json, !shown.isEmpty { Console.showProgress("\(Self.end)") }
        shown = ""
    }

    /// Who interrupts the program is left with a clean line too.
    private static func takeAwayIfInterrupted() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            IgnoredSignals.set(number) { number in
                // Nothing but system calls here, the text is a constant.
                let end = ProgressLine.end
                _ = write(2, end.utf8Start, end.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    private static func bar(_ percent: Int64) -> String {
        let width = 24
        let full = Int(percent) * width / 100
        return "["
            + String(repeating: "#", count: full) + String(repeating: ".", count: width - full)
            + "]"
    }
}

/// How far the contents of many are brought or taken elsewhere. It never goes back: what turns out not to
/// come is nothing more to wait for, and what came of it has come.
struct TransferProgress {
    private let things: String
    /// Those that are here or are to come, and what is to come of all.
    private var count: Int
    private var bytes: Int64
    private var done = 0
    private var doneBytes: Int64 = 0
    private var shownBytes: Int64 = 0
    private var line: ProgressLine

    /// - Parameter things: what they are called.
    init(_ things: String, count: Int = 0, bytes: Int64 = 0, json: Bool) {
        self.things = things
        self.count = count
        self.bytes = bytes
        line = ProgressLine(json: json)
    }

    /// One more is to come.
    mutating func expect(_ size: Int64) {
        count += 1
        bytes += size
    }

    /// One of them is done.
    mutating func finish(_ size: Int64) {
        done += 1
        doneBytes += size
    }

    /// One of them does not come.
    ///
    /// - Parameter came: bytes of it that were told to be under way.
    mutating func giveUp(_ size: Int64, came: Int64) {
        count -= 1
        bytes -= size - came
        doneBytes += came
    }

    /// - Parameter underWay: bytes of what is not whole yet.
    mutating func show(_ underWay: Int64 = 0) {
        guard count > 0, line.isShown else { return }
        // What came and was damaged comes again.
        let come = min(max(doneBytes + underWay, shownBytes), bytes)
        shownBytes = come
        let percent = bytes == 0 ? 100 : come * 100 / bytes
        line.show(
            [
                (things, String(count)), ("done", String(done)), ("bytes", String(bytes)),
                ("doneBytes", String(come)), ("percent", String(percent)),
            ],
            "\(percent)% of \(Count.size(UInt64(bytes))), \(done) of \(count) \(things)",
            percent: percent)
    }

    /// The same for who is told often.
    mutating func showSoon(_ underWay: Int64 = 0) {
        if line.isDue() { show(underWay) }
    }

    /// Takes it away.
    mutating func end() { line.end() }
}

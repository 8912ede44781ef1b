import Editor
import SystemCalls
import Terminal

/// What a program that takes over the screen hears from its terminal: keys and the mouse, and what it
/// answers about pictures. Not for several threads.
struct TerminalListener: ~Copyable {
    /// Something that was heard.
    enum Heard {
        case input(InputEvent)
        /// An answer came: this is what is known of the terminal now.
        case shape(TerminalShape)
    }

    let device: TerminalDevice
    private var query: GraphicsQuery
    private var parser = InputParser()
    private let started = TerminalListener.now()
    private var lastInput = 0

    /// How long Escape may be the beginning of a longer sequence, in milliseconds: over a slow line
    /// its bytes do not come at once.
    private static let escapeTime = 60
    /// The same while an answer may be under way, and how long that is: one that is cut in two must not
    /// become keys, which edit.
    private static let (answerEscapeTime, answerTime) = (400, 3_000)

    /// - Parameter wanted: how pictures are to be shown; `nil` asks the terminal.
    init(_ device: TerminalDevice, _ wanted: GraphicsProtocol?) {
        self.device = device
        query = GraphicsQuery(wanted: wanted, environment: TerminalOutput.environment)
    }

    /// Milliseconds that only go forward.
    static func now() -> Int { Int(MonotonicClock.now / 1_000_000) }

    /// Asks the terminal how it shows pictures.
    func ask() { device.write(query.question) }

    /// Whether an answer may still come. Without pictures first and then with them would flicker.
    var isAsking: Bool {
        !query.isAnswered && Self.now() - started < GraphicsQuery.timeLimit
    }

    private var patience: Int {
        let isAnswering = !query.isAnswered && Self.now() - started < Self.answerTime
        return isAnswering ? Self.answerEscapeTime : Self.escapeTime
    }

    /// What is known of the terminal.
    var shape: TerminalShape { TerminalShape(of: device, query) }

    /// The moment to look again even if nothing is heard, if it is before `next`.
    ///
    /// - Parameter isAsking: ``isAsking``, as the caller has acted on it.
    func deadline(before next: Int, isAsking: Bool) -> Int {
        var next = next
        if parser.isWaiting { next = min(next, lastInput + patience) }
        if isAsking { next = min(next, started + GraphicsQuery.timeLimit) }
        return next
    }

    /// What the terminal has sent.
    mutating func read() -> [Heard] {
        lastInput = Self.now()
        var heard: [Heard] = []
        for input in parser.feed(device.read()) {
            guard case .reply(let reply) = input else {
                heard.append(.input(input))
                continue
            }
            query.take(reply)
            heard.append(.shape(shape))
        }
        return heard
    }

    /// What is whole now because nothing more has come of it.
    mutating func ripe() -> [InputEvent] {
        guard parser.isWaiting, Self.now() - lastInput >= patience else { return [] }
        return parser.flush()
    }
}

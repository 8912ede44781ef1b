import ArgumentParser
import Glibc
import Model
import SystemCalls

/// `shapeedit materialize`.
struct MaterializeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "materialize", abstract: "Bring the contents of documents here.",
        discussion: """
            All at once, and waits until they are here; ^C stops the waiting, not the bringing \
            (`shapeedit cancel` does). On a terminal a bar shows how far it is; with --json progress \
            goes to standard error, a JSON object a line.
            """)

    @OptionGroup var targets: ContentTargets

    /// How often it is looked how far things are, in microseconds.
    private static let pace: useconds_t = 100_000

    func run() throws {
        var report = ContentReport(json: targets.json)
        var waiting: [DocumentContent] = []
        for document in try targets.documents() {
            do throws(Failure) {
                let state = try document.state()
                if state == "promise" || state == "downloading" {
                    try document.set(DocumentContent.stateAttribute, "local")
                    waiting.append(document)
                } else {
                    report.add(document)
                }
            } catch {
                report.add(document, error)
            }
        }
        var progress = TransferProgress(
            documents: waiting.count, bytes: waiting.reduce(0) { $0 + $1.size }, json: targets.json)
        while !waiting.isEmpty {
            var left: [DocumentContent] = []
            var underWay: Int64 = 0
            for document in waiting {
                do throws(Failure) {
                    let state = try document.state()
                    if state == "downloading" {
                        left.append(document)
                        underWay += document.size / 100 * document.progress
                        continue
                    }
                    // Nobody brings it any more.
                    if state == "promise" {
                        throw Failure(
                            .unavailable, "\(document.path): \(document.problem ?? "cancelled")")
                    }
                    progress.finish(document)
                    report.add(document)
                } catch {
                    // It is not done: what came of it does not count.
                    report.add(document, error)
                }
            }
            waiting = left
            progress.show(underWay)
            if !waiting.isEmpty { usleep(Self.pace) }
        }
        progress.end()
        try report.finish()
    }
}

/// How far a transfer is, on standard error: a bar on a terminal, lines of JSON if asked for.
struct TransferProgress {
    private let documents: Int
    private let bytes: Int64
    private let json: Bool
    private let isTerminal = isatty(2) == 1 && Containers.environment("TERM") != "dumb"
    private var done = 0
    private var doneBytes: Int64 = 0
    private var shown = ""

    init(documents: Int, bytes: Int64, json: Bool) {
        self.documents = documents
        self.bytes = bytes
        self.json = json
    }

    /// A document is here.
    mutating func finish(_ document: DocumentContent) {
        done += 1
        doneBytes += document.size
    }

    /// - Parameter underWay: bytes of documents that are not whole yet.
    mutating func show(_ underWay: Int64) {
        guard documents > 0, json || isTerminal else { return }
        let come = min(doneBytes + underWay, bytes)
        let percent = bytes == 0 ? 100 : come * 100 / bytes
        let line =
            json
            ? JSONText.object([
                ("documents", String(documents)), ("done", String(done)),
                ("bytes", String(bytes)), ("doneBytes", String(come)),
                ("percent", String(percent)),
            ]) + "\n"
            : "\r\u{1b}[K\(Self.bar(percent)) \(percent)% of "
                + "\(Console.size(UInt64(bytes))), \(done) of \(documents) documents"
                + "\u{1b}]9;4;1;\(percent)\u{7}"
        if line == shown { return }
        if shown.isEmpty, !json { Self.takeAwayIfInterrupted() }
        shown = line
        Console.showProgress(line)
    }

    /// Takes the bar away.
    func end() {
        if isTerminal, !json, documents > 0 { Console.showProgress("\r\u{1b}[K\u{1b}]9;4;0;\u{7}") }
    }

    /// Who interrupts the program, which goes on elsewhere, is left with a clean line too.
    private static func takeAwayIfInterrupted() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let before = signal(number) { number in
                // Nothing but system calls here, the text is a constant.
                let end: StaticString = "\r\u{1b}[K\u{1b}]9;4;0;\u{7}"
                _ = write(2, end.utf8Start, end.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
            // As with nohup(1): the program goes on.
            let isIgnored = before.map { unsafeBitCast($0, to: Int.self) } == 1
            if isIgnored { signal(number, SIG_IGN) }
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

import DocumentFiles
import Glibc
import Model
import SystemCalls

/// How far the content of a document is that a command waits for, on standard error if that is a terminal,
/// once it has waited for a moment. A thread of its own looks, since the command's waits in open(2).
final class ArrivalLine: Sendable {
    private struct State {
        var isWanted = true
        var isGone = false
    }
    private let state = Monitor(State())

    /// Before anything is shown, and between two looks, in milliseconds.
    private static let delay: UInt64 = 300
    private static let pace: UInt64 = 100

    /// Does something that needs the content of a document, and shows how that comes if it is not here.
    static func shown<Result>(
        _ file: DocumentFile, _ work: (DocumentFile) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard ProgressLine(json: false).isShown, let content = missing(file.path) else {
            return try work(file)
        }
        let line = ArrivalLine()
        Threads.start("arrival") { line.follow(content) }
        defer { line.end() }
        return try work(file)
    }

    /// The document's content if it is not here.
    private static func missing(_ path: String) -> DocumentContent? {
        var status = stat()
        guard stat(path.cPath, &status) == 0, status.st_size > 0 else { return nil }
        let content = DocumentContent(path: path, size: Int64(status.st_size))
        guard let state = try? content.state(), state == "promise" || state == "downloading" else {
            return nil
        }
        return content
    }

    private func follow(_ content: DocumentContent) {
        var progress = TransferProgress("documents", count: 1, bytes: content.size, json: false)
        var next = Self.delay
        while isWanted(after: next) {
            progress.show(content.progress)
            next = Self.pace
        }
        progress.end()
        state.signal { $0.isGone = true }
    }

    /// Waits for so many milliseconds; whether it is wanted still.
    private func isWanted(after milliseconds: UInt64) -> Bool {
        let ended: Bool? = state.wait(until: MonotonicClock.after(milliseconds: milliseconds)) {
            $0.isWanted ? nil : true
        }
        return ended == nil
    }

    /// Takes the line away; returns when it is gone.
    private func end() {
        state.signal { $0.isWanted = false }
        let _: Bool? = state.wait { $0.isGone ? true : nil }
    }
}

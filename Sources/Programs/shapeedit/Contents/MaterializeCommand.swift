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
            goes to standard error, a JSON object a line. The exit code is that of the first content \
            that did not come: 65 if the store has lost or damaged it, 69 if the store does not \
            answer or the bringing was cancelled, 74 if this disk failed or is full, 77 if the store \
            does not let it be read.
            """)

    @OptionGroup var targets: ContentTargets

    /// How often it is looked how far things are, in microseconds.
    private static let pace: useconds_t = 100_000

    /// What is said of one that does not come, without a reason: who cancels it leaves one.
    private static let goneAgain = "it was let go again: evicted, or too much for the quota"

    func run() throws {
        var report = ContentReport(json: targets.json)
        var waiting: [(document: DocumentContent, came: Int64)] = []
        var progress = TransferProgress("documents", json: targets.json)
        for document in targets.documents(&report) {
            do throws(Failure) {
                let state = try document.state()
                if state == "promise" || state == "downloading" {
                    try document.set(DocumentContent.stateAttribute, "local")
                    waiting.append((document, 0))
                    progress.expect(document.size)
                    progress.showSoon()
                } else {
                    report.add(document)
                }
            } catch {
                report.add(document, error)
            }
        }
        while !waiting.isEmpty {
            var left: [(document: DocumentContent, came: Int64)] = []
            var underWay: Int64 = 0
            for (document, came) in waiting {
                do throws(Failure) {
                    let state = try document.state()
                    if state == "downloading" {
                        let came = max(came, document.progress)
                        left.append((document, came))
                        underWay += came
                        continue
                    }
                    // Nobody brings it any more.
                    if state == "promise" {
                        let problem = document.problem ?? Self.goneAgain
                        throw Failure(document.problemKind, "\(document.path): \(problem)")
                    }
                    progress.finish(document.size)
                    report.add(document)
                } catch {
                    progress.giveUp(document.size, came: came)
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

import ArgumentParser
import DocumentKit
import Glibc
import Model
import SystemCalls

/// `shapeedit recents`.
struct RecentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recents", abstract: "List the documents that were opened last.",
        discussion: """
            Those of all mounts of this user, the last opened first, under the names they have now. \
            What goes through documents by itself (indexers, backups, thumbnailers, grep -r) does \
            not count. The links are in .shapeedit/recents of each mount.
            """)

    @Argument(help: "A folder in a mount: only what was opened below it.", completion: .directory)
    var folder: String?
    @Option(name: .shortAndLong, help: "At most so many.")
    var limit = 20
    @Flag(help: "Forget them instead.")
    var clear = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit \(limit): at least 1") }
    }

    func run() throws {
        let documents = try found()
        if clear {
            do throws(DocumentProblem) {
                for document in documents { try Recents.forget(document) }
            } catch { throw Failure(.inputOutput, "\(error)") }
            if json { Self.print(documents[...]) }
            return
        }
        let last = documents.prefix(limit)
        if json { return Self.print(last) }
        for document in last {
            Console.say(line: "\(HistoryReport.time(document.opened))  \(document.path)")
        }
    }

    /// For programs.
    private static func print(_ documents: ArraySlice<RecentDocument>) {
        Console.say(
            JSONText.array(
                documents.map { document in
                    JSONText.object(
                        "path", at: document.path,
                        [("opened", JSONText.string(HistoryReport.time(document.opened)))])
                }))
    }

    /// The last opened first.
    private func found() throws(Failure) -> [RecentDocument] {
        if let folder { try MountedFolder.check(folder, list: "recents") }
        do throws(DocumentProblem) { return try Recents.documents(below: folder) } catch {
            throw Failure(.inputOutput, "\(error)")
        }
    }
}

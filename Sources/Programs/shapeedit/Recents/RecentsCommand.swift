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
            for document in documents where unlink(document.link) != 0 && errno != ENOENT {
                throw Failure(.inputOutput, "\(document.link): \(Errno.last)")
            }
            return
        }
        let last = documents.prefix(limit)
        if json {
            Console.say(
                JSONText.array(
                    last.map { document in
                        JSONText.object([
                            ("path", JSONText.string(document.path)),
                            (
                                "opened",
                                JSONText.string(HistoryReport.time(document.opened))
                            ),
                        ])
                    }))
            return
        }
        for document in last {
            Console.say("\(HistoryReport.time(document.opened))  \(document.path)")
        }
    }

    /// The last opened first.
    private func found() throws(Failure) -> [RecentDocument] {
        var below: String?
        if let folder {
            guard let resolved = MountTable.resolved(folder) else {
                throw Failure(.noInput, "\(folder): \(Errno.last)")
            }
            below = resolved
        }
        let points = MountTable.mountPoints().filter { point in
            below.map { $0 == point || $0.hasPrefix(point + "/") } ?? true
        }
        if let folder, points.isEmpty {
            throw Failure(.usage, "\(folder): it is not in a mounted container")
        }
        return points.flatMap(RecentDocument.all).filter { document in
            below.map { document.path == $0 || document.path.hasPrefix($0 + "/") } ?? true
        }.sorted { $0.opened > $1.opened }
    }
}

/// A document that was opened lately.
private struct RecentDocument {
    /// Absolute.
    var path: String
    /// In nanoseconds since 1970.
    var opened: Int64
    /// The link to it.
    var link: String

    /// Those of a mount; none of another user's.
    static func all(_ point: String) -> [RecentDocument] {
        let folder = point + "/.shapeedit/recents"
        return ((try? Directories.names(in: folder)) ?? []).compactMap { name in
            let link = folder + "/" + name
            var status = stat()
            var text = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(link, &text, text.count)
            // One that was deleted since is none any more.
            guard count > 0, lstat(link, &status) == 0 else { return nil }
            let target = String(
                decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return RecentDocument(
                path: point + "/" + target.dropFirst("../../".count),
                opened: Int64(status.st_mtim.tv_sec) * 1_000_000_000
                    + Int64(status.st_mtim.tv_nsec),
                link: link)
        }
    }
}

import DocumentKit
import FoundationEssentials
import Glibc
import Model
import PathText
import SystemCalls

/// What `shapeedit status --watch` shows: a line whenever something about a store, or a document that
/// comes, is different.
struct StatusWatch {
    /// How often it is looked, in microseconds.
    private static let pace: useconds_t = 200_000

    private struct Summary: Equatable {
        var uploads: Int
        var downloads: Int
        var problem: String?
    }
    private struct Transfer: Decodable {
        var path: String
        /// In Base64, where the text is not all of it.
        var pathBytes: String?
        var size: Int64
        var received: Int64
        var percent: Int64 { size == 0 ? 100 : received * 100 / size }
        var place: String {
            pathBytes.flatMap { Base64.decode($0.utf8) }.map { String(path: $0) } ?? path
        }
    }

    /// The one mount that is looked at, if not all.
    private let only: String?
    private let json: Bool
    private var summaries: [String: Summary] = [:]
    /// Percent by file.
    private var transfers: [String: Int64] = [:]

    /// - Parameter only: the mount point of the one mount that is looked at; `nil` for all.
    init(only: String?, json: Bool) {
        self.only = only
        self.json = json
    }

    /// Goes on until the program is ended, or nobody reads it any more.
    mutating func run() -> Never {
        Console.endWithReader()
        while true {
            look()
            usleep(Self.pace)
        }
    }

    private mutating func look() {
        var known: Set<String> = []
        var coming: Set<String> = []
        for point in MountTable.mountPoints() where only == nil || only == point {
            known.insert(point)
            let status = MountStatus(of: point)
            guard let downloads = status["downloads"] else { continue }
            show(
                point,
                Summary(
                    uploads: Int(status["uploads"] ?? "") ?? 0,
                    downloads: Int(downloads) ?? 0,
                    problem: status["storeProblem"]))
            let list = status["transfers"] ?? "[]"
            let found = try? JSONDecoder().decode([Transfer].self, from: Data(list.utf8))
            for transfer in found ?? [] {
                let file = point + "/" + transfer.place
                coming.insert(file)
                show(file, transfer)
            }
        }
        for point in summaries.keys where !known.contains(point) {
            summaries[point] = nil
            say(
                JSONText.path("mountPoint", point) + [("mounted", "false")],
                "\(point): unmounted")
        }
        for file in transfers.keys.sorted() where !coming.contains(file) {
            transfers[file] = nil
            conclude(DocumentContent(path: file, size: 0))
        }
    }

    private mutating func show(_ point: String, _ summary: Summary) {
        if summaries[point] == summary { return }
        summaries[point] = summary
        say(
            JSONText.path("mountPoint", point) + [
                ("uploads", String(summary.uploads)),
                ("downloads", String(summary.downloads)),
                ("problem", JSONText.string(summary.problem)),
            ],
            "\(point): \(summary.uploads) to upload, \(summary.downloads) downloading"
                + (summary.problem.map { ", " + $0 } ?? ""))
    }

    private mutating func show(_ file: String, _ transfer: Transfer) {
        if transfers[file] == transfer.percent { return }
        transfers[file] = transfer.percent
        say(
            JSONText.path("file", file)
                + [
                    ("state", "\"downloading\""), ("bytes", String(transfer.size)),
                    ("doneBytes", String(transfer.received)),
                    ("percent", String(transfer.percent)),
                ],
            "\(file): \(transfer.percent)% of \(Count.size(UInt64(transfer.size)))")
    }

    /// A document that came before does not come any more: it is here, or something is wrong.
    private func conclude(_ document: DocumentContent) {
        let state = (try? document.state()) ?? "gone"
        let problem = state == "promise" ? document.problem : nil
        say(
            JSONText.path("file", document.path)
                + [
                    ("state", JSONText.string(state)),
                    ("problem", problem.map(JSONText.string) ?? "null"),
                ],
            "\(document.path): \(state)" + (problem.map { ", " + $0 } ?? ""))
    }

    private func say(_ fields: [(String, String)], _ line: String) {
        Console.say(line: json ? JSONText.object(fields) : line)
    }
}

import DocumentFiles
import DocumentKit
import Glibc
import Model
import PathText

/// What the commands about versions say of one.
enum VersionReport {
    static func json(_ version: FileVersion) -> String {
        JSONText.object([
            ("version", JSONText.string(version.name)),
            ("time", JSONText.string(HistoryReport.time(version.modified))),
            (
                "published",
                version.published.map { JSONText.string(HistoryReport.time($0)) } ?? "null"
            ),
            ("size", String(version.size)),
            ("author", JSONText.string(version.author.map(userName))),
            ("current", version.isCurrent ? "true" : "false"),
            ("pinned", version.isPinned ? "true" : "false"),
            ("conflict", version.isConflict ? "true" : "false"),
            ("local", version.isLocal ? "true" : "false"),
        ])
    }

    /// A line of the list: a star before the current one.
    static func line(_ version: FileVersion, nameWidth: Int) -> String {
        let gap = String(repeating: " ", count: max(nameWidth - version.name.count, 0))
        var text =
            "\(version.isCurrent ? "*" : " ") \(version.name)\(gap)  "
            + "\(HistoryReport.time(version.modified))  \(Count.size(UInt64(version.size)))"
        if let author = version.author { text += "  \(userName(author))" }
        if version.isPinned { text += "  pinned" }
        if version.isConflict { text += "  conflict" }
        if !version.isLocal { text += "  in the store only" }
        return text
    }

    private static func userName(_ user: UInt32) -> String {
        guard let entry = getpwuid(user) else { return String(user) }
        return String(cString: entry.pointee.pw_name)
    }
}

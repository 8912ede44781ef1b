import DocumentFiles
import Editing
import SystemCalls

/// JSON that the commands print, put together from finished pieces; on one line.
enum JSONText {
    static func string(_ text: String?) -> String { text.map(Console.quoted) ?? "null" }

    static func array(_ pieces: [String]) -> String {
        "[" + pieces.joined(separator: ", ") + "]"
    }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { Console.quoted($0) + ": " + $1 }.joined(separator: ", ") + "}"
    }

    static func change(_ change: Change) -> String {
        object([
            ("subject", string(change.subject.rawValue)), ("path", string(change.path)),
            ("before", string(change.before)), ("after", string(change.after)),
        ])
    }
}

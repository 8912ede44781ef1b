import DocumentFiles
import Documents
import Editing
import PathText
import SystemCalls

/// JSON that the commands print, put together from finished pieces; on one line.
enum JSONText {
    static func string(_ text: String?) -> String { text.map(PathText.quoted) ?? "null" }

    /// A value of a document.
    static func value(_ value: JSONValue) -> String {
        value.string.map(PathText.quoted) ?? String(decoding: value.line, as: UTF8.self)
    }

    static func array(_ pieces: [String]) -> String {
        "[" + pieces.joined(separator: ", ") + "]"
    }

    static func object(_ members: [(String, String)]) -> String {
        PathText.object(members)
    }

    /// An object that begins with a path, as text and, where that is not all of it, as bytes.
    static func object(_ name: String, at path: String, _ members: [(String, String)]) -> String {
        object(self.path(name, path) + members)
    }

    /// The members of an object that tell a path, or that there is none.
    static func path(_ name: String, _ path: String?) -> [(String, String)] {
        path.map { PathText.members(name, $0) } ?? [(name, "null")]
    }

    static func change(_ change: Change) -> String {
        object([
            ("subject", string(change.subject.rawValue)), ("path", string(change.path)),
            ("before", string(change.before)), ("after", string(change.after)),
        ])
    }
}

import DocumentKit
import Documents
import Glibc
import Model
import PathText
import SystemCalls

/// What a mount says of itself: its file `.shapeedit/status.json`, as it was when it was asked.
struct MountStatus {
    let point: String
    /// The file; empty if the mount does not answer in time, or not to this user.
    private let text: String
    /// Whether only another user may look.
    private let isRefused: Bool

    /// How long a mount may take to answer, in milliseconds.
    private static let patience: UInt64 = 3_000

    /// Asks. One that hangs keeps nobody from hearing of the others.
    init(of point: String) {
        self.point = point
        let answer = MountFile.read(point + "/.shapeedit/status.json", milliseconds: Self.patience)
        switch answer {
        case .bytes(let bytes): (text, isRefused) = (String(decoding: bytes, as: UTF8.self), false)
        case .refused(let problem): (text, isRefused) = ("", problem.code == EACCES)
        case nil: (text, isRefused) = ("", false)
        }
    }

    /// Whether nothing came.
    var isSilent: Bool { text.isEmpty }

    /// A top-level field, without quotes; `nil` if there is none.
    subscript(name: String) -> String? {
        for line in text.split(separator: "\n") {
            let parts = line.drop { $0 == " " }
            guard parts.hasPrefix("\"\(name)\": ") else { continue }
            var value = parts.dropFirst(name.count + 4)
            if value.hasSuffix(",") { value.removeLast() }
            if value.hasPrefix("\"") { return try? JSONValue.read(Array(value.utf8)).string }
            return String(value)
        }
        return nil
    }

    /// A path that a field tells, as `PathText` makes it.
    func path(_ name: String) -> String? {
        guard let base64 = self[name + PathText.bytesEnd] else { return self[name] }
        return Base64.decode(base64.utf8).map { String(path: $0) }
    }

    /// All of it as an object of a list of mounts, indented.
    var object: String {
        let head =
            "  {\n"
            + PathText.members("mountPoint", point).map { "  \"\($0)\": \($1),\n" }.joined()
            + "  \"pid\": \(self["process"] ?? "null")"
        var facts = String(text.drop { $0 != "\n" }.dropFirst())
        // The list has a closing brace of its own.
        if facts.hasSuffix("}\n") { facts.removeLast(2) }
        return facts.isEmpty ? head + "\n  }" : head + ",\n" + facts + "  }"
    }

    /// All of it in words: a line for the mount, and one for whatever is to be known besides.
    var lines: [String] {
        guard let container = self["container"] else { return ["\(point): \(silence)"] }
        let items = self["items"].flatMap { Int($0) }.map { Count.words($0, "item") }
        let free = self["freeBytes"].flatMap { UInt64($0) }.map(Count.size)
        let path = self["passthrough"] == "true" ? "kernel passthrough" : "page cache"
        let first =
            "\(point): container \(container), \(items ?? "? items"), "
            + "\(self["sessions"] ?? "0") being written, "
            + "\(self["notYetDurable"] ?? "0") not yet durable, "
            + "\(free ?? "?") free, data path: \(path)"
        return [first] + store
            + Self.problems.compactMap { field, words in self.path(field).map { "  \(words)\($0)" }
            }
    }

    private var store: [String] {
        guard let store = self["store"] else { return [] }
        func number(_ name: String) -> UInt64 { self[name].flatMap { UInt64($0) } ?? 0 }
        return [
            "  store \(store): \(number("uploads")) to upload, \(number("downloads")) downloading, "
                + "\(Count.size(number("fetchedBytes"))) fetched"
        ]
    }

    /// What may be wrong, and the log: fields, and what their values are said after.
    private static let problems = [
        ("storeProblem", "store problem: "), ("quotaProblem", "quota: "),
        ("pictureProblem", "no pictures: "),
        ("foreignPictureProblem", "no pictures of other types: "),
        ("desktopProblem", "no pictures in file managers: "),
        ("recovery", ""), ("problem", "problem: "), ("log", "log: "),
    ]

    /// Why nothing is known of it.
    private var silence: String {
        let parts = KernelMount.all().filter { $0.isShapeEdit && $0.root != "/" }
        if let part = parts.last(where: { $0.isMounted(at: point) }) {
            return "shows \(part.root) of a container"
        }
        return isRefused ? "is another user's" : "does not answer"
    }
}

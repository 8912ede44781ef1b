import ArgumentParser
import DocumentKit
import Documents
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what is mounted and how it does.")

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Go on, with a line (with --json, an object) for whatever changes, until ^C.")
    var watch = false

    func run() throws {
        if watch {
            var watch = StatusWatch(json: json)
            watch.run()
        }
        let mounts = MountTable.mountPoints().map { ($0, Self.text($0)) }
        if json {
            let list = mounts.map { point, text in
                let facts = text.drop { $0 != "\n" }.dropFirst()
                let head =
                    "  {\n  \"mountPoint\": \(PathText.quoted(point)),\n"
                    + "  \"pid\": \(Self.field("process", of: text) ?? "null")"
                return facts.isEmpty ? head + "\n  }" : head + ",\n" + Self.trimmed(facts) + "  }"
            }
            Console.say(
                "[" + (list.isEmpty ? "" : "\n" + list.joined(separator: ",\n") + "\n") + "]")
            return
        }
        if mounts.isEmpty { Console.say("Nothing is mounted.") }
        let parts = KernelMount.all().filter { $0.isShapeEdit && $0.root != "/" }
        for (point, text) in mounts {
            guard let container = Self.field("container", of: text) else {
                let part = parts.last { $0.isMounted(at: point) }
                let reason =
                    part.map { "shows \($0.root) of a container" }
                    ?? (text == Self.denied ? "is another user's" : "does not answer")
                Console.say(line: "\(point): \(reason)")
                continue
            }
            let free = Self.field("freeBytes", of: text).flatMap { UInt64($0) }.map(Count.size)
            let path =
                Self.field("passthrough", of: text) == "true" ? "kernel passthrough" : "page cache"
            let items = Self.field("items", of: text).flatMap { Int($0) }
            Console.say(
                line:
                    "\(point): container \(container), \(items.map { Count.words($0, "item") } ?? "? items"), "
                    + "\(Self.field("sessions", of: text) ?? "0") being written, "
                    + "\(Self.field("notYetDurable", of: text) ?? "0") not yet durable, "
                    + "\(free ?? "?") free, data path: \(path)")
            if let store = Self.field("store", of: text) {
                func number(_ name: String) -> UInt64 {
                    Self.field(name, of: text).flatMap { UInt64($0) } ?? 0
                }
                Console.say(
                    "  store \(store): \(number("uploads")) to upload, "
                        + "\(number("downloads")) downloading, "
                        + "\(Count.size(number("fetchedBytes"))) fetched")
            }
            if let problem = Self.field("storeProblem", of: text) {
                Console.say("  store problem: \(problem)")
            }
            if let problem = Self.field("quotaProblem", of: text) {
                Console.say("  quota: \(problem)")
            }
            for (field, words) in Self.pictureProblems {
                if let problem = Self.field(field, of: text) {
                    Console.say("  \(words): \(problem)")
                }
            }
            if let recovery = Self.field("recovery", of: text) { Console.say("  \(recovery)") }
            if let problem = Self.field("problem", of: text) {
                Console.say("  problem: \(problem)")
            }
            if let log = Self.field("log", of: text) { Console.say(line: "  log: \(log)") }
        }
    }

    /// What can be wrong with pictures: the field of the status file, and what it means.
    private static let pictureProblems = [
        ("pictureProblem", "no pictures"),
        ("foreignPictureProblem", "no pictures of other types"),
        ("desktopProblem", "no pictures in file managers"),
    ]

    /// The closing brace of the mount's own object goes; the list has its own.
    private static func trimmed(_ facts: Substring) -> String {
        var text = String(facts)
        if text.hasSuffix("}\n") { text.removeLast(2) }
        return text
    }

    /// How long a mount may take to answer, in milliseconds.
    private static let patience: UInt64 = 3_000

    /// Stands for the status file of a mount that only another user may look at.
    private static let denied = "denied"

    /// The status file of a mount; without any field if it does not answer in time, or not to this user:
    /// one that hangs keeps nobody from hearing of the others.
    static func text(_ point: String) -> String {
        switch MountFile.read(point + "/.shapeedit/status.json", milliseconds: patience) {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .refused(let problem): problem.code == EACCES ? denied : ""
        case nil: ""
        }
    }

    /// A top-level field of the status file, without quotes.
    static func field(_ name: String, of text: String) -> String? {
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
}

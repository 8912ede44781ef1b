import ArgumentParser
import DocumentKit
import Model

/// `shapeedit status [DIR]`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what is mounted and how it does.")

    @Argument(
        help: "Only the mount that this folder or file is in; all if it is left out.",
        completion: .directory)
    var directory: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Go on, with a line (with --json, an object) for whatever changes, until ^C.")
    var watch = false

    func run() throws {
        // A mount that does not answer any more is known by its name alone.
        let only = try directory.map { name throws(Failure) in
            if let point = MountPoint.named(name) { return point.path }
            return try MountPoint.containing(name).point.path
        }
        if watch {
            var watch = StatusWatch(only: only, json: json)
            watch.run()
        }
        let points = only.map { [$0] } ?? MountTable.mountPoints()
        let mounts = points.map(MountStatus.init)
        if json {
            let list = mounts.map(\.object).joined(separator: ",\n")
            Console.say("[" + (list.isEmpty ? "" : "\n\(list)\n") + "]")
            return
        }
        if mounts.isEmpty { Console.say("Nothing is mounted.") }
        for line in mounts.flatMap(\.lines) { Console.say(line: line) }
    }
}

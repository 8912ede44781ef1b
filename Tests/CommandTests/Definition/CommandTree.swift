import Probing
import TestSupport
import Testing

/// The commands as the program itself tells them.
struct CommandTree {
    struct Command {
        /// The words that call it, such as `container list`.
        let name: String
        let printsJSON: Bool
        /// Long options, with their dashes.
        let options: [String]
    }

    /// All commands that do something, without `help`.
    let commands: [Command]

    init() throws {
        let result = try run([try BuiltPrograms.shapeedit(), "--experimental-dump-help"])
        try #require(result.status == 0, "\(result)")
        let root = try #require(try JSONValue.read(result.output)["command"])
        var commands: [Command] = []
        func walk(_ command: JSONValue, _ path: [String]) {
            let children = command["subcommands"]?.elements ?? []
            if children.isEmpty {
                let options = (command["arguments"]?.elements ?? []).flatMap {
                    $0["names"]?.elements ?? []
                }.filter { $0["kind"] == .string("long") }.compactMap { $0["name"]?.text }
                commands.append(
                    Command(
                        name: path.joined(separator: " "), printsJSON: options.contains("json"),
                        options: options.map { "--" + $0 }))
            }
            for child in children {
                guard let name = child["commandName"]?.text, name != "help" else { continue }
                walk(child, path + [name])
            }
        }
        walk(root, [])
        self.commands = commands
    }
}

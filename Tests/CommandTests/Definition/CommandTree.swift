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
        /// The values that shells offer for an option; those for words that are none under "".
        let values: [String: [String]]
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
                var options: [String] = []
                var values: [String: [String]] = [:]
                for argument in command["arguments"]?.elements ?? []
                where argument["shouldDisplay"] != .boolean(false) {
                    let names = (argument["names"]?.elements ?? []).filter {
                        $0["kind"] == .string("long")
                    }.compactMap { $0["name"]?.text }
                    options += names
                    let list = argument["completionKind"]?["list"]?["values"]?.elements ?? []
                    let key = names.first.map { "--" + $0 } ?? ""
                    if !list.isEmpty { values[key, default: []] += list.compactMap(\.text) }
                }
                commands.append(
                    Command(
                        name: path.joined(separator: " "), printsJSON: options.contains("json"),
                        options: options.map { "--" + $0 }, values: values))
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

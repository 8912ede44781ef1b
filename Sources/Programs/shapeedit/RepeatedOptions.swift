import ArgumentParser
import Documents
import Model

/// Options that stand on a command line more often than once.
///
/// Of those that have one value the parser takes the last. Who writes `--to notes --to mail` means both, and
/// would not notice that one is passed over.
enum RepeatedOptions {
    /// A failure for an option that is given twice, by any of its names, though it has one value.
    ///
    /// - Parameter words: as the parser saw them.
    static func check(_ words: [String], of command: any ParsableCommand) throws(Failure) {
        let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0 != "-" }
        if options.count < 2 { return }
        let single = names(of: type(of: command))
        var given: Set<Int> = []
        for option in options.map({ String($0.prefix { $0 != "=" }) }) {
            guard let number = single[option] else { continue }
            if !given.insert(number).inserted {
                throw Failure(.usage, "\(option) is there twice, and has one value")
            }
        }
    }

    /// The names of a command's options that have one value, each with the number of its option.
    private static func names(of command: any ParsableCommand.Type) -> [String: Int] {
        let help = (try? JSONValue.read(Array(command._dumpHelp().utf8)))?.object
        let arguments = help?["command"]?.object?["arguments"]?.array ?? []
        var found: [String: Int] = [:]
        for (number, argument) in arguments.compactMap(\.object).enumerated()
        where argument["kind"]?.string == "option" && argument["isRepeating"]?.boolean == false {
            for name in (argument["names"]?.array ?? []).compactMap(\.object) {
                let dashes = name["kind"]?.string == "long" ? "--" : "-"
                found[dashes + (name["name"]?.string ?? "")] = number
            }
        }
        return found
    }
}

import ArgumentParser
import Model

/// `shapeedit validate`.
struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Check documents.",
        discussion: """
            Says what is wrong with each, and what had to be repaired to read it. The exit code is 0 \
            if all are sound and 65 if one is not. What is only worth knowing is told as a note, \
            which makes no document unsound.
            """)

    @Argument(help: "The documents; - is standard input.", completion: .file())
    var files: [String]
    @OptionGroup var typing: TypeOption
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let type = try typing.documentType
        var worst: Failure.Kind?
        var reports: [String] = []
        for file in files {
            var problems: [String] = []
            var remarks: [String] = []
            do throws(Failure) {
                let content = try DocumentSource.load(file, type: type)
                problems = content.notes
                remarks = content.document.remarks()
                if !problems.isEmpty { worst = worst ?? .badData }
                if !json {
                    for problem in problems { Console.say(line: "\(file): \(problem)") }
                    for remark in remarks { Console.say(line: "\(file): note: \(remark)") }
                    if problems.isEmpty {
                        Console.say(line: "\(file): sound (\(content.document.type.rawValue))")
                    }
                }
            } catch {
                worst = worst ?? error.kind
                problems = [error.message]
                if !json { Console.complain(error.message) }
            }
            reports.append(
                JSONText.object(
                    "file", at: file,
                    [
                        ("sound", problems.isEmpty ? "true" : "false"),
                        ("problems", JSONText.array(problems.map(JSONText.string))),
                        ("notes", JSONText.array(remarks.map(JSONText.string))),
                    ]))
        }
        if json { Console.say(JSONText.array(reports)) }
        if let worst { throw ExitCode(worst.rawValue) }
    }
}

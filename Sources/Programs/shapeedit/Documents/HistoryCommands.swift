import ArgumentParser
import DocumentFiles
import Model

/// `shapeedit undo`.
struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take the last change of a document back.",
        discussion: """
            Works from any shell on any day. In a mounted container, versions that other programs \
            saved can be gone back to as well.
            """)

    @OptionGroup var options: HistoryOptions

    func run() throws {
        let step = try ArrivalLine.shown(try options.document) { (file) throws(Failure) in
            try file.undo()
        }
        try HistoryReport.say(step, "undone", options)
    }
}

/// `shapeedit redo`.
struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Make a change that was taken back again.")

    @OptionGroup var options: HistoryOptions

    func run() throws {
        let step = try ArrivalLine.shown(try options.document) { (file) throws(Failure) in
            try file.redo()
        }
        try HistoryReport.say(step, "redone", options)
    }
}

/// `shapeedit history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the states a document can go back and forth to.")

    @OptionGroup var options: HistoryOptions

    func run() throws {
        let (steps, current) = try options.document.history()
        if options.json {
            let list = steps.enumerated().map { index, step in
                JSONText.object([
                    ("time", JSONText.string(HistoryReport.time(step.time))),
                    ("description", JSONText.string(step.description)),
                    ("current", index == current ? "true" : "false"),
                ])
            }
            Console.say(
                JSONText.object(
                    "file", at: options.file,
                    [("steps", JSONText.array(list))]))
            return
        }
        for (index, step) in steps.enumerated() {
            Console.say(
                "\(index == current ? "*" : " ") \(HistoryReport.time(step.time))  \(step.description)"
            )
        }
    }
}

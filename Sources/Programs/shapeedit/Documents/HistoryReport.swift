import DocumentFiles
import Model
import PathText
import SystemCalls

/// What undo and redo say.
enum HistoryReport {
    static func say(
        _ step: HistoryStep?, _ verb: String, _ options: HistoryOptions
    ) throws(Failure) {
        let file = options.file
        guard let step else {
            throw Failure(.badData, "\(file): nothing can be \(verb)")
        }
        if step.passedOver > 0 {
            let states = Count.words(step.passedOver, "state")
            Console.complain(
                "\(file): the history is damaged: passed over \(states) that cannot be read")
        }
        if let problem = step.historyProblem { Console.complain("\(file): \(problem)") }
        Console.say(
            line: options.json
                ? JSONText.object(
                    "file", at: file,
                    [
                        (verb, JSONText.string(step.description)),
                        ("time", JSONText.string(time(step.time))),
                    ]) : "\(file): \(verb): \(step.description)")
    }

    /// A moment in local time as ISO 8601 has it.
    static func time(_ nanoseconds: Int64) -> String { time(seconds: nanoseconds / 1_000_000_000) }

    /// As the other one, of seconds since 1970.
    static func time(seconds: Int64) -> String {
        LocalTime.text(Int(seconds), as: "%Y-%m-%dT%H:%M:%S%z")
    }

    /// As the other ones, of a moment as mounts tell it (``Timestamp/exactText``); other text as it is.
    static func time(told moment: String) -> String {
        Moment(argument: moment).map { time(seconds: $0.seconds) } ?? moment
    }
}

import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Glibc
import Model

/// `shapeedit list`.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: VerbHelp.abstract("list"),
        usage: VerbHelp.usage("list") { words in
            let parts = words.split(separator: " ", maxSplits: 1)
            return "list \(parts.first ?? "") FILE \(parts.dropFirst().first ?? "")"
        } + "\nshapeedit list show FILE\nshapeedit list today [ACTION WORDS...] [--in FOLDER]",
        discussion: """
            A TARGET is an item's text or its number from 1, done, open or all; in double quotes a \
            text is one whatever it says. A COLOR is gray, blue, green, yellow, orange or red. What \
            follows -- is no option.

            `today` is the list Today.list at the root of the mounted container the current folder \
            is in, else in the current folder; it is made when it is first used. `paste` without \
            text, or with -, takes standard input.
            """)

    @OptionGroup var options: EditOptions
    @Option(name: .customLong("in"), help: "The folder of Today.list.", completion: .directory)
    var folder: String?
    @Argument(
        help:
            "What to do: add, check, uncheck, toggle, move, edit, remove, color, clear-done, copy, paste, show or today.",
        completion: .list(actions))
    var action: String
    @Argument(
        parsing: .allUnrecognized, help: "The document and the words.", completion: .file())
    var words: [String] = []

    static let actions = [
        "add", "check", "uncheck", "toggle", "move", "edit", "remove", "color", "clear-done",
        "copy",
        "paste", "show", "today",
    ]

    /// What can be done with a list whose name is given.
    private static let known =
        "a list has " + actions.filter { $0 != "today" }.joined(separator: ", ")

    func run() throws {
        let words = try Edits.plain(self.words)
        if action == "today" {
            let path = try TodayList.path(in: folder)
            try perform(words.first ?? "show", path, Array(words.dropFirst()), isToday: true)
            return
        }
        if folder != nil { throw Failure(.usage, "--in is for today") }
        guard let first = words.first else {
            throw Failure(
                .usage,
                Self.actions.contains(action)
                    ? "list \(action): name the list"
                    : "\(Failure.shown(action)): say what to do with it; \(Self.known)")
        }
        // People say it the other way round too, as with the other verbs.
        let isSwapped = !Self.actions.contains(action) && Self.actions.contains(first)
        try perform(
            isSwapped ? first : action, isSwapped ? action : first, Array(words.dropFirst()))
    }

    private func perform(
        _ action: String, _ path: String, _ words: [String], isToday: Bool = false
    ) throws {
        guard Self.actions.contains(action), action != "today" else {
            throw Failure(.usage, "\(Failure.shown(action)): \(Self.known)")
        }
        let type = try options.documentType
        if isToday {
            let isMade = try TodayList.make(path, dryRun: options.dryRun)
            // What is copied goes to programs, as JSON does.
            if isMade, action != "copy", !options.json { Console.say(line: "made \(path)") }
        }
        // A dry run does not make it: it is an empty list then.
        let isThere = !isToday || TodayList.isThere(path)
        let file = try isThere ? DocumentFile(path, type: type) : nil
        switch action {
        case "show":
            if let word = words.first {
                throw Failure(.usage, "\(path): list show: '\(word)' is one word too many")
            }
            try show(file, path)
        case "copy": try copy(file, path, words)
        case "paste" where words.isEmpty || words == ["-"]:
            let text = try DocumentSource.text(of: "-")
            // It is data: a backslash in it stands for itself.
            try change(file, path, ["paste", Edit.word(of: text)])
        default: try change(file, path, [action] + words)
        }
    }

    // A file that is `nil` is an empty list that nobody has made yet.

    private func change(_ file: DocumentFile?, _ path: String, _ words: [String]) throws(Failure) {
        let edit = try Edits.one(["list"] + words)
        let edited =
            if let file {
                try options.apply([edit], to: file)
            } else {
                try DocumentFile.preview([edit], of: .list(TaskList()), named: path)
            }
        options.report(edited, of: path)
    }

    private func document(_ file: DocumentFile?) throws(Failure) -> EditableDocument {
        guard let file else { return .list(TaskList()) }
        return try ArrivalLine.shown(file) { (file) throws(Failure) in try file.load() }.document
    }

    private func list(_ file: DocumentFile?, _ path: String) throws(Failure) -> TaskList {
        guard case .list(let list) = try document(file) else {
            throw Failure(.badData, "\(path): not a list")
        }
        return list
    }

    private func show(_ file: DocumentFile?, _ path: String) throws(Failure) {
        let list = try list(file, path)
        if options.json {
            let items = list.items.map { item in
                JSONText.object([
                    ("text", JSONText.string(item.text)),
                    ("done", item.isComplete ? "true" : "false"),
                    ("id", JSONText.string(item.id.description)),
                ])
            }
            Console.say(
                JSONText.object(
                    "file", at: path,
                    [
                        ("color", JSONText.string(list.color.name)),
                        ("items", JSONText.array(items)),
                    ]))
            return
        }
        for (index, item) in list.items.enumerated() {
            Console.say(line: "\(index + 1). [\(item.isComplete ? "x" : " ")] \(item.text)")
        }
        if list.items.isEmpty { Console.say("(nothing to do)") }
    }

    private func copy(_ file: DocumentFile?, _ path: String, _ words: [String]) throws(Failure) {
        let document = try document(file)
        do throws(EditError) {
            let text = try document.copiedItems(words)
            if options.json {
                Console.say(JSONText.object([("text", JSONText.string(text))]))
            } else if !text.isEmpty {
                Console.say(data: text)
            }
        } catch { throw Failure(path, error) }
    }
}

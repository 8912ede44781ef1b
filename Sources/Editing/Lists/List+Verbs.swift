import Documents

extension TaskList {
    /// Does what a verb says with the words after it.
    mutating func perform(_ verb: String, _ words: inout Arguments) throws(EditError) {
        switch verb {
        case "set": try set(try words.assignments().map { ($0.path, $0.value) })
        case "unset": try set(try words.paths().map { ($0, nil) })
        case "add":
            _ = try EditableDocument.kind(try words.next("KIND"), for: .list)
            try addItem(&words)
        case "remove": try removeItems(&words)
        case "rename": try editItem(&words)
        default: try performListVerb(&words)
        }
    }

    private mutating func performListVerb(_ words: inout Arguments) throws(EditError) {
        let action = try words.next("add, check, uncheck, toggle, move, edit, remove, ...")
        switch action {
        case "add": try addItems(&words)
        case "remove": try removeItems(&words)
        case "edit": try editItem(&words)
        case "check": try toggle(try find(&words).filter { !items[$0].isComplete })
        case "uncheck": try toggle(try find(&words).filter { items[$0].isComplete })
        case "toggle": try toggle(try find(&words))
        case "move": try moveItem(&words)
        case "color":
            let text = try words.next("COLOR")
            try words.end()
            try set([("color", text)])
        case "clear-done":
            try words.end()
            removeDone()
        case "paste":
            let text = try words.next("TEXT")
            try words.end()
            _ = try TaskList.translated("list paste") { () throws(DocumentError) in
                try paste(EscapedText.unescaped(text))
            }
        case "copy":
            throw EditError(.usage, at: "list copy", "it changes nothing, so it is no edit")
        default:
            throw EditError(
                .usage, at: "list", NearNames.unknown("action", action, among: Self.actions))
        }
    }

    /// What follows the verb `list`.
    static let actions = [
        "add", "check", "uncheck", "toggle", "move", "edit", "remove", "color", "clear-done",
        "copy", "paste",
    ]

    /// Runs something of the documents, with its errors as those of edits.
    static func translated<Result>(
        _ place: String, _ body: () throws(DocumentError) -> Result
    ) throws(EditError) -> Result {
        do throws(DocumentError) {
            return try body()
        } catch {
            throw EditError(error.kind == .tooLarge ? .outOfRange : .data, at: place, error.reason)
        }
    }

    private func find(_ words: inout Arguments) throws(EditError) -> [Int] {
        let found = try ListParts(items).find(try words.targets())
        try words.end()
        return found
    }

    /// Toggles items one after the other, which moves them. The places are those before all of it.
    mutating func toggle(_ indices: [Int]) throws(EditError) {
        var waiting = indices[...]
        while let index = waiting.popFirst() {
            let new = try TaskList.translated("item.\(index + 1)") { () throws(DocumentError) in
                try toggle(at: index)
            }
            for (place, other) in zip(waiting.indices, waiting) {
                if other > index, other <= new { waiting[place] -= 1 }
                if other < index, other >= new { waiting[place] += 1 }
            }
        }
    }

    private mutating func addItems(_ words: inout Arguments) throws(EditError) {
        var new: [TaskItem] = []
        repeat {
            let text = EscapedText.unescaped(try words.next("TEXT"))
            new.append(
                TaskItem(
                    try located("list add") { () throws(EditError) in try TaskItem.checked(text) }))
        } while !words.isEmpty
        add(new)
    }

    /// Adds one item with the values of its keys: `add item NAME KEY=VALUE...`.
    private mutating func addItem(_ words: inout Arguments) throws(EditError) {
        let (name, pairs) = try words.nameAndPairs()
        guard let name else { throw words.misuse("NAME is missing") }
        var item = try located("add") { () throws(EditError) in
            TaskItem(try TaskItem.checked(name))
        }
        for pair in pairs {
            try located(pair.key) { () throws(EditError) in try item.set(pair.key, to: pair.value) }
        }
        add([item])
    }

    private mutating func removeItems(_ words: inout Arguments) throws(EditError) {
        for index in try find(&words).reversed() { items.remove(at: index) }
    }

    private mutating func editItem(_ words: inout Arguments) throws(EditError) {
        let text = try words.last("TEXT")
        let index = try ListParts(items).findOne(try words.target())
        try words.end()
        try located("item.\(index + 1)") { () throws(EditError) in
            try items[index].set("text", to: text)
        }
    }

    private mutating func moveItem(_ words: inout Arguments) throws(EditError) {
        let place = try words.last("N")
        let index = try ListParts(items).findOne(try words.target())
        try words.end()
        let target = try located("list move") { () throws(EditError) in
            try ValueText.place(place, upTo: items.count) - 1
        }
        try TaskList.translated("list move") { () throws(DocumentError) in
            try move(from: index, to: target)
        }
    }
}
